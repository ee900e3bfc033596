import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from xgboost import XGBClassifier

from dips import CuratedClassifier, PseudoLabelClassifier
from dips.curators import Adaptive
from dips.curators._adaptive import noise_rate, weight_of_second
from dips.curators._second_opinion import linear_out_of_fold
from dips.datasets import flip_labels, make_quadrants

from .examples import make_evidence, random_labels, random_trajectories


def naive_noise_rate(p, labels):
    """Confident learning, a row at a time: the most probable class is another and reaches its usual probability."""
    n_classes = len(p[0])
    usual = {}
    for c in range(n_classes):
        own = [row[c] for row, y in zip(p, labels, strict=True) if y == c]
        usual[c] = sum(own) / len(own) if own else float("inf")
    contradicted = [
        row.index(max(row)) != y and max(row) >= usual[row.index(max(row))] for row, y in zip(p, labels, strict=True)
    ]
    return sum(contradicted) / len(contradicted)


@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(1, 40))
def test_the_noise_rate_is_the_share_of_contradicted_labels(seed, n_classes, n):
    rng = np.random.RandomState(seed)
    p, labels = rng.dirichlet(np.ones(n_classes), n), rng.randint(0, n_classes, n)
    assert noise_rate(p, labels) == pytest.approx(naive_noise_rate(p.tolist(), labels.tolist()))


def evidence_with_noise_rate(share, n=100, is_given=None):
    """Two classes; out-of-fold probabilities contradict exactly the first `share` of the labels.

    The rows are images, not a table, so there is no second opinion.
    """
    labels = np.arange(n) % 2
    p = np.full((n, 2), 0.1)
    p[np.arange(n), labels] = 0.9
    wrong = np.arange(n) < share * n
    p[wrong] = p[wrong][:, ::-1]
    evidence = make_evidence(random_trajectories(n, 2), labels, is_given)
    return dataclasses.replace(evidence, out_of_fold=lambda n_folds: p, features=lambda: np.zeros((n, 2, 2)))


@pytest.mark.parametrize(("share", "n_suspects"), [(0.0, 0), (0.1, 10), (0.3, 30)])
def test_without_caution_there_are_as_many_suspects_as_labels_look_wrong(share, n_suspects):
    curator = Adaptive(caution=0)
    evidence = evidence_with_noise_rate(share)
    useful = curator.curate(evidence)
    assert curator.noise_rate_ == pytest.approx(share)
    assert (~useful).sum() == n_suspects
    worst_first = np.argsort(evidence.confidence * curator.out_of_fold_)
    assert not useful[worst_first[:n_suspects]].any()


def test_a_linear_model_is_asked_for_a_second_opinion():
    rng = np.random.RandomState(0)
    labels, p = np.arange(100) % 2, rng.dirichlet([1, 1], 100)
    features = (labels + 0.1 * rng.normal(size=100))[:, None]
    evidence = make_evidence(random_trajectories(100, 2), labels, features=features)
    curator = Adaptive()
    curator.curate(dataclasses.replace(evidence, out_of_fold=lambda n_folds: p))
    second = linear_out_of_fold(features, labels, 2, 5)
    np.testing.assert_allclose(curator.out_of_fold_, second[np.arange(100), labels])
    assert curator.noise_rate_ == noise_rate(second, labels) < noise_rate(p, labels)


def test_the_second_opinion_is_heard_as_far_as_it_is_right():
    labels = np.arange(100) % 2

    def opinion_wrong_about(rows):
        p = np.eye(2)[labels]
        p[rows] = p[rows][:, ::-1]
        return p

    twenty_wrong = opinion_wrong_about(slice(0, 20))
    assert weight_of_second(twenty_wrong, opinion_wrong_about(slice(10, 30)), labels) == 1
    assert weight_of_second(twenty_wrong, opinion_wrong_about(slice(10, 32)), labels) == 0.5
    assert weight_of_second(twenty_wrong, opinion_wrong_about(slice(10, 60)), labels) == 0


def test_caution_takes_standard_errors_off_the_estimate():
    useful = Adaptive(caution=2).curate(evidence_with_noise_rate(0.1))
    assert (~useful).sum() == round(100 * (0.1 - 2 * np.sqrt(0.1 * 0.9 / 100)))


