import re

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from xgboost import XGBClassifier

from dips import CuratedClassifier, PseudoLabelClassifier
from dips._rounds.training import Trainer
from dips.curators import DIPS, Curator
from dips.curators._choose import curator_names
from dips.datasets import make_quadrants
from dips.labelers import CSA, SLA, UPS, Labeler
from tests.round_examples import CONF, N_LABELED, N, T, noisy_table, run_rounds

# ----------------------------------------------------------------------------------------------------------------------
# What happens to rows


def row_numbers(evidence):
    return evidence.features()[:, 0].astype(int)


@pytest.fixture
def numbered():
    """Rows whose first feature is their number; 30 labeled of 60."""
    X, y = make_quadrants(60, random_state=0)
    X = np.column_stack([np.arange(60.0), X])
    return X, np.where(np.arange(60) < 30, y, -1), y


def changing_mask(numbers, t):
    return (numbers + t) % 5 != 0


def changing_curator(evidence):
    return changing_mask(row_numbers(evidence), evidence.round)


def test_a_suspect_can_become_useful_again(numbered):
    X, given, _ = numbered
    _, spy = run_rounds(X, given, curator=changing_curator)
    f0, first, second = spy.trained[:3]
    assert 0 in f0  # every label is looked at
    assert 0 not in first
    assert 0 in second


def test_suspects_of_the_start_stay_suspects_where_only_the_start_is_curated(numbered):
    X, given, _ = numbered
    _, spy = run_rounds(X, given, curator=changing_curator, in_rounds=False)
    assert all(not changing_mask(i, 0) for training in spy.trained[1:] for i in range(30) if i not in training)
    assert all(0 not in training for training in spy.trained[1:])


@pytest.mark.parametrize("grow", [True, False])
@pytest.mark.parametrize("labeler", ["greedy", lambda shown: (np.arange(9), np.zeros(9, dtype=int))])
def test_given_labels_are_never_overwritten(numbered, labeler, grow):
    X, given, _ = numbered
    run, spy = run_rounds(X, given, labeler, changing_curator, grow=grow)
    assert (run.labels[:30] == given[:30]).all()
    assert (run.round[:30] == 0).all()
    assert (run.given == given).all()
    for training in spy.trained:
        assert all(training[i] == given[i] for i in training if i < 30)


def test_a_pseudo_label_is_kept_where_the_set_grows(numbered):
    X, given, _ = numbered
    shown_rows = []

    def first_five(shown):
        shown_rows.append(len(shown.probabilities))
        return np.arange(5), np.full(5, shown.round % 2)

    run, _ = run_rounds(X, given, first_five, "none")
    assert shown_rows == [30, 25, 20]
    assert run.round[30:50].tolist() == [1] * 5 + [2] * 5 + [3] * 5 + [-1] * 5
    assert run.labels[30:45].tolist() == [1] * 5 + [0] * 5 + [1] * 5


def test_pseudo_labels_are_replaced_each_round_in_version_2(numbered):
    X, given, _ = numbered
    shown_rows = []

    def five_further_on(shown):
        shown_rows.append(len(shown.probabilities))
        return np.arange(5) + 3 * shown.round, np.full(5, shown.round % 2)

    run, spy = run_rounds(X, given, five_further_on, "none", grow=False)
    assert shown_rows == [30, 30, 30]
    for t in (1, 2, 3):
        expected = {30 + 3 * t + k: t % 2 for k in range(5)}
        assert {i: y for i, y in spy.trained[t].items() if i >= 30} == expected
    assert np.flatnonzero(run.round > 0).tolist() == sorted(expected)
    assert set(run.round[sorted(expected)]) == {3}
    assert (run.labels[30:] != -1).sum() == 5


