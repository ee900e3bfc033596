"""Delimited text: encoding, delimiter and header are detected; every cell is kept as text."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Callable
from typing import BinaryIO

import pyarrow as pa
import pyarrow.csv

from dips.exceptions import DataError

_HEAD = 1 << 18
_BLOCK = 1 << 24  # the longest row that can be read
_DELIMITERS = (",", ";", "\t", "|")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def read_delimited(
    open_bytes: Callable[[], BinaryIO], source: str, tabs: bool = False
) -> tuple[pa.Table, str, list[str]]:
    """Return the table (all text), its source, and notes on what was guessed."""
    encoding, delimiter, header, notes = find_layout(open_bytes, source, tabs)
    table, invalid = _parse(open_bytes, encoding, delimiter, header)
    if invalid:
        _, invalid = _parse(open_bytes, encoding, delimiter, header, in_order=True)  # once more, with line numbers
        _refuse_ragged(invalid, delimiter, source)
    return table, source, notes


def find_layout(
    open_bytes: Callable[[], BinaryIO], source: str, tabs: bool = False
) -> tuple[str, str, list[str], list[str]]:
    """Return the encoding, the delimiter and the header, and notes on what was guessed."""
    encoding, notes = _encoding(open_bytes, source)
    with open_bytes() as stream:
        head = stream.read(_HEAD)
    text = codecs.getincrementaldecoder("utf-8-sig" if encoding == "utf-8" else encoding)("replace").decode(head)
    if "\x00" in text:
        raise DataError(f"{source} is not a text file: it holds zero bytes; export it as CSV or Parquet.")
    delimiter = "\t" if tabs else find_delimiter(text)
    try:
        header = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), [])
    except csv.Error as error:
        raise DataError(f"The first line of {source} cannot be read as column names: {error}.") from error
    _refuse_missing_header(header, source)
    return encoding, delimiter, header, notes


def find_delimiter(text: str) -> str:
    r"""Return the delimiter that splits the first lines into the most columns, the same number in each.

    Examples
    --------
    >>> find_delimiter("name;price\nbread;1,50\nmilk;0,90\n")
    ';'
    """
    lines = text.splitlines(keepends=True)
    complete = "".join(lines[:-1][:200]) if len(lines) > 1 else text
    best, best_key = ",", (0.0, 0)
    for delimiter in _DELIMITERS:
        try:
            widths = [len(row) for row in csv.reader(io.StringIO(complete, newline=""), delimiter=delimiter) if row]
        except csv.Error:
            continue
        if not widths or widths[0] < 2:
            continue
        key = (sum(w == widths[0] for w in widths) / len(widths), widths[0])
        if key > best_key:
            best, best_key = delimiter, key
    return best


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


def _parse(
    open_bytes: Callable[[], BinaryIO], encoding: str, delimiter: str, header: list[str], in_order: bool = False
) -> tuple[pa.Table, list[pa.csv.InvalidRow]]:
    invalid: list[pa.csv.InvalidRow] = []

    def note(row: pa.csv.InvalidRow) -> str:
        invalid.append(row)
        return "skip"

    with open_bytes() as stream:
        table = pa.csv.read_csv(
            stream,
            read_options=pa.csv.ReadOptions(encoding=encoding, use_threads=not in_order, block_size=_BLOCK),
            parse_options=pa.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True, invalid_row_handler=note),
            convert_options=pa.csv.ConvertOptions(
                column_types=dict.fromkeys(header, pa.string()),
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=True,
            ),
        )
    return table, invalid


def _refuse_missing_header(header: list[str], source: str) -> None:
    named = [name.strip() for name in header if name.strip()]
    if not named:
        raise DataError(f"The first line of {source} names no column; put the column names there.")
    if len(named) > 1 and all(_is_number(name) for name in named):
        raise DataError(
            f"The first line of {source} looks like data ({', '.join(named[:3])}, …), not like column names; "
            "add a first line with the names."
        )


def _refuse_ragged(invalid: list[pa.csv.InvalidRow], delimiter: str, source: str) -> None:
    first, more = invalid[0], len(invalid) - 1
    name = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "bar"}[delimiter]
    raise DataError(
        f"Line {first.number} of {source} has {first.actual_columns} cells and the header has "
        f"{first.expected_columns}{f', and {more} other lines do not fit either' if more else ''}; put cells that hold "
        f"a {name} into double quotes, and give every line as many cells as the header."
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
