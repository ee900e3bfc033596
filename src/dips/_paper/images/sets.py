"""The image sets of the paper, each read once per process."""

from __future__ import annotations

import hashlib
import os
from functools import lru_cache
from pathlib import Path

from dips._paper.experiment import DataSets, Plan
from dips.datasets._image_sets import ImageData, file_names, load_images
from dips.exceptions import UserError

TITLES = {
    "cifar10n": "CIFAR-10 with what people said the images show",
    "cifar100n": "CIFAR-100 with what people said the images show",
    "eurosat": "Satellite images of land, 10 classes",
    "tissuemnist": "Kidney cells under the microscope, 8 classes",
    "organamnist": "Organs in computed tomography, 11 classes",
    "pathmnist": "Tissue of the colon, 9 classes",
}


def read(name: str) -> ImageData:
    """Return an image set, kept for the next trial of this process."""
    return _kept(name, os.environ.get("DIPS_DATA"))


@lru_cache(maxsize=2)
def _kept(name: str, folder: str | None) -> ImageData:
    require_torch()
    return load_images(name)


def fingerprint(name: str) -> str:
    """What identifies the images and labels that a name stands for."""
    return _fingerprint_in(name, os.environ.get("DIPS_DATA"))


@lru_cache(maxsize=16)
def _fingerprint_in(name: str, folder: str | None) -> str:
    data = read(name)
    digest = hashlib.sha256()
    for array in (data.X_train, data.y_train, data.X_test, data.y_test, *data.noisy.values()):
        digest.update(f"{array.shape}{array.dtype}".encode() + array.tobytes())
    return digest.hexdigest()[:16]


def where(name: str) -> str:
    """Whether a set is in the user's folder, or is downloaded when needed."""
    folder = os.environ.get("DIPS_DATA")
    is_here = folder and any(all(Path(folder, file).exists() for file in files) for files in file_names(name))
    return "in the folder" if is_here else "downloaded when needed"


def require_torch() -> None:
    """Refuse, in one sentence, if PyTorch is not installed."""
    try:
        import dips.vision  # noqa: F401
    except ImportError as error:
        raise UserError(f"Experiments on images cannot be run: {error}") from error


def check(plan: Plan) -> None:
    """Refuse names that are not known, before any work."""
    require_torch()
    from dips.curators._choose import resolve_curator
    from dips.vision._networks import NETWORKS

    if plan.network not in NETWORKS:
        raise UserError(f"network={plan.network!r} is not known; choose one of {', '.join(NETWORKS)}.")
    for name in plan.curators:
        resolve_curator(name, "images")


def why_unavailable() -> str:
    """Why images should be run only when asked for: no PyTorch, or no GPU."""
    try:
        require_torch()
    except UserError as error:
        return str(error)
    import torch

    return "" if torch.cuda.is_available() else "There is no GPU; to run it slowly on the CPU, use dips paper run."


IMAGE_SETS = DataSets("images", lambda: list(TITLES), lambda data: (data,), read, check, why_unavailable)
