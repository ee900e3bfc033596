import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, recall_score, roc_auc_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from xgboost import XGBClassifier

from dips import CuratedClassifier, PseudoLabelClassifier, characterize
from dips._beliefs.student import drawn_classes, weighted_rows
from dips._rounds.training import Trainer
from dips.curators import Beliefs
from dips.datasets import flip_labels


def moons_like(n, seed):
    """Two overlapping clouds with three useless columns."""
    rng = np.random.RandomState(seed)
    y = rng.randint(2, size=n)
    X = rng.normal(size=(n, 5))
    X[:, :2] += 1.3 * y[:, None]
    return X, y


X, Y = moons_like(600, 0)
NOISY, FLIPPED = flip_labels(Y[:200], 0.2, random_state=0)
PARTLY = np.concatenate([NOISY, np.full(400, -1)])
X_TEST, Y_TEST = moons_like(2000, 1)


@given(st.integers(0, 1000), st.integers(2, 5))
def test_a_row_is_trained_on_as_far_as_each_class_is_believed(seed, n_classes):
    belief = np.random.RandomState(seed).dirichlet(np.ones(n_classes), size=7)
    rows, classes, weights = weighted_rows(belief)
    rebuilt = np.zeros_like(belief)
    np.add.at(rebuilt, (rows, classes), weights)
    np.testing.assert_allclose(rebuilt, np.where(belief > 0.02, belief, 0))


def test_labels_are_drawn_as_often_as_they_are_believed_but_given_ones_are_the_most_probable():
    belief = np.tile([0.3, 0.7], (4000, 1))
    classes = drawn_classes(belief, 1000, np.random.RandomState(0))
    assert (classes[:1000] == 1).all()
    assert classes[1000:].mean() == pytest.approx(0.7, abs=0.03)


@pytest.mark.parametrize(
    "backbone",
    [
        HistGradientBoostingClassifier(max_iter=40, learning_rate=0.05, class_weight="balanced"),
        make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced")),
        RandomForestClassifier(50, min_samples_leaf=5, class_weight="balanced_subsample"),
    ],
    ids=lambda backbone: type(backbone).__name__,
)
def test_balanced_class_weights_balance_what_is_believed(backbone):
    y = np.where(np.random.RandomState(0).uniform(size=600) < 0.1, Y, 0)  # class 1 is rare
    alone = clone(backbone).fit(X[:200], y[:200])
    student = PseudoLabelClassifier(backbone, random_state=0).fit(X, np.where(np.arange(600) < 200, y, -1))
    assert recall_score(y, student.predict(X)) > recall_score(y, alone.predict(X)) - 0.1


def test_lightgbm_balances_what_is_believed_if_asked_in_its_own_words():
    lightgbm = pytest.importorskip("lightgbm")
    y = np.where(np.random.RandomState(0).uniform(size=600) < 0.2, Y, 0)  # class 1 is rare
    partly = np.where(np.arange(600) < 200, y, -1)

    def share(**settings):
        trees = lightgbm.LGBMClassifier(n_estimators=20, n_jobs=1, verbose=-1, **settings)
        return PseudoLabelClassifier(trees, random_state=0).fit(X, partly).predict(X).mean()

    assert share(is_unbalance=True) > share() + 0.1


def test_balanced_class_weights_come_from_the_weights_of_rows():
    trainer = Trainer(LogisticRegression(class_weight="balanced"), X, 2, np.arange(600.0), np.random.RandomState(0))
    balanced = trainer.balanced_for(np.array([1, 1, 2]), np.array([0, 1, 1]), np.array([0.5, 0.5, 0.25]))
    assert balanced.estimator.class_weight == {0: 1.5 / (2 * 0.5), 1: 1.5 / (2 * 1.0)}
    assert trainer.estimator.class_weight == "balanced"


@pytest.mark.parametrize("curator", ["auto", "adaptive"])
@pytest.mark.parametrize("n", [1, 2])
def test_few_labels_may_weigh_something(n, curator):
    heavy = np.concatenate([np.flatnonzero(Y[:60] == c)[:n] for c in (0, 1)])
    weights = np.isin(np.arange(60), heavy).astype(float)
    model = CuratedClassifier(XGBClassifier(n_estimators=5), curator=curator, random_state=0)
    assert np.isfinite(model.fit(X[:60], Y[:60], sample_weight=weights).predict_proba(X)).all()


@pytest.mark.parametrize("scale", [1 / 1024, 4])
def test_only_the_ratios_of_weights_count(scale):
    weights = np.random.RandomState(0).uniform(0.5, 1.5, size=600)
    backbone = RandomForestClassifier(10, min_samples_leaf=5)
    fits = [
        PseudoLabelClassifier(backbone, random_state=0).fit(X, PARTLY, sample_weight=w)
        for w in (weights, weights * scale)
    ]
    np.testing.assert_allclose(*(fit.samples_["p_wrong"] for fit in fits), atol=1e-6)
    np.testing.assert_allclose(*(fit.predict_proba(X) for fit in fits), atol=1e-6)


