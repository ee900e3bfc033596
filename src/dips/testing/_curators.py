"""What every curator must do."""

from __future__ import annotations

import dataclasses
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from dips._dynamics import STATISTICS, Dynamics
from dips._estimators.curated import CuratedClassifier
from dips._estimators.pseudo_label import PseudoLabelClassifier
from dips._rounds.curation import gather_evidence
from dips._tools.arrays import Array
from dips.curators import CURATORS, Curator, Evidence
from dips.curators._base import checked_mask, keep_every_class
from dips.datasets import flip_labels, make_quadrants
from dips.testing._parts import NoRandomNumbers, check_is_documented_and_clonable, run_checks, settings_check


def check_curator(curator: Curator | type[Curator]) -> None:
    """Check that a curator keeps the contract; raise an ``AssertionError`` that says what it breaks.

    Parameters
    ----------
    curator : Curator, or a class of them

    Examples
    --------
    >>> from dips.curators import DIPS
    >>> check_curator(DIPS(conf=0.7))
    """
    run_checks(CURATOR_CHECKS, curator() if isinstance(curator, type) else curator)


def random_trajectories(n: int = 60, n_classes: int = 3, n_checkpoints: int = 8, random_state: int = 0) -> Array:
    """Class probabilities (E, n, C) that drift and fluctuate over the checkpoints.

    Parameters
    ----------
    n, n_classes, n_checkpoints : int
    random_state : int
    """
    rng = np.random.RandomState(random_state)
    start, end = rng.normal(size=(2, n, n_classes))
    e = np.linspace(0, 1, n_checkpoints)[:, None, None]
    logits = (1 - e) * start + 4 * e * end + 0.5 * rng.normal(size=(n_checkpoints, n, n_classes))
    p = np.exp(logits)
    return p / p.sum(axis=2, keepdims=True)


def random_labels(n: int = 60, n_classes: int = 3, random_state: int = 0) -> Array:
    """Labels (n,) among which every class occurs."""
    rng = np.random.RandomState(random_state)
    return np.concatenate([np.arange(n_classes), rng.randint(0, n_classes, n - n_classes)])


def make_evidence(
    trajectories: Array, labels: Array, is_given: Array | None = None, features: Any = None, t: int = 0
) -> Evidence:
    """Evidence made of class probabilities (E, n, C) at every checkpoint, and of labels (n,).

    Parameters
    ----------
    trajectories : array (E, n, C)
    labels : array (n,)
    is_given : mask (n,), optional
        False for pseudo-labels; without it, all are given.
    features : table, optional
        The rows themselves.
    t : int
        The round; 0 is the start.
    """
    n_checkpoints, n, n_classes = trajectories.shape
    dynamics = Dynamics(n, n_classes, STATISTICS)
    dynamics.begin(n_checkpoints)
    for p in trajectories:
        dynamics.update(p)
    dynamics.finish()
    is_given = np.ones(n, dtype=bool) if is_given is None else is_given
    return gather_evidence(
        dynamics,
        np.asarray(labels),
        is_given,
        t,
        features=lambda: np.random.RandomState(0).normal(size=(n, 4)) if features is None else features,
        out_of_fold=lambda n_folds: trajectories[0][is_given],
    )


def curate(curator: Curator, evidence: Evidence) -> Array:
    """Ask a fresh copy of the curator, which is shown no statistic that it did not ask for."""
    names = {"confidence", "aleatoric", *curator.statistics}
    shown = dataclasses.replace(evidence, statistics={name: evidence.statistics[name] for name in names})
    return checked_mask(clone(curator), shown)


def check_statistics_are_known(curator: Curator) -> None:
    """The curator asks only for statistics that exist."""
    unknown = set(curator.statistics) - set(STATISTICS)
    assert not unknown, f"there are no statistics {sorted(unknown)}; choose one of {', '.join(STATISTICS)}"


