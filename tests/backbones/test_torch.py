from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from dips.backbones import find_backbone

from .families import SEED, E, fit_and_watch, table
from .families import torch as net

torch = pytest.importorskip("torch")
skorch = pytest.importorskip("skorch")


def test_the_global_generator_is_left_as_it_was():
    before = torch.get_rng_state()
    fit_and_watch(net(), *table(2))
    assert torch.equal(torch.get_rng_state(), before)


def test_the_global_generator_does_not_change_the_training():
    torch.manual_seed(1)
    first = fit_and_watch(net(), *table(2))
    torch.manual_seed(2)
    assert_array_equal(first.trajectories, fit_and_watch(net(), *table(2)).trajectories)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_watching_changes_nothing(n_classes):
    X, y, X_watch = table(n_classes)
    watched, unwatched = net(n_classes), net(n_classes, verbose=0)
    fit_and_watch(watched, X, y, X_watch)
    backbone = find_backbone(unwatched)
    with backbone.seeding(SEED):
        backbone.fit(unwatched, X, y)
    assert_array_equal(backbone.predict_proba(watched, X_watch), backbone.predict_proba(unwatched, X_watch))


def test_networks_are_seen_in_evaluation_mode():
    X, y, X_watch = table(2)
    estimator = net()
    dynamics = fit_and_watch(estimator, X, y, X_watch)
    twice = [find_backbone(estimator).predict_proba(estimator, X_watch) for _ in range(2)]
    assert_array_equal(*twice)  # dropout would differ
    assert_allclose(dynamics.probabilities, twice[0], atol=1e-7)


def test_callbacks_stay_in_charge_and_untouched():
    from skorch.callbacks import LRScheduler

    callbacks = [("schedule", LRScheduler("StepLR", step_size=1))]
    estimator = net(callbacks=callbacks)
    dynamics = fit_and_watch(estimator, *table(2))
    assert estimator.callbacks is callbacks
    assert "on_epoch_end" not in vars(estimator)
    assert dynamics.n_checkpoints == len(estimator.history) == E


def test_a_net_without_callbacks_is_watched():
    assert fit_and_watch(net(callbacks="disable"), *table(2)).n_checkpoints == E


def test_the_epoch_that_a_callback_ends_is_seen():
    from skorch.callbacks import EarlyStopping

    estimator = net(callbacks=[EarlyStopping(threshold=10.0, patience=2, monitor="train_loss")], max_epochs=50)
    estimator.set_params(callbacks__EarlyStopping__sink=lambda text: None)
    dynamics = fit_and_watch(estimator, *table(2))
    assert dynamics.n_checkpoints == len(estimator.history) < 50


def test_the_final_probabilities_are_those_of_the_weights_that_are_kept():
    from skorch.callbacks import EarlyStopping

    X, y, X_watch = table(2)
    stop = EarlyStopping(threshold=10.0, patience=4, monitor="train_loss", load_best=True, sink=lambda text: None)
    estimator = net(callbacks=[stop], max_epochs=50)
    dynamics = fit_and_watch(estimator, X, y, X_watch)
    assert_allclose(dynamics.probabilities, find_backbone(estimator).predict_proba(estimator, X_watch), atol=1e-7)
    assert abs(dynamics.probabilities - dynamics.trajectories[:, -1]).max() > 1e-4


def test_a_net_with_a_hook_of_its_own_keeps_it():
    calls = []

    class Hooked(skorch.NeuralNetClassifier):
        def on_epoch_end(self, net, **kwargs):
            super().on_epoch_end(net, **kwargs)
            calls.append(len(net.history))

    fit_and_watch(Hooked(**net().get_params(deep=False)), *table(2))
    assert calls == list(range(1, E + 1))


@pytest.mark.parametrize("name", ["NeuralNetBinaryClassifier", "Renamed"])
def test_a_net_with_one_output_is_watched(name):
    class OneOutput(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(6, 1)

        def forward(self, X):
            return self.linear(X).squeeze(-1)

    X, y, X_watch = table(2)
    cls = type(name, (skorch.NeuralNetBinaryClassifier,), {})
    estimator = cls(OneOutput, max_epochs=E, lr=0.1)
    dynamics = fit_and_watch(estimator, X, y, X_watch)
    assert dynamics.n_checkpoints == E
    assert_allclose(dynamics.probabilities, find_backbone(estimator).predict_proba(estimator, X_watch), atol=1e-7)


def test_a_net_with_too_many_outputs_is_refused_in_words():
    with pytest.raises(ValueError, match=r"probabilities of shape \(40, 3\) for 40 rows and 2 classes"):
        fit_and_watch(net(n_classes=3), *table(2))


def test_a_user_who_asks_a_net_to_talk_is_heard():
    backbone = find_backbone(net())
    assert backbone.quiet_parameters(net()) == {"verbose": 0}
    assert backbone.quiet_parameters(net(verbose=2)) == {}


def test_two_nets_are_not_trained_at_once():
    assert find_backbone(net()).one_at_a_time


def test_single_precision_tables_stay_as_they_are():
    X, y, X_watch = table(2)
    double = fit_and_watch(net(), X, y, X_watch)
    single = fit_and_watch(net(), X.astype(np.float32), y, X_watch.astype(np.float32))
    assert_array_equal(double.trajectories, single.trajectories)
