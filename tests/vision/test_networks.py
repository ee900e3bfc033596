import pytest
import torch

from dips.vision._networks import NETWORKS, WideResNet, build_network


@pytest.mark.parametrize("name", ["wrn-28-2", "fast", "tiny"])
@pytest.mark.parametrize(("n_channels", "size"), [(3, 32), (1, 28), (3, 8)])
def test_every_network_gives_one_logit_a_class(name, n_channels, size):
    network = build_network(name, 7, n_channels, seed=0)
    assert network(torch.zeros(2, n_channels, size, size)).shape == (2, 7)


@pytest.mark.parametrize(("name", "millions"), [("wrn-28-2", 1.47), ("wrn-28-8", 23.4)])
def test_wide_residual_networks_are_as_large_as_published(name, millions):
    n_weights = sum(p.numel() for p in NETWORKS[name](10, 3).parameters())
    assert n_weights / 1e6 == pytest.approx(millions, rel=0.01)


def test_wide_residual_networks_have_as_many_layers_as_their_name_says():
    layers = [m for m in WideResNet(10).modules() if isinstance(m, torch.nn.Conv2d) and m.kernel_size == (3, 3)]
    assert len(layers) + 3 == 28  # with three 1 x 1 ways around, as the paper counts


def test_the_seed_alone_decides_the_weights():
    torch.manual_seed(1)
    first = build_network("tiny", 3, 3, seed=0)
    torch.manual_seed(2)
    before = torch.get_rng_state()
    second, other = build_network("tiny", 3, 3, seed=0), build_network("tiny", 3, 3, seed=1)
    assert torch.equal(first.conv1.weight, second.conv1.weight)
    assert not torch.equal(first.conv1.weight, other.conv1.weight)
    assert torch.equal(torch.get_rng_state(), before)


def test_a_network_may_come_from_a_function():
    assert isinstance(build_network(lambda c, k: torch.nn.Linear(k, c), 4, 3, 0), torch.nn.Linear)