@pytest.mark.parametrize("labeler", [UPS(n_models=3), SLA(n_models=3), CSA(n_models=3)], ids=["ups", "sla", "csa"])
def test_ensembles_are_trained_on_the_useful_rows(numbered, labeler):
    X, given, _ = numbered
    run, spy = run_rounds(X, given, labeler, changing_curator, n_rounds=3)
    f0, *rest = spy.trained
    assert sorted(f0) == list(range(30))
    assert len(rest) == 4 + 4 + 1  # a model and three members, twice; the last model
    for t, fits in enumerate((rest[:4], rest[4:8], rest[8:]), start=1):
        judged = [i for i in range(60) if given[i] != -1 or 0 < run.round[i] < t]
        useful = [i for i in judged if changing_mask(i, t - 1)]
        for training in fits:
            assert sorted(training) == useful


def test_folds_are_trained_on_given_rows_that_are_not_predicted(numbered):
    X, given, _ = numbered
    seen = []

    def cross_validating(evidence):
        p = evidence.out_of_fold(3)
        assert (np.isnan(p).all(axis=1) == ~evidence.is_given).all()
        np.testing.assert_allclose(p[evidence.is_given].sum(axis=1), 1, rtol=1e-6)
        seen.append(evidence.is_given.size)
        return changing_curator(evidence)

    _, spy = run_rounds(X, given, "greedy", cross_validating, n_rounds=2)
    assert seen[0] == 30
    assert seen[1] > 30
    at_start, in_round = spy.trained[1:4], spy.trained[5:8]
    for folds in (at_start, in_round):
        assert all(max(training) < 30 for training in folds)
        held_out = [i for training in folds for i in range(30) if i not in training]
        assert sorted(held_out) == list(range(30))


def test_an_answer_that_is_no_mask_or_no_proposal_is_refused(numbered):
    X, given, _ = numbered

    class Numbers(Curator):
        def curate(self, evidence):
            return evidence.labels

    class OutOfRange(Labeler):
        def propose(self, candidates):
            return [0], [7]

    with pytest.raises(ValueError, match="The curator must return a boolean mask"):
        run_rounds(X, given, curator=Numbers())
    with pytest.raises(ValueError, match="The labeler must return labels as codes"):
        run_rounds(X, given, OutOfRange(), "none")


def test_a_labeler_and_a_curator_see_the_same_training():
    X, given = noisy_table(2)
    shown = {}

    def labeler(candidates):
        shown["labeler"] = candidates.probabilities
        return [0, 1], [0, 1]

    def curator(evidence):
        shown["curator"] = evidence.probabilities
        return np.ones(evidence.labels.shape, dtype=bool)

    run_rounds(X, given, labeler, curator, n_rounds=2)
    np.testing.assert_array_equal(shown["curator"][-2:], shown["labeler"][:2])


# ----------------------------------------------------------------------------------------------------------------------
# What is watched


def test_nothing_is_watched_without_a_curator():
    X, given = noisy_table(2)
    run, spy = run_rounds(X, given, curator="none")
    assert spy.watched == [False] * T
    assert np.isnan(run.confidence).all()
    _, spy = run_rounds(X, given, at_start=False, in_rounds=False)
    assert spy.watched == [False] * T


def test_only_trainings_that_are_judged_by_are_watched():
    X, given = noisy_table(2)
    curator = DIPS(conf=CONF)
    assert run_rounds(X, given, curator=curator)[1].watched == [True] * T + [False]
    assert run_rounds(X, given, curator=curator, in_rounds=False)[1].watched == [True] + [False] * T
    assert run_rounds(X, given, curator=curator, at_start=False)[1].watched == [True] * (T - 1) + [False]
    assert run_rounds(X[:N_LABELED], given[:N_LABELED], None, curator)[1].watched == [True, False]


@pytest.mark.parametrize("at_start", [True, False])
def test_labels_alone_are_curated_once_and_no_training_is_watched_for_nothing(at_start):
    X, given = noisy_table(2)
    run, spy = run_rounds(X[:N_LABELED], given[:N_LABELED], curator=DIPS(conf=CONF), at_start=at_start)
    assert spy.watched == [True, False]
    assert run.termination == "all_labeled"
    assert len(spy.trained[1]) == run.useful.sum() < N_LABELED


