"""A simulated reviewer, who checks labels of a table and is right about them, or nearly always."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import tables
from cleanlab.filter import find_label_issues
from cleanlab.rank import get_label_quality_scores
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from dips import CuratedClassifier
from dips.backbones import default_estimator
from dips.curators import Beliefs
from dips.datasets import flip_labels, flip_labels_by_class

LIKELY, USEFUL, CLEANLAB, RANDOM = "most likely wrong", "most useful", "cleanlab", "random"
LOOKS = (0, 20, 60, 100, 200)  # after which the next ones are chosen
N_LABELED, N_TEST, N_NEXT = 600, 3_000, 20


@dataclass(frozen=True)
class Reviewer:
    """How a reviewer chooses and errs.

    Attributes
    ----------
    way : which labels are looked at first
    error : share of the answers that are wrong
    told : the share that the model is told
    """

    way: str
    error: float = 0.0
    told: float = 0.0


@dataclass(frozen=True)
class Task:
    """Labels of which some are wrong, and other rows with true labels to score on."""

    X: np.ndarray
    given: np.ndarray
    truth: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    seed: int

    @classmethod
    def drawn(cls, table: str, noise: str, seed: int) -> Task:
        """Draw rows of a table, and make labels wrong."""
        X, truth = tables.load(table)
        rows = np.random.RandomState(seed).permutation(truth.size)
        n = min(N_LABELED, rows.size // 2)
        labeled, test = rows[:n], rows[n:][:N_TEST]
        given = wrong_labels(truth[labeled], noise, seed)
        return cls(X[labeled], given, truth[labeled], X[test], truth[test], seed)

    def answers(self, error: float) -> np.ndarray:
        """What a reviewer says of each label."""
        rng, n_classes, n = np.random.RandomState(self.seed + 1), self.truth.max() + 1, self.truth.size
        errs = rng.uniform(size=n) < error
        return np.where(errs, (self.truth + rng.randint(1, n_classes, n)) % n_classes, self.truth)


def wrong_labels(truth: np.ndarray, noise: str, seed: int) -> np.ndarray:
    """Labels of which a fifth, drawn at random, or two fifths of one class are wrong."""
    if noise == "symmetric":
        return flip_labels(truth, 0.2, random_state=seed)[0]
    return flip_labels_by_class(truth, {1: {0: 0.4}}, random_state=seed)[0]


def reviews(
    table: str, noise: str, seed: int, reviewers: Sequence[Reviewer], numbers: Sequence[int] = LOOKS
) -> Iterator[dict]:
    """Let every reviewer check labels of one task; a record after each number of looks that is reported."""
    warnings.simplefilter("ignore")
    task = Task.drawn(table, noise, seed)
    about = {"table": table, "noise": noise, "seed": seed}
    nothing = np.zeros(task.truth.size, dtype=bool)
    first = fitted(task, task.given, nothing, 0.0)  # the same for all of them
    for reviewer in reviewers:
        answers, verified, y, model = task.answers(reviewer.error), nothing.copy(), task.given.copy(), first
        for looks, until in zip(numbers, (*numbers[1:], None), strict=True):
            if looks:
                model = fitted(task, y, verified, reviewer.told)
            order = order_of(reviewer.way, model, task, y)
            order = order[~verified[order]]
            measures = measured(task, model, y, verified, order, reviewer.way)
            yield about | vars(reviewer) | {"looks": looks} | measures
            if until is not None:
                looked = order[: until - looks]
                y[looked], verified[looked] = answers[looked], True


def fitted(task: Task, y: np.ndarray, verified: np.ndarray, told: float) -> CuratedClassifier:
    """The default, trained with the verified labels."""
    model = CuratedClassifier(curator=Beliefs(reviewer_error=told), random_state=task.seed)
    return model.fit(task.X, y, verified=verified, y_given=task.given)


def order_of(way: str, model: CuratedClassifier, task: Task, y: np.ndarray) -> np.ndarray:
    """Rows in the order to look at them."""
    if way == RANDOM:
        return np.random.default_rng([task.seed, *map(ord, way)]).permutation(y.size)
    if way == CLEANLAB:
        p = out_of_fold(task, y)
        return np.argsort(get_label_quality_scores(y, p, method="normalized_margin"), kind="stable")
    column = {LIKELY: "p_wrong", USEFUL: "check_gain"}[way]
    return np.argsort(-model.samples_[column].to_numpy(), kind="stable")


def measured(
    task: Task, model: CuratedClassifier, y: np.ndarray, verified: np.ndarray, order: np.ndarray, way: str
) -> dict[str, float]:
    """How good the model and its estimates are, and what is found next."""
    p, (low, high) = model.predict_proba(task.X_test), model.curator_.noise_interval_
    noise = (task.given != task.truth).mean()
    measures = {
        "accuracy": (p.argmax(axis=1) == task.y_test).mean(),
        "log loss": log_loss(task.y_test, p, labels=np.arange(p.shape[1])),
        "noise error": abs(model.curator_.noise_rate_ - noise),
        "interval holds": low <= noise <= high,
        "width": high - low,
        "next wrong": (y != task.truth)[order[:N_NEXT]].mean(),
        "wrong left": (y != task.truth).mean(),
    }
    if way == CLEANLAB:
        issues = find_label_issues(y, out_of_fold(task, y)) & ~verified
        alone = default_estimator().fit(task.X[~issues], y[~issues])
        measures["accuracy alone"] = (alone.predict(task.X_test) == task.y_test).mean()
    return {name: float(value) for name, value in measures.items()}


def out_of_fold(task: Task, y: np.ndarray) -> np.ndarray:
    """Probabilities of each row by the same backbone, not trained on it, for cleanlab."""
    folds = StratifiedKFold(5, shuffle=True, random_state=task.seed)
    return cross_val_predict(default_estimator(), task.X, y, cv=folds, method="predict_proba")
