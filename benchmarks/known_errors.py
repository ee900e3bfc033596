"""What it is worth to say which labels are never wrong, or how often each class occurs, where errors go one way.

    DIPS_DATA=FOLDER python -m dips.network._real_tables TABLES     # writes TABLES/tables.npz
    python benchmarks/keel_tables.py TABLES/keel.npz
    python benchmarks/known_errors.py TABLES/keel.npz [--seeds 1] [--jobs 2] [--stored]

Errors are "missed", rows of the rarest class are labeled as the most frequent one, or "false alarms", the reverse.
Frequencies are told as they are, or with half or twice the odds of the class that the errors hide. "Elkan-Noto" is what
one would use otherwise where one of two labels is never wrong: each other label counts by how likely it hides a row of
the trusted class.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from choosing import prepared
from common import RESULTS, run_grid, show
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from dips import PseudoLabelClassifier
from dips._tools.arrays import Array
from dips.backbones import default_estimator
from dips.curators import Beliefs
from dips.network._tasks import RealTable, make_task, read_tables

SIZES, N_UNLABELED, N_FOLDS = (100, 400), 400, 5
ERRORS = {"clean": 0.0, "missed": 0.4, "false alarms": 0.4}
HARM = 0.5  # points of accuracy
MISJUDGED = 2.0  # times the odds, or as many times less
SCORES = ("accuracy", "balanced", "log loss", "AUC", "AUC wrong", "estimate off")


@dataclass(frozen=True)
class Cell:
    """A dirty table with few labels.

    Attributes
    ----------
    X : (n, p) labeled rows, unlabeled ones, test rows
    given : (L,) labels
    true : (n,) classes
    trusted : labels that are never wrong
    hidden : the class that errors hide
    n_train : how many rows are no test rows
    """

    X: Array
    given: Array
    true: Array
    trusted: Array
    hidden: int
    n_train: int

    @property
    def frequencies(self) -> Array:
        """How often each class truly occurs among the labeled rows."""
        n_classes = int(self.true[: self.given.size].max()) + 1
        return np.bincount(self.true[: self.given.size], minlength=n_classes) / self.given.size

    def misjudged(self, factor: float) -> Array:
        """The same with so many times the odds of the class that errors hide."""
        share = self.frequencies[self.hidden]
        told = factor * share / (1 - share + factor * share)
        frequencies = self.frequencies * (1 - told) / (1 - share)
        frequencies[self.hidden] = told
        return frequencies


def make_cell(table: RealTable, n: int, errors: str, seed: int) -> Cell | None:
    """Draw the rows and dirty their labels; None where rows are too few, or a class is left with fewer than two."""
    if len(table.classes) < 2 * n:
        return None
    task = make_task(table, n, 0.0, seed, N_UNLABELED)
    counts = np.bincount(task.given)
    rarest, most_frequent = np.argsort(counts, kind="stable")[[0, -1]]
    source, named = (most_frequent, rarest) if errors == "false alarms" else (rarest, most_frequent)
    wrong = (task.given == source) & (np.random.default_rng((seed, n)).random(n) < ERRORS[errors])
    given = np.where(wrong, named, task.given)
    if np.bincount(given, minlength=counts.size).min() < 2:
        return None
    trusted = np.delete(np.arange(counts.size), named)
    return Cell(prepared(table, task.values)[0], given, task.true, trusted, int(source), task.context)


def by_beliefs(cell: Cell, seed: int, **told: Any) -> tuple[Array, Array, float]:
    """Probabilities of the test rows, of each label being wrong, and the estimated share of these."""
    y = np.append(cell.given, np.full(cell.n_train - cell.given.size, -1))
    model = PseudoLabelClassifier(curator=Beliefs(**told), random_state=seed).fit(cell.X[: cell.n_train], y)
    p_wrong = model.samples_["p_wrong"].to_numpy(dtype=float)[: cell.given.size]
    return model.predict_proba(cell.X[cell.n_train :]), p_wrong, model.curator_.noise_rate_


def plain(cell: Cell, seed: int) -> tuple[Array, Array, float]:
    """The same of the backbone alone; a label is doubtful where it is improbable out of fold."""
    X, backbone = cell.X[: cell.given.size], default_estimator().set_params(random_state=seed)
    p = cross_val_predict(backbone, X, cell.given, cv=_folds(cell, seed), method="predict_proba")
    model = backbone.fit(X, cell.given)
    return model.predict_proba(cell.X[cell.n_train :]), 1 - p[np.arange(cell.given.size), cell.given], np.nan


def elkan_noto(cell: Cell, seed: int) -> tuple[Array, Array, float]:
    """Weights of Elkan and Noto (2008), section 3: from the share of the trusted class that has its label."""
    X, positive = cell.X[: cell.given.size], int(cell.trusted[0])
    is_named = cell.given == positive
    backbone = default_estimator().set_params(random_state=seed)
    p = cross_val_predict(backbone, X, is_named, cv=_folds(cell, seed), method="predict_proba")[:, 1]
    found = p[is_named].mean()
    hidden = np.where(is_named, 1.0, np.clip((1 - found) / found * p / np.maximum(1 - p, 1e-9), 0, 1))
    rows, classes = np.tile(np.arange(is_named.size), 2), np.repeat([positive, 1 - positive], is_named.size)
    weights = np.append(hidden, 1 - hidden)
    model = backbone.fit(X[rows[weights > 0]], classes[weights > 0], sample_weight=weights[weights > 0])
    p_wrong = np.where(is_named, 0.0, hidden)
    return model.predict_proba(cell.X[cell.n_train :]), p_wrong, float(p_wrong.mean())


def _folds(cell: Cell, seed: int) -> StratifiedKFold:
    fewest = int(np.bincount(cell.given).min())
    return StratifiedKFold(min(N_FOLDS, fewest), shuffle=True, random_state=seed)


def models(cell: Cell, seed: int) -> dict[str, Callable[[], tuple[Array, Array, float]]]:
    """The contenders, by name."""
    frequencies = cell.frequencies
    told: dict[str, dict[str, Any]] = {
        "default": {},
        "trusted": {"trusted_labels": cell.trusted},
        "frequencies": {"class_frequencies": frequencies},
        "frequencies, too low": {"class_frequencies": cell.misjudged(1 / MISJUDGED)},
        "frequencies, too high": {"class_frequencies": cell.misjudged(MISJUDGED)},
        "both": {"trusted_labels": cell.trusted, "class_frequencies": frequencies},
    }
    contenders = {name: lambda told=each: by_beliefs(cell, seed, **told) for name, each in told.items()}
    if frequencies.size == 2:
        contenders["Elkan-Noto"] = lambda: elkan_noto(cell, seed)
    return {"plain": lambda: plain(cell, seed)} | contenders


def one_cell(table: RealTable, n: int, errors: str, seed: int) -> list[dict[str, Any]]:
    """Return one record per model."""
    warnings.filterwarnings("ignore")
    cell = make_cell(table, n, errors, seed)
    if cell is None:
        return []
    y, is_wrong = cell.true[cell.n_train :], cell.given != cell.true[: cell.given.size]
    records = []
    for name, answer in models(cell, seed).items():
        p, p_wrong, estimate = answer()
        classes = np.arange(p.shape[1])
        areas = [roc_auc_score(y == c, p[:, c]) for c in classes if 0 < (y == c).sum() < y.size]
        scores = {
            "accuracy": 100 * (p.argmax(axis=1) == y).mean(),
            "balanced": 100 * balanced_accuracy_score(y, p.argmax(axis=1)),
            "log loss": -np.log(p[np.arange(y.size), y].clip(1e-6)).mean(),
            "AUC": 100 * np.mean(areas),
            "AUC wrong": 100 * roc_auc_score(is_wrong, p_wrong) if is_wrong.any() else np.nan,
            "estimate off": 100 * (estimate - is_wrong.mean()),
        }
        about = {"table": table.name, "labels": n, "errors": errors, "seed": seed, "classes": classes.size}
        about |= {"wrong": float(is_wrong.mean()), "model": name}
        records.append(about | {score: float(value) for score, value in scores.items()})
    return records


def summary(records: pd.DataFrame) -> pd.DataFrame:
    """Mean gain over the plain model, a row per kind of error and model.

    Log loss is in percent of its mean over the tables; how well wrong labels are found, and their share, is as it is.
    """
    keys = ["table", "labels", "errors", "seed"]
    scores = records.set_index([*keys, "model"])[list(SCORES)]
    base = scores.xs("plain", level="model")
    gains = scores - base.reindex(scores.index.droplevel("model")).to_numpy()
    usual_loss = base["log loss"].groupby(["errors", "table"]).mean().groupby("errors").mean()
    gains["log loss"] *= 100 / usual_loss.reindex(gains.index.get_level_values("errors")).to_numpy()
    gains[["AUC wrong", "estimate off"]] = scores[["AUC wrong", "estimate off"]]
    gains["|off|"] = scores["estimate off"].abs()
    by_table = gains.groupby(level=["errors", "model", "table"], sort=False).mean()
    return by_table.groupby(level=["errors", "model"], sort=False).agg(["mean", "sem"])


def print_tables(records: pd.DataFrame) -> None:
    """Print the gains of all tables, then of those of two classes, which have one more contender."""
    several = records[records["model"] != "Elkan-Noto"]
    for title, part in (("all tables", several), ("two classes", records[records["classes"] == 2])):
        if part.empty:
            continue
        gains, about = summary(part), f"{title} ({part['table'].nunique()})"
        for errors in part["errors"].unique():
            rows, of_kind = gains.loc[errors], part[part["errors"] == errors]
            cells = {score: _with_errors(rows[score]) for score in dict.fromkeys(rows.columns.get_level_values(0))}
            shown = pd.DataFrame(cells, index=rows.index).assign(harmed=_harmed(of_kind))
            wrong = f"{100 * of_kind.groupby('table')['wrong'].mean().mean():.0f} % wrong"
            show(f"{errors}, {wrong}; {about}; gains over plain, log loss in %; AUC wrong and estimates as is", shown)


def _harmed(records: pd.DataFrame) -> pd.Series:
    """By model, how many cells lose more than half a point of accuracy."""
    accuracy = records.pivot(index=["table", "labels", "seed"], columns="model", values="accuracy")
    return (accuracy.sub(accuracy["plain"], axis=0) < -HARM).sum().map(f"{{}} of {len(accuracy)}".format)


def _with_errors(means: pd.DataFrame) -> list[str]:
    return [f"{mean:+.1f} ± {error:.1f}" for mean, error in means[["mean", "sem"]].itertuples(index=False)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="+", type=Path)
    parser.add_argument("--seeds", type=int, default=1, help="from 0 on")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--stored", action="store_true", help="print again what was kept in results/")
    parsed = parser.parse_args()
    name = "known_errors_" + "_".join(path.stem for path in parsed.tables)
    if parsed.stored:
        print_tables(pd.read_json(RESULTS / f"{name}.jsonl", lines=True))
        return
    tables = [table for path in parsed.tables for table in read_tables(path)]
    grid = list(product(tables, SIZES, ERRORS, range(parsed.seeds)))
    print_tables(run_grid(name, one_cell, grid, parsed.jobs))


if __name__ == "__main__":
    main()
