"""One training: a network, its average, and a step that never waits for the host."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

from dips._tools.arrays import Array, Rows
from dips.exceptions import InputError
from dips.vision import _distributed
from dips.vision._augment import N_WEAK, Augmentation
from dips.vision._fixmatch import FixMatch
from dips.vision._image_pool import ImagePool, Scaling
from dips.vision._method import Batch, Logits, Method
from dips.vision._networks import build_network
from dips.vision._optimizer import Optimizer, Schedule

_STEPS_BEFORE_RECORDING = 3  # libraries set themselves up in the first steps
_ROWS_A_PREDICTION = 2048


@dataclass(frozen=True)
class Recipe:
    """How a network is trained.

    Attributes
    ----------
    network : "fast", "wrn-28-2", "wrn-28-8", "tiny", or a function of (n_classes, n_channels)
    method : the loss
    schedule : of the optimizer
    batch_size : labeled images a step
    unlabeled_ratio : unlabeled images for each of them (mu)
    augmentation : how images are varied
    compiled : whether the step is compiled and recorded; None does so on a GPU
    """

    network: str | Callable[[int, int], nn.Module] = "fast"
    method: Method = field(default_factory=FixMatch)
    schedule: Schedule = field(default_factory=lambda: Schedule(n_steps=20_000))
    batch_size: int = 64
    unlabeled_ratio: int = 7
    augmentation: Augmentation = field(default_factory=Augmentation)
    compiled: bool | None = None

    @property
    def images_per_step(self) -> int:
        """How many images pass through the network in a step."""
        return self.batch_size * (1 + 2 * self.unlabeled_ratio * self.method.uses_unlabeled)


class Training:
    """A network in training on a pool.

    All random numbers of a step are drawn at once from the training's own generator, into a buffer that the recorded
    step reads. Which labels are trained on, and which pseudo-labels may be, are buffers too: a curator rewrites them
    and the recorded step goes on.
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
            self.network = network.to(device, memory_format=torch.channels_last)
            self.averaged = copy.deepcopy(self.network).eval()
            self.optimizer = Optimizer(self.network, self.averaged, recipe.schedule)
            self.method_state = recipe.method.state(pool.n_classes, device)
            self.n_done = 0
            self.loss, self.coverage = torch.zeros(2, device=device).unbind()
            self._rows = torch.zeros(pool.images.shape[0], dtype=torch.long, device=device)
            self._n_rows = torch.zeros((), device=device)
            self._trusted = torch.ones(pool.images.shape[0], dtype=torch.bool, device=device)
            self._generator = torch.Generator(device).manual_seed(seed + 1_000_003 * _distributed.rank())
            self._sizes = _sizes(recipe)
            self._u = torch.empty(sum(self._sizes) + self._sizes[1], 1 + recipe.augmentation.n_strong, device=device)
        self.use(rows)

    @contextmanager
    def on_stream(self) -> Iterator[None]:
        """Do what is inside in the order of this training's own work."""
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

    def trust(self, mask: Array) -> None:
        """Use the pseudo-labels of these rows of the pool from now on."""
        with self.on_stream():
            self._trusted.copy_(torch.from_numpy(mask))

    def step(self) -> None:
        """Train on one batch."""
        with self.on_stream():
            self._u.uniform_(generator=self._generator)
            if self._graph is None and self._is_recorded and self.n_done >= _STEPS_BEFORE_RECORDING:
                self._graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(self._graph, stream=self.stream, capture_error_mode="thread_local"):
                    self._compute()
            if self._graph is None:
                self._compute()
            else:
                self._graph.replay()
        self.n_done += 1

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
        make = self._fast(_make_batch)
        augmentation, buffers = self.recipe.augmentation, (self._rows, self._n_rows, self._trusted, self._u)
        with torch.no_grad():
            return make(self.pool, *buffers, self._sizes, augmentation, self._dtype)

    def gradients(self, batch: Batch) -> list[Tensor]:
        """Return the gradients of the method's loss."""
        loss_of = self._fast(_loss)
        # The shapes never change, so cuDNN may look for the fastest way once.
        with torch.backends.cudnn.flags(enabled=True, benchmark=True):
            loss, coverage = loss_of(self.recipe.method, self.network, batch, self.method_state, self._dtype)
            gradients = torch.autograd.grad(loss, self.optimizer.parameters)
        self.loss.copy_(loss.detach())
        self.coverage.copy_(coverage)
        return list(gradients)

    def probabilities(self, images: Tensor | None = None, rows: Rows | None = None) -> Array:
        """Class probabilities (m, C) of images, or of rows of the pool's, as they are, by the averaged network."""
        images = self.pool.images if images is None else images
        with self.on_stream():
            images = images if rows is None else images[torch.from_numpy(rows).to(images.device)]
            return predict(self.averaged, self.pool.scaling, images)

    def is_sure(self, p: Array) -> Array:
        """Mask (m,) of the images whose pseudo-label the method would use, going by probabilities (m, C)."""
        thresholds = self.recipe.method.thresholds(self.method_state, p.shape[1]).cpu().numpy()
        return p.max(axis=1) >= thresholds[p.argmax(axis=1)]

    def state(self) -> dict[str, Any]:
        """Return all that a continued training needs."""
        return {
            "network": self.network.state_dict(),
            "averaged": self.averaged.state_dict(),
            "optimizer": self.optimizer.state(),
            "method": self.method_state,
            "generator": self._generator.get_state(),
            "rows": self._rows,
            "n_rows": self._n_rows,
            "trusted": self._trusted,
            "n_done": self.n_done,
        }

    @torch.no_grad()
    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a stored state, in place."""
        with self.on_stream():
            self.network.load_state_dict(state["network"])
            self.averaged.load_state_dict(state["averaged"])
            self.optimizer.restore(state["optimizer"])
            for name, value in state["method"].items():
                self.method_state[name].copy_(value)
            self._generator.set_state(state["generator"].cpu())
            for buffer, name in ((self._rows, "rows"), (self._n_rows, "n_rows"), (self._trusted, "trusted")):
                buffer.copy_(state[name])
            self.n_done = state["n_done"]


def _sizes(recipe: Recipe) -> tuple[int, int]:
    """Labeled and unlabeled images that this process takes of a step's."""
    n = _distributed.n_processes()
    if recipe.batch_size % n:
        raise InputError(f"batch_size={recipe.batch_size} cannot be shared evenly by {n} processes; choose a multiple.")
    n_labeled = recipe.batch_size // n
    return n_labeled, n_labeled * recipe.unlabeled_ratio if recipe.method.uses_unlabeled else 0


