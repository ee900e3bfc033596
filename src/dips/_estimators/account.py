"""The account of rows that are stored elsewhere: a function of each row, computed and written where the row is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from dips._data.labels import UNLABELED
from dips._data.pool import Pool, Reduced
from dips._estimators.samples import sources, spread
from dips._rounds.state import NEVER
from dips._tools.arrays import Array, Rows

Fates = Callable[[Rows, Any], Reduced]
"""From rows and their table to the final ``label`` (codes), ``round``, ``useful``, ``confidence``, ``aleatoric``."""


@dataclass(frozen=True)
class Account:
    """Where the rows are, and the rule that says what became of each."""

    pool: Pool
    fates: Fates
    classes: Array

    def write(self, path: str) -> None:
        """Write the columns of ``samples_`` for every row; refused if the rows have changed since the fit."""
        self.pool.refuse_changes()
        self.pool.write(AccountLines(self.fates, self.classes), schema_of(self.classes), path)


@dataclass(frozen=True)
class AccountLines:
    """The lines of the account for some rows."""

    fates: Fates
    classes: Array

    def __call__(self, rows: Rows, X: Any) -> dict[str, Any]:
        """Return one column for each field of :func:`schema_of`."""
        fate, nothing = self.fates(rows, X), [None] * rows.size
        label = fate["label"]
        return {
            "source": sources(np.full(rows.size, UNLABELED), label),
            "given_label": nothing,
            "verified": np.zeros(rows.size, dtype=bool),  # nobody checks a label that is not there
            "final_label": pa.array(np.append(self.classes, self.classes[:1])[label], mask=label == UNLABELED),
            "round": fate["round"],
            "p_wrong": nothing,
            "check_gain": nothing,
            "confidence": pa.array(fate["confidence"], from_pandas=True),
            "aleatoric": pa.array(fate["aleatoric"], from_pandas=True),
            "useful": fate["useful"],
            "suggested_label": nothing,
        }


def schema_of(classes: Array) -> pa.Schema:
    """Return the columns of the account, those of ``samples_``, with labels of the type of the classes."""
    label = pa.array(classes).type
    return pa.schema(
        [
            ("source", pa.string()),
            ("given_label", label),
            ("verified", pa.bool_()),
            ("final_label", label),
            ("round", pa.int32()),
            ("p_wrong", pa.float32()),
            ("check_gain", pa.float32()),
            ("confidence", pa.float32()),
            ("aleatoric", pa.float32()),
            ("useful", pa.bool_()),
            ("suggested_label", label),
        ]
    )


@dataclass(frozen=True)
class FatesOfSample:
    """Fates where a model learned from a sample of the rows: all others stay unlabeled."""

    rows: Rows  # (m,) of the sample, ascending
    label: Array  # (m,), as are the others
    round: Array
    confidence: Array
    aleatoric: Array

    def __call__(self, rows: Rows, X: Any) -> Reduced:
        """Look the rows up in the sample."""
        sampled = np.flatnonzero(np.isin(rows, self.rows))
        at = np.searchsorted(self.rows, rows[sampled])

        def looked_up(values: Array, otherwise: float) -> Array:
            return spread(values[at], sampled, rows.size, otherwise)

        label = looked_up(self.label, UNLABELED)
        return {
            "label": label,
            "round": looked_up(self.round, NEVER),
            "useful": label != UNLABELED,
            "confidence": looked_up(self.confidence, np.nan),
            "aleatoric": looked_up(self.aleatoric, np.nan),
        }
