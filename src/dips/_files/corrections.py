"""Corrections: what somebody who has checked labels says of them, from a file to labels that are verified."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dips._data.labels import encode_values
from dips._files.read import read_table
from dips._files.row_keys import KeyedRows, in_words, key_columns, written_forms
from dips._tools.arrays import Array, Rows
from dips._tools.wording import some_of
from dips.exceptions import DataError

KEEP, UNLABEL = "keep", "unlabeled"
_LOOKED_AT = ("given_label", "given")  # columns of lists and pages with the label that somebody has looked at
_OF_OURS = {"given_label", "reviewer", "time"}  # what a file that dips writes after a review says besides the row
_FIRST = {"row": 1, "image": 0}  # columns that count rows, and the number of the first row
_LONGEST_NUMBER = 18  # digits of a row's


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
    columns : all other columns of the file, as texts; numbers and keys of rows are among them
    """

    source: str
    labels: list[str]
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

    def go_by_number(self, keys: Collection[str]) -> bool:
        """Whether rows are found by their numbers alone, because the file has none of the columns of keys."""
        return not self._held(keys)

    def find(self, n_rows: int, keys: dict[str, list[str | None]]) -> Rows:
        """Position of each line's row: by its number, where the row still has the key, or else by the key."""
        held = self._held(keys)
        numbers = self._numbers(held)
        if not held and all(row is None for row in numbers):
            wanted = f"{' and '.join(map(repr, keys))}, or 'row'" if keys else "'row'"
            raise DataError(f"{self.source} does not say which rows it is about; it needs the column {wanted}.")
        if not held:
            return np.array([self._by_number(line, row, n_rows) for line, row in enumerate(numbers)], dtype=np.intp)
        of_table = zip(*(keys[name] for name in held), strict=True)
        of_lines = list(zip(*(self.columns[column] for column in held.values()), strict=True))
        keyed = KeyedRows(of_table, of_lines)
        found = [self._by_key(line, numbers[line], key, keyed) for line, key in enumerate(of_lines)]
        return np.array(found, dtype=np.intp)

    def _held(self, keys: Iterable[str]) -> dict[str, str]:
        """The column of the file that holds each key, if one does.

        Lists of dips call a key otherwise where they have a column of that name: ``time (input)``.
        """
        is_ours = self.columns.keys() >= _OF_OURS and not self.columns.keys().isdisjoint(_FIRST)
        taken = {*_FIRST, *_OF_OURS} if is_ours else set()
        columns = {name: f"{name} (input)" if f"{name} (input)" in self.columns else name for name in keys}
        return {name: column for name, column in columns.items() if column in self.columns and column not in taken}

    def _numbers(self, held: Mapping[str, str]) -> list[int | None]:
        """Position of the row on each line, None where the file has none; a column that holds a key does not count."""
        name = next((name for name in _FIRST if name in self.columns), None)
        if name is None or name in held.values():
            return [None] * len(self)
        return [_row_number(cell, name, self.source) for cell in self.columns[name]]

    def _by_number(self, line: int, row: int | None, n_rows: int) -> int:
        if row is None or not 0 <= row < n_rows:
            raise DataError(
                f"{self._line(line)} names a row that the table does not have; it has {n_rows:,}, and 'row' counts "
                "them from 1, 'image' from 0."
            )
        return row

    def _by_key(self, line: int, row: int | None, key: Sequence[str | None], keyed: KeyedRows) -> int:
        if row is not None and keyed.may_be(row, key):
            return row
        rows = keyed.find(key)
        if len(rows) != 1:
            there = f"{len(rows):,} rows of the table have" if rows else "no row of the table has"
            written = list(dict.fromkeys(in_words(keyed.keys[row]) for row in rows))
            there += f", as {' and '.join(map(repr, written[:2]))}" if len(written) > 1 else ""
            raise DataError(
                f"{self._line(line)} names {in_words(key)!r}, which {there}; name one row, by a key that no two rows "
                "share or by 'row'."
            )
        return rows[0]

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
        names = {"label", "reviewer", "time", *_LOOKED_AT}
        named = [(name, c[line]) for name, c in self.columns.items() if name not in names and c[line] is not None]
        number = next((f"{name} {cell}" for name, cell in named if name in _FIRST), None)
        about = number or (repr(named[0][1]) if named else "no row")
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
    table = read_table(source, to_the_end=True)
    if "label" not in table.names:
        raise DataError(
            f"{table.subject} has no column 'label', which says what a label should be; it has {some_of(table.names)}."
        )
    columns = key_columns(table, [name for name in table.names if name != "label"])
    labels = key_columns(table, ["label"], tuple(keep_label))["label"]
    kept = [line for line, label in enumerate(labels) if label is not None]
    return Corrections(
        table.source,
        [str(labels[line]) for line in kept],
        {name: [cells[line] for line in kept] for name, cells in columns.items()},
    )


def _row_number(cell: str | None, name: str, source: str) -> int | None:
    if cell is None:
        return None
    if not cell.isdecimal() or len(cell) > _LONGEST_NUMBER:
        cell = cell if len(cell) < 60 else f"{cell[:60]}…"
        raise DataError(f"The column {name!r} of {source} holds {cell!r}; it is the number of a row.")
    return int(cell) - _FIRST[name]


def _known_as(cell: str | None, known: dict[str, int]) -> str | None:
    """Return the class that a text names, if it does."""
    return None if cell is None else next((form for form in written_forms(cell) if form in known), None)
