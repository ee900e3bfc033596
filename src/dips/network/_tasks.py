"""Real tables with few labels, which we dirty ourselves, and the scores of answers to them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

from dips.datasets import flip_labels_by_instance

LABELS, NOISE = (50, 100, 400), (0.0, 0.2, 0.4)
KINDS = ("symmetric", "class", "row")  # of noise
UNLABELED, QUERIES = 400, 600


@dataclass
class RealTable:
    """A table as numbers: levels of categories as codes, NaN where missing."""

    name: str
    values: np.ndarray  # (n, F) float32
    categorical: np.ndarray  # (F,)
    classes: np.ndarray  # (n,)


@dataclass
class Task:
    """One table with few labels, some of them wrong."""

    values: np.ndarray  # (n, F) labeled rows, unlabeled ones of the context, queries
    given: np.ndarray  # (L,) labels of the labeled rows
    true: np.ndarray  # (n,)
    context: int  # how many rows are not queries


def read_tables(path: Path) -> list[RealTable]:
    """Tables from a file that ``dips.network._real_tables`` wrote."""
    with np.load(path, allow_pickle=False) as arrays:
        names = [name.removesuffix(".values") for name in arrays.files if name.endswith(".values")]
        return [
            RealTable(name, arrays[f"{name}.values"], arrays[f"{name}.categorical"], arrays[f"{name}.classes"])
            for name in names
        ]


def make_task(
    table: RealTable, labels: int, noise: float, seed: int, unlabeled: int = UNLABELED, kind: str = "symmetric"
) -> Task:
    """Draw rows at random and flip a share of the labels to other classes seen among them.

    The kinds of noise: "symmetric", all labels and wrong classes alike; "class", labels of the most frequent class
    become the second; "row", the odds of an error depend on the row.
    """
    rng = _source(labels, noise, seed)
    rows = rng.permutation(len(table.classes))[: labels + unlabeled + QUERIES]
    true = table.classes[rows]
    names = np.unique(true[:labels])
    kept = (np.arange(len(rows)) < labels) | np.isin(true, names)
    rows, true = rows[kept], np.searchsorted(names, true[kept])
    given = _dirtied(table.values[rows[:labels]], true[:labels], noise, kind, rng)
    return Task(table.values[rows], given, true, labels + min(unlabeled, (len(rows) - labels) // 2))


def drawn_rows(table: RealTable, labels: int, noise: float, seed: int) -> np.ndarray:
    """All rows in the order in which a task takes them, the labeled ones first."""
    return _source(labels, noise, seed).permutation(len(table.classes))


def _source(labels: int, noise: float, seed: int) -> np.random.Generator:
    return np.random.default_rng((seed, labels, round(100 * noise)))


def _dirtied(values: np.ndarray, true: np.ndarray, noise: float, kind: str, rng: np.random.Generator) -> np.ndarray:
    given, n_classes = true.copy(), int(true.max()) + 1
    if kind == "symmetric":
        wrong = rng.random(true.size) < noise
        given[wrong] = (given[wrong] + rng.integers(1, max(2, n_classes), wrong.sum())) % n_classes
    elif kind == "class":
        first, second = np.argsort(-np.bincount(true), kind="stable")[:2]
        given[(true == first) & (rng.random(true.size) < noise)] = second
    else:
        ranks = np.argsort(np.argsort(np.nan_to_num(values), axis=0, kind="stable"), axis=0)
        given = flip_labels_by_instance(ranks.astype(float), true, noise, random_state=int(rng.integers(2**31)))[0]
    return given


def scores_of(task: Task, p: np.ndarray) -> dict[str, float]:
    """Accuracy, log loss and AUC on the queries, and the AUC of finding the wrong labels."""
    asked, true = p[task.context :], task.true[task.context :]
    scores = {
        "accuracy": float((asked.argmax(1) == true).mean()),
        "log_loss": float(-np.log(asked[np.arange(len(true)), true].clip(1e-6)).mean()),
        "auc": _auc(true, asked),
    }
    labeled = len(task.given)
    wrong = task.given != task.true[:labeled]
    if wrong.any():
        scores["auc_wrong"] = float(roc_auc_score(wrong, 1 - p[np.arange(labeled), task.given]))
    return scores


def _auc(true: np.ndarray, p: np.ndarray) -> float:
    """Area under the curve, each class against the rest, averaged over the classes seen."""
    areas = [roc_auc_score(true == c, p[:, c]) for c in range(p.shape[1]) if 0 < (true == c).sum() < len(true)]
    return float(np.mean(areas[1:] if p.shape[1] == 2 else areas)) if areas else float("nan")


def means_by(rows: list[tuple], key: int) -> dict[str, dict[str, float]]:
    """Mean scores by one entry of the rows (table, task, scores)."""
    names = dict.fromkeys(row[key] for row in rows)
    return {name: mean_of([row[2] for row in rows if row[key] == name]) for name in names}


def mean_of(scores: list[dict[str, float]]) -> dict[str, float]:
    """Mean of each score over those that have it."""
    names = dict.fromkeys(name for score in scores for name in score)
    return {
        name: round(float(np.mean([s[name] for s in scores if not np.isnan(s.get(name, np.nan))])), 4) for name in names
    }