def test_the_student_gives_better_probabilities_than_training_on_dirty_labels():
    supervised = XGBClassifier(n_estimators=200, learning_rate=0.05, max_depth=3).fit(X[:200], NOISY)
    student = PseudoLabelClassifier(random_state=0).fit(X, PARTLY)
    assert log_loss(Y_TEST, student.predict_proba(X_TEST)) < log_loss(Y_TEST, supervised.predict_proba(X_TEST)) - 0.05
    assert student.score(X_TEST, Y_TEST) > supervised.score(X_TEST, Y_TEST)


def test_wrong_labels_have_a_higher_probability_of_being_wrong():
    samples = PseudoLabelClassifier(random_state=0).fit(X, PARTLY).samples_
    given = samples["source"] == "given"
    assert roc_auc_score(FLIPPED, samples.loc[given, "p_wrong"]) > 0.8
    assert samples.loc[~given, "p_wrong"].isna().all()
    assert samples.loc[given, "p_wrong"].between(0, 1).all()


def test_suspects_come_most_probably_wrong_first_with_what_they_might_be():
    audit = characterize(LogisticRegression(), X[:200], NOISY, random_state=0)
    suspects = audit.suspects()
    assert suspects["p_wrong"].is_monotonic_decreasing
    assert (suspects["suggested_label"] != suspects["given_label"]).all()
    assert FLIPPED[suspects.index].mean() > 0.5


def test_clean_labels_are_left_alone():
    rng = np.random.RandomState(0)
    clean = rng.normal(size=(400, 4))
    labels = (clean[:, 0] + clean[:, 1] > 0).astype(int)
    model = CuratedClassifier(random_state=0).fit(clean, labels)
    assert model.curator_.noise_interval_[0] == 0
    assert model.samples_["p_wrong"].mean() < 0.05


@pytest.mark.filterwarnings("ignore:The `probability` parameter was deprecated")
@pytest.mark.parametrize(
    "backbone",
    [KNeighborsClassifier(), LogisticRegression(), SVC(probability=True), HistGradientBoostingClassifier(max_iter=20)],
    ids=lambda b: type(b).__name__,
)
def test_any_classifier_with_probabilities_can_be_the_student(backbone):
    model = PseudoLabelClassifier(backbone, random_state=0).fit(X, PARTLY)
    assert model.score(X_TEST, Y_TEST) > 0.7
    assert model.samples_["p_wrong"].notna().sum() == 200


def test_dynamics_are_in_the_account_where_there_are_any():
    watched = CuratedClassifier(HistGradientBoostingClassifier(max_iter=20), random_state=0).fit(X[:200], NOISY)
    assert watched.samples_["confidence"].notna().all()
    plain = CuratedClassifier(LogisticRegression(), random_state=0).fit(X[:200], NOISY)
    assert plain.samples_["confidence"].isna().all()


def test_of_many_unlabeled_rows_a_sample_is_learned_from():
    model = PseudoLabelClassifier(LogisticRegression(), curator=Beliefs(max_unlabeled=50), random_state=0).fit(
        X, PARTLY
    )
    assert (model.samples_["source"] == "pseudo").sum() == 50
    assert model.termination_condition_ == "max_iter"


def test_a_labeler_chooses_the_rows_and_beliefs_say_what_they_are():
    model = PseudoLabelClassifier(LogisticRegression(), labeler="greedy", random_state=0).fit(X, PARTLY)
    n_pseudo = (model.samples_["source"] == "pseudo").sum()
    assert 0 < n_pseudo < 400


def test_the_same_seed_gives_the_same_student():
    first, second = (PseudoLabelClassifier(random_state=3).fit(X, PARTLY).predict_proba(X_TEST) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_sample_weights_of_zero_leave_rows_out_of_the_student():
    weights = np.ones(200)
    weights[FLIPPED] = 0
    told = CuratedClassifier(LogisticRegression(), random_state=0).fit(X[:200], NOISY, sample_weight=weights)
    untold = CuratedClassifier(LogisticRegression(), random_state=0).fit(X[:200], NOISY)
    p, q = told.predict_proba(X_TEST), untold.predict_proba(X_TEST)
    assert log_loss(Y_TEST, p) < log_loss(Y_TEST, q)


def test_a_class_most_of_whose_labels_are_suspects_is_named():
    rng = np.random.RandomState(0)
    table = rng.normal(size=(300, 3))
    table[:, 0] += 4 * (np.arange(300) < 150)
    labels = np.where(np.arange(300) < 150, "well", "ill").astype(object)
    labels[rng.choice(300, 12, replace=False)] = "lost"  # nothing tells this class from the others
    with pytest.warns(UserWarning, match="labels of class 'lost' look wrong more often"):
        model = CuratedClassifier(LogisticRegression(), random_state=0).fit(table, labels)
    summary = model.class_summary_.set_index("class")
    assert summary.loc["lost", "n_labels"] == 12
    assert summary.loc["well", "recall"] > 0.9


def test_several_labels_each_have_their_own_beliefs():
    both = np.column_stack([NOISY, Y[:200]])
    model = CuratedClassifier(LogisticRegression(), random_state=0).fit(X[:200], both)
    assert model.samples_.groupby("target")["p_wrong"].mean().iloc[0] > 0
    assert len(model.class_summary_) == 4
