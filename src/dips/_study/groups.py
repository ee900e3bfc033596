"""Rows that belong together, such as the visits of one patient: named by the user, or noticed and pointed out."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow.compute as pc
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from dips._data.grouped_folds import group_codes
from dips._files.columns import Column, Schema
from dips._files.read import Table
from dips._files.values import is_text, texts
from dips._study.duplicates import Duplicates
from dips._tools.arrays import Array
from dips._tools.resampling import are_too_few
from dips._tools.wording import counted, option
from dips.exceptions import DataError

_WHO = {"pat", "pid", "patient", "subject", "customer", "client", "person", "member", "household", "user", "account",
        "participant", "student", "employee", "donor", "mrn", "borrower", "owner"}  # fmt: skip
_WHICH = {"id", "ids", "no", "nr", "number", "key", "uuid", "guid", "code"}
_HOW_MUCH = {"age", "amount", "balance", "days", "hours", "income", "months", "rate", "score", "since", "size", "sum",
             "tenure", "total", "value", "weight", "years"}  # fmt: skip
_MOST_STAY = 0.75  # of the groups, where rows that are the same join some
_LEAST, _MANY_ROWS_EACH = 30, 100  # values of an id; rows that one value has on average at most


def groups_in(table: Table, name: str) -> Array:
    """Return the groups that a column tells, as codes; blanks around a text do not make it another value."""
    column = table.columns[name]
    if is_text(column.type):
        column = pc.replace_substring_regex(texts(column), r"^(\d+)\.0$", r"\1")  # how pandas writes codes with gaps
    codes = group_codes(column.to_pandas())
    if not codes.any():
        raise DataError(f"{option('group')} {name!r} has one value in all rows; name a column that tells groups apart.")
    return codes


def joined(*several: Array | None) -> Array | None:
    """Return groups that hold together what any of the given ones does; None where none is given.

    Examples
    --------
    >>> joined(np.array([0, 0, 1, 2]), None, np.array([0, 1, 2, 2])).tolist()
    [0, 0, 1, 1]
    """
    given = [np.unique(groups, return_inverse=True)[1] for groups in several if groups is not None]
    if len(given) < 2:
        return given[0] if given else None
    n, start, rows, nodes = given[0].size, given[0].size, [], []
    for groups in given:
        rows.append(np.arange(n))
        nodes.append(start + groups)
        start += int(groups.max()) + 1
    at = np.concatenate(rows), np.concatenate(nodes)
    graph = sp.coo_matrix((np.ones(at[0].size), at), shape=(start, start))
    return connected_components(graph, directed=False)[1][:n]


def joined_with_copies(of_group: Array | None, duplicates: Duplicates) -> tuple[Array | None, Duplicates]:
    """Return the groups that no split may divide, and whether rows that are the same are among them.

    Where these would join many of the groups that the user has named, they are not: of few, hardly any would be left.
    """
    groups = joined(of_group, duplicates.groups)
    if of_group is None or groups is None or _count(groups) >= _MOST_STAY * _count(of_group):
        return groups, duplicates
    return joined(of_group), replace(duplicates, kept_together=False)


def _count(groups: Array) -> int:
    return int(np.unique(groups).size)


def repeated_ids(table: Table, schema: Schema) -> dict[str, int]:
    """Return columns that name somebody or something which has several rows, with the number of its values."""
    return {c.name: c.n_distinct for c in schema.columns if _repeats(c, table.n_rows - c.n_missing)}


def group_notes(schema: Schema, n_values: dict[str, int], n_rows: int) -> list[str]:
    """Name the option for ids that repeat, and say how many rows belong to no group."""
    alone = [
        f"{c.name!r} is empty in {c.n_missing:,} of {counted(n_rows, 'row')}, each of which stands alone; if an empty "
        "cell means the same as above, fill it in."
        for c in schema.columns
        if c.kind == "group" and c.n_missing
    ]
    return alone + [
        f"{name!r} repeats: {n:,} values in {n_rows:,} rows. If rows with the same value belong together, use "
        f"{option('group', name)}: they then stay on one side of every split, and the column is not learned from."
        for name, n in n_values.items()
    ]


def few_groups_warnings(of_test: Array | None) -> list[str]:
    """Warn where the held-out rows are of too few groups to say how much other groups would change the scores."""
    if of_test is None or not are_too_few(of_test):
        return []
    n = counted(_count(of_test), "group")
    return [
        f"The held-out rows are of only {n}. So intervals of the scores tell what other rows of these groups would "
        "change, not what other groups would, which may be far more."
    ]


def describe_groups(groups: Array) -> dict[str, Any]:
    """Plain data."""
    sizes = np.bincount(groups)
    return {"n_groups": int((sizes > 0).sum()), "largest": int(sizes.max())}


def _repeats(column: Column, n_rows: int) -> bool:
    words = {w.lower() for w in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", column.name)}
    words |= {word.removesuffix(end) for word in words for end in ("id", "nr", "no")}  # of patientid
    is_named_so = bool(words & _WHO) or (bool(words & _WHICH) and column.kind in ("id", "category", "number"))
    is_code = "codes" in column.note and not words & _WHO  # of somebody, digits that begin with 0 are a number to go by
    if not is_named_so or words & _HOW_MUCH or column.kind in ("text", "date") or is_code:
        return False
    return _LEAST <= column.n_distinct < n_rows <= _MANY_ROWS_EACH * column.n_distinct
