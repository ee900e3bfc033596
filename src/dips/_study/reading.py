"""The network as a model of a study: it reads the prepared table, and is not trained on it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from dips._data.labels import UNLABELED
from dips._data.spans import Spans
from dips._estimators.samples import sources, spread
from dips._study.examples import Examples
from dips._study.settings import Settings
from dips._tools.arrays import Array, Rows
from dips._tools.wording import option
from dips.network._limits import MAX_CLASSES, MAX_COLUMNS, MAX_LABELS
from dips.network._prepared import PreparedTableClassifier

_UNLABELED = 400  # rows beside the labels; more add little and take time


@dataclass(frozen=True)
class NetworkModel:
    """What the network has read.

    Attributes
    ----------
    estimator_ : answers for rows of the prepared table
    samples_ : one line per row, as the other models have it; useful are those that were read
    history_ : empty, since it has no rounds
    """

    estimator_: Any
    samples_: pd.DataFrame
    history_: pd.DataFrame = field(default_factory=pd.DataFrame)

    def predict_proba(self, X: Array) -> Array:
        """Class probabilities (n, C)."""
        return np.asarray(self.estimator_.predict_proba(X))


def why_not_read(examples: Examples) -> str:
    """Say what the network cannot be told, or what the table has more of than it was made for; empty if nothing.

    All labels count: the network that is kept reads those that are held out, too.
    """
    known = examples.known
    if known is not None and known.trusted.any() and known.frequencies is None:
        return (
            f"it cannot be told that a label is never wrong, only how often classes occur ({option('class_frequency')})"
        )
    n_columns, n_classes = _spans(examples).starts.size, int(examples.codes.max()) + 1
    for n, most, what in (
        (int((examples.codes != UNLABELED).sum()), MAX_LABELS, "labels"),
        (n_classes, MAX_CLASSES, "classes"),
        (n_columns, MAX_COLUMNS, "prepared columns"),
    ):
        if n > most:
            return f"the network was made for at most {most:,} {what}, and there are {n:,}"
    return ""


def read_by_network(examples: Examples, labeled: Rows, unlabeled: Rows, settings: Settings) -> NetworkModel:
    """Let it read the labels, and a sample of the unlabeled rows."""
    beside = np.sort(np.random.RandomState(settings.seed).permutation(unlabeled.size)[:_UNLABELED])
    frequencies = None if examples.known is None else examples.known.frequencies
    common = {"random_state": settings.seed, "n_jobs": settings.jobs}
    network = PreparedTableClassifier(_spans(examples), class_frequencies=frequencies, **common)
    network.fit(**examples.for_fit(labeled, unlabeled[beside]))
    n_rows = labeled.size + unlabeled.size
    read = np.concatenate([np.arange(labeled.size), labeled.size + beside])[network.in_context_]
    given = np.concatenate([examples.codes[labeled], np.full(unlabeled.size, UNLABELED)])
    samples = {"source": sources(given, given), "useful": spread(np.ones(read.size, dtype=bool), read, n_rows, False)}
    return NetworkModel(network.table_, pd.DataFrame(samples))


def _spans(examples: Examples) -> Spans:
    return examples.spans or Spans.of_numbers(examples.X.shape[1])