def _make_batch(
    pool: ImagePool,
    rows: Tensor,
    n_rows: Tensor,
    trusted: Tensor,
    u: Tensor,
    sizes: tuple[int, int],
    augmentation: Augmentation,
    dtype: torch.dtype,
) -> Batch:
    """Rows are drawn with replacement: labeled ones from the first `n_rows` of `rows`, unlabeled ones from the pool."""
    n_labeled, n_unlabeled = sizes
    for_labeled, for_weak, for_strong = u.split([n_labeled, n_unlabeled, n_unlabeled])
    labeled = rows[(for_labeled[:, 0] * n_rows).long()]
    n = pool.images.shape[0]
    unlabeled = (for_weak[:, 0] * n).long().clamp(max=n - 1)  # single precision may round up to n
    weak_labeled = augmentation.weak(pool.images, labeled, for_labeled[:, 1 : 1 + N_WEAK])
    weak = augmentation.weak(pool.images, unlabeled, for_weak[:, 1 : 1 + N_WEAK])
    strong = augmentation.strong(pool.images, unlabeled, for_strong[:, 1:])
    return Batch(
        pool.scaling(weak_labeled, dtype),
        pool.labels[labeled],
        pool.scaling(weak, dtype),
        pool.scaling(strong, dtype),
        trusted[unlabeled],
    )


def _loss(
    method: Method, network: nn.Module, batch: Batch, state: dict[str, Tensor], dtype: torch.dtype
) -> tuple[Tensor, Tensor]:
    """The method's loss. Weak views pass by themselves, so half of what the norms remember for evaluation is theirs."""
    with _precision(batch.labeled.device, dtype):
        with torch.no_grad():
            weak = network(batch.weak).float() if method.uses_unlabeled else batch.weak
        sizes = [len(batch.labeled), len(batch.strong)]
        labeled, strong = network(torch.cat([batch.labeled, batch.strong])).float().split(sizes)
        return method.loss(Logits(labeled, weak, strong), batch, state)


@torch.inference_mode()
def predict(network: nn.Module, scaling: Scaling, images: Tensor) -> Array:
    """Class probabilities (n, C) of images as they are, by a network in evaluation mode."""
    dtype = _dtype(images.device)
    with _precision(images.device, dtype):
        parts = [network(scaling(part, dtype)).double().softmax(dim=1) for part in images.split(_ROWS_A_PREDICTION)]
    return torch.cat(parts).cpu().numpy()


def _dtype(device: torch.device) -> torch.dtype:
    return torch.bfloat16 if device.type == "cuda" else torch.float32


def _precision(device: torch.device, dtype: torch.dtype) -> torch.autocast:
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=dtype == torch.bfloat16)


@cache
def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile once; all trainings of one shape share what comes out."""
    return torch.compile(function, dynamic=False)
