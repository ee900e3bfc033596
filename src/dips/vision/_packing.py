"""The state of a training of images as bytes without pickle: what any run keeps, and tensors."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import Tensor

from dips._tools import packing
from dips._tools.arrays import Array


def packed(state: Any) -> bytes:
    """Return the state as bytes."""
    return packing.packed(state, _to_array)


def unpacked(stored: bytes, device: torch.device) -> Any:
    """Return the state that :func:`packed` wrote; a DamagedFileError says what is wrong with the bytes."""
    return packing.unpacked(stored, partial(_to_tensor, device))


def _to_array(value: Any) -> tuple[str, Array] | None:
    if not isinstance(value, Tensor):
        return None
    tensor = value.detach().cpu()
    if tensor.dtype == torch.bfloat16:  # NumPy has no such type
        return "bfloat16", tensor.view(torch.int16).numpy()
    return "tensor", tensor.numpy()


def _to_tensor(device: torch.device, kind: str, array: Array) -> Tensor:
    tensor = torch.as_tensor(array)
    return (tensor.view(torch.bfloat16) if kind == "bfloat16" else tensor).to(device)
