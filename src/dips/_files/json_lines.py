"""JSON lines: one object per line; a list of objects is read too."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.json

from dips.exceptions import DataError


def read_json_lines(open_bytes: Callable[[], BinaryIO], source: str) -> pa.Table:
    """Return the table; a key that is missing in a line is missing in its row, and mixed types become text."""
    with open_bytes() as stream:
        is_list = stream.read(64).lstrip()[:1] == b"["
    if not is_list:
        try:
            with open_bytes() as stream:
                return pa.json.read_json(stream)
        except pa.ArrowInvalid:
            pass  # a type that changes, or a broken line; read one by one, they can be told apart
    with open_bytes() as stream:
        records = _list(stream, source) if is_list else _lines(stream, source)
    names = list(dict.fromkeys(name for record in records for name in record))
    return pa.table([_column([record.get(name) for record in records]) for name in names], names=names)


def _list(stream: BinaryIO, source: str) -> list[dict[str, Any]]:
    try:
        records = json.load(stream)
    except ValueError as error:
        raise DataError(f"{source} is not valid JSON: {error}.") from None
    if not all(isinstance(record, dict) for record in records):
        raise DataError(f"{source} is a JSON list, but not one of objects; write one object per row.")
    return records


def _lines(stream: BinaryIO, source: str) -> list[dict[str, Any]]:
    records = []
    for number, line in enumerate(io.TextIOWrapper(stream, "utf-8-sig", errors="replace"), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError:
            record = None
        if not isinstance(record, dict):
            raise DataError(f"Line {number} of {source} is not a JSON object; write one object per line.")
        records.append(record)
    return records


def _column(values: list[Any]) -> pa.Array:
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([None if v is None else v if isinstance(v, str) else json.dumps(v) for v in values])
