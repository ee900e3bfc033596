"""Small loss: rows with a large mean loss over the training are taken as mislabeled."""

from __future__ import annotations

from numbers import Real

import numpy as np

from dips._tools.arrays import Array
from dips._tools.sklearn_compat import Interval, StrOptions
from dips.curators._base import Curator, Evidence
from dips.curators._mixture import smaller_group


class SmallLoss(Curator):
    """Useful rows have a small mean loss over the checkpoints (Xia et al. 2021, appendix C.2 of the DIPS paper).

    Parameters
    ----------
    drop : float or "mixture"
        The share of rows that are suspects, those with the largest loss; with "mixture", a two-component Gaussian
        mixture of the losses finds where the large ones begin.
    """

    name = "small_loss"
    statistics = ("loss",)
    _parameter_constraints = {"drop": [Interval(Real, 0, 1, closed="left"), StrOptions({"mixture"})]}

    def __init__(self, drop: float | str = "mixture") -> None:
        self.drop = drop

    def curate(self, evidence: Evidence) -> Array:
        """Suspect the largest losses."""
        loss = evidence.statistics["loss"]
        if isinstance(self.drop, str):
            return smaller_group(loss)
        n_suspects = int(np.floor(self.drop * loss.size))
        useful = np.ones(loss.shape, dtype=bool)
        useful[np.argsort(-loss, kind="stable")[:n_suspects]] = False
        return useful
