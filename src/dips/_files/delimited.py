"""Delimited text: encoding, delimiter and header are detected; every cell is kept as text."""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from dips._files.preamble import find_header, is_number, preamble_note, unnamed_note
from dips._tools.wording import counted, option
from dips.exceptions import DataError

_HEAD = 1 << 18
_BLOCK = 1 << 24  # the longest row that can be read
_SMALL_BLOCK = 1 << 22  # read in batches, a row is shorter
_LINES = 200  # enough to find the delimiter and the header
_DELIMITERS = (",", ";", "\t", "|")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True)
class Dialect:
    """How a text file is written.

    Attributes
    ----------
    encoding, delimiter : of the text, of the cells
    header : names of the columns
    n_above : lines above them
    notes : what was guessed
    """

    encoding: str
    delimiter: str
    header: list[str]
    n_above: int
    notes: list[str]


def read_delimited(
    open_bytes: Callable[[], BinaryIO],
    source: str,
    tabs: bool = False,
    skip_rows: int | None = None,
    wanted: Collection[str] = (),
    skip_below: int = 0,
) -> tuple[pa.Table, str, list[str]]:
    """Return the table (all text), its source, and notes on what was guessed; see :func:`find_dialect`.

    Rows right below the header are left out as rows, so that empty lines do not count.
    """
    dialect = find_dialect(open_bytes, source, tabs, skip_rows, wanted)
    try:
        with open_bytes() as stream:
            table = pa.csv.read_csv(_of_arrow(stream), **_options(dialect))
    except pa.ArrowInvalid:
        invalid: list[pa.csv.InvalidRow] = []
        with open_bytes() as stream:  # once more, to learn which lines do not fit
            pa.csv.read_csv(stream, **_options(dialect, invalid))
        if not invalid:
            raise
        _refuse_ragged(invalid, dialect.delimiter, source)
    table = table.slice(skip_below)
    _refuse_repeated_header(table, source)
    return table, source, dialect.notes


def iterate_delimited(open_bytes: Callable[[], BinaryIO], dialect: Dialect, source: str) -> Iterator[pa.RecordBatch]:
    """Yield the rows in batches, so that a file need not fit into memory."""
    invalid: list[pa.csv.InvalidRow] = []
    with (
        open_bytes() as stream,
        pa.csv.open_csv(stream, **_options(dialect, invalid, _SMALL_BLOCK)) as reader,
    ):
        for batch in reader:
            if invalid:
                _refuse_ragged(invalid, dialect.delimiter, source)
            yield batch


def find_dialect(
    open_bytes: Callable[[], BinaryIO],
    source: str,
    tabs: bool = False,
    skip_rows: int | None = None,
    wanted: Collection[str] = (),
) -> Dialect:
    """Find out how a file is written.

    Where the lines above the header are not counted in `skip_rows`, they are found out; the header holds the `wanted`
    names.
    """
    encoding, notes = _encoding(open_bytes, source)
    with open_bytes() as stream:
        head = stream.read(_HEAD)
    text = codecs.getincrementaldecoder("utf-8-sig" if encoding == "utf-8" else encoding)("replace").decode(head)
    if "\x00" in text:
        raise DataError(f"{source} is not a text file: it holds zero bytes; export it as CSV or Parquet.")
    delimiter = "\t" if tabs else find_delimiter(text)
    lines = list(io.StringIO(text, newline=""))[:_LINES]
    n_above = skip_rows
    if n_above is None:
        n_above = (
            0
            if _begins_with_header_of_several_lines(text, delimiter)
            else find_header(_cells(lines, delimiter), wanted)
        )
    try:
        header = next(csv.reader(io.StringIO("".join(lines[n_above:]), newline=""), delimiter=delimiter), [])
    except csv.Error as error:
        raise DataError(f"The first line of {source} cannot be read as column names: {error}.") from error
    title = next((line.strip() for line in lines[:n_above] if line.strip()), "")
    if title and skip_rows is None:
        notes.append(preamble_note(source, n_above, title.strip(delimiter), option("skip_rows")))
    _refuse_missing_header(header, source)
    notes += filter(None, [unnamed_note(source, header)])
    return Dialect(encoding, delimiter, header, n_above, notes)


def find_delimiter(text: str) -> str:
    r"""Return the delimiter that splits the first lines into the most columns, the same number in each.

    Examples
    --------
    >>> find_delimiter("name;price\nbread;1,50\nmilk;0,90\n")
    ';'
    """
    lines = text.splitlines(keepends=True)
    complete = "".join(lines[:-1][:_LINES]) if len(lines) > 1 else text
    best, best_key = ",", (0.0, 0)
    for delimiter in _DELIMITERS:
        try:
            widths = [len(row) for row in csv.reader(io.StringIO(complete, newline=""), delimiter=delimiter) if row]
        except csv.Error:
            continue
        usual = Counter(w for w in widths if w > 1).most_common(1)  # a title above the header has another width
        if not usual:
            continue
        key = (usual[0][1] / len(widths), usual[0][0])
        if key > best_key:
            best, best_key = delimiter, key
    return best


