"""Where the suspect labels are: by class, and by values of the columns."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from dips._report.findings import TableFindings
from dips._report.label_words import classes_in_danger
from dips._report.points import codes_of, readable, short
from dips._report.quality import MAX_TABLE
from dips._tools.arrays import Array

_MIN_ROWS = 20
_MIN_SURPRISE = 3.0  # standard errors above the share elsewhere; many values are looked at
_MAX_SEGMENTS = 12
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


def noise_by_value(findings: TableFindings) -> list[dict[str, Any]]:
    """Values at which suspect labels are clearly more frequent than elsewhere, the clearest first."""
    labeled = np.flatnonzero(findings.target.is_labeled)
    is_suspect = findings.account["suspicion"].notna().to_numpy()[labeled]
    total, n_suspects = labeled.size, int(is_suspect.sum())
    records: list[dict[str, Any]] = []
    for column in findings.schema.used:
        if column.kind == "text":
            continue
        values = readable(column, findings.table.columns[column.name].take(labeled))
        for value, mask in _groups(column.kind, values):
            n, k = int(mask.sum()), int(is_suspect[mask].sum())
            rest, k_rest = total - n, n_suspects - k
            if n < _MIN_ROWS or rest < _MIN_ROWS or k < 5:
                continue
            surprise = _surprise(k, n, k_rest, rest)
            if surprise >= _MIN_SURPRISE:
                low, high = wilson(k, n)
                records.append(
                    {"column": column.name, "value": value, "n": n, "k": k, "share": k / n, "low": low, "high": high,
                     "elsewhere": k_rest / rest, "surprise": surprise}
                )  # fmt: skip
    return sorted(records, key=lambda r: -r["surprise"])[:_MAX_SEGMENTS]


def wilson(k: int, n: int) -> tuple[float, float]:
    """95 % interval of a share.

    Examples
    --------
    >>> [round(limit, 3) for limit in wilson(1, 10)]
    [0.018, 0.404]
    """
    z = 1.96
    center = (k + z * z / 2) / (n + z * z)
    half = z / (n + z * z) * np.sqrt(k * (n - k) / n + z * z / 4)
    return max(0.0, float(center - half)), min(1.0, float(center + half))


def _surprise(k: int, n: int, k_rest: int, n_rest: int) -> float:
    """Standard errors between two shares, were they one."""
    pooled = (k + k_rest) / (n + n_rest)
    error = np.sqrt(pooled * (1 - pooled) * (1 / n + 1 / n_rest))
    return float((k / n - k_rest / n_rest) / error) if error > 0 else 0.0


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
