"""How good the network is on real tables whose labels we dirty ourselves."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from sklearn.metrics import roc_auc_score

from ._cells import encode
from ._model import Network
from ._prior._draws import Draws, take_columns

LABELS, NOISE = (50, 100, 400), (0.0, 0.2, 0.4)
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

    values: np.ndarray  # labeled rows, unlabeled ones of the context, queries
    given: np.ndarray
    true: np.ndarray
    context: int


def read_tables(path: Path) -> list[RealTable]:
    """Tables from a file that `make_real_tables` wrote."""
    with np.load(path, allow_pickle=False) as arrays:
        names = [name.removesuffix(".values") for name in arrays.files if name.endswith(".values")]
        return [
            RealTable(name, arrays[f"{name}.values"], arrays[f"{name}.categorical"], arrays[f"{name}.classes"])
            for name in names
        ]


def make_task(table: RealTable, labels: int, noise: float, seed: int, unlabeled: int = UNLABELED) -> Task:
    """Draw rows at random and flip a share of the labels evenly to other classes seen among them."""
    rng = np.random.default_rng((seed, labels, round(100 * noise)))
    rows = rng.permutation(len(table.classes))[: labels + unlabeled + QUERIES]
    true = table.classes[rows]
    names = np.unique(true[:labels])
    kept = (np.arange(len(rows)) < labels) | np.isin(true, names)
    rows, true = rows[kept], np.searchsorted(names, true[kept])
    given = true[:labels].copy()
    wrong = rng.random(labels) < noise
    given[wrong] = (given[wrong] + rng.integers(1, max(2, len(names)), wrong.sum())) % len(names)
    return Task(table.values[rows], given, true, labels + min(unlabeled, (len(rows) - labels) // 2))


@torch.no_grad()
def answer(
    model: Network, table: RealTable, task: Task, device: torch.device, dtype: torch.dtype, draws: int = 1
) -> np.ndarray:
    """Probabilities of every row's true class, (n, C), averaged over random names and orders of columns."""
    classes, levels = int(task.given.max()) + 1, int(np.nanmax(table.values[:, table.categorical], initial=1)) + 1
    source = Draws(device, 0)
    order = source.order(draws, task.values.shape[1])
    values = take_columns(torch.as_tensor(task.values, device=device).expand(draws, -1, -1), order)
    flags = torch.as_tensor(table.categorical, device=device)[order]
    given = torch.as_tensor(task.given, device=device).expand(draws, -1)
    cells = encode(values, flags, given, classes, task.context, levels, source, model.settings).to(dtype)
    logits = model(cells, task.context)
    labeled = len(task.given)
    answers = torch.cat([logits[:, :labeled, :, 1], logits[:, labeled:, :, 0]], 1)
    return answers.softmax(-1).mean(0).cpu().numpy().astype(np.float64)


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


def evaluate(
    model: Network, tables: list[RealTable], device: torch.device, dtype: torch.dtype, thorough: bool = False
) -> dict:
    """Mean scores over all tasks, by labels and noise, and by table."""
    seeds, draws = (3, 4) if thorough else (1, 1)
    rows = []
    for table in tables:
        for labels in LABELS:
            for noise in NOISE:
                if labels + 150 > len(table.classes):
                    continue
                for seed in range(seeds):
                    task = make_task(table, labels, noise, seed)
                    p = answer(model, table, task, device, dtype, draws)
                    rows.append((table.name, f"{labels}/{noise:g}", scores_of(task, p)))
    return {"mean": _mean([row[2] for row in rows]), "by_task": _by(rows, 1), "by_table": _by(rows, 0)}


def _by(rows: list[tuple], key: int) -> dict[str, dict[str, float]]:
    names = dict.fromkeys(row[key] for row in rows)
    return {name: _mean([row[2] for row in rows if row[key] == name]) for name in names}


def _mean(scores: list[dict[str, float]]) -> dict[str, float]:
    names = dict.fromkeys(name for score in scores for name in score)
    return {
        name: round(float(np.mean([s[name] for s in scores if not np.isnan(s.get(name, np.nan))])), 4) for name in names
    }
