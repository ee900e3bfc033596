"""A trial on a table: one method, on one table, with one seed.

A trial does not know which experiment it belongs to, so experiments that need the same trial share its record.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from dips import __version__
from dips._paper.engine.job import beyond_defaults, hashed, version_of
from dips._paper.tables.splits import CROSS, SYNTHETIC, fingerprint, make_split

VERSION = 1  # raise it when the same settings mean something else; every trial is then run again
_LATER_VERSIONS = {("pl", "adaptive"): 2}  # by method and curator: adaptive no longer evens out classes
_LIBRARIES = ("numpy", "scikit-learn", "xgboost")
_MORE_LIBRARIES = {"catboost": "catboost", "lightgbm": "lightgbm", "cleanlab": "cleanlab", "vime": "torch"}


@dataclass(frozen=True)
class Trial:
    """Settings of a trial, as plain data. Those at their default are not part of the key, so new ones can be added.

    Attributes
    ----------
    data : a table, "quadrants", "moons", or "cross:" and the place that labeled and test rows come from
    seed : of the split, the noise and the method
    method : "supervised", "calibrated", "tuned", "all_labels", "curated", "pl", "self_training", "cleanlab",
        "vime_self" or "vime_semi"
    backbone : a name in :mod:`dips._paper.tables.backbones`
    labeler, curator : "name" and settings
    rounds, grow, curate : as in :class:`dips.PseudoLabelClassifier`
    noise : share of the given labels that are made wrong
    noise_kind : "symmetric"; "by class", where the rarest class loses this share and every other a third of it; "one
        way", where the rarest class loses this share to the largest and no other label is wrong; or "by instance",
        where some rows are mistaken more easily than others
    labels : so many rows of a real table are labeled; None is a tenth, as in the paper
    share : share of the labeled rows that are used
    max_labeled, max_unlabeled : at most so many
    n_labeled, n_unlabeled : rows of a synthetic table
    measure : what else to measure, a name in :mod:`dips._paper.tables.measures`
    """

    data: str
    seed: int
    method: str = "pl"
    backbone: str = "xgboost paper"
    labeler: Mapping[str, Any] = field(default_factory=lambda: {"name": "greedy"})
    curator: Mapping[str, Any] = field(default_factory=lambda: {"name": "none"})
    rounds: int = 5
    grow: bool = True
    curate: str = "both"
    noise: float = 0.0
    noise_kind: str = "symmetric"
    labels: int | None = None
    share: float = 1.0
    max_labeled: int | None = None
    max_unlabeled: int | None = None
    n_labeled: int = 100
    n_unlabeled: int = 900
    measure: str = ""

    def settings(self) -> dict[str, Any]:
        """What differs from the defaults."""
        return beyond_defaults(self)

    def key(self) -> str:
        """A hash of the settings, the rows, and the versions of what computes."""
        return hashed(
            {
                "version": _LATER_VERSIONS.get((self.method, self.curator["name"]), VERSION),
                "settings": self.settings(),
                "data": _known_fingerprint(self.data),
                "libraries": self.libraries(),
            }
        )

    def libraries(self) -> dict[str, str]:
        """Versions of what the outcome depends on."""
        names = list(_LIBRARIES)
        names += [library for word, library in _MORE_LIBRARIES.items() if word in f"{self.backbone} {self.method}"]
        return {"dips": __version__} | {name: version_of(name) for name in names}

    def run(self) -> dict[str, Any]:
        """Fit and measure."""
        from dips._paper.tables.measures import measure
        from dips._paper.tables.methods import fit

        split = make_split(self)
        return measure(fit(self, split), split, self) | {"libraries": self.libraries()}

    def test_over_train(self, outcome: dict[str, Any]) -> float:
        """Ratio of test rows to the other rows of the same table; 0 where every seed draws its own rows."""
        if self.data in SYNTHETIC:
            return 0.0
        n_train = outcome["n_labeled"] + (0 if self.data.startswith(CROSS) else outcome["n_unlabeled"])
        return outcome["n_test"] / n_train


def _known_fingerprint(data: str) -> str:
    """The fingerprint, computed once per process and folder."""
    return _fingerprint_in(data, os.environ.get("DIPS_DATA"))


@cache
def _fingerprint_in(data: str, folder: str | None) -> str:
    return fingerprint(data)
