from functools import cache

import numpy as np
import pytest
import torch

from dips._data.verified import Verified
from dips.curators import CURATORS, ImageAuto
from dips.curators._base import Evidence
from dips.vision import ImageClassifier
from dips.vision._image_pool import ImagePool
from dips.vision._networks import build_network
from dips.vision._rounds import CurationPlan, ImageRounds
from dips.vision._turns import interleave

from .examples import CPU, N_CLASSES, colors, recipe, weights

N_IMAGES, N_GIVEN = 200, 150
PLAN = CurationPlan(warm_up_steps=30, n_rounds=4, n_checkpoints=2, pilot_steps=25)
CURATOR = {"n_folds": 3, "n_pilots": 3}


def labeled(rate):
    """Images of which some are labeled, a share of them wrongly; and which."""
    X, truth = colors(N_IMAGES)
    rng = np.random.RandomState(0)
    y, wrong = truth.copy(), rng.permutation(N_GIVEN)[: int(rate * N_GIVEN)]
    y[wrong] = (y[wrong] + rng.randint(1, N_CLASSES, size=wrong.size)) % N_CLASSES
    y[N_GIVEN:] = -1
    return X, y, np.isin(np.arange(N_IMAGES), wrong)


def run_of(curator, rate, **settings):
    X, y, _ = labeled(rate)
    run = ImageRounds(ImagePool.of(X, y, N_CLASSES, CPU), recipe(n_steps=24), PLAN, curator, **settings)
    interleave([run.proceed()])
    return run


def evidence_of(p, labels):
    """What a curator is shown of labels that everybody agrees with."""
    return Evidence(
        labels=labels,
        is_given=np.ones(labels.size, dtype=bool),
        n_classes=p.shape[1],
        round=1,
        statistics={"confidence": p[np.arange(labels.size), labels]},
        mean_probabilities=p,
        probabilities=p,
        features=lambda: None,
        out_of_fold=lambda n_folds: p,
        groups=None,
    )


@cache
def dirty():
    return run_of(ImageAuto(**CURATOR), 0.2)


@cache
def clean():
    return run_of(ImageAuto(**CURATOR), 0.0)


def test_clean_labels_are_trained_on_as_without_a_curator_to_the_last_bit():
    run, alone = clean(), run_of(CURATORS.resolve("none"), 0.0)
    assert not run.curator.is_open
    assert run.useful[run.rows].all()
    assert torch.equal(weights(run.training.network), weights(alone.training.network))
    assert torch.equal(weights(run.training.averaged), weights(alone.training.averaged))


def test_how_clean_labels_were_learned_is_noted_all_the_same():
    run = clean()
    assert np.isfinite(run.confidence[run.rows]).all()
    assert [record["n_given"] for record in run.history[1:]] == [N_GIVEN] * 4


def test_dirty_labels_have_suspects_most_of_which_are_wrong():
    run, wrong = dirty(), labeled(0.2)[2]
    assert run.curator.is_open
    assert wrong[run.is_given & ~run.useful].mean() > 0.5
    assert wrong[run.is_given & run.useful].mean() < 0.05


def test_the_pilots_judge_labels_before_the_first_round_so_no_others_are_trained_for_it(monkeypatch):
    monkeypatch.setattr("dips.vision._verdicts.Pilots", None)
    run = run_of(ImageAuto(**CURATOR), 0.2)
    assert run.history[0]["n_new_suspects"] > 0


def test_labels_are_believed_by_the_networks_of_the_last_rounds():
    run = dirty()
    at, labels = np.arange(N_GIVEN), run.labels[run.rows]
    rate, right, p = run.curator.noise_rate_, run.unseen[at, labels], run.unseen
    explained = (1 - rate) * right  # by a right label; else by an error from each other class, evenly
    by_errors = rate / (N_CLASSES - 1) * (p.sum(axis=1) - right)
    np.testing.assert_allclose(run.p_wrong[run.rows], by_errors / (explained + by_errors), atol=1e-6)


