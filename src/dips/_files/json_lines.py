"""JSON lines: one object per line; a list of objects is read too."""

from __future__ import annotations

import codecs
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.json

from dips._files.limits import check_metadata
from dips.exceptions import DataError

_BATCH = 1_000
_NOT_UTF_8 = " is not in UTF-8, as JSON has to be; save the file in that encoding."


def read_json_lines(open_bytes: Callable[[], BinaryIO], path: Path) -> pa.Table:
    """Return the table; a key that is missing in a line is missing in its row, and mixed types become text."""
    with open_bytes() as stream:
        is_list = stream.read(64).removeprefix(codecs.BOM_UTF8).lstrip()[:1] == b"["
    if not is_list:
        _refuse_too_wide(open_bytes, path)
        try:
            with open_bytes() as stream:
                return pa.json.read_json(stream)
        except pa.ArrowInvalid:
            pass  # a type that changes; read one by one, such values become texts
    with open_bytes() as stream:
        records = _list(stream, path) if is_list else list(_lines(stream, path))
    names = list(dict.fromkeys(name for record in records for name in record))
    check_metadata(path, len(records), len(names))
    return pa.table([_column([record.get(name) for record in records]) for name in names], names=names)


def _refuse_too_wide(open_bytes: Callable[[], BinaryIO], path: Path) -> None:
    """Refuse lines that each have keys of their own: every key, also of an object within, has a place in every row."""
    keys: set[str] = set()
    n_rows = 0
    with open_bytes() as stream:
        for n_rows, _ in enumerate(_lines(stream, path, keys), start=1):
            if n_rows % _BATCH == 0:
                check_metadata(path, n_rows, len(keys))
        check_metadata(path, n_rows, len(keys))


def _list(stream: BinaryIO, path: Path) -> list[dict[str, Any]]:
    try:
        records = json.load(stream)
    except UnicodeDecodeError:
        raise DataError(f"{path}{_NOT_UTF_8}") from None
    except ValueError as error:
        raise DataError(f"{path} is not valid JSON: {error}.") from None
    if not all(isinstance(record, dict) for record in records):
        raise DataError(f"{path} is a JSON list, but not one of objects; write one object per row.")
    return records


def _lines(stream: BinaryIO, path: Path, keys: set[str] | None = None) -> Iterator[dict[str, Any]]:
    """Yield the object of each line; keys of all objects are put into the set."""

    def noted(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if keys is not None:
            keys.update(name for name, _ in pairs)
        return dict(pairs)

    for number, line in enumerate(io.TextIOWrapper(stream, "utf-8-sig", errors="surrogateescape"), start=1):
        if "\0" in line or not _is_in_unicode(line):
            raise DataError(f"Line {number} of {path}{_NOT_UTF_8}")
        if not line.strip():
            continue
        try:
            record = json.loads(line, object_pairs_hook=noted)
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict):
            raise DataError(f"Line {number} of {path} is not a JSON object; write one object per line.")
        yield record


def _is_in_unicode(line: str) -> bool:
    """Whether every byte of a line could be decoded."""
    try:
        line.encode()
    except UnicodeEncodeError:
        return False
    return True


def _column(values: list[Any]) -> pa.Array:
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([None if v is None else v if isinstance(v, str) else json.dumps(v) for v in values])
