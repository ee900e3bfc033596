"""Images of the next steps, gathered from a memory map by threads while the device trains on the last ones."""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from dips._tools.arrays import Rows
from dips.vision._image_pool import ImagePool

_STEPS_AHEAD = 4  # gathered, or being gathered, while the device works
_THREADS = 16  # most of their time goes to waiting for the disk


class Fed(NamedTuple):
    """What a step reads of its images.

    Attributes
    ----------
    images : (m, height, width, channels) bytes, labeled ones first
    rows : (m,) their numbers in the pool
    u : (m + n_unlabeled, k) random numbers in [0, 1); the first column drew the rows
    """

    images: Tensor
    rows: Tensor
    u: Tensor


class Feed:
    """Draws the rows of coming steps and has their images gathered ahead.

    Random numbers come from a generator on the host, in the order of the steps. On a CPU they are those of a training
    whose images are in memory, and so is every result.

    Parameters
    ----------
    pool : a streamed pool
    sizes : labeled and unlabeled images of a step
    n_random : random numbers of each view, the one that draws its row among them
    generator : of the host
    """

    def __init__(self, pool: ImagePool, sizes: tuple[int, int], n_random: int, generator: torch.Generator) -> None:
        self._pool, self._sizes, self._generator = pool, sizes, generator
        self._n_random = n_random
        self._copies = torch.cuda.Stream(pool.device) if pool.device.type == "cuda" else None
        self._slots = [self._slot(pin=self._copies is not None) for _ in range(_STEPS_AHEAD)]
        self._on_device = [self._slot(pool.device) if self._copies else slot for slot in self._slots]
        if self._copies is not None:
            self._copies.wait_stream(torch.cuda.current_stream(pool.device))  # which is still making the slots
            for tensor in (tensor for slot in self._on_device for tensor in slot):
                tensor.record_stream(self._copies)  # its memory is not given to others while a copy is under way
        self._is_free = [torch.cuda.Event() if self._copies else None for _ in self._slots]
        self._pending: deque[tuple[int, Future[torch.cuda.Event | None], Tensor]] = deque()
        self._n_submitted = 0
        self._rows = torch.zeros(0, dtype=torch.long)
        self._state = generator.get_state()  # after the last step that was taken
        self.now = self._slot(pool.device)  # what the step reads; recorded steps need it to stay in place

    def use(self, rows: Rows) -> None:
        """Draw labeled images from these rows from now on."""
        if not np.array_equal(rows, self._rows.numpy()):
            self._forget()
            self._rows = torch.from_numpy(rows.copy())

    def load(self) -> None:
        """Put the next step's images, rows and random numbers in place, in order with the caller's stream."""
        while len(self._pending) < _STEPS_AHEAD:
            self._submit()
        k, gathered, self._state = self._pending.popleft()
        copied = gathered.result()
        if copied is not None:
            torch.cuda.current_stream(self._pool.device).wait_event(copied)
        for target, source in zip(self.now, self._on_device[k], strict=True):
            target.copy_(source)
        if (event := self._is_free[k]) is not None:
            event.record(torch.cuda.current_stream(self._pool.device))

    def get_state(self) -> Tensor:
        """State of the generator after the last step that was taken; steps ahead do not count."""
        return self._state

    def set_state(self, state: Tensor) -> None:
        """Continue from a state of the generator."""
        self._state = state
        self._forget()

    def _forget(self) -> None:
        """Drop what was gathered ahead."""
        while self._pending:
            self._pending.popleft()[1].result()  # its slot is free only then
        self._generator.set_state(self._state)

    def _submit(self) -> None:
        k = self._n_submitted % _STEPS_AHEAD
        u = torch.empty(self._slots[k].u.shape).uniform_(generator=self._generator)
        self._pending.append((k, _threads().submit(self._gather, k, u), self._generator.get_state()))
        self._n_submitted += 1

    def _gather(self, k: int, u: Tensor) -> torch.cuda.Event | None:
        """Fill a slot; return when its copy on the device can be read."""
        slot, free = self._slots[k], self._is_free[k]
        if free is not None:
            free.synchronize()
        drawn = drawn_rows(u, self._rows, self._rows.numel(), self._pool.images.shape[0], self._sizes)
        slot.rows.copy_(torch.cat(drawn))
        slot.u.copy_(u)
        # With mode="clip" NumPy writes straight to the output, without the interpreter's lock.
        np.take(self._pool.images.numpy(), slot.rows.numpy(), axis=0, out=slot.images.numpy(), mode="clip")
        if self._copies is None:
            return None
        with torch.cuda.stream(self._copies):
            for target, source in zip(self._on_device[k], slot, strict=True):
                target.copy_(source, non_blocking=True)
            copied = torch.cuda.Event()
            copied.record(self._copies)
        return copied

    def _slot(self, device: torch.device | str = "cpu", pin: bool = False) -> Fed:
        m, shape = sum(self._sizes), self._pool.images.shape[1:]
        return Fed(
            torch.zeros((m, *shape), dtype=torch.uint8, device=device, pin_memory=pin),
            torch.zeros(m, dtype=torch.long, device=device, pin_memory=pin),
            torch.zeros(m + self._sizes[1], self._n_random, device=device, pin_memory=pin),
        )


def drawn_rows(u: Tensor, rows: Tensor, n_rows: Tensor | int, n: int, sizes: tuple[int, int]) -> tuple[Tensor, Tensor]:
    """Rows of a step, drawn with replacement: labeled ones from the first `n_rows` of `rows`, others from all n."""
    n_labeled, n_unlabeled = sizes
    for_labeled, for_unlabeled = u[:n_labeled, 0], u[n_labeled : n_labeled + n_unlabeled, 0]
    unlabeled = (for_unlabeled * n).long().clamp(max=n - 1)  # single precision may round up to n
    return rows[(for_labeled * n_rows).long()], unlabeled


@cache
def _threads() -> ThreadPoolExecutor:
    """Threads that all trainings share."""
    return ThreadPoolExecutor(min(_THREADS, 4 * (os.cpu_count() or 1)), thread_name_prefix="dips-images")
