"""The cells of a row beside typical ones of each class, with what is unusual marked; searchable."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dips._files.columns import Column, Schema
from dips._files.values import is_number, is_text
from dips._report.points import in_short, middle
from dips._tools.arrays import Array

_MANY = 1_000  # labels of a class are enough to say what is typical
_FEW = 20  # are too few to call anything unusual
_TEXT = 4_000  # characters shown of a cell; who judges a note has to read it
_TAIL = 0.025  # of a class's values, on either side


class TableCells:
    """Rows of a table.

    Parameters
    ----------
    table : the whole table
    schema : what its columns hold
    rows : place in the table of each row of the account
    codes : label of each row of the account
    is_useful : which of them tell what is typical of their label
    n_classes : how many classes there are
    importance : names of the columns that matter most, in order
    ids : columns that name a row; shown elsewhere
    """

    def __init__(
        self,
        table: pa.Table,
        schema: Schema,
        rows: Array,
        codes: Array,
        is_useful: Array,
        n_classes: int,
        importance: list[str],
        ids: list[str],
    ) -> None:
        self._table, self._rows = table, rows
        known = {c.name: c for c in schema.columns if c.name not in ids and _can_be_shown(table, c)}
        in_order = [*importance, *(n for n in known if known[n].is_used), *known]
        self._shown = [known[name] for name in dict.fromkeys(in_order) if name in known]
        by_class = [rows[is_useful & (codes == c)][:_MANY] for c in range(n_classes)]
        self._usual = [_Usual.of(column, table[column.name], by_class) for column in self._shown]
        self._searching = threading.Lock()
        self._searched: tuple[tuple[int, ...], pa.Array] = (), pa.array([], pa.string())

    @cached_property
    def columns(self) -> list[dict[str, Any]]:
        """Names and kinds, and what is typical of each class."""
        return [
            {"name": c.name, "kind": c.kind, "typical": usual.typical, "used": c.is_used}
            for c, usual in zip(self._shown, self._usual, strict=True)
        ]

    def of(self, position: int) -> dict[str, Any]:
        """The cells of a row, and for which classes each is unusual."""
        row = self._table.slice(int(self._rows[position]), 1)
        values, unusual = [], []
        for column, usual in zip(self._shown, self._usual, strict=True):
            values.append(in_short(column, row[column.name], _TEXT)[0])
            unusual.append(usual.unlike(column.values(row[column.name])[0]) if usual.limits else [])
        return {"values": values, "unusual": unusual}

    def find(self, words: list[str], positions: list[int]) -> list[int]:
        """Positions whose cells hold every word, each anywhere."""
        texts, holds = self._texts_of(tuple(positions)), np.ones(len(positions), dtype=bool)
        for word in words:
            holds &= pc.match_substring(texts, word, ignore_case=True).to_numpy(zero_copy_only=False)
        return np.asarray(positions, dtype=int)[holds].tolist()

    def _texts_of(self, positions: tuple[int, ...]) -> pa.Array:
        """All cells of each row as one text; those of the last rows are kept, as a review asks for the same again."""
        with self._searching:  # every letter that is typed asks; one answer serves all
            if self._searched[0] != positions:
                rows = self._table.take(pa.array(self._rows[list(positions)]))
                cells = [rows[c.name].cast(pa.string()).combine_chunks() for c in self._shown]
                none = pa.array([""] * len(positions), pa.string())
                between = pa.scalar("\0")  # no word goes from one cell into the next
                texts = pc.binary_join_element_wise(
                    none, *cells, between, null_handling="replace", null_replacement=""
                )  # fmt: skip
                self._searched = positions, texts
            return self._searched[1]


@dataclass(frozen=True)
class _Usual:
    """What is usual in a column, for each class.

    Attributes
    ----------
    typical : the middle number or the most frequent category
    limits : the range of most numbers, pairs and dates, or the categories that are not rare; None where labels are few
    """

    typical: list[str]
    limits: list[tuple[Any, Any] | set[Any] | None] = field(default_factory=list)

    @classmethod
    def of(cls, column: Column, raw: pa.ChunkedArray, by_class: list[Array]) -> _Usual:
        if not column.is_used:
            return cls([""] * len(by_class))
        parts = [raw.take(pa.array(rows)) for rows in by_class]
        limits = [] if column.kind == "text" else [_limits(column, part) for part in parts]
        return cls([middle(column, part) for part in parts], limits)

    def unlike(self, value: Any) -> list[int]:
        """Classes for which the value is unusual; a missing one never is."""
        if isinstance(value, pa.Scalar):
            value = value.as_py()
        if value is None or np.any(value != value):
            return []
        return [c for c, limits in enumerate(self.limits) if limits is not None and not _is_usual(value, limits)]


def _is_usual(value: Any, limits: tuple[Any, Any] | set[Any]) -> bool:
    if isinstance(limits, set):
        return value in limits
    return bool(np.all(limits[0] <= value) and np.all(value <= limits[1]))


def _limits(column: Column, raw: pa.ChunkedArray) -> tuple[Any, Any] | set[Any] | None:
    values = column.values(raw)
    if column.kind == "category":
        return _usual_categories(pd.Series(values.drop_null().to_pylist(), dtype=object))
    if column.kind == "pair":
        both = values[np.isfinite(values[:, 0])]
        return (np.quantile(both, _TAIL, axis=0), np.quantile(both, 1 - _TAIL, axis=0)) if len(both) >= _FEW else None
    known = pd.Series(values).dropna()
    return (known.quantile(_TAIL), known.quantile(1 - _TAIL)) if known.size >= _FEW else None


def _usual_categories(known: pd.Series) -> set[Any] | None:
    """All but the rarest values; None where rare values are the rule, as among hundreds of products.

    The share of rows whose value nobody else has is the probability that the next row has a new one (Good and Turing).
    """
    counts = known.value_counts()
    n_as_rare = counts.map(counts.groupby(counts).sum().cumsum())  # rows whose value is as rare, or rarer
    if known.size < _FEW or (counts == 1).sum() > _TAIL * known.size:
        return None
    return set(n_as_rare.index[n_as_rare > _TAIL * known.size])


def _can_be_shown(table: pa.Table, column: Column) -> bool:
    if column.name not in table.column_names or column.kind == "unreadable":
        return False
    kind = table.schema.field(column.name).type
    return (
        is_text(kind) or is_number(kind) or pa.types.is_boolean(kind) or pa.types.is_temporal(kind) or kind == pa.null()
    )


class PointCells:
    """Rows of which only the report is at hand: a dozen columns, and not all rows.

    Parameters
    ----------
    points : of the report's data
    numbers : of the rows of the account
    """

    def __init__(self, points: dict[str, Any], numbers: list[int]) -> None:
        self._values, self._typical = points["values"], points["typical"]
        self._place = {row: k for k, row in enumerate(points["row"])}
        self._numbers = numbers

    @cached_property
    def columns(self) -> list[dict[str, Any]]:
        """Names and kinds, and what is typical of each class."""
        return [
            {"name": v["name"], "kind": v["kind"], "typical": [t[j] for t in self._typical], "used": True}
            for j, v in enumerate(self._values)
        ]

    def of(self, position: int) -> dict[str, Any]:
        """The cells, empty for rows that the report does not show."""
        at = self._place.get(self._numbers[position])
        values = ["" if at is None else v["distinct"][v["codes"][at]] for v in self._values]
        return {"values": values, "unusual": [[] for _ in values]}

    def find(self, words: list[str], positions: list[int]) -> list[int]:
        """Positions whose cells hold every word, each anywhere."""
        matching = []
        for position in positions:
            cells = "\0".join(self.of(position)["values"]).lower()
            if all(word.lower() in cells for word in words):
                matching.append(position)
        return matching