def check_returns_a_mask(curator: Curator) -> None:
    """Random evidence is answered with a boolean mask of the rows."""
    for seed in range(8):
        rng = np.random.RandomState(seed)
        n, n_classes = rng.randint(4, 31), rng.randint(2, 5)
        useful = curate(curator, random_evidence(n, n_classes, seed))
        assert useful.shape == (n,), f"the mask has shape {useful.shape}, and there are {n} rows"
        assert useful.dtype == bool, f"the mask is of {useful.dtype}"


def check_order_of_rows_does_not_matter(curator: Curator, seeds: Any = range(4)) -> None:
    """Shuffled evidence gets the same answer, row by row."""
    n = 40
    for seed in seeds:
        n_classes = 2 + seed % 3
        rng = np.random.RandomState(seed)
        trajectories, labels = random_trajectories(n, n_classes, random_state=seed), random_labels(n, n_classes, seed)
        is_given, features, order = rng.uniform(size=n) < 0.5, rng.normal(size=(n, 4)), rng.permutation(n)
        is_given[:n_classes] = True  # every class has a given label
        if "images" in curator.judges:  # folds of a table are dealt out by the place of a row; images have none
            features = features.reshape(n, 2, 2)
        plain = curate(curator, make_evidence(trajectories, labels, is_given, features))
        shuffled = make_evidence(trajectories[:, order], labels[order], is_given[order], features[order])
        assert (curate(curator, shuffled) == plain[order]).all(), "the answer depends on the order of the rows"


def check_changes_nothing_and_draws_no_random_number(curator: Curator) -> None:
    """The same evidence gets the same answer; nothing shown is changed."""
    evidence = random_evidence()
    for array in (*evidence.statistics.values(), evidence.labels, evidence.probabilities):
        array.flags.writeable = False
    with NoRandomNumbers():
        first, second = (curate(curator, evidence) for _ in range(2))
    assert (first == second).all(), "two answers to the same evidence differ"


def check_leaves_every_class_a_row(curator: Curator) -> None:
    """With the rescue of classes that would be lost, every class keeps a row to train on."""
    for n_classes in (2, 3):
        for seed in range(5):
            evidence = random_evidence(30, n_classes, seed)
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "The curator")
                useful = keep_every_class(curate(curator, evidence), evidence)
            assert np.unique(evidence.labels[useful]).size == n_classes, "a class is left with no row"


def check_learns_in_the_classifiers(curator: Curator) -> None:
    """In both classifiers, on an easy table with some wrong labels, the model is good."""
    if "tables" not in curator.judges:
        return
    from xgboost import XGBClassifier

    X, truth = make_quadrants(200, random_state=0)
    y, flipped = flip_labels(truth, 0.1, random_state=0)
    backbone = XGBClassifier(n_estimators=100, n_jobs=1)  # the paper's: the published thresholds suit it
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The curator")
        curated = CuratedClassifier(backbone, curator=curator, random_state=0).fit(X, y)
        assert curated.score(X, truth) > 0.85, "CuratedClassifier did not learn"
        kept = curated.samples_["useful"].to_numpy()
        assert flipped[kept].mean() <= flipped.mean(), "wrong labels are kept more often than right ones"
        y[80:] = -1
        model = PseudoLabelClassifier(backbone, curator=curator, n_rounds=3, random_state=0).fit(X, y)
    assert model.score(X, truth) > 0.85, "PseudoLabelClassifier did not learn"


CURATOR_CHECKS = (
    check_is_documented_and_clonable,
    check_statistics_are_known,
    settings_check(CURATORS),
    check_returns_a_mask,
    check_order_of_rows_does_not_matter,
    check_changes_nothing_and_draws_no_random_number,
    check_leaves_every_class_a_row,
    check_learns_in_the_classifiers,
)


def random_evidence(n: int = 60, n_classes: int = 3, seed: int = 0) -> Evidence:
    """Evidence of random trajectories and labels."""
    return make_evidence(random_trajectories(n, n_classes, random_state=seed), random_labels(n, n_classes, seed))
