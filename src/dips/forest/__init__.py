"""The compiled watch pass over boosted trees."""

from dips.forest.forest import Forest
from dips.forest.leaves import Leaves

__all__ = ["Forest", "Leaves"]