def test_there_are_no_more_suspects_than_max_drop():
    assert (~Adaptive(max_drop=0.2, caution=0).curate(evidence_with_noise_rate(0.4))).sum() == 20


def test_the_noise_is_estimated_once_and_the_ranking_renewed():
    calls = []
    curator = Adaptive(caution=0)
    first = evidence_with_noise_rate(0.2)
    first = dataclasses.replace(first, out_of_fold=lambda k, ask=first.out_of_fold: calls.append(k) or ask(k))
    second = dataclasses.replace(first, statistics={"confidence": -first.confidence, "aleatoric": first.aleatoric})
    one, two = curator.curate(first), curator.curate(second)
    assert calls == [5]
    assert (~one).sum() == (~two).sum() == 20
    assert (one != two).any()


def test_a_pseudo_label_stays_while_it_is_believed_most():
    labels, trajectories = random_labels(60, 3), random_trajectories(60, 3)
    is_given = np.arange(60) < 30
    evidence = make_evidence(trajectories, labels, is_given)
    useful = Adaptive().curate(evidence)
    believed = trajectories.mean(axis=0).argmax(axis=1) == labels
    assert (useful[~is_given] == believed[~is_given]).all()


BACKBONES = {
    "fast trees": XGBClassifier(n_estimators=50, n_jobs=1),
    "slow trees": XGBClassifier(n_estimators=100, learning_rate=0.05, max_depth=3, subsample=0.8, n_jobs=1),
    "histogram trees": HistGradientBoostingClassifier(max_iter=50),
    "network": make_pipeline(StandardScaler(), MLPClassifier((16,), max_iter=60, learning_rate_init=0.01)),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("backbone", BACKBONES.values(), ids=BACKBONES.keys())
@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_it_helps_where_labels_are_dirty_and_does_no_harm_where_they_are_clean(backbone, noise):
    X, y = make_quadrants(200, random_state=1)
    X_test, y_test = make_quadrants(5000, random_state=2)
    noisy, flipped = flip_labels(y, noise, random_state=3)
    plain = CuratedClassifier(backbone, curator="none", random_state=0).fit(X, noisy).score(X_test, y_test)
    curated = CuratedClassifier(backbone, curator="adaptive", random_state=0).fit(X, noisy)
    assert curated.score(X_test, y_test) >= plain - 0.005
    if noise:
        suspect = ~curated.samples_["useful"].to_numpy()
        assert flipped[suspect].mean() > 0.6
        assert suspect[flipped].mean() > 0.6
    else:
        assert curated.samples_["useful"].mean() > 0.95


@pytest.mark.parametrize(("curator", "shares"), [("adaptive", [0.9, 0.1]), ("none", [0.7, 0.3])])
def test_skewed_classes_are_left_as_they_are(curator, shares):
    seen = []

    def labeler(candidates):
        seen.append(candidates.class_frequencies)
        return np.arange(1), np.zeros(1, dtype=int)

    y = np.repeat([0, 1], [180, 20])
    X = y[:, None] + np.linspace(0, 0.1, y.size)[:, None]
    PseudoLabelClassifier(XGBClassifier(n_estimators=50), labeler=labeler, curator=curator, n_rounds=2).fit(X, y, X)
    assert seen[0] == pytest.approx(shares)


def test_the_second_opinion_is_trained_with_the_weights_of_the_rows():
    rng = np.random.RandomState(0)
    truth, is_flipped = np.arange(300) % 2, rng.rand(300) < 0.4
    X = (truth + 0.3 * rng.normal(size=300))[:, None]
    y, weights = np.where(is_flipped, 1 - truth, truth), np.where(is_flipped, 0.01, 1.0)
    stump = XGBClassifier(n_estimators=1, max_depth=1, learning_rate=1e-3)  # right less often than any second opinion
    model = CuratedClassifier(stump, curator="adaptive", random_state=0)
    second = linear_out_of_fold(X, y, 2, 5, weights=weights)
    np.testing.assert_allclose(model.fit(X, y, weights).curator_.answers_, second)
    assert (second.argmax(axis=1) == truth).mean() > 0.9
