"""Corrections: what somebody who has checked labels says of them, from a file to labels that are verified."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dips._data.labels import encode_values
from dips._files.read import Table, read_table
from dips._files.values import is_number, texts
from dips._tools.arrays import Array, Rows
from dips._tools.wording import some_of
from dips.exceptions import DataError

KEEP, UNLABEL = "keep", "unlabeled"
_LOOKED_AT = ("given_label", "given")  # columns of lists and pages with the label that somebody has looked at
_FIRST = {"row": 1, "image": 0}  # columns that count rows, and the number of the first row
_LONGEST_NUMBER = 18  # digits of a row's
_STARTS_A_FORMULA = ("=", "+", "-", "@")


@dataclass(frozen=True)
class Corrected:
    """Labels after corrections.

    Attributes
    ----------
    y : (n,) labels as objects, None where a row has none
    verified : (n,) mask of the labels that were checked, changed or not
    y_given : (n,) labels as they were before
    """

    y: Array
    verified: Array
    y_given: Array

    @property
    def n_changed(self) -> int:
        """How many labels were checked and found to be wrong."""
        return int(sum(a is not None and a != b for a, b in zip(self.y_given, self.y, strict=True)))


@dataclass(frozen=True)
class Corrections:
    """The lines of a file of corrections; :meth:`apply` puts them on labels.

    Attributes
    ----------
    source : where they came from, for messages
    labels : a class, "keep" or "unlabeled", one per line
    rows : position of the row on each line, None where the file has no numbers of rows
    columns : all other columns of the file, as texts; the keys of rows are among them
    """

    source: str
    labels: list[str]
    rows: list[int | None]
    columns: dict[str, list[str | None]] = field(repr=False)

    def __len__(self) -> int:
        return len(self.labels)

    def apply(self, y: Any, keys: Any = None) -> Corrected:
        """Return the corrected labels, which of them are verified, and the labels as they were before.

        Parameters
        ----------
        y : column (n,)
            Labels; a missing value (None, NaN, pd.NA) where a row has none.
        keys : data frame, optional
            Columns that name a row; those that the file has, too, find the rows.

        Examples
        --------
        >>> import pandas as pd
        >>> corrections = read_corrections(pd.DataFrame({"row": [1, 3], "label": ["well", "keep"]}))
        >>> after = corrections.apply(["ill", "ill", "well"])
        >>> after.y.tolist(), after.verified.tolist()
        (['well', 'ill', 'well'], [True, False, True])
        """
        read = encode_values(y)
        known = {str(c): code for code, c in enumerate(read.classes.tolist())}
        named = {} if keys is None else key_columns(read_table(keys))
        rows = self.find(read.codes.size, named)
        self._refuse_repeated(rows)
        if self.go_by_number(named):
            self._refuse_other_labels(rows, read.codes, known)
        codes, verified = read.codes.copy(), np.zeros(read.codes.size, dtype=bool)
        for line, (row, label) in enumerate(zip(rows, self.labels, strict=True)):
            codes[row] = self._code(line, label, known, int(codes[row]))
            verified[row] = codes[row] >= 0
        return Corrected(read.decode_or_none(codes), verified, read.decode_or_none(read.codes))

    def _code(self, line: int, label: str, known: dict[str, int], given: int) -> int:
        """Code of the label after the correction, -1 for none."""
        if label in (KEEP, UNLABEL) and label in known:
            raise DataError(
                f"{self._line(line)} says {label!r}, which is a class of the table but means something else here; "
                "give the class another name."
            )
        if label == KEEP and given < 0:
            raise DataError(f"{self._line(line)} says 'keep', but the row has no label to keep; write a class.")
        if label in (KEEP, UNLABEL):
            return given if label == KEEP else -1
        name = _known_as(label, known)
        if name is None:
            raise DataError(
                f"{self._line(line)} gives the label {label!r}; write 'keep', 'unlabeled' or a class of the table: "
                f"{some_of(known)}."
            )
        return known[name]

    def renamed(self, names: Mapping[str, str], classes: Iterable[Any]) -> Corrections:
        """Return the corrections with the present names of classes that were renamed since somebody looked."""
        known = {str(c): code for code, c in enumerate(classes)}

        def now(cell: Any) -> Any:
            return cell if _known_as(cell, known) else names.get(cell, cell)

        labels = [label if label in (KEEP, UNLABEL) else now(label) for label in self.labels]
        looked_at = {name: [*map(now, self.columns[name])] for name in _LOOKED_AT if name in self.columns}
        return replace(self, labels=labels, columns=self.columns | looked_at)

    @property
    def looked_at(self) -> list[str | None]:
        """The label that somebody has looked at on each line, None where the file does not say it."""
        return next((self.columns[name] for name in _LOOKED_AT if name in self.columns), [None] * len(self))

    def go_by_number(self, keys: Iterable[str]) -> bool:
        """Whether rows are found by their numbers alone, because the file has none of the columns of keys."""
        return not any(name in self.columns for name in keys)

    def find(self, n_rows: int, keys: dict[str, list[str | None]]) -> Rows:
        """Position of each line's row: by its number, where the row still has the key, or else by the key."""
        shared = [name for name in keys if name in self.columns]
        if not shared and all(row is None for row in self.rows):
            wanted = f"{' and '.join(map(repr, keys))}, or 'row'" if keys else "'row'"
            raise DataError(f"{self.source} does not say which rows it is about; it needs the column {wanted}.")
        if not shared:
            return np.array([self._by_number(line, row, n_rows) for line, row in enumerate(self.rows)], dtype=np.intp)
        of_table = list(zip(*(keys[name] for name in shared), strict=True))
        of_lines = list(zip(*(self.columns[name] for name in shared), strict=True))
        places: dict[Any, list[int]] = {}
        for row, key in enumerate(of_table):
            places.setdefault(key, []).append(row)
        for key, rows in _without_zeros(places).items():
            places.setdefault(key, rows)
        return np.array(
            [self._by_key(line, of_lines[line], places, of_table) for line in range(len(self))], dtype=np.intp
        )

    def _by_number(self, line: int, row: int | None, n_rows: int) -> int:
        if row is None or not 0 <= row < n_rows:
            raise DataError(
                f"{self._line(line)} names a row that the table does not have; it has {n_rows:,}, and 'row' counts "
                "them from 1, 'image' from 0."
            )
        return row

    def _by_key(self, line: int, key: Any, places: dict[Any, list[int]], of_table: list[Any]) -> int:
        row, forms = self.rows[line], _key_forms(key)
        matching = next((places[form] for form in forms if form in places), [])
        if row is not None and 0 <= row < len(of_table) and (of_table[row] in forms or row in matching):
            return row
        if len(matching) != 1:
            there = "no row of the table has" if not matching else f"{len(matching)} rows of the table have"
            raise DataError(
                f"{self._line(line)} names {', '.join(map(str, key))!r}, which {there}; name one row, by a key that no "
                "two rows share or by 'row'."
            )
        return matching[0]

    def _refuse_other_labels(self, rows: Rows, codes: Array, known: dict[str, int]) -> None:
        """Refuse a line about a label that its row does not have, so that the row is not the one that was looked at.

        A table in which the correction was made already has the label of the line. A label that is no class may have
        got another name since then, the same one on all lines.
        """
        names = {code: repr(name) for name, code in known.items()} | {-1: "missing"}
        renamed: dict[str, int] = {}
        for line, (row, cell) in enumerate(zip(rows, self.looked_at, strict=True)):
            seen, said = (_known_as(text, known) for text in (cell, self.labels[line]))
            now, corrected = int(codes[row]), -1 if self.labels[line] == UNLABEL else known.get(said or "")
            if cell is None or now == corrected:
                continue
            before = renamed.setdefault(cell, now) if seen is None else known[seen]
            if now == before:
                continue
            about = f"is about the label {seen!r}, but that of the row is {names[now]}"
            if seen is None:
                about = (
                    f"is about the label {cell!r}, which is no class of the table and may have got another name, but "
                    f"that of the row is {names[now]}, and that of an earlier line {names[before]}"
                )
            raise DataError(
                f"{self._line(line)} {about}. Rows are found by their number here, so the table must be the one that "
                "was checked, with its rows in the same order; or give both an id."
            )

    def _refuse_repeated(self, rows: Rows) -> None:
        first: dict[int, int] = {}
        for line, row in enumerate(rows.tolist()):
            if row in first:
                labels = self.labels[first[row]], self.labels[line]
                contradict = "" if labels[0] == labels[1] else f", as {labels[0]!r} and as {labels[1]!r}"
                raise DataError(
                    f"{self._line(line)} is about the same row as an earlier one{contradict}; keep one line per row."
                )
            first[row] = line

    def _line(self, line: int) -> str:
        """What a line is about, to begin a message with."""
        row, names = self.rows[line], {"label", "reviewer", "time", *_LOOKED_AT}
        key = next((c[line] for name, c in self.columns.items() if name not in names and c[line] is not None), None)
        about = f"row {row + 1}" if row is not None else f"{key!r}" if key is not None else "no row"
        return f"A line of {self.source} (about {about})"


