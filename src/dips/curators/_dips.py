"""DIPS, to the letter of the paper: confident and certain on average over the whole training."""

from __future__ import annotations

from numbers import Real

from dips._dynamics import check_window
from dips._tools.arrays import Array
from dips._tools.sklearn_compat import Interval, StrOptions
from dips.curators._base import Curator, Evidence


class DIPS(Curator):
    """Useful rows have average confidence >= `conf` and aleatoric uncertainty < `aleatoric` (section 4.3).

    The published thresholds suit a backbone that learns fast. A slow learner's average confidence is low for every row,
    and most rows are then suspects at `conf` = 0.8; the default curator ``auto`` adapts instead.

    Parameters
    ----------
    conf : float
        The threshold tau_conf.
    aleatoric : float or "adaptive"
        The threshold tau_al. Adaptive is 0.75 (max v - min v) over the rows at hand (appendix B.3).
    frozen : bool
        Compute the adaptive threshold once, at the first curation, as the published numbers do, or anew each time.
        Accuracy is the same within noise. But a model trained on clean rows may be as certain of one row as of another;
        a threshold computed anew then falls below them all, no row is useful, and so every row is taken as useful.
    window : (float, float)
        The part of the training that counts.
    """

    name = "dips"
    _parameter_constraints = {
        "conf": [Interval(Real, 0, 1, closed="both")],
        "aleatoric": [Interval(Real, 0, 1, closed="both"), StrOptions({"adaptive"})],
        "frozen": ["boolean"],
        "window": [tuple, list],
    }

    def __init__(
        self,
        conf: float = 0.8,
        aleatoric: float | str = "adaptive",
        frozen: bool = True,
        window: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        self.conf = conf
        self.aleatoric = aleatoric
        self.frozen = frozen
        self.window = window

    def _validate_params(self) -> None:
        super()._validate_params()
        check_window(self.window)

    def curate(self, evidence: Evidence) -> Array:
        """Apply the two thresholds."""
        v = evidence.aleatoric
        if self.aleatoric == "adaptive":
            if not self.frozen or not hasattr(self, "aleatoric_"):
                self.aleatoric_ = 0.75 * float(v.max() - v.min())
        else:
            self.aleatoric_ = float(self.aleatoric)
        return (evidence.confidence >= self.conf) & (v < self.aleatoric_)

    def has_rule(self, at_start: bool) -> bool:
        """Thresholds are fixed from the start, or else found over all rows at hand."""
        return self.aleatoric != "adaptive" or (self.frozen and at_start)
