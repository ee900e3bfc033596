"""The compiled watch pass over boosted trees."""

from dips.forest.forest import Forest

__all__ = ["Forest"]
