"""Members taken from the checkpoints of one training, on every backbone that can be watched."""

import warnings

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.neural_network import MLPClassifier
from xgboost import XGBClassifier

from dips import PseudoLabelClassifier
from dips._dynamics import Dynamics
from dips.labelers import CSA, SLA, UPS, Labeler, Moments
from tests.backbones.families import FAMILIES, SEED, E, fit_and_watch, table
from tests.round_examples import noisy_table, run_rounds

VIRTUAL = [UPS(members="checkpoints"), SLA(threshold=0.5, members="checkpoints"), CSA(members="checkpoints")]
by_name = pytest.mark.parametrize("labeler", VIRTUAL, ids=["ups", "sla", "csa"])


class Noting(UPS):
    """Notes the moments that it is shown, and proposes as UPS does."""

    seen = []

    def moments(self, candidates):
        Noting.seen.append(super().moments(candidates))
        return Noting.seen[-1]


@pytest.fixture(autouse=True)
def _forget():
    Noting.seen.clear()


@pytest.mark.parametrize("curator", ["dips", "none"])
@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.filterwarnings("ignore")  # six checkpoints are few
def test_moments_are_those_of_the_second_half_of_the_checkpoints(name, curator):
    family = FAMILIES[name]
    if family.needs:
        pytest.importorskip(family.needs)
    X, y, X_left = table(n_classes=3)
    model = PseudoLabelClassifier(
        family.estimator(n_classes=3),
        labeler=Noting(members="checkpoints"),
        curator=curator,
        curate="rounds",
        n_rounds=2,
        random_state=SEED,
    )
    model.fit(X, y, X_unlabeled=X_left)
    (moments,) = Noting.seen
    if name == "torch":  # seeded by the run, not by itself
        assert moments.mean.shape == (40, 3)
        return
    half = family.checkpoints(X, y, X_left)[:, E // 2 :]
    np.testing.assert_allclose(moments.mean, half.mean(axis=1), atol=1e-5)
    np.testing.assert_allclose(moments.std, half.std(axis=1, ddof=1), atol=1e-5)
    assert moments.n_models == E // 2


@by_name
@pytest.mark.parametrize("curator", ["dips", "none"])
def test_no_member_is_trained(labeler, curator):
    X, given = noisy_table(3)
    run, spy = run_rounds(X, given, labeler, curator)
    assert len(spy.fits) == len(run.history)
    assert (run.round > 0).any()


@by_name
def test_only_a_round_that_proposes_is_watched_for_its_members(labeler):
    X, given = noisy_table(2)
    _, spy = run_rounds(X, given, labeler, "none", n_rounds=3)
    assert spy.watched == [True, True, False]


def test_the_curator_is_shown_the_same_with_and_without_members():
    X, given = noisy_table(2)
    settings = {"kappa": 0.5, "n_models": 2}
    trained, _ = run_rounds(X, given, UPS(**settings), "dips", n_rounds=1)
    virtual, _ = run_rounds(X, given, UPS(**settings, members="checkpoints"), "dips", n_rounds=1)
    np.testing.assert_array_equal(trained.confidence, virtual.confidence)
    np.testing.assert_array_equal(trained.aleatoric, virtual.aleatoric)


def test_checkpoints_count_for_no_more_members_than_asked_for():
    X, y, X_left = table(n_classes=2)
    seen = fit_and_watch(XGBClassifier(n_estimators=40, n_jobs=1), X, y, X_left)
    rows = np.arange(5)
    assert Moments.of_checkpoints(seen, rows, n_models=10).n_models == 10
    assert Moments.of_checkpoints(seen, rows, n_models=100).n_models == 40


def test_a_training_cut_short_leaves_one_checkpoint_that_agrees_with_itself():
    seen = Dynamics(2, 2, ("confidence", "variability"), window=(0.5, 1))
    seen.begin(100)
    seen.update(np.array([[0.9, 0.1], [0.3, 0.7]]))
    with pytest.warns(UserWarning, match="before the window"):
        seen.finish()
    moments = Moments.of_checkpoints(seen, np.arange(2), n_models=10)
    np.testing.assert_allclose(moments.mean, [[0.9, 0.1], [0.3, 0.7]], rtol=1e-6)
    assert (moments.std == 0).all()
    assert moments.n_models == 2


@by_name
def test_a_backbone_without_checkpoints_is_refused_in_a_sentence(labeler):
    X, given = noisy_table(2)
    model = PseudoLabelClassifier(RandomForestClassifier(), labeler=labeler, curator="none")
    name = type(labeler).__name__
    message = (
        rf"^{name} takes its members from the checkpoints of one training, but RandomForestClassifier is not trained "
        r'step by step, so it has no learning dynamics; use members="trained", or a boosted or a neural backbone\.$'
    )
    with pytest.raises(ValueError, match=message):
        model.fit(X, given)


def test_settings_without_checkpoints_are_refused_too():
    X, given = noisy_table(2)
    model = PseudoLabelClassifier(MLPClassifier(solver="lbfgs"), labeler=VIRTUAL[0], curator="none")
    with pytest.raises(ValueError, match=r'solver="lbfgs"\) is not trained in epochs.*; use members="trained"'):
        model.fit(X, given)


def test_trained_members_need_no_checkpoints():
    X, given = noisy_table(2)
    backbone = RandomForestClassifier(3, random_state=0)
    model = PseudoLabelClassifier(backbone, labeler=UPS(n_models=2), curator="none", n_rounds=2)
    assert (model.fit(X, given).labeled_iter_ > 0).any()


class Own(Labeler):
    """Asks for checkpoints; whether it may depends on what it said before."""

    def choose(self, candidates):
        mean = candidates.checkpoints(5).mean
        return mean.argmax(axis=1), mean.max(axis=1), mean.max(axis=1) > 0.5


class Announced(Own):
    member_window = (0.5, 1.0)


def test_a_labeler_of_ones_own_says_beforehand_that_it_wants_checkpoints():
    X, given = noisy_table(2)
    with pytest.raises(ValueError, match=r"were not watched, .* give its class a member_window, such as \(0.5, 1\)"):
        run_rounds(X, given, Own())
    run, _ = run_rounds(X, given, Announced())
    assert (run.round > 0).any()


def test_virtual_and_trained_members_agree_on_easy_rows():
    X, given = noisy_table(2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trained, _ = run_rounds(X, given, UPS(n_models=10), "none", n_rounds=2)
        virtual, _ = run_rounds(X, given, UPS(members="checkpoints"), "none", n_rounds=2)
    both = (trained.round > 0) & (virtual.round > 0)
    assert both.sum() > 10
    assert (trained.labels[both] == virtual.labels[both]).mean() > 0.9
