"""A training that can go on: weights, their running mean, the optimizer's state and the place in the schedule.

Each is a file of its own without pickle, below 16 MiB for up to four million weights.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from dips.network._model import Network
from dips.network._optimizer import MuonAndAdam
from dips.network._settings import NetworkSettings


@dataclass
class Place:
    """How far a training has come, and from where each of its pieces went on."""

    step: int = 0
    draw: int = 0
    tables: int = 0
    minutes: float = 0.0
    pieces: list[dict[str, float]] = field(default_factory=list)


def save(folder: Path, settings: NetworkSettings, model: Network, optimizer: MuonAndAdam, place: Place) -> None:
    """Write the five files of a checkpoint."""
    folder.mkdir(parents=True, exist_ok=True)
    settings.save(folder / "settings.json")
    (folder / "place.json").write_text(json.dumps(asdict(place), indent=1) + "\n")
    write_arrays(folder / "weights.npz", dict(model.named_parameters()))
    write_arrays(folder / "mean.npz", optimizer.mean)
    write_arrays(folder / "optimizer.npz", optimizer.state())


def load(folder: Path, model: Network, optimizer: MuonAndAdam) -> Place:
    """Fill model and optimizer from a checkpoint; returns the place in the schedule."""
    device = next(model.parameters()).device
    model.load_state_dict(read_arrays(folder / "weights.npz", device), strict=True)
    optimizer.mean = read_arrays(folder / "mean.npz", device)
    optimizer.load(read_arrays(folder / "optimizer.npz", device))
    return Place(**json.loads((folder / "place.json").read_text()))


def write_arrays(path: Path, tensors: dict[str, Tensor]) -> None:
    """Write tensors by name."""
    np.savez(path, **{name: tensor.detach().float().cpu().numpy() for name, tensor in tensors.items()})


def read_arrays(path: Path, device: torch.device | str) -> dict[str, Tensor]:
    """Read what :func:`write_arrays` wrote."""
    with np.load(path, allow_pickle=False) as arrays:
        return {name: torch.as_tensor(arrays[name], device=device) for name in arrays.files}
