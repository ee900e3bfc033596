"""The default curator for images: as for tables, with a second look once the network knows the unlabeled images."""

from __future__ import annotations

import numpy as np

from dips._typing import Array
from dips.curators.auto import Auto
from dips.curators.base import Evidence


class ImageAuto(Auto):
    """:class:`~dips.curators.Auto` that estimates the share of wrong labels anew at each curation.

    A network trained on a thousand dirty labels alone knows little, so the first estimate is rough. In the rounds it has
    learned from the unlabeled images, and each label is judged by what it said while the label sat out.
    """

    def curate(self, evidence: Evidence) -> Array:
        """Estimate, then drop."""
        self._estimate(evidence, np.flatnonzero(evidence.is_given))
        return super().curate(evidence)
