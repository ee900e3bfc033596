"""A training that can go on: weights, their running mean, the optimiser's state and the place in the schedule.

Each is a file of its own without pickle, below 16 MiB for up to four million weights.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from ._model import Network
from ._optimiser import Optimiser
from ._settings import NetworkSettings


@dataclass
class Place:
    """How far a training has come, and from where each of its pieces went on."""

    step: int = 0
    draw: int = 0
    tables: int = 0
    minutes: float = 0.0
    pieces: list[dict[str, float]] = field(default_factory=list)


def save(folder: Path, settings: NetworkSettings, model: Network, optimiser: Optimiser, place: Place) -> None:
    """Write the five files of a checkpoint."""
    folder.mkdir(parents=True, exist_ok=True)
    settings.save(folder / "settings.json")
    (folder / "place.json").write_text(json.dumps(asdict(place), indent=1) + "\n")
    write_arrays(folder / "weights.npz", dict(model.named_parameters()))
    write_arrays(folder / "mean.npz", optimiser.mean)
    write_arrays(folder / "optimiser.npz", optimiser.state())


def load(folder: Path, model: Network, optimiser: Optimiser) -> Place:
    """Fill model and optimiser from a checkpoint; returns the place in the schedule."""
    device = next(model.parameters()).device
    model.load_state_dict(read_arrays(folder / "weights.npz", device), strict=True)
    optimiser.mean = read_arrays(folder / "mean.npz", device)
    optimiser.load(read_arrays(folder / "optimiser.npz", device))
    return Place(**json.loads((folder / "place.json").read_text()))


def write_arrays(path: Path, tensors: dict[str, Tensor]) -> None:
    """Write tensors by name."""
    np.savez(path, **{name: tensor.detach().float().cpu().numpy() for name, tensor in tensors.items()})


def read_arrays(path: Path, device: torch.device | str) -> dict[str, Tensor]:
    """Read what :func:`write_arrays` wrote."""
    with np.load(path, allow_pickle=False) as arrays:
        return {name: torch.as_tensor(arrays[name], device=device) for name in arrays.files}
