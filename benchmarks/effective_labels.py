"""What is a dirty label worth? The default with dirty labels, against as many clean ones as carry the same information.

    DIPS_DATA=folder python benchmarks/effective_labels.py [SEEDS] [JOBS]

If a share e of the labels of two classes is flipped, a label carries at most (1 - 2e)² of the information of a clean
one (exactly that where the columns say little about the class). So N dirty labels are worth at most N (1 - 2e)² clean
ones. A method that loses nothing to the noise does as well with the N dirty labels as with that many clean ones.

The two-class tables of `dips paper run good-model` and its XGBoost, labeled rows only. The clean labels are the true
labels of the first of the same rows; the test rows are the same. One line adds the other rows without labels, so that
the clean labels come with as many rows as the dirty ones. Means over tables ± the standard error over seeds. It takes
about 15 s for each table and seed on one core.
"""

from __future__ import annotations

import sys
import warnings
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from dips._paper.tables.splits import authors_seeds
from dips._paper.tables.trial import Trial

LARGE = ("adult", "blog", "compas", "covid", "credit", "higgs")
TABLES = (*LARGE, "drug", "german", "heart")
DIRTY = {  # labels and the share of them that is wrong: the tables that have as many
    (100, 0.2): TABLES,
    (400, 0.2): TABLES,
    (400, 0.4): TABLES,
    (1600, 0.2): LARGE,
    (1600, 0.4): LARGE,
}
CLEAN = (9, 16, 25, 36, 64, 100, 144, 225, 400, 576, 1600)
MEASURES = {"accuracy": "accuracy, %", "log_loss": "log loss", "auc": "AUC, %"}
SUPERVISED, DEFAULT, ALL_LABELS = "supervised", "default", "all labels known"
SAME_ROWS = "default, the other rows without labels"
METHODS: dict[str, dict[str, Any]] = {
    SUPERVISED: {"method": "supervised"},
    DEFAULT: {"method": "curated", "curator": {"name": "beliefs"}},
    SAME_ROWS: {"method": "pl", "labeler": {"name": "auto"}, "curator": {"name": "beliefs"}},
    ALL_LABELS: {"method": "all_labels", "max_unlabeled": 1_000},
}


def worth(n: int, noise: float) -> int:
    """How many clean labels carry as much information, at most."""
    return round(n * (1 - 2 * noise) ** 2)


def records_of(table: str, seed: int) -> list[dict[str, Any]]:
    """All methods on one table with one seed: with dirty labels, with all, and along the curve of clean ones."""
    warnings.simplefilter("ignore")
    dirty = [(n, noise) for (n, noise), tables in DIRTY.items() if table in tables]
    most = max(n for n, _ in dirty)
    runs = {(method, n, noise, 0) for n, noise in dirty for method in (SUPERVISED, DEFAULT)}
    runs |= {(method, n, 0.0, 0) for n in CLEAN if n <= most for method in (SUPERVISED, DEFAULT)}
    runs |= {(SAME_ROWS, worth(n, noise), 0.0, n) for n, noise in dirty}
    runs |= {(ALL_LABELS, n, 0.0, 0) for n, _ in dirty}
    return [_record(table, seed, *run) for run in sorted(runs)]


def _record(table: str, seed: int, method: str, n: int, noise: float, rows: int) -> dict[str, Any]:
    settings = METHODS[method] | ({"max_unlabeled": rows - n} if rows else {})
    trial = Trial(table, seed, backbone="xgboost sensible", labels=n, noise=noise, measure="probabilities", **settings)
    outcome = trial.run()
    scores = {name: outcome[name] * (1 if name == "log_loss" else 100) for name in MEASURES}
    return {"table": table, "seed": seed, "method": method, "labels": n, "noise": noise, "rows": rows or n} | scores


