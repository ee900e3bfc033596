"""The models that a study compares: trained on labels as given or curated, or the network, which is not trained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dips._estimators.curated import CuratedClassifier
from dips._estimators.pseudo_label import PseudoLabelClassifier
from dips._study.examples import Examples
from dips._study.reading import read_by_network, why_not_read
from dips._study.settings import Settings
from dips._tools.arrays import Rows
from dips.backbones import default_estimator


@dataclass(frozen=True)
class Candidate:
    """One of them.

    Attributes
    ----------
    name, title : for files, for people
    n_fits : about how many fits of the backbone it takes, to estimate its time
    """

    name: str
    title: str
    n_fits: int

    def why_not(self, examples: Examples, labeled: Rows, unlabeled: Rows) -> str:
        """Say why it cannot learn from these rows; empty if it can."""
        return ""

    def fit(self, examples: Examples, labeled: Rows, unlabeled: Rows, settings: Settings) -> Any:
        """Return the model, trained on the given rows; its account is in the order labeled, then unlabeled.

        No fold of its own divides a group.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class Trained(Candidate):
    """The backbone, trained.

    Attributes
    ----------
    curates, uses_unlabeled : what it does beyond a plain fit
    """

    curates: bool
    uses_unlabeled: bool

    def why_not(self, examples: Examples, labeled: Rows, unlabeled: Rows) -> str:
        """Say that there are no unlabeled rows where it needs them."""
        return "there are no unlabeled rows" if self.uses_unlabeled and not unlabeled.size else ""

    def fit(self, examples: Examples, labeled: Rows, unlabeled: Rows, settings: Settings) -> Any:
        """Train it."""
        backbone = default_estimator(settings.backbone, examples.n_labels)
        common: dict[str, Any] = {"random_state": settings.seed, "n_jobs": settings.jobs}
        curator = settings.make_curator() if self.curates else "none"
        if not self.uses_unlabeled:
            alone = CuratedClassifier(backbone, curator=curator, **common)._tell(examples.known)
            return alone.fit(**examples.for_fit(labeled, unlabeled[:0]), groups=examples.groups_at(labeled))
        model = PseudoLabelClassifier(
            backbone, labeler=settings.labeler, curator=curator, n_rounds=settings.rounds, **common
        )
        groups = examples.groups_at(np.concatenate([labeled, unlabeled]))
        return model._tell(examples.known).fit(**examples.for_fit(labeled, unlabeled), groups=groups)


class Read(Candidate):
    """The network of :mod:`dips.network`, which reads the table."""

    def why_not(self, examples: Examples, labeled: Rows, unlabeled: Rows) -> str:
        """Say what the network cannot be told, or was not made for."""
        return why_not_read(examples)

    def fit(self, examples: Examples, labeled: Rows, unlabeled: Rows, settings: Settings) -> Any:
        """Let it read the rows."""
        return read_by_network(examples, labeled, unlabeled, settings)


PLAIN, NETWORK = "plain", "network"
CANDIDATES: tuple[Candidate, ...] = (
    Trained(PLAIN, "plain", n_fits=1, curates=False, uses_unlabeled=False),
    Trained("curated", "curated labels", n_fits=15, curates=True, uses_unlabeled=False),
    Trained("pseudo", "pseudo-labels, not curated", n_fits=5, curates=False, uses_unlabeled=True),
    Trained("curated_pseudo", "curated labels and unlabeled rows", n_fits=20, curates=True, uses_unlabeled=True),
    Read(NETWORK, "the network", n_fits=10),
)
BY_NAME = {c.name: c for c in CANDIDATES}
JUDGE = BY_NAME["curated"]  # judges the labels, whichever model is chosen