def test_suspects_stay_as_many_as_the_pilots_saw_when_the_network_agrees_with_every_label():
    n = 100
    labels = np.repeat([0, 1], n // 2)
    p = np.where(labels[:, None] == np.arange(2), 0.99, 0.01)
    curator = ImageAuto()
    evidence = evidence_of(p, labels)
    assert curator.curate(evidence).all()
    curator.remember(0.2, (0.1, 0.3), p, labels)
    assert (~curator.curate(evidence)).sum() >= 0.2 * n


def test_pilots_find_the_share_of_wrong_labels_and_which_they_are():
    run, wrong = dirty(), labeled(0.2)[2]
    assert run.curator.noise_rate_ == pytest.approx(0.2, abs=0.06)
    assert run.p_wrong[wrong].mean() > 0.7
    assert run.p_wrong[run.is_given & ~wrong].mean() < 0.1


def test_too_few_labels_show_nothing():
    X, y, _ = labeled(0.2)
    y[9:] = -1
    run = ImageRounds(ImagePool.of(X, y, N_CLASSES, CPU), recipe(n_steps=12), PLAN, ImageAuto(**CURATOR))
    interleave([run.proceed()])
    assert run.curator.noise_interval_[0] == 0
    assert run.useful[run.rows].all()


def told(n, share, **settings):
    """A curator whose pilots contradict a share of n labels of two classes, for sure, and see noise."""
    labels = np.arange(n) % 2
    says = np.where(np.arange(n) < share * n, 1 - labels, labels)
    curator = ImageAuto(**settings)
    curator.remember(0.4, (0.3, 0.5), np.where(says[:, None] == np.arange(2), 0.99, 0.01), labels)
    return curator


def test_pilots_that_contradict_more_labels_than_may_be_suspects_cannot_tell():
    assert told(40, 0.5).is_open
    weak = told(40, 0.7)
    assert weak.look_wrong_ > weak.max_drop
    assert not weak.is_open


def test_where_there_are_labels_to_spare_pilots_may_contradict_most_of_them():
    assert told(80, 0.7).is_open
    assert not told(80, 0.7, enough=41).is_open


def test_with_fewer_than_five_labels_a_class_pilots_show_nothing():
    assert told(10, 0.2).is_open
    assert not told(8, 0.2).is_open
    assert told(8, 0.2, enough=4).is_open


@pytest.mark.parametrize("is_kept", [True, False])
def test_few_labels_are_judged_whether_or_not_the_pretraining_is_kept(monkeypatch, is_kept):
    monkeypatch.setattr("dips.vision._gate.predicts_better", lambda *_: is_kept)
    X, y, _ = labeled(0.2)
    start = {
        name: w for name, w in build_network("tiny", N_CLASSES, 3, seed=1).state_dict().items() if "head" not in name
    }
    run = ImageRounds(
        ImagePool.of(X, y, N_CLASSES, CPU), recipe(n_steps=24, start=start), PLAN, ImageAuto(**CURATOR, enough=51)
    )
    interleave([run.proceed()])
    assert (run.recipe.start is not None) == is_kept
    assert run.curator.is_open
    assert not run.useful[run.rows].all()


def test_where_pilots_cannot_tell_the_training_is_that_of_the_method_to_the_last_bit():
    run, alone = run_of(ImageAuto(**CURATOR, enough=51, max_drop=0.1), 0.2), run_of(CURATORS.resolve("none"), 0.2)
    assert run.curator.look_wrong_ >= 0.1
    assert run.curator.noise_rate_ >= run.curator.least_noise
    assert run.useful[run.rows].all()
    assert torch.equal(weights(run.training.averaged), weights(alone.training.averaged))


def test_a_verified_label_cannot_be_wrong():
    is_verified = np.zeros(N_IMAGES, dtype=bool)
    is_verified[np.flatnonzero(labeled(0.2)[2])[:5]] = True
    run = run_of(ImageAuto(**CURATOR), 0.2, verified=Verified(is_verified, np.full(N_IMAGES, -1)))
    assert run.useful[is_verified].all()
    assert (run.p_wrong[is_verified] == 0).all()


def test_the_account_has_the_probability_of_each_label_to_be_wrong():
    X, y, wrong = labeled(0.2)
    clf = ImageClassifier(
        "tiny",
        curator=ImageAuto(**CURATOR),
        n_steps=24,
        n_rounds=2,
        warm_up_steps=30,
        pilot_steps=25,
        batch_size=8,
        random_state=0,
    ).fit(X, y)
    p_wrong = clf.samples_["p_wrong"].to_numpy()
    assert np.isnan(p_wrong[y < 0]).all()
    assert p_wrong[wrong].mean() > p_wrong[(y >= 0) & ~wrong].mean() + 0.4