def test_the_model_after_the_last_pseudo_label_is_not_watched(numbered):
    X, given, y = numbered
    _, spy = run_rounds(X, given, lambda shown: (np.arange(30), y[30:]), changing_curator)
    assert spy.watched == [True, True, False]


@pytest.mark.parametrize(
    "curator", [name for name in curator_names("tables") if name not in ("auto", "beliefs", "none")]
)
def test_a_forest_cannot_be_curated_by_its_dynamics(curator):
    X, given = noisy_table(2)
    sentence = (
        "RandomForestClassifier is not trained step by step, so it has no learning dynamics; "
        'use a boosted or a neural backbone, or curator="auto".'
    )
    forest = RandomForestClassifier(n_estimators="refused before this is read")
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        PseudoLabelClassifier(forest, curator=curator).fit(X, given)
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        CuratedClassifier(forest, curator=curator).fit(X[:N_LABELED], given[:N_LABELED])


@pytest.mark.parametrize("settings", [{"curator": "none"}, {"curate": "neither"}])
def test_a_forest_can_be_pseudo_labeled_with(settings):
    X, given = noisy_table(2)
    forest = RandomForestClassifier(10, max_depth=3)
    model = PseudoLabelClassifier(forest, random_state=0, **settings).fit(X, given)
    assert (model.labeled_iter_ > 0).any()


# ----------------------------------------------------------------------------------------------------------------------
# How it ends, and the account


def test_it_ends_when_every_row_has_a_label(numbered):
    X, given, y = numbered
    run, spy = run_rounds(X, given, lambda shown: (np.arange(30), y[30:]), "none")
    assert run.termination == "all_labeled"
    assert len(run.history) == len(spy.fits) == 2
    assert sorted(spy.trained[-1]) == list(range(60))


def test_it_ends_when_nothing_changes_any_more(numbered):
    X, given, _ = numbered
    run, spy = run_rounds(X, given, lambda shown: ([], []), "none")
    assert run.termination == "no_change"
    assert len(run.history) == len(spy.fits) == 1


def test_it_goes_on_while_the_curator_changes_its_mind(numbered):
    X, given, _ = numbered
    run, _ = run_rounds(X, given, lambda shown: ([], []), changing_curator)
    assert run.termination == "max_iter"
    assert run.history[-1]["round"] == T


def test_the_last_round_proposes_nothing_that_no_model_would_be_trained_on(numbered):
    X, given, _ = numbered
    rounds = []

    def noting(shown):
        rounds.append((shown.round, shown.n_rounds))
        return [0], [0]

    run, spy = run_rounds(X, given, noting, changing_curator, n_rounds=3)
    assert rounds == [(1, 3), (2, 3)]
    assert run.termination == "max_iter"
    assert sorted(spy.trained[-1]) == np.flatnonzero(run.useful).tolist()


def test_without_a_labeler_labels_are_curated_and_the_model_fitted_once(numbered):
    X, given, _ = numbered
    run, spy = run_rounds(X[:30], given[:30], None, changing_curator)
    assert [len(training) for training in spy.trained] == [30, changing_mask(np.arange(30), 0).sum()]
    assert [record["round"] for record in run.history] == [0, 1]


def test_the_history_begins_with_the_suspects_of_the_start(numbered):
    X, given, _ = numbered
    start = run_rounds(X, given, curator=changing_curator)[0].history[0]
    assert start.pop("elapsed_s") > 0
    n_suspects = (~changing_mask(np.arange(30), 0)).sum()
    counts = {
        "n_given": 30,
        "n_pseudo": 0,
        "n_proposed": 0,
        "n_new_suspects": n_suspects,
        "n_useful_again": 0,
        "n_left": 30,
    }
    assert start == {"round": 0, **counts}


