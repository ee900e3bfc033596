"""Where the suspect labels are: by class, and by values of the columns."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from dips._files.columns import Schema
from dips._files.read import Table
from dips._report.label_words import classes_in_danger
from dips._report.points import codes_of, short, sides
from dips._report.quality import MAX_TABLE
from dips._report.uneven import Part, judge_parts
from dips._tools.arrays import Array, Rows
from dips._tools.shares import wilson

_MIN_ROWS = 30
_MAX_ROWS = 10_000  # labels beyond that hardly sharpen the test
_CLEAR = 0.05  # of tables without uneven labels have a value that looks as uneven
_BETTER = 0.5  # nats, by which wrong labels must explain them better than rows that are harder than models know
_MAX_SEGMENTS = 6
_MAX_CATEGORIES = 40
_N_BINS = 5


def noise_by_class(account: pd.DataFrame, classes: list[Any], is_suspect: pd.Series) -> list[dict[str, Any]]:
    """Share of suspect labels among those given as each class, with an interval, and what is suggested instead."""
    is_given = account["source"] == "given"
    records = []
    for c in classes:
        part = account[is_given & (account["given_label"] == c)]
        suspects = account[is_suspect & is_given & (account["given_label"] == c)]
        counts = suspects["suggested_label"].dropna().value_counts()
        n, k = len(part), len(suspects)
        low, high = wilson(k, n)
        instead = [{"label": str(label), "n": int(m)} for label, m in counts.items()][:3]
        records.append({"label": str(c), "n": n, "k": k, "share": k / n, "low": low, "high": high, "instead": instead})
    return records


def class_warnings(account: pd.DataFrame, classes: list[Any]) -> list[str]:
    """Warn by name of the classes that are in danger of losing their labels."""
    return classes_in_danger(noise_by_class(account, classes, account["suspicion"].notna()))


def instead_of(suspects: pd.DataFrame, classes: list[Any]) -> list[list[int]] | None:
    """How many labels given as each class are suggested to be each other one, (C, C); None of many classes."""
    if len(classes) > MAX_TABLE:
        return None
    given, suggested = (codes_of(suspects[name], classes) for name in ("given_label", "suggested_label"))
    counts = np.zeros((len(classes), len(classes)), dtype=int)
    np.add.at(counts, (given, suggested), 1)
    return counts.tolist()


@dataclass(frozen=True)
class UnevenValue:
    """A value of a column, the rows that have it, and how they were judged."""

    column: str
    value: str
    rows: Rows
    part: Part


@dataclass(frozen=True)
class UnevenValues:
    """Values at which labels are wrong more often than difficulty explains.

    Attributes
    ----------
    n_values : how many were looked at
    values : those with more wrong labels, the clearest first
    is_sample : whether they were looked for in a part of the rows only
    """

    n_values: int
    values: list[UnevenValue]
    is_sample: bool = False

    def share_wrong(self, n_labeled: int) -> tuple[float, tuple[float, float]] | None:
        """Share of wrong labels in the whole table and its interval, by the clearest value; None where none is."""
        if not self.values:
            return None
        part, inside = self.values[0].part, self.values[0].rows.size / n_labeled
        low, high = (inside * a + (1 - inside) * b for a, b in zip(part.range, part.range_elsewhere, strict=True))
        return inside * part.rate + (1 - inside) * part.elsewhere, (low, high)

    def to_json(self, is_suspect: Array) -> list[dict[str, Any]]:
        """Plain data, with the suspects among the rows of each."""
        return [
            {
                "column": v.column,
                "value": v.value,
                "n": int(v.rows.size),
                "k": int(is_suspect[v.rows].sum()),
                "share": v.part.rate,
                "elsewhere": v.part.elsewhere,
                "p_value": v.part.p_value,
                "surprise": v.part.score,
            }
            for v in self.values
        ]


def find_uneven_values(
    table: Table, schema: Schema, labeled: Rows, codes: Array, answers: Array, seed: int = 0
) -> UnevenValues:
    """Test every value of every column for more wrong labels than the difficulty of its rows explains.

    Parameters
    ----------
    labeled, codes : the labeled rows and their labels
    answers : (n_labeled, C) class probabilities by models that had not seen the row
    """
    is_sample = labeled.size > _MAX_ROWS
    if is_sample:
        kept = np.sort(np.random.default_rng(seed).permutation(labeled.size)[:_MAX_ROWS])
        labeled, codes, answers = labeled[kept], codes[kept], answers[kept]
    names, masks = [], []
    for column in schema.used:
        if column.kind == "text":
            continue
        for name, kind, values in sides(column, table.columns[column.name].take(labeled)):
            for value, mask in _groups(kind, values):
                if _MIN_ROWS <= mask.sum() <= labeled.size - _MIN_ROWS:
                    names.append((name, value))
                    masks.append(mask)
    parts = judge_parts(answers, codes, masks, seed)
    order = sorted(range(len(parts)), key=lambda i: -parts[i].score)
    clear = [i for i in order if parts[i].p_value < _CLEAR and parts[i].better_than_hard > _BETTER][:_MAX_SEGMENTS]
    uneven = [UnevenValue(*names[i], labeled[masks[i]], parts[i]) for i in clear]
    return UnevenValues(len(parts), uneven, is_sample)


def _groups(kind: str, values: list[Any]) -> list[tuple[str, Array]]:
    """Name and mask of each value, or of five parts of a column of numbers."""
    series = pd.Series(values, dtype=object)
    missing = series.isna().to_numpy()
    groups = [("missing", missing)] if missing.any() else []
    if kind == "number":
        numbers = pd.to_numeric(series, errors="coerce").to_numpy(dtype=float)
        distinct = np.unique(numbers[~missing])
        if distinct.size > 8:
            edges = np.unique(np.quantile(numbers[~missing], np.linspace(0, 1, _N_BINS + 1)))
            inner = np.digitize(numbers, edges[1:-1], right=True)
            names = [f"{a:.4g} to {b:.4g}" for a, b in pairwise(edges)]
            return groups + [(name, (inner == j) & ~missing) for j, name in enumerate(names)]
        return groups + [(short(float(v)), numbers == v) for v in distinct]
    if kind == "date":
        years = series.str[:4].to_numpy()
        return groups + [(str(y), years == y) for y in pd.unique(years[~missing])[:_MAX_CATEGORIES]]
    top = series.value_counts().index[:_MAX_CATEGORIES]
    return groups + [(short(v), (series == v).to_numpy()) for v in top]
