import copy
from functools import cache

import numpy as np
import pytest
import torch

from dips.vision._fixmatch import FixMatch
from dips.vision._freematch import FreeMatch
from dips.vision._image_pool import ImagePool, pixel_moments
from dips.vision._method import Supervised

from .examples import CPU, N_LABELED, colors, training, weights

METHODS = [FixMatch(threshold=0.5), FreeMatch(), Supervised()]


def draw(one):
    """Draw a step's random numbers without taking the step."""
    one._u.uniform_(generator=torch.Generator().manual_seed(0))


def trained(n_steps=3, **settings):
    one = training(**settings)
    for _ in range(n_steps):
        one.step()
    return one


@pytest.mark.parametrize("method", METHODS, ids=lambda m: type(m).__name__)
def test_the_seed_decides_the_training(method):
    torch.manual_seed(1)
    first = trained(method=method)
    torch.manual_seed(2)
    before = torch.get_rng_state()
    assert torch.equal(weights(first.network), weights(trained(method=method).network))
    assert not torch.equal(weights(first.network), weights(trained(method=method, seed=1).network))
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("method", METHODS, ids=lambda m: type(m).__name__)
def test_a_stored_training_goes_on_as_if_it_had_never_stopped(method):
    through = trained(6, method=method)
    stopped, continued = trained(3, method=method), training(method=method, seed=9)
    continued.restore(stopped.state())
    for _ in range(3):
        continued.step()
    for network in ("network", "averaged"):
        for name, value in getattr(through, network).state_dict().items():
            assert torch.equal(value, getattr(continued, network).state_dict()[name]), name


def test_looking_changes_nothing():
    looked_at = training()
    for _ in range(3):
        looked_at.step()
        looked_at.probabilities()
    assert torch.equal(weights(looked_at.network), weights(trained().network))


def test_it_is_trained_on_the_rows_it_is_told_and_no_others():
    one = training(method=Supervised())
    for rows in ([4], [10, 20]):
        one.use(np.array(rows))
        draw(one)
        seen = one.batch()
        allowed = one.pool.scaling(one.pool.images[rows], torch.float32).mean(dim=(2, 3))
        nearest = torch.cdist(seen.labeled.mean(dim=(2, 3)), allowed).min(dim=1).values
        assert nearest.max() < 0.2  # a shift changes the mean color a little
        assert set(seen.labels.tolist()) <= set(one.pool.labels[rows].tolist())


def test_distrusted_rows_are_marked_in_the_batch():
    one = training()
    one.trust(np.zeros(one.pool.images.shape[0], dtype=bool))
    draw(one)
    assert not one.batch().trusted.any()


def test_both_views_are_of_the_same_images():
    one = training()
    draw(one)
    one._u[:, 1:4] = 0.5  # neither flip nor shift
    one._u[:, 4:] = 0.0  # RandAugment's identity, and a square of no size
    batch = one.batch()
    torch.testing.assert_close(batch.weak, batch.strong)


def test_probabilities_are_the_averaged_networks_in_evaluation_mode():
    one = trained()
    rows = np.array([3, 1])
    p = one.probabilities(rows=rows)
    assert p.shape == (2, 3)
    assert not one.averaged.training
    with torch.no_grad():
        logits = one.averaged(one.pool.scaling(one.pool.images[rows], torch.float32))
    np.testing.assert_allclose(p, logits.softmax(dim=1).numpy(), atol=1e-6)
    np.testing.assert_allclose(one.probabilities()[rows], p, atol=1e-6)


def test_pixels_are_scaled_to_mean_0_and_deviation_1():
    X, y = colors()
    scaled = ImagePool.of(X, y, 3, CPU).scaling(torch.from_numpy(X), torch.float32)
    assert scaled.shape == (len(X), 3, 8, 8)
    torch.testing.assert_close(scaled.mean(dim=(0, 2, 3)), torch.zeros(3), atol=1e-4, rtol=0)
    torch.testing.assert_close(scaled.std(dim=(0, 2, 3)), torch.ones(3), atol=1e-3, rtol=0)


def test_a_flat_channel_does_not_divide_by_zero():
    assert pixel_moments(np.full((3, 8, 8, 1), 7, dtype=np.uint8))[1].tolist() == [1.0]


def test_all_labeled_rows_are_used_at_first():
    assert training()._n_rows.item() == N_LABELED


def test_the_step_is_one_graph_that_all_trainings_of_a_shape_share(monkeypatch):
    def traced(function):
        return torch.compile(function, backend=counting, dynamic=False, fullgraph=True)  # nothing waits for the host

    n_graphs = []

    def counting(graph, inputs):
        n_graphs.append(graph)
        return graph.forward

    torch.compiler.reset()
    monkeypatch.setattr("dips.vision._training._compiled", cache(traced))
    for seed in (0, 1):
        compiled, plain = trained(2, compiled=True, seed=seed), trained(2, seed=seed)
        torch.testing.assert_close(weights(compiled.network), weights(plain.network))
    assert len(n_graphs) == 2  # the batch, the loss


@pytest.mark.parametrize("method", METHODS[:2], ids=lambda m: type(m).__name__)
def test_weak_views_are_normed_by_themselves_and_nothing_is_learned_from_them(method):
    class Shown(type(method)):
        def loss(self, logits, batch, state):
            shown.append(logits)
            return super().loss(logits, batch, state)

    shown = []
    one = training(method=Shown())
    draw(one)
    batch, before = one.batch(), copy.deepcopy(one.network)
    one.gradients(batch)
    assert not shown[0].weak.requires_grad
    torch.testing.assert_close(shown[0].weak, before.train()(batch.weak).detach())
