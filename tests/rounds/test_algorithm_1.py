"""The rounds against Algorithm 1 of the paper, transcribed row by row."""

import math

import numpy as np
import pytest

from dips import PseudoLabelClassifier
from dips.curators import DIPS
from tests.round_examples import CONF, N_LABELED, E, T, noisy_table, run_rounds, small_boosting


def fitted(X, training):
    rows = sorted(training)
    return small_boosting().fit(X[rows], np.array([training[i] for i in rows]))


def dynamics(X, D, model):
    """Average confidence and aleatoric uncertainty of the rows of D: Definitions 4.1 and 4.2."""
    checkpoints = [model.predict_proba(X, iteration_range=(0, e + 1)).astype(float) for e in range(E)]
    confidence = {i: sum(p[i, y] for p in checkpoints) / E for i, y in D.items()}
    aleatoric = {i: sum(p[i, y] * (1 - p[i, y]) for p in checkpoints) / E for i, y in D.items()}
    return confidence, aleatoric


def adaptive_threshold(aleatoric):
    return 0.75 * (max(aleatoric.values()) - min(aleatoric.values()))


def s(p, unlabeled, useful, t):
    """Greedy pseudo-labels: at least 0.8, the best of each class up to its cap."""
    n_classes = p.shape[1]
    counts = [useful.count(c) for c in range(n_classes)]
    assert max(counts) <= 5 * min(counts)
    chosen = {}
    for c in range(n_classes):
        cap = math.ceil(counts[c] / len(useful) * 2 * (T - t + 1) / (T * (T + 1)) * len(unlabeled))
        sure = [i for i in unlabeled if p[i].argmax() == c and p[i, c] >= 0.8]
        chosen |= dict.fromkeys(sorted(sure, key=lambda i: (-p[i, c], i))[:cap], c)
    return chosen


def algorithm_1(X, given, at_start=True, in_rounds=True, grow=True, frozen=True):
    """The training set of each f(t), and f(T). Every round judges all of D again, the first suspects included."""
    thresholds = []

    def r(D, f):
        confidence, aleatoric = dynamics(X, D, f)
        thresholds.append(adaptive_threshold(aleatoric))
        tau_al = thresholds[0] if frozen else thresholds[-1]
        useful = {i: y for i, y in D.items() if confidence[i] >= CONF and aleatoric[i] < tau_al}
        return useful or dict(D)  # where nothing is useful, everything stays

    D_lab = {i: int(y) for i, y in enumerate(given) if y != -1}
    train = r(D_lab, fitted(X, D_lab)) if at_start else dict(D_lab)
    kept_labels, pseudo, trained_on = dict(train), {}, []
    for t in range(1, T + 1):
        f = fitted(X, train)
        trained_on.append(train)
        unlabeled = [i for i in range(len(X)) if given[i] == -1 and not (grow and i in pseudo)]
        useful = [y for i, y in train.items() if i in D_lab]
        proposed = s(f.predict_proba(X).astype(float), unlabeled, useful, t)
        pseudo = pseudo | proposed if grow else proposed
        train = r(D_lab | pseudo, f) if in_rounds else kept_labels | pseudo
    return trained_on, f


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("curate", ["both", "start", "rounds", "neither"])
@pytest.mark.parametrize("grow", [True, False])
def test_the_rounds_are_algorithm_1(n_classes, curate, grow):
    X, given = noisy_table(n_classes)
    where = {"at_start": curate in ("both", "start"), "in_rounds": curate in ("both", "rounds"), "grow": grow}
    trained_on, f = algorithm_1(X, given, **where)
    run, spy = run_rounds(X, given, curator=DIPS(conf=CONF), **where)
    assert spy.trained[-T:] == trained_on
    assert len(spy.trained) == T + where["at_start"]
    np.testing.assert_array_equal(run.estimator.predict_proba(X), f.predict_proba(X))
    assert {i: run.labels[i] for i in np.flatnonzero(run.useful)} == trained_on[-1]
    # The example is not a trivial one: labels become suspects, and pseudo-labels are taken, as far as they may be.
    assert (len(trained_on[0]) < N_LABELED) == where["at_start"]
    assert any(i >= N_LABELED for i in trained_on[-1])


@pytest.mark.filterwarnings("ignore:The curator found no useful row")
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_rounds_are_algorithm_1_with_a_threshold_computed_anew(n_classes):
    X, given = noisy_table(n_classes)
    trained_on, f = algorithm_1(X, given, frozen=False)
    run, spy = run_rounds(X, given, curator=DIPS(conf=CONF, frozen=False))
    assert spy.trained[1:] == trained_on
    np.testing.assert_array_equal(run.estimator.predict_proba(X), f.predict_proba(X))


def test_the_classifier_runs_algorithm_1():
    X, given = noisy_table(2)
    _, f = algorithm_1(X, given)
    model = PseudoLabelClassifier(small_boosting(), curator=DIPS(conf=CONF), n_rounds=T, random_state=0).fit(X, given)
    np.testing.assert_array_equal(model.predict_proba(X), f.predict_proba(X))