def read_corrections(source: Any, keep_label: Sequence[str] = ()) -> Corrections:
    """Read a file of corrections, or take a data frame.

    Parameters
    ----------
    source : path, data frame or Corrections
        A column ``label`` (a class, "keep" or "unlabeled") and columns that name the row: its key, or ``row``, counted
        from 1, or ``image``, counted from 0. Lines without a label are skipped.
    keep_label : list
        Classes whose names usually mean "no label", such as NA or None; lines that give them are not skipped.

    Examples
    --------
    >>> import pandas as pd
    >>> len(read_corrections(pd.DataFrame({"row": [1, 2], "label": ["ill", None]})))
    1
    """
    if isinstance(source, Corrections):
        return source
    table = read_table(source)
    if "label" not in table.names:
        raise DataError(
            f"{table.subject} has no column 'label', which says what a label should be; it has {some_of(table.names)}."
        )
    columns = key_columns(table, [name for name in table.names if name != "label"])
    labels = key_columns(table, ["label"], tuple(keep_label))["label"]
    kept = [line for line, label in enumerate(labels) if label is not None]
    counting = [name for name in _FIRST if name in columns]
    numbers: list[int | None] = [None] * len(labels)
    if counting:
        numbers = [_row_number(cell, counting[0], table.source) for cell in columns.pop(counting[0])]
    return Corrections(
        table.source,
        [str(labels[line]) for line in kept],
        [numbers[line] for line in kept],
        {name: [cells[line] for line in kept] for name, cells in columns.items()},
    )


