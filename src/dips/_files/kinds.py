"""What every column holds: guessed from its cells and its name, marked as a guess, and overruled by the user."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dips._files.censored import about_limits, has_limits, without_limits
from dips._files.codes import MOST_CODES, may_be_codes
from dips._files.columns import DECLARED, Column, Schema
from dips._files.dates import ISO, ambiguous_cell, dates, find_date_format, swapped
from dips._files.decimals import about_doubt, is_doubtful, read_with_commas, witness_of_commas
from dips._files.declared import declared_column
from dips._files.numbers import (
    TIMES,
    NumberStyle,
    about_unit,
    find_number_style,
    is_ambiguous,
    likeliest_style,
    numbers,
    units,
)
from dips._files.pairs import find_pair_unit, pairs
from dips._files.read import Table, is_made_by_hand
from dips._files.spelling import MOST_LABELS, find_variants, spelled
from dips._files.values import example, first_strange, is_number, is_text, is_time, texts, unread, value_counts
from dips._tools.arrays import Array
from dips._tools.wording import counted, option, some_of

_MANY = 30  # distinct texts; fewer are categories, whatever they look like
_SHARE_DISTINCT_OF_IDS = 0.98
_WORDS_OF_TEXT = 3.5  # words in a cell on average
_WORDS_OF_NOTES = 2.5  # where most cells differ
_NAMED_LIKE_AN_ID = re.compile(
    r"(^|[_\s.-])(id|uuid|guid|key|mrn|no|nr|number|index)$|^(id|uuid)[_\s.-]|[a-z]I[dD]$"
    r"|^Unnamed: \d+(\.\d+)?$|^column_1$|^level_0$",
    re.I,  # the index of a frame, which has no name
)
_DIAGNOSES = {"icd", "icd9", "icd10", "dx"}
_CODES = {"zip", "plz", "postal", "postcode", "postleitzahl", "zipcode", "icd", "icd9", "icd10", "dx", "code", "codes",
          "sic", "naics", "fips", "cpt", "drg", "phone", "telephone", "npi"}  # fmt: skip
MOSTLY_NUMBERS = "% of its cells are numbers"  # in the note of a column of categories
_MANY_NUMBERS = 0.5  # of the cells; a column of which most are numbers was probably meant to be one
_SEVERAL_WORDS = 2  # in the first row, above numbers; one may be a cell like any other
_TWO_LETTERS, _SEVERAL = r"^[A-Z]{2}$", 3  # codes of countries, and how many different ones show that they are codes
_INDEX_OF_PANDAS = re.compile(r"__index_level_\d+__")  # what a filtered frame leaves in a Parquet file
_LIKE_A_CODE = r"^[A-Za-z]{1,3}-?\d"


def understand(
    table: Table,
    drop: tuple[str, ...] = (),
    ids: tuple[str, ...] = (),
    types: Mapping[str, str] | None = None,
    group: str | None = None,
) -> Schema:
    """Find out what every column holds; the user names all that is given here, `types` of columns that were misread.

    Examples
    --------
    >>> import pandas as pd
    >>> from dips._files.read import read_table
    >>> table = read_table(pd.DataFrame({"age": ["50", "61"], "seen": ["2024-03-01", "2024-04-02"], "one": [1, 1]}))
    >>> [c.kind for c in understand(table).columns]
    ['number', 'date', 'constant']
    """
    columns, types = [], types or {}
    for name in table.names:
        if name in drop:
            columns.append(Column(name, "dropped"))
        elif name in ids or name == group:
            columns.append(_named("id" if name in ids else "group", name, table.columns[name]))
        elif name in types:
            columns.append(declared_column(name, table.columns[name], types[name]))
        else:
            columns.append(_guessed(name, table.columns[name]))
    _agree_on_days(columns, table, set(types))
    _agree_on_decimals(columns, table, {name for name, kind in types.items() if kind != "number"})
    return Schema(columns)


def about_first_row(table: Table, schema: Schema) -> list[str]:
    """Say where the first row has words above numbers: a second line of the header, or units.

    Examples
    --------
    >>> from dips._files.read import read_table
    >>> rows = [["age", "years", *["50", "61"] * 20], ["CRP", "mg/l", *["1.5", "2"] * 20]]
    >>> table = read_table(pa.table({name: cells for name, *cells in rows}))
    >>> about_first_row(table, understand(table))
    ["Row 1 has words above numbers ('years', 'mg/l'); if it belongs to the header, remove it."]
    """
    words = []
    for column in schema.columns:
        first = table.columns[column.name].slice(0, 1)
        if column.kind == "number" and is_text(first.type) and not np.isfinite(column.values(first)).any():
            words += texts(first).drop_null().to_pylist()
    if len(words) < _SEVERAL_WORDS:
        return []
    said = f"Row 1 has words above numbers ({some_of(map(repr, words), 5)}); if it belongs to the header"
    is_file = is_made_by_hand(Path(table.source))
    return [f"{said}, {option('skip_below', 1)} leaves it out." if is_file else f"{said}, remove it."]


def _named(kind: str, name: str, raw: pa.ChunkedArray) -> Column:
    """A column that the user says names rows, or groups of them."""
    cells = texts(raw) if is_text(raw.type) else raw
    column, known = Column(name, kind, n_missing=int(cells.null_count)), cells.drop_null()
    if len(known) and not pa.types.is_nested(raw.type):
        column.describe(known)
    return column


def _guessed(name: str, raw: pa.ChunkedArray) -> Column:
    n_missing = int(raw.null_count)
    if _INDEX_OF_PANDAS.fullmatch(name):
        column = _named("id", name, raw)
        column.note = f"the index of a pandas frame, so left out{_or_type(column, 'number', 'to learn from it')}"
        return column
    if n_missing == len(raw):
        return Column(name, "empty", n_missing=n_missing)
    if is_text(raw.type) or pa.types.is_boolean(raw.type):
        return _guessed_texts(name, raw)
    column = Column(name, "unreadable", n_missing=n_missing)
    if is_number(raw.type):
        column.kind = "number"
    elif is_time(raw.type):
        column.kind, column.decimal = "number", ":"
    elif pa.types.is_timestamp(raw.type) or pa.types.is_date(raw.type):
        column.kind = "date"
    else:
        return column
    known = raw.drop_null()
    column.describe(known)
    if column.n_distinct == 1 and n_missing == 0:
        column.kind = "constant"
    elif column.decimal == ":":
        column.note = "times, read as hours"
    elif column.kind == "number":
        _doubt_numbers(column, lambda: known, pa.types.is_integer(raw.type))
    return column


def _guessed_texts(name: str, raw: pa.ChunkedArray) -> Column:
    cells = texts(raw)
    known = cells.drop_null()
    column = Column(name, "category", n_missing=int(cells.null_count))
    if len(known) == 0:
        column.kind = "empty"
        return column
    column.describe(known)
    if column.n_distinct == 1 and column.n_missing == 0:
        column.kind = "constant"
    elif (style := find_number_style(known)) and not _are_compact_dates(known) and not _are_names(known, style):
        _guess_numbers(column, known, style)
    elif (date_format := find_date_format(known)) is not None:
        column.kind, column.date_format = "date", date_format
        column.note = about_dates(column, known)
    elif (unit := find_pair_unit(known)) is not None and not _is_named_like_a_code(name):
        _guess_pairs(column, known, unit)
    else:
        _guess_words(column, known)
        column.note = "; ".join(filter(None, [column.note, _about_lost_codes(raw, known)]))
    return column


def _are_compact_dates(known: pa.ChunkedArray) -> bool:
    """Eight digits that are a day of this or the last century, all of them, are dates and not amounts."""
    is_likely = pc.all(pc.match_substring_regex(known.slice(0, 100), r"^(19|20)\d{6}$")).as_py()
    return is_likely and find_date_format(known) == "%Y%m%d"


def _are_names(known: pa.ChunkedArray, style: NumberStyle) -> bool:
    """Whether numbers such as 1007P, which differ in every row, are names of rows rather than amounts in a unit."""
    if not style.unit or pc.count_distinct(known).as_py() < max(_SHARE_DISTINCT_OF_IDS * len(known), _MANY):
        return False
    return not pc.any(pc.match_substring_regex(known, r"[ .,]")).as_py()


def _guess_numbers(column: Column, known: pa.ChunkedArray, style: NumberStyle) -> None:
    column.kind, column.decimal, column.grouped, column.unit = "number", style.decimal, style.grouped, style.unit
    values = numbers(known, style)
    is_read = np.isfinite(values)
    if strange := first_strange(known, is_read):
        others = known.filter(pa.array(~is_read))
        if pc.all(pc.match_substring_regex(others, _LIKE_A_CODE)).as_py():
            column.kind = "category"
            column.note = f"codes such as {strange[1][:20]!r} among numbers; read as categories" + _or_type(
                column, "number"
            )
            return
        column.example = example(known.filter(pa.array(is_read)))
    column.note = about_numbers(column, known, style, is_read)
    if style != TIMES:
        _doubt_numbers(column, lambda: pa.array(values), bool((values == np.round(values)).all()))


def about_numbers(
    column: Column, known: pa.ChunkedArray, style: NumberStyle, is_read: Array, about_mark: str = ""
) -> str:
    """Say how numbers were written, where that is not plain, and which cells are none.

    What the file tells of the decimal mark is given; without it, doubts are said.
    """
    read = known if is_read.all() else known.filter(pa.array(is_read))
    limits = about_limits(known, is_read) if has_limits(read) else ""
    said = about_mark or _about_style(column, read, style, bool(limits))
    strange = first_strange(known, is_read)
    lost = unread(int((~is_read).sum()), "number", strange[1]) if strange else ""
    overrule = _or_type(column, "category")
    if limits and not strange and overrule not in said:
        limits += overrule
    return "; ".join(filter(None, [limits, said, lost]))


def _about_style(column: Column, read: pa.ChunkedArray, style: NumberStyle, some_are_limits: bool) -> str:
    if style == TIMES:
        return f"times such as {column.example}, read as hours{_or_type(column, 'category')}"
    known = without_limits(read) if some_are_limits else read
    if is_ambiguous(known, style) and (said := about_doubt(column, known, style)):
        return said
    if style.unit:
        return f"{about_unit(read, style.unit)}{_or_type(column, 'category')}"
    if not pc.any(pc.match_substring_regex(known.slice(0, 2_000), r"[^\d.,eE+-]")).as_py():
        return "decimal commas" if style.decimal == "," else "commas set thousands apart" if style.grouped else ""
    n_by_unit = units(known)
    if len(n_by_unit) > 1:
        return f"several units ({', '.join(list(n_by_unit)[:4])}); amounts are not converted"
    if "%" in n_by_unit and n_by_unit["%"] < len(known):
        return f"the percent sign of {n_by_unit['%']:,} of {len(known):,} numbers is ignored"
    return f"amounts in {next(iter(n_by_unit))}" if n_by_unit else ""


def _guess_pairs(column: Column, known: pa.ChunkedArray, unit: str) -> None:
    column.kind, column.unit = "pair", unit
    is_read = np.isfinite(pairs(known, unit)[:, 0])
    column.example = example(known.filter(pa.array(is_read)))
    in_unit = f" in {unit}" if unit else ""
    said = f"two numbers{in_unit}, such as {column.example}, read as such{_or_type(column, 'category')}"
    strange = first_strange(known, is_read)
    column.note = "; ".join([said, *([unread(int((~is_read).sum()), "pair", strange[1])] if strange else [])])


def _is_named_like_a_code(name: str) -> bool:
    return bool(_words(name) & _CODES) or bool(_NAMED_LIKE_AN_ID.search(name))


def _doubt_numbers(column: Column, values: Callable[[], Any], are_whole: bool) -> None:
    """Whole numbers may be codes, or name the row; codes of diagnoses have a point, too."""
    words = _words(column.name)
    if words & _DIAGNOSES or (are_whole and words & _CODES):
        column.kind = "category"
        column.note = f"codes, judging by the name; read as categories{_or_type(column, 'number')}"
    elif are_whole and _identifies(column.name, values(), column.n_distinct):
        column.kind = "id"
        column.note = f"a different number in every row, so left out{_or_type(column, 'number', 'to learn from it')}"
    elif column.n_distinct <= MOST_CODES and may_be_codes(np.asarray(values().to_numpy(), dtype=float)):
        said = f"{column.n_distinct} different numbers, such as {column.example}, that may be codes"
        column.note = "; ".join(filter(None, [column.note, said + _or_type(column, "category", "if they are")]))


def about_dates(column: Column, known: pa.ChunkedArray) -> str:
    """Say in which form dates were read, and what about it is a guess."""
    assert column.date_format is not None
    read = dates(known, column.date_format)
    said = [f"read as {column.date_format.replace('|', ' or ')}" if column.date_format != ISO else ""]
    cell = ambiguous_cell(known, column.date_format)
    if cell is not None:
        is_day_first = column.date_format.startswith("%d")
        which, other = ("day", "month") if is_day_first else ("month", "day")
        day = dates(pa.chunked_array([[cell]]), column.date_format)[0]
        said = [f"{cell} is read {which} first, as {day:%Y-%m-%d}: a guess{_or_type(column, f'date:{other}-first')}"]
    elif "%y" in column.date_format:
        said.append(f"years from {read.min():%Y} to {read.max():%Y}")
    if strange := first_strange(known, read.notna().to_numpy()):
        said.append(unread(int(read.isna().sum()), "date", strange[1]))
    return "; ".join(filter(None, said))


def _agree_on_days(columns: list[Column], table: Table, told: set[str]) -> None:
    """Where day or month come first is open in one column, the other columns of the file may tell."""
    decided = {}
    for column in columns:
        if column.date_format and swapped(column.date_format) and "a guess" not in column.note:
            decided[column.date_format[2]] = (column.date_format[:2], column.name)
    for column in columns:
        if column.name in told or column.date_format is None or "a guess" not in column.note:
            continue
        first, witness = decided.get(column.date_format[2], (None, None))
        if first is None:
            continue
        if not column.date_format.startswith(first):
            column.date_format = swapped(column.date_format)
        known = texts(table.columns[column.name]).drop_null()
        column.note = f"{about_dates(column, known)}; {witness!r} has the same order"


def _agree_on_decimals(columns: list[Column], table: Table, told: set[str]) -> None:
    """Where 4.129 may be a thousand or a fraction, it is the former if another column has decimal commas for sure."""
    doubtful = [c for c in columns if c.name not in told and is_doubtful(c, table.columns[c.name])]
    witness = witness_of_commas(columns, table) if doubtful else None
    if witness is None:
        return
    for column in doubtful:
        known = texts(table.columns[column.name]).drop_null()
        about_mark = read_with_commas(column, known, witness)
        declared = f"{DECLARED}; " if column.is_declared else ""
        is_read = np.isfinite(numbers(known, column.style))
        column.note = declared + about_numbers(column, known, column.style, is_read, about_mark)


def _guess_words(column: Column, known: pa.ChunkedArray) -> None:
    """Texts that are neither numbers nor dates: categories, free text, or names of the rows."""
    if pc.any(pc.match_substring_regex(known, r"^[+-]?0\d+$")).as_py() and find_digits(known):
        column.note = f"some begin with 0, so they are codes{_or_type(column, 'number')}"
    if column.n_distinct <= _MANY:
        column.note = column.note or _about_spellings(column, known)
        return
    n_words = pc.mean(pc.add(pc.count_substring(known, " "), 1)).as_py()
    share_distinct = column.n_distinct / len(known)
    if n_words >= _WORDS_OF_TEXT or (n_words >= _WORDS_OF_NOTES and share_distinct > 0.5):
        column.kind = "text"
        column.note = f"read as free text, {n_words:.0f} words on average{_or_type(column, 'category')}"
    elif share_distinct >= _SHARE_DISTINCT_OF_IDS and n_words < 1.5 and not _words(column.name) & _CODES:
        column.kind = "id"
        column.note = f"a different text in every row, so left out{_or_type(column, 'category', 'to learn from it')}"
    elif note := _about_other_cells(column, known) or _about_spellings(column, known):
        column.note = note
    elif share_distinct > 0.5:
        others = " or ".join(option("type", (column.name, kind)) for kind in ("text", "ignore"))
        column.note = f"{column.n_distinct:,} categories in {len(known):,} cells; {others} if they are not"


def _about_other_cells(column: Column, known: pa.ChunkedArray) -> str:
    """Say where most texts are numbers, as in laboratory values of which some are 'neg.'; codes are not."""
    if _words(column.name) & _CODES or pc.any(pc.match_substring_regex(known, r"^[+-]?0\d")).as_py():
        return ""
    is_read = np.isfinite(numbers(known, likeliest_style(known)))
    strange = first_strange(known, is_read)
    if strange is None or is_read.mean() < _MANY_NUMBERS:
        return ""
    as_number = _or_type(column, "number", "reads the others as missing")
    but = f"but some are not, such as {strange[1][:20]!r}, so it is read as categories"
    return f"{100 * is_read.mean():.0f} {MOSTLY_NUMBERS}, {but}{as_number}"


def _about_spellings(column: Column, known: pa.ChunkedArray) -> str:
    """Say which categories look like one; nothing is merged, since only the user knows whether m and M are the same."""
    variants = find_variants(value_counts(known)) if column.n_distinct <= MOST_LABELS else []
    if not variants:
        return ""
    return f"{spelled(variants)} look like spellings of one category, and are learned as several; write them alike"


def _about_lost_codes(raw: pa.ChunkedArray, known: pa.ChunkedArray) -> str:
    """Say where NA stands among codes of two letters, such as those of countries: it may be Namibia."""
    is_code = pc.match_substring_regex(known, _TWO_LETTERS)
    if not pc.all(is_code).as_py() or pc.count_distinct(known).as_py() < _SEVERAL:
        return ""
    n_lost = value_counts(texts(raw, keep=("NA",))).get("NA", 0)
    if not n_lost:
        return ""
    return f"'NA' ({counted(n_lost, 'cell')}) is read as missing; if it is a code, as Namibia's is, write another: NAM"


def find_digits(known: pa.ChunkedArray) -> bool:
    """Whether all texts are digits alone."""
    return bool(pc.all(pc.match_substring_regex(known, r"^\d+$")).as_py())


def _identifies(name: str, known: Any, n_distinct: int) -> bool:
    """Whether whole numbers name their row: all distinct, and either named like an id or simply counting up."""
    if n_distinct < len(known) or n_distinct <= _MANY:
        return False
    steps = np.diff(np.asarray(known.to_numpy(), dtype=float))
    return bool(_NAMED_LIKE_AN_ID.search(name)) or bool((steps == 1).all())


def _words(name: str) -> set[str]:
    """Words of a column's name, whether set apart by marks or by capital letters."""
    return {w.lower() for w in re.findall(r"[A-Z]?[a-z]+\d*|[A-Z]+\d*(?![a-z])", name)} | {name.lower()}


def _or_type(column: Column, kind: str, when: str = "if that is wrong") -> str:
    return f"; {option('type', (column.name, kind))} {when}"
