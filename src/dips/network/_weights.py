"""Trained weights in one file: half precision, no pickle, with a checksum."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dips._tools.arrays import Array
from dips._tools.npz import read_arrays
from dips.backbones._stored import require
from dips.exceptions import DamagedFileError, ModelError
from dips.network._limits import MAX_CLASSES
from dips.network._settings import ModelSettings

SHIPPED = Path(__file__).with_name("weights.npz")
SILENCED = ("row_out", "column_out", "bend_out")  # what a block adds goes through one of these
COVERS = "settings and arrays"  # what the checksum of a file is of
LAYERED = ("sharpen", "row_qkv", "column_qkv", "bend_in", *SILENCED)  # one entry a block


@dataclass(frozen=True)
class Weights:
    """The sizes of a network and its arrays by name, in single precision."""

    settings: ModelSettings
    arrays: dict[str, Array]

    def save(self, path: Path) -> None:
        """Write the weights in half precision."""
        halves = {name: array.astype(np.float16) for name, array in self.arrays.items()}
        settings = asdict(self.settings)
        head = {"settings": settings, "covers": COVERS, "sha256": _checksum(halves, settings)}
        arrays: dict[str, Any] = {"head": np.frombuffer(json.dumps(head).encode(), np.uint8), **halves}
        np.savez(path, **arrays)

    @classmethod
    def load(cls, path: Path) -> Weights:
        """Read what :meth:`save` wrote; refused where a bit has changed."""
        if path == SHIPPED and not path.exists():
            raise ModelError(
                "This version of the package comes without trained weights; pass weights=FILE, made by python -m "
                "dips.network.train and dips.network.export."
            )
        try:
            halves = read_arrays(path)
            head = json.loads(halves.pop("head").tobytes())
            checksum, settings = head["sha256"], ModelSettings.from_json(head["settings"])
            covered = head["settings"] if head.get("covers") == COVERS else None  # older ones: the arrays alone
        except (OSError, KeyError, ValueError, TypeError, AttributeError, RecursionError, DamagedFileError) as error:
            raise ModelError(f"{path} is not a file of network weights ({error}).") from error
        if _checksum(halves, covered) != checksum:
            raise ModelError(f"{path} is damaged: its checksum is not the one it was written with.")
        try:
            check_arrays(settings, halves)
        except DamagedFileError as error:
            raise ModelError(f"{path} is damaged ({error}).") from error
        arrays = {name: array.astype(np.float32) for name, array in halves.items()}
        return cls(settings, arrays)

    def grown(self, settings: ModelSettings) -> Weights:
        """Weights of a network with the same answers that is deeper or takes hints.

        Some blocks follow once more, their outputs silenced; hints are not listened to.
        """
        before, layers = self.settings.layers, settings.layers
        same = replace(settings, layers=before, hints=self.settings.hints, trees=self.settings.trees) == self.settings
        if not same or layers < before or settings.mark_width < self.settings.mark_width:
            raise ModelError(f"Weights of a network of other sizes cannot grow into {settings}: {self.settings}.")
        source = [layer * before // layers for layer in range(layers)]
        silent = [layer > 0 and source[layer] == source[layer - 1] for layer in range(layers)]
        arrays = {name: array[source] if name in LAYERED else array for name, array in self.arrays.items()}
        for name in SILENCED:
            arrays[name][silent] = 0
        more = settings.mark_width - self.settings.mark_width
        arrays["mark_in.weight"] = np.pad(arrays["mark_in.weight"], ((0, 0), (0, more)))
        return Weights(settings, arrays)

    @classmethod
    def random(cls, settings: ModelSettings, seed: int) -> Weights:
        """Weights of a network that has learned nothing, for tests."""
        rng = np.random.default_rng(seed)
        return cls(
            settings,
            {
                name: (rng.normal(size=shape) / shape[-1] ** 0.5).astype(np.float16).astype(np.float32)
                for name, shape in shapes(settings).items()
            },
        )


def shapes(settings: ModelSettings) -> dict[str, tuple[int, ...]]:
    """The shape of every array of a network."""
    width, layers, code, bent = settings.width, settings.layers, settings.code_width, settings.expansion
    return {
        "cell_in.weight": (width, settings.columns_per_token * settings.cell_width),
        "cell_in.bias": (width,),
        "token_in.weight": (width, code),
        "mark_in.weight": (width, settings.mark_width),
        "mark_in.bias": (width,),
        "class_in.weight": (width, code),
        "sharpen": (layers,),
        "row_qkv": (layers, 3 * width, width),
        "row_out": (layers, width, width),
        "column_qkv": (layers, 3 * width, width),
        "column_out": (layers, width, width),
        "bend_in": (layers, bent * width, width),
        "bend_out": (layers, width, bent * width),
        "answer.weight": (2, width),
        "answer.bias": (2,),
    }


def check_arrays(settings: ModelSettings, arrays: dict[str, Array]) -> None:
    """Refuse a description that no network has, and arrays that are not those of it."""
    numbers = [n for name, n in vars(settings).items() if name not in ("waves", "hints", "trees")]
    require(all(type(n) is int and n >= 0 for n in (*numbers, *settings.waves)), "a number in its description")
    require(type(settings.hints) is bool and type(settings.trees) is bool, "whether it takes hints")
    heads = (settings.row_heads, settings.column_heads)
    require(all(n > 0 and settings.width % n == 0 for n in heads), "its numbers of heads")
    require(settings.columns_per_token > 0 and settings.code_width >= MAX_CLASSES, "its sizes")
    require({name: array.shape for name, array in arrays.items()} == shapes(settings), "its weights")
    require(all(a.dtype.kind == "f" and np.isfinite(a).all() for a in arrays.values()), "a weight is not finite")


def _checksum(arrays: dict[str, Array], settings: dict[str, Any] | None) -> str:
    """SHA-256 over the settings, and over names, shapes and bytes."""
    digest = hashlib.sha256(b"" if settings is None else json.dumps(settings, sort_keys=True).encode())
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].shape} {arrays[name].dtype}".encode())
        digest.update(np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()