def _row_number(cell: str | None, name: str, source: str) -> int | None:
    if cell is None:
        return None
    if not cell.isdecimal() or len(cell) > _LONGEST_NUMBER:
        cell = cell if len(cell) < 60 else f"{cell[:60]}…"
        raise DataError(f"The column {name!r} of {source} holds {cell!r}; it is the number of a row.")
    return int(cell) - _FIRST[name]


def key_columns(
    table: Table, names: Sequence[str] | None = None, keep: tuple[str, ...] = ()
) -> dict[str, list[str | None]]:
    """Columns as texts, a whole number without its decimals: files write the same key in several ways.

    Words for "missing" are missing, except those in `keep`.
    """
    columns = {}
    for name in table.names if names is None else names:
        column = table.columns[name]
        if is_number(column.type) and not pa.types.is_integer(column.type):
            values = column.cast(pa.float64(), safe=False)
            whole = pc.all(pc.equal(values, pc.round(values)), skip_nulls=True).as_py()
            column = pc.if_else(pc.is_nan(values), None, values).cast(pa.int64() if whole else pa.float64())
        elif pa.types.is_temporal(column.type) or pa.types.is_dictionary(column.type):
            column = column.cast(pa.string())
        elif pa.types.is_nested(column.type) or pa.types.is_binary(column.type):
            continue
        columns[name] = texts(column, keep).to_pylist()
    return columns


def _forms(cell: str) -> list[str]:
    """How a text may be meant: as it is, without an apostrophe that keeps spreadsheets from running it, or whole.

    Spreadsheets write True as TRUE.
    """
    forms = [cell, cell.capitalize(), cell.lower()] if cell in ("TRUE", "FALSE") else [cell]
    if cell.startswith("'") and cell[1:].startswith(_STARTS_A_FORMULA):
        forms.append(cell[1:])
    if cell.endswith(".0"):
        forms.append(cell[:-2])
    return forms


def _known_as(cell: str | None, known: dict[str, int]) -> str | None:
    """Return the class that a text names, if it does."""
    return None if cell is None else next((form for form in _forms(cell) if form in known), None)


def _without_zeros(places: Mapping[Any, list[int]]) -> dict[Any, list[int]]:
    """Rows by their keys as spreadsheets write them: of 007 they leave 7."""
    bare: dict[Any, list[int]] = {}
    for key, rows in places.items():
        short = tuple(cell.lstrip("0") or "0" if cell is not None and cell.isdecimal() else cell for cell in key)
        bare.setdefault(short, []).extend(rows)
    return bare


def _key_forms(key: Sequence[str | None]) -> list[tuple[str | None, ...]]:
    bare = tuple(cell if cell is None else _forms(cell)[-1] for cell in key)
    return [tuple(key), bare]
