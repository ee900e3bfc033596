from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from dips._tools.observer import Observer
from dips.curators import CURATORS, ImageAuto
from dips.exceptions import InputError
from dips.vision import ImageClassifier
from dips.vision._fitting import prepared
from dips.vision._image_pool import ImagePool
from dips.vision._last_layer import last_linear, replace_layer
from dips.vision._method import Logits
from dips.vision._networks import FastNet, build_network
from dips.vision._parts import PRETRAINING, Progress
from dips.vision._pretraining import Contrast, pretrain, usual_pretrain_steps
from dips.vision._rounds import ImageRounds
from dips.vision._turns import interleave
from dips.vision._unfinished import Unfinished

from .examples import CPU, N_CLASSES, PLAN, colors, dirty_labels, pool, recipe, weights


def told(observer, n_steps):
    return Unfinished(Progress(observer, {PRETRAINING: n_steps}))


def pretrained(images=None, n_steps=20, seed=0, **settings):
    """What a pretraining returns."""
    running = pretrain(images or pool(), recipe(pretrain_steps=n_steps, **settings), seed, told(Observer(), n_steps))
    while True:
        try:
            next(running)
        except StopIteration as end:
            return end.value


def run_of(**settings):
    run = ImageRounds(pool(), recipe(n_steps=24, **settings), PLAN, CURATORS.resolve("none"))
    interleave([run.proceed()])
    return run


def naive_loss(first, second, temperature):
    """SimCLR's loss, written out: for each view, the other of its image among all views but itself."""
    z = [v / np.linalg.norm(v) for v in [*first, *second]]
    n, total = len(first), 0.0
    for i, v in enumerate(z):
        others = [np.exp(v @ z[k] / temperature) for k in range(2 * n) if k != i]
        total -= np.log(np.exp(v @ z[(i + n) % (2 * n)] / temperature) / sum(others))
    return total / (2 * n)


def test_the_loss_is_that_of_the_definition():
    rng = np.random.RandomState(0)
    first, second = rng.randn(2, 6, 4)
    logits = Logits(*(torch.tensor(x) for x in (first, first[:0], second)))
    loss, _ = Contrast(0.3).loss(logits, None, {})
    assert np.isclose(float(loss), naive_loss(first, second, 0.3))


def test_views_that_are_alike_are_found_and_cost_little():
    z = torch.eye(5, 8)
    near, found = Contrast().loss(Logits(z, z[:0], z), None, {})
    far, missed = Contrast().loss(Logits(z, z[:0], z.roll(1, dims=0)), None, {})
    assert near < far
    assert float(found) == 1
    assert float(missed) == 0


def test_the_network_learns_to_tell_images_apart():
    class Kept(Observer):
        def on_record(self, record):
            records.append(record)

    records: list = []
    blocks = np.random.RandomState(0).randint(0, 256, (40, 4, 4, 3)).astype(np.uint8)
    images = ImagePool.of(blocks.repeat(4, axis=1).repeat(4, axis=2), np.arange(40) % 2, 2, CPU)
    for n_steps in (1, 150):
        for _ in pretrain(images, recipe(pretrain_steps=n_steps), 0, told(Kept(), n_steps)):
            pass
    brief, long = records
    assert brief["event"] == "pretraining"
    assert long["loss"] < brief["loss"] - 0.2


def test_labels_are_not_looked_at():
    X, y = colors()[0], dirty_labels()
    others = np.where(y >= 0, (y + 1) % N_CLASSES, -1)
    a, b = (pretrained(ImagePool.of(X, labels, N_CLASSES, CPU)) for labels in (y, others))
    assert a.keys() == b.keys()
    assert all(torch.equal(a[name], b[name]) for name in a)


def test_all_weights_but_those_of_the_last_layer_are_carried_over():
    start, network = pretrained(), build_network("tiny", N_CLASSES, 3, seed=0)
    assert set(network.state_dict()) - set(start) == {"head.weight", "head.bias"}
    before = run_of(pretrain_steps=0).recipe.start
    assert before is None


def test_the_training_begins_where_the_pretraining_ended():
    start = pretrained()
    run = ImageRounds(pool(), recipe(start=start, pretrain_steps=20), PLAN, CURATORS.resolve("none"))
    for name, weight in run.training.network.state_dict().items():
        if name in start:
            assert torch.equal(weight, start[name])


