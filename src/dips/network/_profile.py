"""Where the time of a step goes, on the device at hand."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import torch

from dips.network._model import training_flops
from dips.network._prior._draws import Draws
from dips.network._prior._tables import Shape, make_tables
from dips.network._settings import NetworkSettings
from dips.network._training import PEAK_FLOPS, NetworkTrainer, encode_tables, tokens_of_a_row

SHAPES = (Shape(64, 48, 64, 8, 2), Shape(128, 192, 128, 12, 3), Shape(400, 800, 192, 20, 2), Shape(96, 96, 128, 16, 8))


def seconds(work: Callable[[], object], device: torch.device, repeats: int = 5) -> float:
    """Mean time of some work after one run to warm up."""
    work()
    _wait(device)
    started = time.perf_counter()
    for _ in range(repeats):
        work()
    _wait(device)
    return (time.perf_counter() - started) / repeats


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


class Parts:
    """The parts of a training step on tables of one shape, each to be run by itself."""

    def __init__(self, trainer: NetworkTrainer, shape: Shape) -> None:
        settings = trainer.settings
        self.trainer, self.shape, self.draws = trainer, shape, Draws(trainer.device, 0)
        self.row_tokens = tokens_of_a_row(shape, settings)
        self.batch = max(2, round(settings.training.tokens_per_step / (shape.rows * self.row_tokens)))
        self.tables = make_tables(self.draws, self.batch * settings.training.steps_per_draw, shape, settings.prior)
        self.first = self.tables[: self.batch]
        self.cells = encode_tables(self.first, shape, self.draws, settings).to(trainer.dtype)

    def prior(self) -> None:
        """Make the tables of several steps."""
        make_tables(self.draws, len(self.tables.true), self.shape, self.trainer.settings.prior)

    def encode(self) -> None:
        """Encode the tables of several steps."""
        encode_tables(self.tables, self.shape, self.draws, self.trainer.settings).to(self.trainer.dtype)

    def forward(self) -> torch.Tensor:
        """The loss of one step."""
        return self.trainer.loss(self.shape, self.first, self.cells)

    def both_ways(self) -> None:
        """The loss of one step, and its gradients."""
        self.forward().backward()

    def step(self) -> None:
        """One whole step."""
        self.both_ways()
        self.trainer.optimizer.step(1e-3, 0)


def measure(trainer: NetworkTrainer, shape: Shape) -> dict[str, float]:
    """Times of the parts of a step in milliseconds, and the speed that follows."""
    settings, device, parts = trainer.settings, trainer.device, Parts(trainer, shape)
    batch, row_tokens = parts.batch, parts.row_tokens
    tokens = batch * shape.rows * row_tokens
    times = {
        "prior": seconds(parts.prior, device, 2),
        "encode": seconds(parts.encode, device, 2),
        "forward": seconds(parts.forward, device),
        "both_ways": seconds(parts.both_ways, device),
        "step": seconds(parts.step, device),
    }
    a_step = times["step"] + (times["prior"] + times["encode"]) / settings.training.steps_per_draw
    flops = training_flops(settings.model, tokens, row_tokens, shape.context)
    report = {name: round(1e3 * value, 2) for name, value in times.items()}
    return report | {
        "tokens": tokens,
        "tables": batch,
        "tokens_s": round(tokens / a_step),
        "steps_s": round(1 / a_step, 2),
        "tflop_s": round(flops / a_step / 1e12, 1),
        "share_of_peak": round(flops / a_step / PEAK_FLOPS, 4),
    }


def variants(settings: NetworkSettings) -> list[tuple[str, NetworkSettings, bool]]:
    """What is worth comparing, the likeliest first."""
    model, training = settings.model, settings.training
    double = replace(settings, training=replace(training, tokens_per_step=2 * training.tokens_per_step))
    return [
        ("compiled", settings, True),
        ("compiled, the library's attention", replace(settings, training=replace(training, row_kernel=False)), True),
        ("compiled, no trees", replace(settings, model=replace(model, trees=False)), True),
        ("eager", settings, False),
        ("compiled, twice the tokens", double, True),
        (
            "compiled, width 128, 8 layers",
            replace(settings, model=replace(model, width=128, layers=8, row_heads=4, column_heads=2)),
            True,
        ),
        ("compiled, six heads a column", replace(settings, model=replace(model, column_heads=model.row_heads)), True),
        ("compiled, AdamW", replace(settings, training=replace(training, optimizer="adamw")), True),
    ]


def profile(settings: NetworkSettings, device: torch.device, minutes: float, out: Path) -> None:
    """Measure the variants until the minutes are over; a variant that fails says so and the next one follows."""
    started = time.perf_counter()
    out.mkdir(parents=True, exist_ok=True)
    if device.type == "cuda":
        (out / "kernels.txt").write_text(kernels(NetworkTrainer(settings, device, True), SHAPES[1]))
    with (out / "profile.jsonl").open("w") as log:
        for name, changed, compiled in variants(settings):
            for shape in SHAPES:
                if time.perf_counter() - started > 60 * minutes:
                    return
                entry = {"variant": name, "shape": str(shape)} | _attempt(changed, compiled, device, shape)
                log.write(json.dumps(entry) + "\n")
                print(json.dumps(entry), flush=True)


def _attempt(settings: NetworkSettings, compiled: bool, device: torch.device, shape: Shape) -> dict:
    try:
        begun = time.perf_counter()
        report = measure(NetworkTrainer(settings, device, compiled), shape)
        return report | {"took_s": round(time.perf_counter() - begun, 1)}
    except Exception as error:  # a kernel this machine lacks must not end the whole measurement
        return {"failed": f"{type(error).__name__}: {error}"[:600]}


def kernels(trainer: NetworkTrainer, shape: Shape, steps: int = 3) -> str:
    """The kernels of some steps by their time."""
    from torch.profiler import ProfilerActivity
    from torch.profiler import profile as traced

    parts = Parts(trainer, shape)
    seconds(parts.step, trainer.device, 2)
    with traced(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as trace:
        seconds(parts.step, trainer.device, steps - 1)
    return trace.key_averages().table(sort_by="self_device_time_total", row_limit=40, max_name_column_width=70)
