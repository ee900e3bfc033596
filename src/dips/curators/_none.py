"""No curation: to plain pseudo-labeling, every row is useful."""

from __future__ import annotations

import numpy as np

from dips._tools.arrays import Array
from dips.curators._base import Curator, Evidence


class KeepAll(Curator):
    """Every row is useful. Needs no dynamics, so any classifier can be the backbone."""

    name = "none"
    curates = False

    def curate(self, evidence: Evidence) -> Array:
        """Keep every row."""
        return np.ones(evidence.labels.shape, dtype=bool)

    def has_rule(self, at_start: bool) -> bool:
        """Every row is useful."""
        return True
