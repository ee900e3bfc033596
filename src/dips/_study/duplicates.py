"""Rows that are the same in every column that is learned from: counted, kept on one side of a split, and compared."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from dips._data.labels import UNLABELED
from dips._files.columns import Column, Schema
from dips._files.read import Table
from dips._tools.arrays import Array, Rows
from dips._tools.wording import counted

_PRIME = np.uint64(1_099_511_628_211)
_MOSTLY_DIFFERENT = 0.5  # distinct rows; where fewer differ, being the same says nothing
_SOME, _FEW_COPIES, _HARDLY_ANY = 20, 4, 0.03  # distinct rows, copies of each, and the share of those without a copy
_BEYOND_CHANCE = 5.0  # times as many equal pairs as columns that know nothing of each other would make
_MOSTLY_CONTRARY, _MANY_CONTRARY = 0.5, 0.1  # of the labels that could be, and of all: contradiction is the rule then
_LISTED = 10


@dataclass(frozen=True)
class Duplicates:
    """Which rows are the same.

    Attributes
    ----------
    same : (n,) code of each row's contents
    codes : (n,) label of each row, -1 for none
    by_nature : whether rows are often the same in this table, so that it says nothing
    settled : (n,) mask of the labels that are right: somebody has checked them, or they are trusted
    kept_together : whether no split divides rows that are the same
    """

    same: Array
    codes: Array
    by_nature: bool
    settled: Array
    kept_together: bool = True

    @cached_property
    def repeats(self) -> Rows:
        """Rows that repeat an earlier one."""
        first = np.unique(self.same, return_index=True)[1]
        return np.setdiff1d(np.arange(self.same.size), first)

    @cached_property
    def contrary(self) -> pd.DataFrame:
        """Labeled rows whose label is not that of most of the rows that are the same.

        One line for each: `row`, `code` (the label of most others), `other` (a row that has it), and `share` (of the
        labels of the same contents that differ). Two labels that are as frequent are both contrary. A settled label
        never is; where there are some, it is them that the others are compared with.
        """
        labeled = np.flatnonzero(self.codes != UNLABELED)
        rows = pd.DataFrame({"row": labeled, "same": self.same[labeled], "code": self.codes[labeled]})
        several = rows[rows.groupby("same")["code"].transform("nunique") > 1]
        contrary: list[dict[str, Any]] = []
        for _, part in several.groupby("same"):
            is_settled = self.settled[part["row"]]
            judges = part[is_settled] if is_settled.any() else part
            counts = judges["code"].value_counts()
            for row, code in part.loc[~is_settled, ["row", "code"]].itertuples(index=False):
                if counts.get(code) == counts.max() and (counts == counts.max()).sum() == 1:
                    continue
                usual = counts[counts.index != code].idxmax()
                other = judges.loc[judges["code"] == usual, "row"].iloc[0]
                share = float((part["code"] != code).mean())
                contrary.append({"row": row, "code": usual, "other": other, "share": share})
        return pd.DataFrame(contrary, columns=["row", "code", "other", "share"])

    @cached_property
    def suspects(self) -> pd.DataFrame:
        """Those of :attr:`contrary` that look wrong: none where rows that are the same have different labels as a rule.

        So it is where the columns do not settle the label, and where rows that repeat another one with the same label
        were left out of the table.
        """
        labeled = self.same[self.codes != UNLABELED]
        n_comparable = int((np.bincount(labeled, minlength=1)[labeled] > 1).sum())
        limits = _MOSTLY_CONTRARY * n_comparable, _MANY_CONTRARY * labeled.size
        return self.contrary if len(self.contrary) <= max(limits) and not self.by_nature else self.contrary[:0]

    @property
    def groups(self) -> Array | None:
        """Groups that no split may divide, or None where no row repeats another."""
        return None if self.by_nature or not self.repeats.size or not self.kept_together else self.same

    def notes(self) -> list[str]:
        """Say how many rows are the same, and what that means."""
        if self.by_nature or not self.repeats.size:
            return []
        is_labeled = self.codes != UNLABELED
        both = np.intersect1d(self.same[is_labeled], self.same[~is_labeled])
        n_across = int(np.isin(self.same[~is_labeled], both).sum())
        listed = ", ".join(str(row + 1) for row in self.repeats[:_LISTED])
        more = ", …" if self.repeats.size > _LISTED else ""
        repeat = counted(self.repeats.size, "row repeats", "rows repeat")
        where = "kept on one side of every split" if self.kept_together else "in many groups, which are kept whole"
        notes = [f"{repeat} an earlier one in every column (row {listed}{more}); identical rows are {where}."]
        if n_across:
            notes.append(f"{counted(n_across, 'unlabeled row is', 'unlabeled rows are')} identical to a labeled one.")
        if len(self.suspects):
            one = "label contradicts that of an identical row; it is a suspect."
            many = "labels contradict those of identical rows; they are suspects."
            notes.append(counted(len(self.suspects), one, many))
        elif len(self.contrary):
            notes.append(
                f"{len(self.contrary):,} labels contradict those of identical rows, as most of these do; so the "
                "columns do not settle the label, and no label is a suspect for that."
            )
        return notes

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "n_repeats": int(self.repeats.size),
            "n_contrary": 0 if self.by_nature else len(self.contrary),
            "are_suspects": len(self.suspects) > 0,
            "by_nature": self.by_nature,
            "kept_together": self.kept_together,
            "rows": (self.repeats[:1_000] + 1).tolist(),
        }


def find_duplicates(table: Table, schema: Schema, codes: Array, settled: Array | None = None) -> Duplicates:
    """Compare the rows in all columns that are learned from."""
    hashed = np.zeros(table.n_rows, dtype=np.uint64)
    chance = 1.0  # that two rows are the same, were the columns independent
    for column in schema.used:
        cells = _codes(column, table.columns[column.name])
        shares = np.bincount(cells) / cells.size
        chance *= float((shares**2).sum())
        hashed = (hashed ^ pd.util.hash_array(cells)) * _PRIME
    _, same, sizes = np.unique(hashed, return_inverse=True, return_counts=True)
    n_pairs = float((sizes * (sizes - 1) / 2).sum())
    expected = chance * table.n_rows * (table.n_rows - 1) / 2
    is_dense = sizes.size < _MOSTLY_DIFFERENT * table.n_rows and not _are_copies(sizes)
    by_nature = is_dense or n_pairs <= _BEYOND_CHANCE * expected
    return Duplicates(same, codes, by_nature, np.zeros(codes.size, dtype=bool) if settled is None else settled)


def _are_copies(sizes: Array) -> bool:
    """Whether a table looks as if it were stacked on itself; where rows are the same by nature, some are there once.

    Examples
    --------
    >>> _are_copies(np.full(40, 3)), _are_copies(np.random.RandomState(0).poisson(3, 40) + 1)
    (True, False)
    """
    if sizes.size < _SOME:
        return False
    is_whole = bool(np.gcd.reduce(sizes) > 1)
    return is_whole or bool(sizes.mean() <= _FEW_COPIES and (sizes == 1).mean() < _HARDLY_ANY)


def _codes(column: Column, raw: pa.ChunkedArray) -> Array:
    """Whole numbers that are the same where cells are the same."""
    if column.kind == "number":
        return pd.factorize(column.values(raw), use_na_sentinel=False)[0]
    if column.kind == "pair":
        first, second = (pd.factorize(side, use_na_sentinel=False)[0] for side in column.values(raw).T)
        return pd.factorize(first * (second.max(initial=0) + 1) + second)[0]
    if column.kind == "date":
        return pd.factorize(column.values(raw).to_numpy(), use_na_sentinel=False)[0]
    encoded = column.values(raw).combine_chunks().dictionary_encode()
    return np.asarray(encoded.indices.fill_null(len(encoded.dictionary)), dtype=np.int64)
