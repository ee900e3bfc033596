"""A network trained on synthetic tables with dirty labels, which reads a new table without any training."""

from dips.network import _family  # noqa: F401 - so that models of this family can be loaded
from dips.network._classifier import PriorFittedClassifier

__all__ = ["PriorFittedClassifier"]


def __dir__() -> list[str]:
    return sorted(__all__)
