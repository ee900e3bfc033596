import numpy as np
import pytest
import torch

from dips._tools.observer import Observer
from dips.curators import CURATORS
from dips.curators._base import Curator
from dips.curators._image_auto import ImageAuto
from dips.curators._percentile import Percentile
from dips.vision._rounds import CurationPlan, ImageRounds
from dips.vision._turns import interleave

from .examples import N_LABELED, N_WRONG, PLAN, colors, pool, recipe, run_of, weights


class Notebook(Observer):
    """Writes down what it is told."""

    def __init__(self):
        self.records, self.rounds, self.steps, self.parts = [], [], [], []

    def on_record(self, record):
        self.records.append(record)

    def on_round(self, record, n_rounds):
        self.rounds.append((record, n_rounds))

    def on_part(self, name):
        self.parts.append(name)

    def on_step(self, n_done, n_steps):
        self.steps.append((n_done, n_steps))


class Notes(Curator):
    """Keeps every evidence it is shown, and drops what it is told to."""

    def __init__(self, dropped=()):
        self.dropped = dropped
        self.seen = []

    def curate(self, evidence):
        self.seen.append(evidence)
        useful = np.ones(evidence.labels.shape, dtype=bool)
        if len(self.seen) <= len(self.dropped):
            useful[self.dropped[len(self.seen) - 1]] = False
        return useful


ALWAYS = ImageAuto(n_folds=3, least_noise=0)


@pytest.mark.parametrize("curator", [ALWAYS, Percentile(), CURATORS.resolve("small_loss")], ids=repr)
def test_wrong_labels_are_dropped_first(curator):
    run = run_of(curator)
    dropped = np.flatnonzero(~run.useful)
    assert (dropped < N_WRONG).sum() >= min(0.8 * dropped.size, N_WRONG)
    assert (dropped < N_WRONG).sum() > N_WRONG / 2


def test_labels_are_judged_at_the_start_and_after_each_round_but_the_last():
    run = run_of(Notes())
    assert [e.round for e in run.curator.seen] == [0, 1, 2]
    assert [record["round"] for record in run.history] == [0, 1, 2, 3]


def test_without_a_curator_there_is_no_warm_up_and_every_label_is_used():
    run = run_of(CURATORS.resolve("none"))
    assert [record["round"] for record in run.history] == [1, 2, 3]
    assert run.useful.all()
    assert np.isnan(run.confidence).all()


def test_a_dropped_label_is_not_trained_on_and_may_return():
    run = run_of(Notes(dropped=([0, 1], [1])))
    assert [record["n_given"] for record in run.history] == [N_LABELED, N_LABELED - 2, N_LABELED - 1, N_LABELED]
    assert [record["n_new_suspects"] for record in run.history] == [2, 0, 0, 0]
    assert [record["n_useful_again"] for record in run.history] == [0, 1, 1, 0]


def test_curators_are_shown_the_average_over_the_checkpoints():
    run = run_of(Notes())
    for evidence in run.curator.seen:
        assert evidence.is_given.all()
        rows = np.arange(N_LABELED)
        np.testing.assert_allclose(evidence.confidence, evidence.mean_probabilities[rows, evidence.labels])
        np.testing.assert_allclose(evidence.probabilities.sum(axis=1), 1)
        assert evidence.features().shape == (N_LABELED, 8, 8, 3)


def test_out_of_fold_probabilities_are_of_networks_that_did_not_see_the_label():
    run = run_of(Notes())
    p = run.curator.seen[0].out_of_fold(3)
    labels = pool().labels[:N_LABELED].numpy()
    wrong = np.arange(N_LABELED) < N_WRONG
    agrees = p.argmax(axis=1) == labels
    assert agrees[~wrong].mean() > 0.8
    assert agrees[wrong].mean() < 0.4


def test_each_part_of_the_labels_sits_out_in_turn():
    class SittingOut(Notes):
        n_sit_out = 3

    told = []
    run = ImageRounds(pool(), recipe(), CurationPlan(warm_up_steps=2, n_rounds=4, n_checkpoints=1), SittingOut())
    use = run.training.use
    run.training.use = lambda rows: (told.append(rows), use(rows))
    interleave([run.proceed()])
    sat_out = [set(range(N_LABELED)) - set(rows.tolist()) for rows in told]
    assert [len(part) for part in sat_out] == [15, 15, 15, 0]  # none in the last round
    assert set.union(*sat_out[:3]) == set(range(N_LABELED))


def test_of_no_class_do_all_labels_sit_out():
    run = ImageRounds(pool(), recipe(), PLAN, ALWAYS)
    labels = run.labels[run.rows]
    run.useful[run.rows[labels == 1][1:]] = False  # one label of class 1 is left
    for run.round in (1, 2):
        assert set(run.labels[run.judging.begin_round()]) == {0, 1, 2}


def test_pseudo_labels_can_be_judged_too():
    n = len(colors()[1])
    curator = Notes(dropped=([], [50, 60]))
    run = run_of(curator, CurationPlan(warm_up_steps=2, n_rounds=2, n_checkpoints=2, pseudo_labels=True))
    evidence = curator.seen[1]
    assert evidence.labels.shape == (n,)
    assert evidence.is_given.sum() == N_LABELED
    assert (~run.training._pseudo_useful).nonzero().flatten().tolist() == [50, 60]
    assert run.history[1]["n_suspect_pseudo"] == 2


def test_runs_side_by_side_are_the_same_as_alone():
    def fresh(seed):
        return ImageRounds(pool(), recipe(n_steps=12), PLAN, CURATORS.resolve("none"), seed)

    side_by_side, alone = [fresh(0), fresh(1)], fresh(1)
    interleave([run.proceed() for run in side_by_side])
    interleave([alone.proceed()])
    assert torch.equal(weights(side_by_side[1].training.network), weights(alone.training.network))


def test_the_accuracy_on_validation_images_is_logged_at_every_checkpoint():
    X, y = colors(30, random_state=1)
    notes = Notebook()
    run_of(CURATORS.resolve("none"), validation=(torch.from_numpy(X), y), observer=notes)
    records = notes.records
    accuracies = [record["accuracy"] for record in records]
    assert len(accuracies) == PLAN.n_rounds * PLAN.n_checkpoints
    assert accuracies[-1] > 0.9
    assert records[-1]["step"] == 45


def test_an_observer_is_told_of_steps_rounds_checkpoints_and_curations():
    notes = Notebook()
    run = run_of(CURATORS.resolve("small_loss"), observer=notes)
    assert notes.rounds == [(record, PLAN.n_rounds) for record in run.history]
    assert notes.steps == sorted(notes.steps)
    assert notes.steps[-1] == (40 + 45, 40 + 45)
    assert notes.parts == ["warm-up", "training"]
    events = [record["event"] for record in notes.records]
    assert (events.count("checkpoint"), events.count("curation")) == (9, 3)


def test_the_steps_of_pretraining_and_pilots_are_counted_with_those_of_the_training():
    notes = Notebook()
    plan = CurationPlan(warm_up_steps=2, n_rounds=1, n_checkpoints=1, pilot_steps=3)
    how = recipe(n_steps=5, pretrain_steps=4)
    interleave([ImageRounds(pool(), how, plan, ImageAuto(), observer=notes).proceed()])
    assert notes.parts[:3] == ["pretraining", "pilots", "pilots without pretraining"]
    assert notes.steps == sorted(notes.steps)
    assert notes.steps[0] == (1, 4 + 12 + 12 + 2 + 5)
    assert notes.steps[-1] == (35, 35)
