"""The four models that a study compares: on labels as given or curated, without or with unlabeled rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dips._estimators.curated import CuratedClassifier
from dips._estimators.pseudo_label import PseudoLabelClassifier
from dips._study.settings import Settings
from dips._tools.arrays import Array, Rows
from dips.backbones import default_estimator


@dataclass(frozen=True)
class Candidate:
    """One of the four.

    Attributes
    ----------
    name, title : for files, for people
    curates, uses_unlabeled : what it does beyond a plain fit
    n_fits : about how many fits of the backbone it takes, to estimate its time
    """

    name: str
    title: str
    curates: bool
    uses_unlabeled: bool
    n_fits: int

    def fit(
        self,
        X: Array,
        codes: Array,
        labeled: Rows,
        unlabeled: Rows,
        settings: Settings,
        groups: Array | None = None,
    ) -> Any:
        """Return the model, trained on the given rows; its account is in the order labeled, then unlabeled.

        No fold of its own divides one of the `groups` of all rows.
        """
        backbone = default_estimator(settings.backbone)
        common: dict[str, Any] = {"random_state": settings.seed, "n_jobs": settings.jobs}
        curator = settings.curator if self.curates else "none"
        if not self.uses_unlabeled:
            model = CuratedClassifier(backbone, curator=curator, **common)
            return model.keep_together(_at(groups, labeled)).fit(X[labeled], codes[labeled])
        rows = np.concatenate([labeled, unlabeled])
        pseudo = PseudoLabelClassifier(
            backbone, labeler=settings.labeler, curator=curator, n_rounds=settings.rounds, **common
        )
        return pseudo.keep_together(_at(groups, rows)).fit(
            X[rows], np.where(np.arange(rows.size) < labeled.size, codes[rows], -1)
        )


def _at(groups: Array | None, rows: Rows) -> Array | None:
    return None if groups is None else groups[rows]


CANDIDATES = (
    Candidate("plain", "plain", curates=False, uses_unlabeled=False, n_fits=1),
    Candidate("curated", "curated labels", curates=True, uses_unlabeled=False, n_fits=15),
    Candidate("pseudo", "pseudo-labels, not curated", curates=False, uses_unlabeled=True, n_fits=5),
    Candidate("curated_pseudo", "curated labels and unlabeled rows", curates=True, uses_unlabeled=True, n_fits=20),
)
BY_NAME = {c.name: c for c in CANDIDATES}
PLAIN = "plain"
JUDGE = BY_NAME["curated"]  # judges the labels, whichever model is chosen
