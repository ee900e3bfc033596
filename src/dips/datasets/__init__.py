"""Data to try things on: the paper's tables, synthetic tables, and label noise."""

from dips.datasets.load import available, describe, load
from dips.datasets.noise import flip_labels, flip_labels_by_class, flip_labels_by_instance
from dips.datasets.prepare import Dataset
from dips.datasets.synthetic import make_moons, make_quadrants
from dips.datasets.tables import TABLES

__all__ = [
    "Dataset",
    "TABLES",
    "available",
    "describe",
    "flip_labels",
    "flip_labels_by_class",
    "flip_labels_by_instance",
    "load",
    "make_moons",
    "make_quadrants",
]
