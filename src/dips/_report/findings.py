"""What the report of a table is made from: a plain record, filled in by whoever made the study."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from dips._files.columns import Schema
from dips._files.read import Table
from dips._files.target import Target
from dips._tools.arrays import Array, Rows, decided

if TYPE_CHECKING:
    from dips._report.segments import UnevenValues


@dataclass
class TableFindings:
    """Everything that the page of a table shows.

    Attributes
    ----------
    table, schema, target : the rows, what their columns hold, and their labels
    ids : columns that name a row
    sources : one record per file: path, rows, checksum
    notes : sentences on how the table was read
    warnings : sentences on what went wrong in training
    account : data frame, one row per input row
    noise_rate : estimated share of wrong labels among those that nobody has checked, where the curator estimates it
    noise_interval : lowest and highest share that explain the labels nearly as well, where the curator gives them
    X : the prepared table
    judge : the curated model that judged the labels
    watched : the model whose training the confidence in given labels was measured in
    model : the chosen model, trained on all labels; None for an audit
    metric : what decided between the models
    settings : of the study, as plain data
    config : command, time and versions of the run
    models : one record per candidate; empty for an audit
    test_rows, test_probabilities : the held-out rows, and each candidate's class probabilities of them
    importance : what each column is worth to the chosen model, as plain data, the most important first
    leaks : columns that predict the label almost alone, and how well
    uneven : values at which labels are wrong more often than difficulty explains; None where that was not tested
    drift : how well labeled and unlabeled rows can be told apart, as plain data; None where that was not tested
    outliers : one record per column with numbers far from all others
    costs : (C,) of missing a row of each class, where the user gave them; decisions follow them if the metric does
    n_verified_test : how many of the held-out rows have a verified label
    n_corrected : how many verified labels were wrong before; None where nobody says what they were
    baseline : what always giving the most frequent answer would score, by metric
    reading : what was found out, or guessed, while the table was read; plain data
    """

    table: Table
    schema: Schema
    target: Target
    ids: list[str]
    sources: list[dict[str, Any]]
    notes: list[str]
    account: pd.DataFrame
    noise_rate: float | None
    X: Array
    judge: Any
    watched: Any
    model: Any = None
    noise_interval: tuple[float, float] | None = None
    metric: str = "accuracy"
    settings: dict[str, Any] = field(default_factory=dict)
    config: dict[str, Any] = field(default_factory=dict)
    models: list[dict[str, Any]] = field(default_factory=list)
    test_rows: Rows = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    test_probabilities: dict[str, Array] = field(default_factory=dict)
    importance: dict[str, dict[str, Any]] = field(default_factory=dict)
    uneven: UnevenValues | None = None
    drift: dict[str, Any] | None = None
    outliers: list[dict[str, Any]] = field(default_factory=list)
    costs: Array | None = None
    leaks: dict[str, float] = field(default_factory=dict)
    baseline: dict[str, Any] = field(default_factory=dict)
    reading: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    n_verified_test: int = 0
    n_corrected: int | None = None

    @property
    def chosen(self) -> str | None:
        """Name of the chosen candidate."""
        return next((m["name"] for m in self.models if m["chosen"]), None)

    @property
    def checked(self) -> dict[str, int | None] | None:
        """How many labels somebody has checked, and how many of these were wrong; None where nobody checked any."""
        n = int(self.account["verified"].sum())
        return {"n": n, "corrected": self.n_corrected} if n else None

    @property
    def deciding_costs(self) -> Array | None:
        """Costs that decide which label is predicted; None where the most probable one is."""
        return self.costs if self.metric == "cost" else None

    def decide(self, p: Array) -> Array:
        """Codes of the labels that are predicted, given class probabilities (n, C)."""
        return decided(p, self.deciding_costs)
