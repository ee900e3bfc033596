import copy
import math

import pytest
import torch

from dips.vision._optimizer import Optimizer, Schedule


def network(seed=0):
    torch.manual_seed(seed)
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.Flatten(), torch.nn.Linear(16, 2)
    )


def gradients_of(net, x):
    return torch.autograd.grad(net(x).square().mean(), list(net.parameters()))


def test_steps_are_those_of_torch_with_nesterov_momentum_and_the_cosine():
    ours, theirs, x = network(), network(), torch.randn(5, 3, 4, 4)
    decayed = [p for p in theirs.parameters() if p.ndim > 1]
    plain = [p for p in theirs.parameters() if p.ndim <= 1]
    settings = {"lr": 0.1, "momentum": 0.9, "nesterov": True}
    reference = torch.optim.SGD([{"params": decayed, "weight_decay": 5e-4}, {"params": plain}], **settings)
    optimizer = Optimizer(ours, copy.deepcopy(ours), Schedule(n_steps=10, lr=0.1))
    for k in range(6):
        optimizer.step(gradients_of(ours, x))
        for group in reference.param_groups:
            group["lr"] = 0.1 * math.cos(7 * math.pi * k / (16 * 10))
        reference.zero_grad()
        theirs(x).square().mean().backward()
        reference.step()
    for p, q in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(p, q)


def test_the_average_follows_fast_at_first_and_slowly_later():
    net = network()
    averaged = copy.deepcopy(net)
    optimizer = Optimizer(net, averaged, Schedule(n_steps=10**6, lr=1e-9, average=0.9))
    x, target = torch.randn(5, 3, 4, 4), 1.0
    with torch.no_grad():
        for p in averaged.parameters():
            p.fill_(0.0)
        for p in net.parameters():
            p.fill_(target)
    optimizer.step(gradients_of(net, x))
    assert averaged[0].weight[0, 0, 0, 0].item() == pytest.approx(1 - 2 / 11, abs=1e-3)
    optimizer.step_number.fill_(1000.0)
    before = averaged[0].weight.clone()
    optimizer.step(gradients_of(net, x))
    torch.testing.assert_close(averaged[0].weight, before + 0.1 * (target - before), atol=1e-4, rtol=0)


def test_running_norms_are_averaged_and_counters_left_alone():
    net = network()
    averaged = copy.deepcopy(net).eval()
    optimizer = Optimizer(net, averaged, Schedule(n_steps=10))
    optimizer.step(gradients_of(net, 5 + torch.randn(5, 3, 4, 4)))
    assert not torch.equal(averaged[1].running_mean, torch.zeros(4))
    assert averaged[1].num_batches_tracked == 0
