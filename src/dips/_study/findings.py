"""Everything that a study found, before it is written down."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import pandas as pd

from dips._files.prepare import Preparation
from dips._study.candidates import CANDIDATES
from dips._study.compare import Comparison, Split
from dips._study.data import StudyData
from dips._study.settings import Settings
from dips._tools.arrays import Array


@dataclass
class Findings:
    """What the report and the files are made from.

    Attributes
    ----------
    study, settings, split : what went in
    comparison, scores, importance, leaks : what the held-out part and the validation said
    preparation, X, model : the chosen model, trained on all labels, and its input
    judge : the curated model that judged the labels
    first : the model trained on all labels as given, by which they were judged
    account : data frame, a row a row of the input
    noise_rate : estimated share of wrong labels, where the curator estimates it
    """

    study: StudyData
    settings: Settings
    preparation: Preparation
    X: Array
    judge: Any
    first: Any
    account: pd.DataFrame
    noise_rate: float | None
    split: Split | None = None
    comparison: Comparison | None = None
    scores: dict[str, dict[str, Any]] = field(default_factory=dict)
    importance: dict[str, float] = field(default_factory=dict)
    leaks: dict[str, float] = field(default_factory=dict)
    model: Any = None
    config: dict[str, Any] = field(default_factory=dict)

    def models(self) -> list[dict[str, Any]]:
        """A record a candidate: validation, scores on the held-out rows, or why it was left out."""
        if self.comparison is None:
            return []
        return [
            {
                "name": c.name,
                "title": c.title,
                "chosen": c.name == self.comparison.chosen,
                "validation": self.comparison.validation.get(c.name),
                "test": self.scores.get(c.name),
                "skipped": self.comparison.skipped.get(c.name),
            }
            for c in CANDIDATES
        ]

    def metrics(self) -> dict[str, Any]:
        """The comparison as plain data."""
        assert self.comparison is not None
        assert self.split is not None
        given = self.account["source"] == "given"
        return {
            "metric": self.settings.metric,
            "chosen": self.comparison.chosen,
            "validation": self.comparison.validation,
            "validation_folds": self.comparison.folds,
            "validation_gains": {name: asdict(gain) for name, gain in self.comparison.gains.items()},
            "test": self.scores,
            "skipped": self.comparison.skipped,
            "seconds": self.comparison.seconds,
            "rows": {
                "all": len(self.account),
                "labeled": int(given.sum()),
                "unlabeled": int((~given).sum()),
                "train": int(self.split.train.size),
                "test": int(self.split.test.size),
            },
            "labels": {
                "estimated_share_wrong": self.noise_rate,
                "n_suspects": int(self.account["suspicion"].notna().sum()),
            },
            "positive": self.study.target.classes[self.study.target.positive],
        }