def _begins_with_header_of_several_lines(text: str, delimiter: str) -> bool:
    """Whether the first names are quoted and hold line breaks, and the next row has as many cells."""
    try:
        header, row = islice(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), 2)
    except (csv.Error, ValueError):  # fewer than two rows
        return False
    return len(header) == len(row) > 1 and any("\n" in name.strip() for name in header)


def _cells(lines: list[str], delimiter: str) -> list[list[str]]:
    """Cells of each line by itself: what stands above a header need not be quoted as the table is."""
    cells = []
    for line in lines:
        try:
            cells.append(next(csv.reader([line], delimiter=delimiter), []))
        except csv.Error:  # a cell of a size that no name has
            cells.append([])
    return cells


def _encoding(open_bytes: Callable[[], BinaryIO], source: str) -> tuple[str, list[str]]:
    """Return the encoding of the byte order mark; without one, UTF-8 if the whole file is valid, else a Western one."""
    with open_bytes() as stream:
        block = stream.read(1 << 22)
        for mark, encoding in _MARKS:
            if block.startswith(mark) and encoding != "utf-8":
                return encoding, []
        is_marked = block.startswith(codecs.BOM_UTF8)
        decoder, n_before = codecs.getincrementaldecoder("utf-8")(), 0
        try:
            while block:
                decoder.decode(block)
                n_before += len(block)
                block = stream.read(1 << 22)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError as error:
            if is_marked:
                raise DataError(
                    f"{source} begins as UTF-8, but byte {n_before + error.start} is not; export it in one encoding."
                ) from None
            western = _western(open_bytes)
            return western, [
                f"{source} is not UTF-8 (byte {n_before + error.start}); it is read as {western}. Check the accents."
            ]
    return "utf-8", []


def _western(open_bytes: Callable[[], BinaryIO]) -> str:
    """Windows-1252 leaves five bytes undefined; a file with one of them is Latin-1."""
    with open_bytes() as stream:
        while block := stream.read(1 << 22):
            if any(byte in block for byte in (b"\x81", b"\x8d", b"\x8f", b"\x90", b"\x9d")):
                return "latin-1"
    return "cp1252"


def _of_arrow(stream: BinaryIO) -> Any:
    """Open a plain file for Arrow alone; the same goes for functions, which :func:`_options` hands to no thread.

    A thread of Arrow that gives something of Python back while Python exits aborts the process
    (https://github.com/apache/arrow/issues/34314).
    """
    return pa.OSFile(stream.name) if isinstance(getattr(stream, "raw", None), io.FileIO) else stream


def _options(dialect: Dialect, invalid: list[pa.csv.InvalidRow] | None = None, block: int = _BLOCK) -> dict[str, Any]:
    """Options of the reader; rows that do not fit are put into the list, in order, or refused where there is none."""

    def note(row: pa.csv.InvalidRow) -> str:
        assert invalid is not None
        invalid.append(row)
        return "skip"

    return {
        "read_options": pa.csv.ReadOptions(
            encoding=dialect.encoding, use_threads=invalid is None, block_size=block, skip_rows=dialect.n_above
        ),
        "parse_options": pa.csv.ParseOptions(
            delimiter=dialect.delimiter, newlines_in_values=True, invalid_row_handler=None if invalid is None else note
        ),
        "convert_options": pa.csv.ConvertOptions(
            column_types=dict.fromkeys(dialect.header, pa.string()),
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=True,
        ),
    }


def _refuse_missing_header(header: list[str], source: str) -> None:
    named = [name.strip() for name in header if name.strip()]
    if not named:
        raise DataError(f"The first line of {source} names no column; put the column names there.")
    if len(named) > 1 and all(is_number(name) for name in named):
        raise DataError(
            f"The first line of {source} looks like data ({', '.join(named[:3])}, …), not like column names; "
            "add a first line with the names."
        )


def _refuse_ragged(invalid: list[pa.csv.InvalidRow], delimiter: str, source: str) -> None:
    first, n_more = invalid[0], len(invalid) - 1
    more = counted(n_more, "other line does not fit either", "other lines do not fit either")
    name = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "bar"}[delimiter]
    raise DataError(
        f"Line {first.number} of {source} has {counted(first.actual_columns, 'cell')} and the header has "
        f"{first.expected_columns}{f', and {more}' if n_more else ''}; put cells that hold "
        f"a {name} into double quotes, and give every line as many cells as the header."
    )


def _refuse_repeated_header(table: pa.Table, source: str) -> None:
    """Refuse files that were put one under the other: the name of the target would be one more class."""
    if table.num_columns < 2:
        return
    rows = pa.array(np.arange(table.num_rows))
    for cells, name in zip(table.columns, table.column_names, strict=True):
        is_name = pc.equal(pc.fill_null(cells.take(rows), ""), name)
        rows = rows.filter(is_name.combine_chunks())
        if not len(rows):
            return
    n_more = len(rows) - 1
    more = f", and {counted(n_more, 'other row does', 'other rows do')}" if n_more else ""
    raise DataError(
        f"Row {rows[0].as_py() + 1} of {source} repeats the header{more}, as if files had been joined; "
        "remove such lines, or name the files one by one."
    )
