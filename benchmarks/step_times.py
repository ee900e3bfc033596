"""Steps per second, where the time of a step goes, and how close it is to what memory and convolutions allow."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, cast

import torch
from torch import nn

from dips.vision._image_pool import ImagePool
from dips.vision._training import Recipe, Training

_STEPS_TO_WARM_UP = 10
_BYTES = 2  # of a number in half precision
# Tensors of its input's and its output's size that a layer reads or writes at the least.
_FORWARD = {nn.Conv2d: (1, 1), nn.BatchNorm2d: (2, 1)}  # a norm reads once for its statistics and once to apply them
_BACKWARD = {nn.Conv2d: (2, 2), nn.BatchNorm2d: (3, 2)}  # gradients of input and weights; sums, then gradients


def breakdown(pool: ImagePool, recipe: Recipe, n_steps: int = 200) -> dict[str, float]:
    """Milliseconds of a whole step and of its parts, each recorded and replayed separately."""
    training = Training(pool, recipe, pool.labeled_rows, seed=0)
    for _ in range(_STEPS_TO_WARM_UP):
        training.step()
    step_ms = _milliseconds(training, training.step, n_steps)
    with training.on_stream():
        batch = training.batch()
        gradients = training.gradients(batch)
    parts: dict[str, Callable[[], Any]] = {
        "augmentation": training.batch,
        "network": lambda: training.gradients(batch),
        "optimizer": lambda: training.optimizer.step(gradients),
    }
    by_part = {name: _milliseconds(training, _recorded(training, part), n_steps) for name, part in parts.items()}
    return {"step": step_ms, **by_part, "rest": step_ms - sum(by_part.values())}


def steps_per_second(pool: ImagePool, recipe: Recipe, n_runs: int, n_steps: int = 200) -> float:
    """Total steps per second of several trainings side by side."""
    trainings = [Training(pool, recipe, pool.labeled_rows, seed) for seed in range(n_runs)]

    def one_step_each() -> None:
        for training in trainings:
            training.step()

    for _ in range(_STEPS_TO_WARM_UP):
        one_step_each()
    return 1000 * n_runs / _milliseconds(trainings[0], one_step_each, n_steps)


def floor_ms(
    pool: ImagePool, recipe: Recipe, bytes_per_second: float, layers: tuple[type[nn.Module], ...] = tuple(_FORWARD)
) -> float:
    """Milliseconds that layers of these kinds need to read and write their tensors once, at the given bandwidth."""
    n_weak = recipe.batch_size * recipe.unlabeled_ratio * recipe.method.uses_unlabeled
    n_trained = recipe.batch_size + n_weak
    training = Training(pool, recipe, pool.labeled_rows, seed=0)
    forward, backward = list[int](), list[int]()

    def count(module: nn.Module, inputs: tuple[torch.Tensor, ...], output: torch.Tensor) -> None:
        n_in, n_out = inputs[0][0].numel() * _BYTES, output[0].numel() * _BYTES
        for counted, prices in ((forward, _FORWARD), (backward, _BACKWARD)):
            of_input, of_output = prices[type(module)]
            counted.append(of_input * n_in + of_output * n_out)

    for module in training.averaged.modules():
        if type(module) in layers:
            module.register_forward_hook(count)
    training.probabilities(rows=pool.labeled_rows[:1])
    total = (n_weak + n_trained) * sum(forward) + n_trained * sum(backward)
    return 1000 * total / bytes_per_second


def convolutions_ms(pool: ImagePool, recipe: Recipe, n_times: int = 50) -> float:
    """Milliseconds of a step's convolutions alone, by library calls: no norms, no rectifiers, no optimizer."""
    n_weak = recipe.batch_size * recipe.unlabeled_ratio * recipe.method.uses_unlabeled
    n_trained = recipe.batch_size + n_weak
    training = Training(pool, recipe, pool.labeled_rows, seed=0)
    layers = list[tuple[nn.Conv2d, torch.Size]]()

    def note(module: nn.Module, inputs: tuple[torch.Tensor, ...], output: torch.Tensor) -> None:
        layers.append((cast("nn.Conv2d", module), inputs[0].shape[1:]))

    for module in training.averaged.modules():
        if isinstance(module, nn.Conv2d):
            module.register_forward_hook(note)
    training.probabilities(rows=pool.labeled_rows[:1])
    total = 0.0
    with training.on_stream(), torch.no_grad(), torch.backends.cudnn.flags(enabled=True, benchmark=True):
        for k, (layer, shape) in enumerate(layers):
            forward = [_convolution(layer, n, shape, pool.device) for n in (n_weak, n_trained) if n]
            backward = _convolution_backward(layer, n_trained, shape, pool.device, needs_input=k > 0)
            total += sum(_milliseconds(training, _recorded(training, call), n_times) for call in (*forward, backward))
    return total


def _convolution(layer: nn.Conv2d, n: int, shape: torch.Size, device: torch.device) -> Callable[[], torch.Tensor]:
    x, weight, settings = _operands(layer, n, shape, device)
    return lambda: nn.functional.conv2d(x, weight, None, *settings)


def _convolution_backward(
    layer: nn.Conv2d, n: int, shape: torch.Size, device: torch.device, needs_input: bool
) -> Callable[[], Any]:
    """Gradients of weights and, unless it is the first layer, of the input."""
    x, weight, (stride, padding) = _operands(layer, n, shape, device)
    gradient = torch.randn_like(nn.functional.conv2d(x, weight, None, stride, padding))
    needed = [needs_input, True, False]
    return lambda: torch.ops.aten.convolution_backward(
        gradient, x, weight, None, stride, padding, (1, 1), False, (0, 0), 1, needed
    )


def _operands(
    layer: nn.Conv2d, n: int, shape: torch.Size, device: torch.device
) -> tuple[torch.Tensor, torch.Tensor, tuple[Any, Any]]:
    """Input and weight of a layer in the precision and the layout of the training, its stride and its padding."""
    dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    x = torch.randn(n, *shape, device=device, dtype=dtype).contiguous(memory_format=torch.channels_last)
    weight = layer.weight.detach().to(dtype).contiguous(memory_format=torch.channels_last)
    return x, weight, (layer.stride, layer.padding)


def copy_bandwidth(device: torch.device, n_bytes: int = 2**32) -> float:
    """Bytes per second, read and written, of a large copy on the device."""
    source = torch.empty(n_bytes, dtype=torch.uint8, device=device).random_(0, 256)
    target = torch.empty_like(source)
    for _ in range(3):
        target.copy_(source)
    _wait(device)
    began = time.perf_counter()
    for _ in range(10):
        target.copy_(source)
    _wait(device)
    return 10 * 2 * n_bytes / (time.perf_counter() - began)


def _recorded(training: Training, part: Callable[[], Any]) -> Callable[[], Any]:
    if training.stream is None:
        return part
    with training.on_stream():
        for _ in range(3):
            part()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=training.stream):
            part()
    return graph.replay


def _milliseconds(training: Training, function: Callable[[], Any], n: int) -> float:
    device = training.pool.device
    with training.on_stream():
        _wait(device)
        began = time.perf_counter()
        for _ in range(n):
            function()
        _wait(device)
    return 1000 * (time.perf_counter() - began) / n


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
