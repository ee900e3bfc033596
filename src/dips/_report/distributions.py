"""How the columns that matter are distributed: useful labels by class, and the suspects beside them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from dips._report.findings import TableFindings
from dips._report.points import short, sides
from dips._tools.arrays import Array

_MOST_COLUMNS = 6
_MOST_CLASSES = 3  # more lines cannot be told apart: the positive class is then shown against the rest
_N_BINS = 10
_MOST_VALUES = 7
_MOST_ROWS = 50_000
_LEAST_SUSPECTS = 5


def summarize_distributions(findings: TableFindings) -> list[dict[str, Any]]:
    """One record per column: the names of its values or bins, and the share of each in every group of rows."""
    labeled = np.flatnonzero(findings.target.is_labeled)
    if labeled.size > _MOST_ROWS:
        labeled = np.sort(np.random.RandomState(0).permutation(labeled)[:_MOST_ROWS])
    groups = _groups(findings, labeled)
    by_name = {c.name: c for c in findings.schema.used if c.kind != "text"}
    clear = [name for name, each in findings.importance.items() if each.get("is_clear") and name in by_name]
    records = []
    for name in (clear or list(by_name))[:_MOST_COLUMNS]:
        for side, kind, values in sides(by_name[name], findings.table.columns[name].take(labeled)):
            names, codes, edges = _binned(kind, values)
            if len(names) < 2:
                continue
            series = [
                {"label": label, "n": int(mask.sum()), "shares": _shares(codes[mask], len(names))}
                for label, mask in groups
            ]
            about = {"column": side, "kind": kind, "matters": bool(clear)}
            records.append(about | {"names": names, "edges": edges, "series": series})
    return records


def _groups(findings: TableFindings, labeled: Array) -> list[tuple[str, Array]]:
    """Useful labels of each class, and the suspects."""
    is_suspect = findings.account["suspicion"].notna().to_numpy()[labeled]
    codes, classes, positive = findings.target.codes[labeled], findings.target.classes, findings.target.positive
    if len(classes) <= _MOST_CLASSES:
        groups = [(str(c), ~is_suspect & (codes == k)) for k, c in enumerate(classes)]
    else:
        groups = [(str(classes[positive]), ~is_suspect & (codes == positive))]
        groups.append(("all others", ~is_suspect & (codes != positive)))
    if is_suspect.sum() >= _LEAST_SUSPECTS:
        groups.append(("suspects", is_suspect))
    return [(label, mask) for label, mask in groups if mask.any()]


def _shares(codes: Array, n: int) -> list[float]:
    return (np.bincount(codes, minlength=n) / max(codes.size, 1)).round(4).tolist()


def _binned(kind: str, values: list[Any]) -> tuple[list[str], Array, list[str]]:
    """Names of the values, or of bins of numbers, the position of each row's among them, and the edges of bins."""
    series = pd.Series(values, dtype=object)
    missing = series.isna().to_numpy()
    if kind == "date":
        series = series.where(series.isna(), series.str[:4])
    edges: list[str] = []
    if kind == "number":
        names, codes, edges = _bins(pd.to_numeric(series, errors="coerce").to_numpy(dtype=float), missing)
    else:
        names, codes = _values(series, missing, in_order=kind == "date")
    if missing.any():
        codes = np.where(missing, len(names), codes)
        names = [*names, "missing"]
    return names, codes, edges


def _bins(numbers: Array, missing: Array) -> tuple[list[str], Array, list[str]]:
    known = numbers[~missing]
    distinct = np.unique(known)
    if distinct.size <= _N_BINS:
        return [short(float(v)) for v in distinct], np.searchsorted(distinct, np.where(missing, -np.inf, numbers)), []
    low, high = np.quantile(known, [0.01, 0.99])
    if low == high:
        low, high = distinct[0], distinct[-1]
    edges = np.linspace(low, high, _N_BINS + 1)  # values beyond lie in the first and the last bin
    codes = np.clip(np.digitize(np.where(missing, low, numbers), edges) - 1, 0, _N_BINS - 1)
    written = [short(float(f"{edge:.3g}")) for edge in edges]
    return [f"{a} to {b}" for a, b in pairwise(written)], codes, written


def _values(series: pd.Series, missing: Array, in_order: bool) -> tuple[list[str], Array]:
    counts = series[~missing].value_counts()
    top = list(counts.index[:_MOST_VALUES])
    if in_order:
        top = sorted(top)
    codes = pd.Index(top).get_indexer(series)
    names = [short(v) for v in top]
    if len(counts) > len(top):
        names.append("other")
    return names, np.where(codes < 0, len(top), codes)
