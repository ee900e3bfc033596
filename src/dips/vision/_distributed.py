"""Several processes with one GPU each, as ``torchrun`` starts them; a single process does nothing here."""

from __future__ import annotations

import os
from collections.abc import Sequence

import torch
import torch.distributed as dist
from torch import Tensor


def join(device: torch.device) -> torch.device:
    """Join the processes that ``torchrun`` started, if it did; return the device of this one."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        return device
    if device.type == "cuda":
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(device)
    if not dist.is_initialized():
        dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    return device


def n_processes() -> int:
    """How many processes train together."""
    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1


def rank() -> int:
    """The number of this process; number 0 writes the files."""
    return dist.get_rank() if n_processes() > 1 else 0


def agreed(number: int, device: torch.device) -> int:
    """Return the first process's number, in all of them."""
    if n_processes() == 1:
        return number
    told = torch.tensor(number, device=device)
    dist.broadcast(told, src=0)
    return int(told)


@torch.no_grad()
def average(tensors: Sequence[Tensor]) -> None:
    """Replace tensors by their mean over the processes, in place and in one message."""
    flat = torch.cat([t.reshape(-1) for t in tensors])
    dist.all_reduce(flat)
    flat /= n_processes()
    parts = flat.split([t.numel() for t in tensors])
    for tensor, part in zip(tensors, parts, strict=True):
        tensor.copy_(part.view_as(tensor))
