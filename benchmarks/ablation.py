"""What each part of the default is worth: the default without it, against supervised training; and what could be won.

DIPS_DATA=folder python benchmarks/ablation.py [SEEDS] [JOBS]

The development tables of `dips paper run good-model`, 100 and 400 labels, 0, 20 and 40 % of them flipped, XGBoost with
slow, shallow trees. Gains are means over tables, sizes and shares, with the standard error over seeds. Oracles know
what nobody does: the share of wrong labels, which they are, or the right ones.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import product
from typing import Any
from unittest.mock import patch

import numpy as np

from dips._beliefs import learning, student
from dips._beliefs.effort import Effort
from dips._beliefs.hypotheses import SYMMETRIC
from dips._beliefs.noise import NoiseRate, Panel
from dips._paper.figures.good_model import HELD_OUT
from dips._paper.tables import gains, trial
from dips._paper.tables.splits import Split, authors_seeds
from dips._paper.tables.trial import Trial

TABLES = ("adult", "agaricus-lepiota", "blog", "covid", "drug", "german", "higgs")
LABELS, NOISES = (100, 400), (0.0, 0.2, 0.4)
BELIEFS = {"method": "pl", "labeler": {"name": "auto"}, "curator": {"name": "beliefs"}}
CURATED = BELIEFS | {"method": "curated"}
METHODS: dict[str, dict[str, Any]] = {
    gains.SUPERVISED: {"method": "supervised"},
    gains.ALL_LABELS: {"method": "all_labels"},
    gains.WITH_UNLABELED: BELIEFS,
    "without the backbone among the teachers": BELIEFS,
    "without linear teachers": BELIEFS,
    "without randomized trees": BELIEFS,
    "without the graph": BELIEFS,
    "without a second round": BELIEFS,
    "hard labels": BELIEFS,
    "oracle: the share of wrong labels": BELIEFS,
    "oracle: wrong labels are left out": BELIEFS,
    "oracle: wrong labels are put right": BELIEFS,
    gains.WITHOUT_UNLABELED: CURATED,
    "curated, without synthetic rows": CURATED,
}


@contextmanager
def ablated(method: str, noise: float) -> Iterator[None]:
    """Leave out, or tell, what the method's name says."""
    if method == "oracle: the share of wrong labels":
        estimate = learning.estimate_noise
        with patch.object(learning, "estimate_noise", lambda *a: _told(*estimate(*a), noise)):
            yield
    elif method in _SPLITS:
        draw, corrected = trial.make_split, _SPLITS[method]
        with patch.object(trial, "make_split", lambda t: corrected(draw(t))):
            yield
    elif method == "without the backbone among the teachers":
        make = learning._make_teachers
        with patch.object(learning, "_make_teachers", lambda *a: make(*a)[1:]):
            yield
    elif method == "hard labels":
        weighted = student.weighted_rows
        with patch.object(student, "weighted_rows", lambda b: weighted(np.eye(b.shape[1])[b.argmax(axis=1)])):
            yield
    elif method in _EFFORTS:
        full, less = Effort.for_labels, _EFFORTS[method]
        with patch.object(Effort, "for_labels", lambda *a: less(full(*a))):
            yield
    else:
        yield


_EFFORTS: dict[str, Callable[[Effort], Effort]] = {
    "without linear teachers": lambda e: _only(e, "trees"),
    "without randomized trees": lambda e: _only(e, "linear"),
    "without the graph": lambda e: replace(e, graph=False),
    "without a second round": lambda e: replace(e, again=()),
    "curated, without synthetic rows": lambda e: replace(e, n_student=0),
}


def _told(estimated: NoiseRate, panels: list[Panel], noise: float) -> tuple[NoiseRate, list[Panel]]:
    """Put all belief on symmetric noise of the rate next to the true one."""
    off = [abs(h.rate - noise) + (h.kind != SYMMETRIC) for h in estimated.hypotheses]
    known = np.eye(len(off))[int(np.argmin(off))]
    return replace(estimated, mean=noise, low=noise, high=noise, posterior=known), panels


def _without_wrong(split: Split) -> Split:
    X, y, right = split.X_labeled, split.y_labeled, ~split.flipped
    return replace(split, X_labeled=X[right], y_labeled=y[right], y_true=y[right], flipped=split.flipped[right])


def _put_right(split: Split) -> Split:
    return replace(split, y_labeled=split.y_true, flipped=np.zeros_like(split.flipped))


_SPLITS: dict[str, Callable[[Split], Split]] = {
    "oracle: wrong labels are left out": _without_wrong,
    "oracle: wrong labels are put right": _put_right,
}


def _only(effort: Effort, word: str) -> Effort:
    helpers, again = (tuple(n for n in names if word in n) for names in (effort.helpers, effort.again))
    return replace(effort, helpers=helpers, again=("backbone", *again))


def records_of(table: str, labels: int, noise: float, seed: int) -> list[dict[str, Any]]:
    """Every method on one cell and seed."""
    warnings.simplefilter("ignore")
    cell = {"set": "development", "table": table, "labels": labels, "kind": "symmetric", "noise": noise, "seed": seed}
    records = []
    for method, settings in METHODS.items():
        flips = {} if method == gains.ALL_LABELS else {"noise": noise}
        settled = Trial(
            table,
            seed,
            backbone="xgboost sensible",
            labels=labels,
            max_unlabeled=1_000,
            measure="probabilities",
            **settings,
            **flips,
        )
        with ablated(method, noise):
            outcome = settled.run()
        numbers = {k: v for k, v in outcome.items() if isinstance(v, float)}
        records.append(cell | {"backbone": settled.backbone, "method": method} | numbers)
    return records


def main() -> None:
    """Measure, print, keep."""
    from common import run_grid, show

    n_seeds, jobs = ([int(a) for a in sys.argv[1:3]] + [3, 2][len(sys.argv) - 1 :])[:2]
    assert not set(TABLES) & set(HELD_OUT)
    cells = [(*cell, seed) for seed in authors_seeds(n_seeds) for cell in product(TABLES, LABELS, NOISES)]
    show(f"Against supervised training, {n_seeds} seeds", gains.summary(run_grid("ablation", records_of, cells, jobs)))


if __name__ == "__main__":
    main()