def test_a_pretraining_that_is_given_is_not_repeated(monkeypatch):
    start = run_of(pretrain_steps=20).recipe.start
    monkeypatch.setattr("dips.vision._rounds.pretrain", None)
    again = run_of(pretrain_steps=20, start=start)
    monkeypatch.undo()
    assert torch.equal(weights(again.training.network), weights(run_of(pretrain_steps=20).training.network))


def standing_in(start):
    """A pretraining that is over at once."""

    def pretrain(*settings):
        yield
        return start

    return pretrain


def test_what_does_not_help_is_given_up_to_the_last_bit(monkeypatch):
    nothing = {name: torch.zeros_like(weight) for name, weight in pretrained().items()}
    monkeypatch.setattr("dips.vision._rounds.pretrain", standing_in(nothing))
    runs = []
    for n_steps in (20, 0):
        curator = ImageAuto(n_folds=3, n_pilots=3)
        runs.append(ImageRounds(pool(), recipe(n_steps=24, pretrain_steps=n_steps), PLAN, curator))
        interleave([runs[-1].proceed()])
    given_up, never = runs
    assert given_up.recipe.start is None
    assert torch.equal(weights(given_up.training.network), weights(never.training.network))
    assert given_up.curator.noise_rate_ == never.curator.noise_rate_


def test_what_helps_is_kept(monkeypatch):
    start = pretrained()
    monkeypatch.setattr("dips.vision._rounds.pretrain", standing_in(start))
    monkeypatch.setattr("dips.vision._gate.predicts_better", lambda answers, others, labels: True)
    run = ImageRounds(pool(), recipe(n_steps=24, pretrain_steps=20), PLAN, ImageAuto(n_folds=3, n_pilots=3))
    interleave([run.proceed()])
    assert run.recipe.start is start


def test_published_curators_are_trained_as_published():
    quick = {"n_steps": 4, "n_rounds": 1, "batch_size": 8, "warm_up_steps": 4, "pilot_steps": 4, "device": "cpu"}
    for curator in ("none", "percentile", ImageAuto(least_noise=0)):
        run, _ = prepared(ImageClassifier("tiny", curator=curator, **quick), colors()[0], dirty_labels())
        assert run.recipe.pretrain_steps == 0
    run, _ = prepared(ImageClassifier("tiny", **quick), colors()[0], dirty_labels())
    assert run.recipe.pretrain_steps == 4


def test_streamed_images_give_the_same_network():
    X, y = colors()[0], dirty_labels()
    streamed, held = (pretrained(ImagePool.of(X, y, N_CLASSES, CPU, stream=stream)) for stream in (True, False))
    assert all(torch.equal(streamed[name], held[name]) for name in held)


def test_there_are_as_many_steps_as_in_the_training_but_no_more_than_help():
    batch = 8 * 3
    assert usual_pretrain_steps(recipe(n_steps=50), n_images=10_000) == 50
    assert usual_pretrain_steps(recipe(n_steps=5000), n_images=240) == 400 * 240 // batch
    assert usual_pretrain_steps(replace(recipe(), network=FastNet), n_images=10_000) == 0  # it may be trained already


def test_a_network_that_does_not_end_in_a_linear_layer_is_refused_before_any_work():
    def all_convolutions(n_classes, n_channels):
        return nn.Sequential(nn.Conv2d(n_channels, n_classes, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten())

    X, y = colors()[0], dirty_labels()
    clf = ImageClassifier(all_convolutions, pretrain_steps=5, device="cpu")
    with pytest.raises(InputError, match=r"ends in a linear layer .*set pretrain_steps=0"):
        clf.fit(X, y)


def test_a_network_of_ones_own_can_be_pretrained():
    def mine(n_classes, n_channels):
        seen = nn.Sequential(nn.Conv2d(n_channels, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        return nn.Sequential(seen, nn.Linear(8, n_classes))

    quick = {"n_steps": 4, "n_rounds": 1, "batch_size": 8, "curator": "none", "device": "cpu"}
    clf = ImageClassifier(mine, pretrain_steps=4, **quick).fit(colors()[0], dirty_labels())
    assert set(clf.pretrained_weights_) == {"0.0.weight", "0.0.bias"}


def test_the_last_linear_layer_is_found_and_replaced_wherever_it_is():
    network = nn.Sequential(nn.Linear(3, 4), nn.Sequential(nn.ReLU(), nn.Linear(4, 2)))
    assert last_linear(network) == "1.1"
    replace_layer(network, "1.1", nn.Identity())
    assert network(torch.zeros(1, 3)).shape == (1, 4)
    assert last_linear(nn.ReLU()) is None
