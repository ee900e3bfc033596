"""The four models that a study compares: on labels as given or curated, without or with unlabeled rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dips._data.labels import UNLABELED
from dips._estimators.curated import CuratedClassifier
from dips._estimators.pseudo_label import PseudoLabelClassifier
from dips._study.examples import Examples
from dips._study.settings import Settings
from dips._tools.arrays import Rows
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

    def fit(self, examples: Examples, labeled: Rows, unlabeled: Rows, settings: Settings) -> Any:
        """Return the model, trained on the given rows; its account is in the order labeled, then unlabeled.

        No fold of its own divides a group.
        """
        backbone = default_estimator(settings.backbone)
        common: dict[str, Any] = {"random_state": settings.seed, "n_jobs": settings.jobs}
        curator = settings.make_curator() if self.curates else "none"
        if not self.uses_unlabeled:
            alone, checked = CuratedClassifier(backbone, curator=curator, **common), examples.verified_at(labeled)
            return alone.keep_together(examples.groups_at(labeled)).fit(
                examples.X[labeled], examples.codes[labeled], verified=checked.mask, y_given=checked.before
            )
        rows = np.concatenate([labeled, unlabeled])
        model = PseudoLabelClassifier(
            backbone, labeler=settings.labeler, curator=curator, n_rounds=settings.rounds, **common
        )
        known, checked = np.arange(rows.size) < labeled.size, examples.verified_at(rows)
        return model.keep_together(examples.groups_at(rows)).fit(
            examples.X[rows],
            np.where(known, examples.codes[rows], UNLABELED),
            verified=known & checked.mask,
            y_given=np.where(known, checked.before, UNLABELED),
        )


CANDIDATES = (
    Candidate("plain", "plain", curates=False, uses_unlabeled=False, n_fits=1),
    Candidate("curated", "curated labels", curates=True, uses_unlabeled=False, n_fits=15),
    Candidate("pseudo", "pseudo-labels, not curated", curates=False, uses_unlabeled=True, n_fits=5),
    Candidate("curated_pseudo", "curated labels and unlabeled rows", curates=True, uses_unlabeled=True, n_fits=20),
)
BY_NAME = {c.name: c for c in CANDIDATES}
PLAIN = "plain"
JUDGE = BY_NAME["curated"]  # judges the labels, whichever model is chosen
