"""Data to try things on: the paper's tables and images, synthetic tables, and label noise added on purpose."""

from dips.datasets._image_sets import ImageData, load_images
from dips.datasets._load import available, describe, load
from dips.datasets._noise import flip_labels, flip_labels_by_class, flip_labels_by_instance
from dips.datasets._prepare import Dataset
from dips.datasets._synthetic import make_moons, make_quadrants
from dips.datasets._tables import TABLES

__all__ = [
    "Dataset",
    "ImageData",
    "TABLES",
    "available",
    "describe",
    "flip_labels",
    "flip_labels_by_class",
    "flip_labels_by_instance",
    "load",
    "load_images",
    "make_moons",
    "make_quadrants",
]


def __dir__() -> list[str]:
    return sorted(__all__)
