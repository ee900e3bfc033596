"""Images: FixMatch and FreeMatch on useful labels. Needs PyTorch: ``pip install dips-ssl[torch]``."""

try:
    import torch  # noqa: F401
except ImportError as error:
    raise ImportError("dips.vision needs PyTorch; install it with pip install 'dips-ssl[torch]'.") from error

from dips.vision.augment import Augmentation
from dips.vision.auto import ImageAuto
from dips.vision.classifier import ImageClassifier
from dips.vision.fixmatch import FixMatch
from dips.vision.freematch import FreeMatch
from dips.vision.images import read_dataset, read_image_folder
from dips.vision.networks import FastNet, WideResNet
from dips.vision.percentile import Percentile

__all__ = [
    "Augmentation",
    "FastNet",
    "FixMatch",
    "FreeMatch",
    "ImageAuto",
    "ImageClassifier",
    "Percentile",
    "WideResNet",
    "read_dataset",
    "read_image_folder",
]
