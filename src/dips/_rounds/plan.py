"""The plan of a fit: how many rounds, whether pseudo-labels stay, and where labels are curated."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RoundPlan:
    """What is decided before the first round.

    Attributes
    ----------
    n_rounds : T
    grow : keep pseudo-labels from one round to the next (Version 1), or propose anew in each (Version 2)
    at_start, in_rounds : where to curate
    """

    n_rounds: int = 1
    grow: bool = True
    at_start: bool = True
    in_rounds: bool = True

    @classmethod
    def of(cls, n_rounds: int, grow: bool, curate: str) -> RoundPlan:
        """Return the plan for the settings of :class:`~dips.PseudoLabelClassifier`."""
        return cls(n_rounds, grow, at_start=curate in ("both", "start"), in_rounds=curate in ("both", "rounds"))

    @property
    def curates(self) -> bool:
        """Whether labels are curated anywhere."""
        return self.at_start or self.in_rounds
