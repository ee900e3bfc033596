"""What every labeler must do."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier

from dips._dynamics import Moments
from dips._estimators.pseudo_label import PseudoLabelClassifier
from dips._tools.arrays import Array
from dips.datasets import make_quadrants
from dips.labelers import LABELERS, Candidates, Labeler
from dips.labelers._base import checked_proposal
from dips.testing._parts import (
    NoRandomNumbers,
    check_is_documented_and_clonable,
    run_checks,
    settings_check,
)

N_MODELS = 6  # members of the ensembles here; a labeler that has the setting n_models is checked with so many


def check_labeler(labeler: Labeler | type[Labeler]) -> None:
    """Check that a labeler keeps the contract; raise an ``AssertionError`` that says what it breaks.

    Parameters
    ----------
    labeler : Labeler, or a class of them

    Examples
    --------
    >>> from dips.labelers import Greedy
    >>> check_labeler(Greedy(threshold=0.9))
    """
    run_checks(LABELER_CHECKS, labeler() if isinstance(labeler, type) else labeler)


def random_members(
    n: int = 60, n_classes: int = 3, n_models: int = N_MODELS, random_state: int = 0, spread: float = 0.3
) -> Array:
    """Class probabilities (M, n, C) of members that agree on some rows and not on others.

    Parameters
    ----------
    n, n_classes, n_models : int
        Rows, classes, members.
    random_state : int
    spread : float
        How far members differ.
    """
    rng = np.random.RandomState(random_state)
    center = rng.normal(scale=3, size=(n, n_classes))
    logits = center + rng.uniform(0, 3, size=(1, n, 1)) * spread * rng.normal(size=(n_models, n, n_classes))
    p = np.exp(logits)
    return p / p.sum(axis=2, keepdims=True)


def make_candidates(
    members: Array,
    caps: Any = None,
    frequencies: Any = None,
    t: int = 1,
    n_rounds: int = 5,
    features: Array | None = None,
) -> Candidates:
    """Candidates made of the class probabilities (M, n, C) of the members of an ensemble.

    Unless given, features cluster around one point per class, the class being the first member's prediction.

    Parameters
    ----------
    members : array (M, n, C)
    caps : array (C,), optional
        The most rows that each class may get.
    frequencies : array (C,), optional
        Shares of the classes among the useful labels.
    t, n_rounds : int
        The round, and how many there are.
    features : array (n, p), optional
        The rows themselves.
    """
    n, n_classes = members.shape[1:]
    rows = 3 * np.eye(n_classes)[members[0].argmax(axis=1)] + members[0] if features is None else features
    useful_labels = np.repeat(np.arange(n_classes), 8)
    corners = np.eye(n_classes, rows.shape[1])[useful_labels]
    rng = np.random.RandomState(0)
    useful_features = 3 * corners + np.array([rng.dirichlet(1 + 5 * corner) for corner in corners])

    def ensemble(n_models: int) -> Moments:
        used = members[:n_models]
        return Moments(np.mean(used, axis=0), np.std(used, axis=0, ddof=1), len(used))

    return Candidates(
        probabilities=members[0],
        class_frequencies=np.full(n_classes, 1 / n_classes) if frequencies is None else np.asarray(frequencies),
        round=t,
        n_rounds=n_rounds,
        caps=np.full(n_classes, n) if caps is None else np.asarray(caps),
        ensemble=ensemble,
        checkpoints=ensemble,
        features=lambda: rows,
        map_features=lambda function: function(rows),
        useful_labels=useful_labels,
        useful_is_given=np.ones(useful_labels.size, dtype=bool),
        useful_features=lambda: useful_features,
    )


def check_proposes_distinct_rows_within_the_caps(labeler: Labeler) -> None:
    """Random candidates are answered with distinct positions, and no class gets more rows than its cap."""
    for seed in range(10):
        rng = np.random.RandomState(seed)
        n, n_classes = rng.randint(1, 26), rng.randint(2, 6)
        check_proposal(labeler, n, rng.randint(0, 11, n_classes).tolist(), seed)


def check_proposal(labeler: Labeler, n: int, caps: list[int], seed: int) -> None:
    """Check one proposal for `n` random candidates."""
    rows, labels = _propose(labeler, make_candidates(random_members(n, len(caps), random_state=seed), caps))
    assert rows.shape == labels.shape, "there must be one label per row proposed"
    assert np.unique(rows).size == rows.size, "a row was proposed twice"
    assert set(rows.tolist()) <= set(range(n)), "a row was proposed that is not among the candidates"
    counts = np.bincount(labels, minlength=len(caps))
    assert (counts <= caps).all(), f"classes got {counts.tolist()} rows, and the caps are {caps}"


def check_changes_nothing_and_draws_no_random_number(labeler: Labeler) -> None:
    """The same candidates get the same proposal; nothing shown is changed."""
    members = random_members()
    members.flags.writeable = False
    candidates = make_candidates(members)
    with NoRandomNumbers():
        first, second = (_pairs(labeler, candidates) for _ in range(2))
    assert first == second, "two proposals for the same candidates differ"


def check_order_of_rows_does_not_matter(labeler: Labeler) -> None:
    """Shuffled candidates get the same proposal, row by row."""
    members, caps = random_members(), [4, 3, 2]
    order = np.random.RandomState(0).permutation(members.shape[1])
    plain = _pairs(labeler, make_candidates(members, caps))
    shuffled = _pairs(labeler, make_candidates(members[:, order], caps))
    assert sorted((int(order[i]), c) for i, c in shuffled) == plain, "the proposal depends on the order of the rows"
    assert plain, "nothing is proposed, though the members are sure of many rows"


def check_degenerate_probabilities(labeler: Labeler) -> None:
    """A model that is sure of everything, or of nothing, causes no error."""
    for p in (0.5, 0.0, 1.0):
        members = np.tile([p, 1 - p], (N_MODELS, 7, 1))
        with np.errstate(all="raise", under="ignore"):
            rows, labels = _propose(labeler, make_candidates(members, [2, 2]))
        assert rows.size <= 2, "more rows were proposed than the cap of the only class predicted"
        assert p != 0.5 or rows.size == 0, "rows were proposed that the model knows nothing about"
        assert (labels == (0 if p == 1 else 1)).all(), "a label was proposed that has probability 0"


def check_learns_in_the_classifier(labeler: Labeler) -> None:
    """In PseudoLabelClassifier, on an easy table, rows are labeled and the model is good."""
    X, y = make_quadrants(160, random_state=0)
    given = np.where(np.arange(160) < 40, y, -1)
    forest = RandomForestClassifier(5, max_depth=3)
    model = PseudoLabelClassifier(forest, labeler=_small(labeler), curator="none", n_rounds=3, random_state=0)
    model.fit(X, given)
    assert (model.labeled_iter_ > 0).any(), "no row was labeled"
    assert model.score(X, y) > 0.9, "the model did not learn"


LABELER_CHECKS = (
    check_is_documented_and_clonable,
    settings_check(LABELERS),
    check_proposes_distinct_rows_within_the_caps,
    check_changes_nothing_and_draws_no_random_number,
    check_order_of_rows_does_not_matter,
    check_degenerate_probabilities,
    check_learns_in_the_classifier,
)


def _small(labeler: Labeler) -> Labeler:
    """Return a fresh copy, with few members where it has any."""
    fresh = clone(labeler)
    return fresh.set_params(n_models=N_MODELS) if "n_models" in fresh.get_params() else fresh


def _propose(labeler: Labeler, candidates: Candidates) -> tuple[Array, Array]:
    return checked_proposal(_small(labeler), candidates)


def _pairs(labeler: Labeler, candidates: Candidates) -> list[tuple[int, int]]:
    rows, labels = _propose(labeler, candidates)
    return sorted(zip(rows.tolist(), labels.tolist(), strict=True))
