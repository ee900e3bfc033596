"""Images: FixMatch and FreeMatch on useful labels. Needs PyTorch: ``pip install dips-ssl[torch]``."""

try:
    import torch  # noqa: F401
except ImportError as error:
    raise ImportError("dips.vision needs PyTorch; install it with pip install 'dips-ssl[torch]'.") from error

from dips.curators._image_auto import ImageAuto
from dips.curators._percentile import Percentile
from dips.vision._augment import Augmentation
from dips.vision._classifier import ImageClassifier, load_classifier
from dips.vision._fixmatch import FixMatch
from dips.vision._freematch import FreeMatch
from dips.vision._image_folder import read_image_folder
from dips.vision._images import read_dataset
from dips.vision._networks import FastNet, WideResNet

__all__ = [
    "Augmentation",
    "FastNet",
    "FixMatch",
    "FreeMatch",
    "ImageAuto",
    "ImageClassifier",
    "Percentile",
    "WideResNet",
    "load_classifier",
    "read_dataset",
    "read_image_folder",
]


def __dir__() -> list[str]:
    return sorted(__all__)