def comparison(found: pd.DataFrame, n: int, noise: float) -> pd.DataFrame:
    """Dirty and clean labels in the scores and in the share of the gap to all labels that they close."""
    found, few = found[found["table"].isin(DIRTY[n, noise])], worth(n, noise)
    lines = {
        f"{n:,} dirty, supervised": (SUPERVISED, n, noise, n),
        f"{n:,} dirty, default": (DEFAULT, n, noise, n),
        f"{few:,} clean, default": (DEFAULT, few, 0.0, few),
        f"{few:,} clean, {SAME_ROWS}": (SAME_ROWS, few, 0.0, n),
        f"{few:,} clean, supervised": (SUPERVISED, few, 0.0, few),
        ALL_LABELS: (ALL_LABELS, n, 0.0, n),
    }
    by_seed = {line: _by_seed(found, *key) for line, key in lines.items()}
    first, last = (by_seed[line].mean() for line in (f"{n:,} dirty, supervised", ALL_LABELS))
    shown = {}
    for line, scores in by_seed.items():
        closed = 100 * (scores.mean() - first) / (last - first) + 0.0  # no -0
        shown[line] = {title: _with_error(scores[name], name) for name, title in MEASURES.items()}
        shown[line] |= {f"gap closed, {_plain(title)}, %": f"{closed[name]:.0f}" for name, title in MEASURES.items()}
    return pd.DataFrame(shown).T.rename_axis("labels")


def _by_seed(found: pd.DataFrame, method: str, n: int, noise: float, rows: int) -> pd.DataFrame:
    """Means over tables, one line per seed."""
    is_it = (found["method"] == method) & (found["labels"] == n) & (found["noise"] == noise) & (found["rows"] == rows)
    return found[is_it].groupby("seed")[list(MEASURES)].mean()


def _with_error(values: pd.Series, measure: str) -> str:
    digits = 3 if measure == "log_loss" else 1
    error = f" ± {values.std() / np.sqrt(values.size):.{digits}f}" if values.size > 1 else ""
    return f"{values.mean():.{digits}f}{error}"


def _plain(title: str) -> str:
    return title.removesuffix(", %")


def measured_worth(found: pd.DataFrame) -> pd.DataFrame:
    """The number of clean labels with which a method does as well as with dirty ones, by each measure."""
    lines = []
    for (n, noise), method in product(DIRTY, (SUPERVISED, DEFAULT)):
        part = found[found["table"].isin(DIRTY[n, noise])]
        dirty, clean = _by_seed(part, method, n, noise, n), {k: _by_seed(part, method, k, 0.0, k) for k in CLEAN}
        clean = {k: scores for k, scores in clean.items() if len(scores) == len(dirty)}
        line = {"labels": f"{n:,}, {100 * noise:.0f} % wrong", "method": method, "at most": str(worth(n, noise))}
        for name, title in MEASURES.items():
            curve = pd.DataFrame({k: scores[name] for k, scores in clean.items()})
            line[f"worth, by {_plain(title)}"] = _range(curve, dirty[name])
        lines.append(line)
    return pd.DataFrame(lines).set_index("labels")


def place_on(curve: pd.DataFrame, scores: pd.Series) -> float:
    """Where the mean score lies on the mean curve: the logarithm of a number of labels, between the curve's ends."""
    means, score = curve.mean().to_numpy(), scores.mean()
    if means[0] > means[-1]:  # a loss
        means, score = -means, -score
    return float(np.interp(score, np.maximum.accumulate(means), np.log(curve.columns.to_numpy(dtype=float))))


def _range(curve: pd.DataFrame, scores: pd.Series) -> str:
    """The number of labels, and the range of one standard error, by leaving out each seed in turn."""
    log_n, n = place_on(curve, scores), len(scores)
    if log_n <= np.log(curve.columns[0]):
        return f"{curve.columns[0]} or fewer"
    without = [place_on(curve.drop(index=seed), scores.drop(index=seed)) for seed in scores.index if n > 1]
    error = np.sqrt((n - 1) * np.var(without)) if without else 0.0
    low, place, high = np.exp([log_n - error, log_n, log_n + error])
    return f"{place:.0f} ({low:.0f} to {high:.0f})"


def main() -> None:
    """Measure, print, keep."""
    from common import run_grid, show

    n_seeds, jobs = ([int(a) for a in sys.argv[1:3]] + [5, 2][len(sys.argv) - 1 :])[:2]
    cells = [(table, seed) for seed, table in product(authors_seeds(n_seeds), TABLES)]
    found = run_grid("effective_labels", records_of, cells, jobs)
    for n, noise in DIRTY:
        tables = len(DIRTY[n, noise])
        show(f"{n:,} labels, {100 * noise:.0f} % wrong; {tables} tables, {n_seeds} seeds", comparison(found, n, noise))
    show("Clean labels that do as well as dirty ones", measured_worth(found))


if __name__ == "__main__":
    main()
