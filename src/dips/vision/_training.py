"""One training: a network, the average of its weights, and a step that never waits for the host."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NoReturn

import numpy as np
import torch
from torch import Tensor, nn

from dips._tools.arrays import Array, Rows
from dips.exceptions import InputError
from dips.vision import _distributed
from dips.vision._augment import Augmentation
from dips.vision._feed import Feed
from dips.vision._fixmatch import FixMatch
from dips.vision._image_pool import ImagePool, Scaling
from dips.vision._method import Batch, Logits, Method
from dips.vision._networks import build_network
from dips.vision._optimizer import Optimizer, Schedule
from dips.vision._step_images import Draw, weak_and_strong
from dips.vision._views import AS_IT_IS, View

_STEPS_BEFORE_RECORDING = 3  # libraries set themselves up in the first steps
_ROWS_PER_PREDICTION, _PIXELS_PER_PREDICTION = 2048, 2**23


@dataclass(frozen=True)
class Recipe:
    """How a network is trained.

    Attributes
    ----------
    network : "fast", "wrn-28-2", "wrn-28-8", "tiny", or a function of (n_classes, n_channels)
    method : the loss
    schedule : of the optimizer
    batch_size : labeled images per step
    unlabeled_ratio : unlabeled images for each labeled one (mu)
    augmentation : how images are varied
    pretrain_steps : steps on the images alone, before any label is looked at
    start : weights that the network begins with, all but those of its last layer; None draws them
    compiled : whether the step is compiled and recorded; None does so on a GPU
    """

    network: str | Callable[[int, int], nn.Module] = "fast"
    method: Method = field(default_factory=FixMatch)
    schedule: Schedule = field(default_factory=lambda: Schedule(n_steps=20_000))
    batch_size: int = 64
    unlabeled_ratio: int = 7
    augmentation: Augmentation = field(default_factory=Augmentation)
    pretrain_steps: int = 0
    start: dict[str, Tensor] | None = None
    compiled: bool | None = None

    @property
    def images_per_step(self) -> int:
        """How many images pass through the network in one step."""
        return self.batch_size * (1 + 2 * self.unlabeled_ratio * self.method.uses_unlabeled)


class Training:
    """A network in training on a pool.

    All random numbers of a step are drawn at once from the training's own generator, into a buffer that the recorded
    step reads. The labels and pseudo-labels that may be used are buffers too: a curator rewrites them, and the recorded
    step goes on.
    """

    def __init__(self, pool: ImagePool, recipe: Recipe, rows: Rows, seed: int) -> None:
        self.pool, self.recipe = pool, recipe
        device = pool.device
        on_gpu = device.type == "cuda"
        self.stream = torch.cuda.Stream(device) if on_gpu else None
        if self.stream is not None:
            self.stream.wait_stream(torch.cuda.current_stream(device))  # the pool may still be on its way
        self._dtype = _dtype(device)
        self._is_compiled = on_gpu if recipe.compiled is None else recipe.compiled
        self._graph: torch.cuda.CUDAGraph | None = None
        with self.on_stream():
            network = build_network(recipe.network, pool.n_classes, pool.images.shape[3], seed)
            if recipe.start is not None:
                network.load_state_dict(recipe.start, strict=False)
            self.network = network.to(device, memory_format=torch.channels_last)
            self.averaged = copy.deepcopy(self.network).eval()
            self.optimizer = Optimizer(self.network, self.averaged, recipe.schedule)
            self.method_state = recipe.method.state(pool.n_classes, device)
            self.n_done = 0
            self.loss, self.coverage = torch.zeros(2, device=device).unbind()
            self._rows = torch.zeros(pool.images.shape[0], dtype=torch.long, device=device)
            self._n_rows = torch.zeros((), device=device)
            self._pseudo_useful = torch.ones(pool.images.shape[0], dtype=torch.bool, device=device)
            self._sizes = _sizes(recipe)
            self._seed = seed
            self._generator, self._feed = self._new_generator(), None
            if pool.is_streamed:
                self._feed = Feed(pool, self._sizes, self.n_random, self._generator)
                self._u = self._feed.now.u
            else:
                self._u = torch.empty(sum(self._sizes) + self._sizes[1], self.n_random, device=device)
        self.use(rows)

    @property
    def n_random(self) -> int:
        """Random numbers of each view, the one that draws its image among them."""
        return 1 + self.recipe.augmentation.n_strong

    def _new_generator(self) -> torch.Generator:
        """The generator of this process, each of which draws images of its own."""
        generator = torch.Generator("cpu" if self.pool.is_streamed else self.pool.device)
        return generator.manual_seed(self._seed + 1_000_003 * _distributed.rank())

    def _generator_after(self, n_steps: int) -> Tensor:
        """State of this process's generator after so many steps, all of which draw as many numbers."""
        generator = self._new_generator()
        u = torch.empty_like(self._u, device=generator.device)
        for _ in range(n_steps):
            u.uniform_(generator=generator)
        return generator.get_state()

    @property
    def batch_maker(self) -> Callable[..., Batch]:
        """The function that makes a step's batch; a plain one, so that it is compiled once for all trainings."""
        return weak_and_strong

    @contextmanager
    def on_stream(self) -> Iterator[None]:
        """Run what is inside in order with this training's own work."""
        if self.stream is None:
            yield
            return
        with torch.cuda.device(self.stream.device), torch.cuda.stream(self.stream):
            yield

    def use(self, rows: Rows) -> None:
        """Train on these labeled rows from now on."""
        with self.on_stream():
            self._rows[: rows.size].copy_(torch.from_numpy(rows))
            self._n_rows.fill_(rows.size)
        if self._feed is not None:
            self._feed.use(rows)

    def use_pseudo_labels_of(self, mask: Array) -> None:
        """Use pseudo-labels of these rows of the pool only, from now on."""
        with self.on_stream():
            self._pseudo_useful.copy_(torch.from_numpy(mask))

    def step(self) -> None:
        """Train on one batch."""
        with self.on_stream():
            self._draw()
            if self._graph is None and self._is_recorded and self.n_done >= _STEPS_BEFORE_RECORDING:
                self._graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(self._graph, stream=self.stream, capture_error_mode="thread_local"):
                    self._compute()
            if self._graph is None:
                self._compute()
            else:
                self._graph.replay()
        self.n_done += 1

    def _draw(self) -> None:
        """Draw the step's random numbers; of a streamed pool, its images too."""
        if self._feed is None:
            self._u.uniform_(generator=self._generator)
        else:
            self._feed.load()

    @property
    def _is_recorded(self) -> bool:
        return self.stream is not None and self._is_compiled and _distributed.n_processes() == 1

    def _fast(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return _compiled(function) if self._is_compiled else function

    def _compute(self) -> None:
        gradients = self.gradients(self.batch())
        if _distributed.n_processes() > 1:
            buffers = [b for b in self.network.buffers() if b.is_floating_point()]
            _distributed.average([*gradients, *buffers, *self.method_state.values()])
        self.optimizer.step(gradients)

    def batch(self) -> Batch:
        """Draw and augment one step's images."""
        make = self._fast(self.batch_maker)
        fed = None if self._feed is None else self._feed.now
        draw = Draw(self._rows, self._n_rows, self._pseudo_useful, self._u, self._sizes, fed)
        with torch.no_grad():
            return make(self.pool, draw, self.recipe.augmentation, self._dtype)

    def gradients(self, batch: Batch) -> list[Tensor]:
        """Return the gradients of the method's loss."""
        loss_of = self._fast(_loss)
        # The shapes never change, so cuDNN needs to look for the fastest algorithm only once.
        with torch.backends.cudnn.flags(enabled=True, benchmark=True):
            loss, coverage = loss_of(self.recipe.method, self.network, batch, self.method_state, self._dtype)
            gradients = torch.autograd.grad(loss, self.optimizer.parameters)
        self.loss.copy_(loss.detach())
        self.coverage.copy_(coverage)
        return list(gradients)

    def probabilities(self, images: Tensor | None = None, rows: Rows | None = None) -> Array:
        """Class probabilities (m, C) of images, or of rows of the pool, by the averaged network; no augmentation."""
        images = self.pool.images if images is None else images
        with self.on_stream():
            p = predict(self.averaged, self.pool.scaling, images, rows)
        if np.isnan(p).any():
            self.refuse_to_go_on()
        return p

    def refuse_to_go_on(self) -> NoReturn:
        """Say that the training has diverged: what it gives from now on is no number."""
        raise InputError(
            f"The training has diverged: after {self.n_done:,} steps the network answers with what is no number. Train "
            f"with a smaller learning rate than lr={self.recipe.schedule.lr:g}."
        )

    def is_sure(self, p: Array) -> Array:
        """Mask (m,) of the images whose pseudo-label the method would use, given their probabilities (m, C)."""
        thresholds = self.recipe.method.thresholds(self.method_state, p.shape[1]).cpu().numpy()
        return p.max(axis=1) >= thresholds[p.argmax(axis=1)]

    def state(self) -> dict[str, Any]:
        """Return everything that is needed to continue the training, after the steps under way."""
        if self.stream is not None:
            self.stream.synchronize()
        return {
            "network": self.network.state_dict(),
            "averaged": self.averaged.state_dict(),
            "optimizer": self.optimizer.state(),
            "method": self.method_state,
            "generator": (self._feed or self._generator).get_state(),
            "rows": self._rows,
            "n_rows": self._n_rows,
            "pseudo_useful": self._pseudo_useful,
            "n_done": self.n_done,
        }

    @torch.no_grad()
    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a stored state, in place."""
        with self.on_stream():
            self.network.load_state_dict(state["network"])
            self.averaged.load_state_dict(state["averaged"])
            self.optimizer.restore(state["optimizer"])
            for name, value in state["method"].items():
                self.method_state[name].copy_(value)
            is_own = _distributed.rank() == 0  # the first process writes the file
            generator = state["generator"].cpu() if is_own else self._generator_after(state["n_done"])
            (self._feed or self._generator).set_state(generator)
            for buffer, name in (
                (self._rows, "rows"),
                (self._n_rows, "n_rows"),
                (self._pseudo_useful, "pseudo_useful"),
            ):
                buffer.copy_(state[name])
            self.n_done = state["n_done"]
        if self._feed is not None:
            self._feed.use(state["rows"][: int(state["n_rows"])].cpu().numpy())


def _sizes(recipe: Recipe) -> tuple[int, int]:
    """Labeled and unlabeled images of a step that this process works on."""
    n = _distributed.n_processes()
    if recipe.batch_size % n:
        raise InputError(
            f"batch_size={recipe.batch_size} cannot be shared evenly by {n} processes; choose a multiple of {n}."
        )
    n_labeled = recipe.batch_size // n
    return n_labeled, n_labeled * recipe.unlabeled_ratio if recipe.method.uses_unlabeled else 0


def _loss(
    method: Method, network: nn.Module, batch: Batch, state: dict[str, Tensor], dtype: torch.dtype
) -> tuple[Tensor, Tensor]:
    """The method's loss. Weak views pass separately, so they make up half of the norms' running statistics."""
    with _precision(batch.labeled.device, dtype):
        with torch.no_grad():
            weak = network(batch.weak).float() if method.uses_unlabeled else batch.weak
        sizes = [len(batch.labeled), len(batch.strong)]
        labeled, strong = network(torch.cat([batch.labeled, batch.strong])).float().split(sizes)
        return method.loss(Logits(labeled, weak, strong), batch, state)


@torch.inference_mode()
def predict(
    network: nn.Module,
    scaling: Scaling,
    images: Tensor,
    rows: Rows | None = None,
    views: tuple[View, ...] = AS_IT_IS,
) -> Array:
    """Class probabilities (m, C) of images, or of some rows of them, by a network in evaluation mode.

    They are the mean over views. Images may be elsewhere than the network; they are moved a few at a time.
    """
    device = scaling.mean.device
    dtype, n_pixels = _dtype(device), images.shape[1] * images.shape[2]
    n_at_once = max(1, min(_ROWS_PER_PREDICTION, _PIXELS_PER_PREDICTION // n_pixels))
    if rows is None:
        parts = iter(images.split(n_at_once))
    else:
        parts = (images[some] for some in torch.from_numpy(rows).to(images.device).split(n_at_once))

    def answers(part: Tensor) -> Tensor:
        seen = [view.weight * network(scaling(view.of(part), dtype)).double().softmax(dim=1) for view in views]
        return torch.stack(seen).sum(dim=0)

    with _precision(device, dtype):
        p = [answers(part.to(device)) for part in parts]
    return torch.cat(p).cpu().numpy()


def _dtype(device: torch.device) -> torch.dtype:
    return torch.bfloat16 if device.type == "cuda" else torch.float32


def _precision(device: torch.device, dtype: torch.dtype) -> torch.autocast:
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=dtype == torch.bfloat16)


@cache
def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile once; all trainings of the same shape share the result."""
    return torch.compile(function, dynamic=False)
