"""Training in pieces: synthetic tables, a step, and the same again until the clock says stop."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TextIO

import numpy as np
import torch

from dips.network import _checkpoint
from dips.network._cells import Cells, encode
from dips.network._curriculum import prior_at, progress_at, shapes_prior
from dips.network._evaluate import evaluate
from dips.network._loss import LossBook, losses_by_row, total_loss
from dips.network._model import Network, training_flops
from dips.network._optimizer import MuonAndAdam
from dips.network._prior._draws import Draws
from dips.network._prior._tables import Shape, Tables, make_tables
from dips.network._settings import NetworkSettings
from dips.network._tasks import RealTable
from dips.network._weights import Weights

PEAK_FLOPS = 790e12  # bf16 products of large matrices, measured on the H200


@dataclass(frozen=True)
class Clock:
    """When to stop, fall, log and look at real tables, in minutes since `started`."""

    started: float
    minutes: float
    decay_minutes: float = 0.0
    evaluate_minutes: float = 3.0
    max_steps: int = 10**9

    def elapsed(self) -> float:
        """Minutes gone by."""
        return (time.perf_counter() - self.started) / 60

    def share(self) -> float:
        """Share of the full rate: one, falling to zero over the last minutes of a piece that ends."""
        if not self.decay_minutes:
            return 1.0
        return min(1.0, max(0.0, (self.minutes - self.elapsed()) / self.decay_minutes))


def draw_shape(seed: int, index: int, settings: NetworkSettings) -> tuple[Shape, int]:
    """Shape and number of tables a step of the index-th draw; it depends on nothing else, so pieces can go on.

    Shapes come from a deck that is gone through several times before a new one is drawn: libraries plan their kernels
    anew for every shape, which costs as much as several steps.
    """
    deck, place = divmod(index, settings.training.shapes_in_deck)
    deck //= settings.training.passes_of_deck
    prior, rng = shapes_prior(index, settings), np.random.default_rng((seed, deck, place))
    while True:
        shape = Shape(
            *(
                int(rng.choice(choices))
                for choices in (prior.labeled, prior.unlabeled, prior.queries, prior.columns, prior.classes)
            )
        )
        if shape.rows * shape.columns <= prior.max_cells and shape.classes * 5 <= max(shape.labeled, 10):
            tokens = shape.rows * tokens_of_a_row(shape, settings)
            return shape, int(np.clip(round(settings.training.tokens_per_step / tokens), 2, 512))


def tokens_of_a_row(shape: Shape, settings: NetworkSettings) -> int:
    """Tokens of columns and of classes."""
    return settings.model.tokens_of(shape.columns) + shape.classes


def encode_tables(tables: Tables, shape: Shape, draws: Draws, settings: NetworkSettings) -> Cells:
    """Synthetic tables as the network reads them."""
    return encode(
        tables.values,
        tables.categorical,
        tables.given,
        shape.classes,
        shape.context,
        settings.prior.max_levels,
        draws,
        settings.model,
    )


class NetworkTrainer:
    """One network on its way."""

    def __init__(self, settings: NetworkSettings, device: torch.device, compiled: bool = False) -> None:
        torch.manual_seed(settings.training.seed)
        self.settings, self.device = settings, device
        self.model = Network(settings.model).to(device)
        self.optimizer = MuonAndAdam(self.model, settings.training)
        self.book = LossBook(device)
        self.dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
        self.place = _checkpoint.Place()
        if settings.training.row_kernel and device.type == "cuda" and find_spec("triton"):
            self.model.use_row_kernel()
        if compiled:
            self.model.compile()

    def draw(self, index: int) -> tuple[Shape, int, Tables, Cells]:
        """Tables for several steps at once, made and encoded on the device."""
        training = self.settings.training
        shape, batch = draw_shape(training.seed, index, self.settings)
        draws = Draws(self.device, training.seed * 1_000_003 + index)
        prior = prior_at(progress_at(index, self.settings), self.settings.prior)
        tables = make_tables(draws, batch * training.steps_per_draw, shape, prior)
        return shape, batch, tables, encode_tables(tables, shape, draws, self.settings).to(self.dtype)

    def loss(self, shape: Shape, tables: Tables, cells: Cells) -> torch.Tensor:
        """The loss of one batch, entered in the book."""
        logits = self.model(cells, shape.context)
        loss, counts = losses_by_row(logits, tables.true, tables.chances, cells.present, shape.labeled)
        self.book.add(loss.detach(), counts, tables.true, tables.noise, shape.labeled, shape.classes)
        return total_loss(loss, counts, shape.labeled, self.settings.training.labeled_weight)

    def steps(self, share: float) -> tuple[int, float]:
        """All steps of the next hand of draws at a share of the full rate; returns tokens and operations."""
        training = self.settings.training
        hand = [self.draw(self.place.draw + number) for number in range(training.draws_in_hand)]
        order = np.random.default_rng((training.seed, self.place.draw)).permutation(len(hand) * training.steps_per_draw)
        for turn in order:
            shape, batch, tables, cells = hand[turn % len(hand)]
            part = slice(start := turn // len(hand) * batch, start + batch)
            self.loss(shape, tables[part], cells[part]).backward()
            warm = min(1.0, (self.place.step + 1) / training.warmup_steps)
            self.optimizer.step(share * warm, self.place.step)
            self.place.step += 1
        self.place.draw += len(hand)
        self.place.tables += sum(len(tables.true) for _, _, tables, _ in hand)
        work = [self._work(shape, len(tables.true)) for shape, _, tables, _ in hand]
        return sum(tokens for tokens, _ in work), sum(flops for _, flops in work)

    def _work(self, shape: Shape, tables: int) -> tuple[int, float]:
        """Tokens of so many tables, and the operations of training on them."""
        row_tokens = tokens_of_a_row(shape, self.settings)
        tokens = tables * shape.rows * row_tokens
        return tokens, training_flops(self.settings.model, tokens, row_tokens, shape.context)

    def save(self, folder: Path) -> None:
        """Write a checkpoint to go on from."""
        _checkpoint.save(folder, self.settings, self.model, self.optimizer, self.place)

    def resume(self, folder: Path) -> None:
        """Go on from a checkpoint."""
        self.place = _checkpoint.load(folder, self.model, self.optimizer)

    def start_from(self, path: Path) -> None:
        """Begin with exported weights, grown where this network is deeper; the optimizer starts anew."""
        weights = Weights.load(path).grown(self.settings.model)
        arrays = {name: torch.as_tensor(array, device=self.device) for name, array in weights.arrays.items()}
        self.model.load_state_dict(arrays, strict=True)
        self.optimizer.mean = {name: arrays[name].clone() for name in self.optimizer.named}  # in the model's own order

    def averaged(self) -> Network:
        """A copy of the network with the running mean of its weights."""
        model = Network(self.settings.model).to(self.device)
        model.load_state_dict(self.optimizer.mean)
        return model.eval()


def train_piece(trainer: NetworkTrainer, clock: Clock, out: Path, real: list[RealTable], log_every: int = 200) -> None:
    """Train until the clock stops, log as JSON lines, look at real tables now and then, and save."""
    place, out = trainer.place, Path(out)
    out.mkdir(parents=True, exist_ok=True)
    number = len(place.pieces)
    place.pieces.append(
        {
            "seed": trainer.settings.training.seed,
            "from_step": place.step,
            "from_draw": place.draw,
            "decay_minutes": clock.decay_minutes,
        }
    )
    before = place.minutes
    with (out / f"log-{number}.jsonl").open("w") as log:
        meter, looked = Meter(trainer, log, before, clock), 0.0
        while clock.elapsed() < clock.minutes and place.step < clock.max_steps:
            meter.add(*trainer.steps(clock.share()))
            if place.step - meter.step >= log_every:
                meter.write()
            if clock.elapsed() - looked >= clock.evaluate_minutes:
                place.minutes = before + clock.elapsed()
                trainer.save(out)
                meter.write_evaluation(real, thorough=False)
                looked = clock.elapsed()
        meter.write()
        place.minutes = before + clock.elapsed()
        trainer.save(out)
        meter.write_evaluation(real, thorough=True)


class Meter:
    """Speed and losses since the last entry in the log."""

    def __init__(self, trainer: NetworkTrainer, log: TextIO, before: float, clock: Clock) -> None:
        self.trainer, self.log, self.before, self.clock = trainer, log, before, clock
        self._restart()

    def _restart(self) -> None:
        self.step, self.tokens, self.flops, self.since = self.trainer.place.step, 0, 0.0, time.perf_counter()

    def add(self, tokens: int, flops: float) -> None:
        """Count the work of one draw."""
        self.tokens += tokens
        self.flops += flops

    def write(self) -> None:
        """Log losses and speed; waits for the device."""
        if self.trainer.place.step == self.step:
            return
        losses = self.trainer.book.read()
        elapsed = time.perf_counter() - self.since
        self._entry(
            {
                "kind": "train",
                "steps_s": round((self.trainer.place.step - self.step) / elapsed, 2),
                "tokens_s": round(self.tokens / elapsed),
                "tflop_s": round(self.flops / elapsed / 1e12, 1),
                "share_of_peak": round(self.flops / elapsed / PEAK_FLOPS, 4),
                "losses": losses,
            },
            losses["all"],
        )
        self._restart()

    def write_evaluation(self, real: list[RealTable], thorough: bool) -> None:
        """Log how good the averaged weights are on real tables, if there are any."""
        if not real:
            return
        started = time.perf_counter()
        scores = evaluate(self.trainer.averaged(), real, self.trainer.device, self.trainer.dtype, thorough)
        self._entry(
            {"kind": "real", "thorough": thorough, "seconds": round(time.perf_counter() - started, 1), **scores},
            scores["mean"],
        )
        self._restart()

    def _entry(self, entry: dict, shown: dict) -> None:
        place = self.trainer.place
        head = {
            "minute": round(self.before + self.clock.elapsed(), 2),
            "step": place.step,
            "tables": place.tables,
            "rate": round(self.clock.share(), 3),
        }
        self.log.write(json.dumps(head | entry) + "\n")
        self.log.flush()
        speed = {key: entry[key] for key in ("steps_s", "tokens_s", "tflop_s") if key in entry}
        print(json.dumps(head | speed | {"shown": shown}), flush=True)
