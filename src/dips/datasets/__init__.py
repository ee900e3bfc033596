"""Data to try things on: synthetic tables and label noise."""

from dips.datasets.noise import flip_labels, flip_labels_by_class, flip_labels_by_instance
from dips.datasets.synthetic import make_quadrants

__all__ = ["flip_labels", "flip_labels_by_class", "flip_labels_by_instance", "make_quadrants"]