@pytest.mark.parametrize("settings", [{"curator": "none"}, {"curator": changing_curator, "at_start": False}])
def test_the_history_begins_with_the_first_round_where_the_start_is_not_curated(numbered, settings):
    X, given, _ = numbered
    assert run_rounds(X, given, **settings)[0].history[0]["round"] == 1


def test_the_history_adds_up(numbered):
    X, given, _ = numbered
    run, spy = run_rounds(X, given, "greedy", changing_curator, n_rounds=5)
    trained, left = spy.trained, 30
    assert [record["round"] for record in run.history] == [0, 1, 2, 3, 4, 5]
    assert any(record["n_new_suspects"] for record in run.history[1:])
    assert any(record["n_useful_again"] for record in run.history)
    for t, record in enumerate(run.history):
        now = trained[t]
        assert record["n_given"] == sum(i < 30 for i in now)
        assert record["n_pseudo"] == sum(i >= 30 for i in now)
        assert record["n_proposed"] == (run.round[30:] == t).sum()
        left -= record["n_proposed"]
        assert record["n_left"] == left
        assert record["elapsed_s"] > 0
        if t < 5:
            after = trained[t + 1]
            new = [i for i in after if i >= 30 and run.round[i] == t]
            assert record["n_new_suspects"] == len(set(now) - set(after))
            assert record["n_useful_again"] == len(set(after) - set(now) - set(new))
            assert len(after) == len(now) - record["n_new_suspects"] + record["n_useful_again"] + len(new)


def test_the_account_shows_how_the_rows_were_last_judged():
    X, given = noisy_table(2)
    judged = []

    class Noting(DIPS):
        def curate(self, evidence):
            judged.append(evidence)
            return super().curate(evidence)

    run, _ = run_rounds(X, given, curator=Noting(conf=CONF))
    assert [evidence.round for evidence in judged] == list(range(T))
    rows = np.flatnonzero(run.labels != -1)
    np.testing.assert_array_equal(run.confidence[rows], judged[-1].confidence)
    np.testing.assert_array_equal(run.aleatoric[rows], judged[-1].aleatoric)
    assert np.isnan(run.confidence[run.labels == -1]).all()


# ----------------------------------------------------------------------------------------------------------------------
# Seeds


@pytest.mark.parametrize("labeler", [UPS(n_models=2), CSA(n_models=2)], ids=["ups", "csa"])
def test_an_ensemble_is_the_same_however_many_are_trained_at_once(labeler):
    X, given = noisy_table(2)
    backbone = XGBClassifier(n_estimators=10, n_jobs=1)

    def fit(random_state, n_jobs):
        model = PseudoLabelClassifier(
            backbone, labeler=labeler, curator="none", n_rounds=2, random_state=random_state, n_jobs=n_jobs
        )
        return model.fit(X, given)

    one, two = fit(0, 1), fit(0, 2)
    assert (one.labeled_iter_ == two.labeled_iter_).all()
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


@pytest.mark.parametrize(
    "backbone", [RandomForestClassifier(3, max_depth=3), RandomForestClassifier(3, random_state=7)]
)
def test_members_differ_by_their_seeds_and_the_seeds_are_drawn_in_order(backbone):
    X, given = noisy_table(2)
    rows, targets = np.arange(N_LABELED), np.arange(N_LABELED, N)

    def moments(seed, n_jobs):
        trainer = Trainer(backbone, X, 2, None, np.random.RandomState(seed), n_jobs)
        return trainer.ensemble(rows, given[rows], targets, 4)

    one, two, other = moments(0, 1), moments(0, 2), moments(1, 1)
    np.testing.assert_array_equal(one.mean, two.mean)
    np.testing.assert_array_equal(one.std, two.std)
    assert one.std.max() > 0
    assert (one.mean != other.mean).any()
