"""The compiled watch pass over boosted trees."""

from dips._forest.forest import Forest
from dips._forest.leaves import Leaves

__all__ = ["Forest", "Leaves"]
