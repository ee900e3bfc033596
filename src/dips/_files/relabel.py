"""Other labels in a table's file, in the format that it has.

In delimited text and in JSON lines every other byte stays as it is.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

from dips._files.delimited import Dialect, find_dialect
from dips._files.excel import read_sheet
from dips._files.read import EXCEL, FEATHER, JSON, PARQUET, TABS, is_delimited, kind_of, open_bytes, read_table
from dips._files.sqlite import is_address
from dips._files.values import is_text
from dips.exceptions import DataError

_VALUES = json.JSONDecoder()
_BETWEEN_OBJECTS, _BETWEEN_PARTS = re.compile(r"[\s,\ufeff\[\]]*"), re.compile(r"[\s,:]*")
_BOOLEANS = {"True": True, "true": True, "False": False, "false": False}  # JSON beside texts has small letters
_WHOLE_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,18}")  # 007 is a text
_BYTE_ORDERS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}  # decoders that name one leave the mark in place


def can_be_relabeled(data: Path | str) -> bool:
    """Whether other labels can be written into a file of this format."""
    path = Path(data)
    return not is_address(data) and (kind_of(path)[0] in PARQUET | FEATHER | EXCEL | JSON or is_delimited(path))


def relabeled(
    path: Path,
    target: str,
    labels: Mapping[int, str | None],
    sheet: str | int | None = None,
    skip_rows: int | None = None,
    skip_below: int = 0,
) -> bytes:
    """Return the content of a file with other labels.

    Parameters
    ----------
    path : the file
    target : the column with the labels
    labels : the new cell of each row that changes, counted from 0; None for an empty one
    sheet, skip_rows, skip_below : where in the file the table is, as it was said when the file was read
    """
    if not can_be_relabeled(path):
        raise DataError(f"Labels cannot be written into {path}; correct it with the file of corrections.")
    names = read_table(path, sheet, skip_rows, (target,)).names
    if target not in names:
        raise DataError(f"{path} has no column {target!r} to write labels into.")
    column, (kind, compression) = names.index(target), kind_of(path)
    if kind in PARQUET:
        return _packed(_in_parquet(path, compression, column, labels), compression, path)
    if kind in FEATHER:
        return _packed(_in_feather(path, compression, column, labels), compression, path)
    below = {row + skip_below: label for row, label in labels.items()}  # counted from the header on
    if kind in EXCEL:
        with open_bytes(path, compression) as stream:
            content = stream.read()
        of_file = read_sheet(path, io.BytesIO(content), sheet, skip_rows, (target,))
        place = (of_file.name, of_file.n_above, column)
        return _packed(_in_excel(content, ".xlsm" in path.name.lower(), place, below), compression, path)
    opened = partial(open_bytes, path, compression)
    if kind in JSON:
        with opened() as stream:
            text = stream.read().decode("utf-8", "surrogateescape")
        return _packed(spliced_json(text, column, labels).encode("utf-8", "surrogateescape"), compression, path)
    dialect = find_dialect(opened, str(path), kind in TABS, skip_rows, (target,))
    return _packed(_in_text(opened, dialect, column, below), compression, path)


def _in_text(opened: Callable[[], BinaryIO], dialect: Dialect, column: int, labels: Mapping[int, str | None]) -> bytes:
    encoding = dialect.encoding
    with opened() as stream:
        raw = stream.read()
    if encoding == "utf-16":
        encoding = _BYTE_ORDERS[raw[:2]]
    elif encoding == "utf-32":
        encoding = "utf-32-le"
    text = raw.decode(encoding)
    above = "".join(islice(io.StringIO(text, newline=""), dialect.n_above))
    below = text[len(above) :]
    return (above + spliced(below, dialect.delimiter, column, labels)).encode(encoding)


def spliced(text: str, delimiter: str, column: int, labels: Mapping[int, str | None]) -> str:
    r"""Replace cells of one column in delimited text; rows are counted from 0 after the header.

    Quotes stay where they are, and so do blanks around a cell.

    Examples
    --------
    >>> spliced('a,b\r\n1,"x, y"\r\n2, z\r\n', ",", 1, {0: "w", 1: "q"})
    'a,b\r\n1,"w"\r\n2, q\r\n'
    """
    pieces, done = [], 0
    for row, (start, end) in enumerate(_cells_of(text, delimiter, column), start=-1):
        if row not in labels:
            continue
        new = _written(text[start:end], labels[row] or "", delimiter)
        pieces += [text[done:start], new]
        done = end
    return "".join([*pieces, text[done:]])


def _cells_of(text: str, delimiter: str, column: int) -> Iterator[tuple[int, int]]:
    """Where the cells of a column begin and end, header first; empty lines are not rows."""
    mark = re.escape(delimiter)
    cell = re.compile(rf'(?:"(?:[^"]|"")*"[^{mark}\r\n]*|[^{mark}\r\n]*)({mark}|\r\n|\r|\n|\Z)')
    at = 1 if text.startswith("\ufeff") else 0
    number, begins, is_open = 0, at, False
    while at < len(text) or is_open:
        match = cell.match(text, at)
        assert match is not None  # any text is a cell
        start, end, at = at, match.start(1), match.end()
        is_open = match.group(1) == delimiter
        ends_line = not is_open
        if not (ends_line and number == 0 and start == begins == end):
            if number == column:
                yield start, end
            number += 1
        if ends_line:
            number, begins = 0, at


def _written(old: str, new: str, delimiter: str) -> str:
    """A cell in place of another: in quotes if that one was, or if it must be; else with the same blanks around it."""
    if old.startswith('"') or any(c in new for c in (delimiter, '"', "\n", "\r")):
        return '"' + new.replace('"', '""') + '"'
    before, after = old[: len(old) - len(old.lstrip(" "))], old[len(old.rstrip(" ")) :]
    return f"{before}{new}{after}" if old.strip(" ") else new


def spliced_json(text: str, column: int, labels: Mapping[int, str | None]) -> str:
    r"""Replace the values of one key in JSON lines, or in a list of objects; keys are counted as they first appear.

    Examples
    --------
    >>> spliced_json('{"a":1, "b" : "x"}\n{"a": 2, "b": 0}\n{"a":3}\n', 1, {0: "z", 1: "1", 2: "z"})
    '{"a":1, "b" : "z"}\n{"a": 2, "b": 1}\n{"a":3, "b": "z"}\n'
    """
    objects = list(_objects_of(text))
    name = list(dict.fromkeys(key for _, places in objects for key in places))[column]
    values = (_VALUES.raw_decode(text, places[name][0])[0] for _, places in objects if name in places)
    usual = next((value for value in values if value is not None), None)
    pieces, done = [], 0
    for row, label in sorted(labels.items()):
        closing, places = objects[row]
        start, end = places.get(name, (closing, closing))
        old = None if start == end else _VALUES.raw_decode(text, start)[0]
        new = json.dumps(_like(usual if old is None else old, label), ensure_ascii=False)
        key = "" if start < end else f"{', ' if places else ''}{json.dumps(name, ensure_ascii=False)}: "
        pieces += [text[done:start], key, new]
        done = end
    return "".join([*pieces, text[done:]])


def _objects_of(text: str) -> Iterator[tuple[int, dict[str, tuple[int, int]]]]:
    """Where each object ends, and where the value of each of its keys begins and ends."""
    at = _end_of(_BETWEEN_OBJECTS, text, 0)
    while at < len(text):
        places: dict[str, tuple[int, int]] = {}
        at = _end_of(_BETWEEN_PARTS, text, at + 1)
        while text[at] != "}":
            key, end = _VALUES.raw_decode(text, at)
            start = _end_of(_BETWEEN_PARTS, text, end)
            _, end = _VALUES.raw_decode(text, start)
            places[key] = (start, end)
            at = _end_of(_BETWEEN_PARTS, text, end)
        yield at, places
        at = _end_of(_BETWEEN_OBJECTS, text, at + 1)


def _end_of(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    assert match is not None  # it may be empty
    return match.end()


def _in_parquet(path: Path, compression: str, column: int, labels: Mapping[int, str | None]) -> bytes:
    with open_bytes(path, compression) as stream:
        file = pa.parquet.ParquetFile(pa.BufferReader(stream.read()))
    table, meta = file.read(), file.metadata
    codec = meta.row_group(0).column(0).compression if meta.num_row_groups else "SNAPPY"
    out = io.BytesIO()
    pa.parquet.write_table(
        _with_labels(table, column, labels), out, compression="NONE" if codec == "UNCOMPRESSED" else codec
    )
    return out.getvalue()


def _in_feather(path: Path, compression: str, column: int, labels: Mapping[int, str | None]) -> bytes:
    with open_bytes(path, compression) as stream:
        table = pa.feather.read_table(pa.BufferReader(stream.read()))
    out = io.BytesIO()
    changed = _with_labels(table, column, labels)
    pa.feather.write_feather(changed, out, compression="uncompressed" if _has_views(table.schema) else None)
    return out.getvalue()


def _has_views(schema: pa.Schema) -> bool:
    """Whether some texts are stored as polars has them, which it cannot read back where they are compressed."""
    kinds = [kind.value_type if pa.types.is_dictionary(kind) else kind for kind in schema.types]
    return any(pa.types.is_string_view(kind) or pa.types.is_binary_view(kind) for kind in kinds)


def _with_labels(table: pa.Table, column: int, labels: Mapping[int, str | None]) -> pa.Table:
    field, before = table.schema.field(column), table.column(column)
    plain = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    cells = list(labels.values())
    if not is_text(plain):
        cells = pa.array(cells, pa.string()).cast(plain).to_pylist()
    values = before.to_pylist()
    for row, cell in zip(labels, cells, strict=True):
        values[row] = cell
    changed = _encoded(values, before) if plain != field.type else pa.array(values, plain)
    return table.set_column(column, field, changed)


def _encoded(values: list[Any], before: pa.ChunkedArray) -> pa.Array:
    """Categories as they were, in their order, and what is new after them."""
    kept = [value for chunk in before.chunks for value in chunk.dictionary.to_pylist()]
    categories = dict.fromkeys(value for value in [*kept, *values] if value is not None)
    code = {value: k for k, value in enumerate(categories)}
    codes = pa.array([None if value is None else code[value] for value in values], before.type.index_type)
    named = pa.array(list(categories), before.type.value_type)
    return pa.DictionaryArray.from_arrays(codes, named, ordered=before.type.ordered)


def _in_excel(content: bytes, has_macros: bool, place: tuple[str, int, int], labels: Mapping[int, str | None]) -> bytes:
    """Write into a column of a sheet whose header is below so many rows; the place names all three."""
    import openpyxl

    book = openpyxl.load_workbook(io.BytesIO(content), keep_vba=has_macros)
    name, n_above, column = place
    sheet = book[name]
    _take_apart(sheet, [n_above + row + 2 for row in labels], column + 1)
    for row, label in labels.items():
        cell = sheet.cell(row=n_above + row + 2, column=column + 1)
        cell.value = _like(cell.value, label)
        if isinstance(cell.value, str):
            cell.data_type = "s"  # a label that begins like a formula stays a text
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _take_apart(sheet: Any, rows: list[int], column: int) -> None:
    """Divide merged cells of a column that any of these rows is in; each row keeps the value."""
    of_column = [m for m in sheet.merged_cells.ranges if m.min_col <= column <= m.max_col]
    for merged in [m for m in of_column if any(m.min_row <= row <= m.max_row for row in rows)]:
        value = merged.start_cell.value
        sheet.unmerge_cells(str(merged))
        for row in range(merged.min_row, merged.max_row + 1):
            sheet.cell(row=row, column=merged.min_col).value = value


def _like(old: Any, label: str | None) -> Any:
    """The label as the kind of cell that was there, if it can be one: beside booleans and numbers may be texts."""
    if label is None or isinstance(old, str) or old is None:
        return label
    if isinstance(old, bool):
        return _BOOLEANS.get(label, label)
    return int(label) if _WHOLE_NUMBER.fullmatch(label) else label


def _packed(content: bytes, compression: str, path: Path) -> bytes:
    packers: dict[str, Callable[[bytes], bytes]] = {
        "": bytes,
        ".gz": lambda data: gzip.compress(data, mtime=0),
        ".bz2": bz2.compress,
        ".xz": lzma.compress,
        ".zst": lambda data: pa.compress(data, codec="zstd", asbytes=True),
        ".zip": lambda data: _zipped(data, path),
    }
    return packers[compression](content)


def _zipped(content: bytes, path: Path) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for member in old.infolist():
            is_table = not member.filename.endswith("/") and not member.filename.startswith("__MACOSX")
            new.writestr(member.filename, content if is_table else old.read(member))
    return out.getvalue()
