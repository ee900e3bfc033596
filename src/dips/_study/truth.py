"""True classes of validation rows, as probabilities: their labels are dirty too, so each is weighted by its belief."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_random_state

from dips._beliefs.effort import Effort
from dips._beliefs.learning import learn_beliefs
from dips._data.pool import TablePool
from dips._rounds.training import Trainer
from dips._study.examples import Examples
from dips._study.metrics import Metric
from dips._study.settings import Settings
from dips._tools.arrays import Array, Rows
from dips.backbones import default_estimator

_PLAUSIBLE = 0.01  # a class that is less probable is left out


@dataclass(frozen=True)
class Truth:
    """Distributions over the true class of some rows, (n, C), and the groups of these rows, (n,), if there are any."""

    belief: Array
    groups: Array | None = None

    @classmethod
    def given(cls, codes: Array, n_classes: int, groups: Array | None = None) -> Truth:
        """Labels taken for the truth."""
        return cls(np.eye(n_classes)[codes], groups)

    def prepare(self, metric: Metric, p: Array, positive: int) -> Callable[[Array], float]:
        """Return the metric's expected value as a function of the rows' weights.

        Examples
        --------
        >>> from dips._study.metrics import METRICS
        >>> truth = Truth(np.array([[0.9, 0.1], [0.4, 0.6]]))
        >>> round(truth.prepare(METRICS["accuracy"], np.array([[0.8, 0.2], [0.7, 0.3]]), 1)(np.ones(2)), 3)
        0.65
        """
        rows, classes = np.nonzero(self.belief > _PLAUSIBLE)
        compute, share = metric.prepare(classes, p[rows], positive), self.belief[rows, classes]
        return lambda w: compute(w[rows] * share)

    def score(self, metric: Metric, p: Array, positive: int) -> float:
        """Expected value on rows that count once each."""
        return self.prepare(metric, p, positive)(np.ones(len(self.belief)))


def believed_truth(examples: Examples, rows: Rows, n_classes: int, settings: Settings) -> Array:
    """Return what is believed of labeled rows, (n, C), by teachers that were not trained on the row they judge."""
    estimator, rng = default_estimator(settings.backbone, examples.n_labels), check_random_state(settings.seed)
    trainer = Trainer(estimator, TablePool(examples.X), n_classes, None, rng, settings.jobs, groups=examples.groups)
    labels, effort, verified = examples.codes[rows], Effort.for_labels(rows.size), examples.verified_at(rows)
    return learn_beliefs(trainer, rows, labels, rows[:0], effort, verified, examples.known).labeled
