"""The comparison as plain data: for metrics.json, and for the report."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pandas as pd

from dips._report import TableFindings
from dips._study.account import GROUP, id_columns
from dips._study.candidates import CANDIDATES
from dips._study.compare import Comparison
from dips._study.splits import HoldOut


def model_records(
    comparison: Comparison, scores: dict[str, dict[str, Any]], on_verified: dict[str, dict[str, Any]]
) -> list[dict[str, Any]]:
    """One record per candidate: validation, scores on the held-out rows, or why it was left out.

    Those on the held-out rows with verified labels stand apart, where there are enough of them.
    """
    return [
        {
            "name": c.name,
            "title": c.title,
            "chosen": c.name == comparison.chosen,
            "usual": c.name == comparison.usual,
            "validation": comparison.validation.get(c.name),
            "test": scores.get(c.name),
            "test_verified": on_verified.get(c.name),
            "skipped": comparison.skipped.get(c.name),
            "seconds": comparison.seconds.get(c.name),
        }
        for c in CANDIDATES
    ]


def metrics_record(findings: TableFindings, comparison: Comparison, split: HoldOut) -> dict[str, Any]:
    """What metrics.json holds."""
    is_given = findings.account["source"] == "given"
    return {
        "metric": findings.metric,
        "chosen": comparison.chosen,
        "usual": comparison.usual,
        "validation": comparison.validation,
        "validation_folds": comparison.folds,
        "validation_gains": {name: asdict(gain) for name, gain in comparison.gains.items()},
        "test": {m["name"]: m["test"] for m in findings.models if m["test"]},
        "test_verified": {m["name"]: m["test_verified"] for m in findings.models if m["test_verified"]},
        "baseline": findings.baseline,
        "skipped": comparison.skipped,
        "seconds": comparison.seconds,
        "rows": {
            "all": len(findings.account),
            "labeled": int(is_given.sum()),
            "unlabeled": int((~is_given).sum()),
            "train": int(split.train.size),
            "test": int(split.test.size),
            "verified": int(findings.account["verified"].sum()),
            "test_verified": findings.n_verified_test,
        },
        "labels": {
            "estimated_share_wrong": findings.noise_rate,
            "share_wrong_interval": findings.noise_interval,
            "checked": findings.checked,
            "n_suspects": int(findings.account["suspicion"].notna().sum()),
        },
        "recall": _recall(findings),
        "positive": findings.target.classes[findings.target.positive],
        "reading": findings.reading,
        "warnings": findings.warnings,
    }


def held_out_frame(findings: TableFindings, comparison: Comparison, split: HoldOut) -> pd.DataFrame:
    """The held-out rows, and what the chosen kind of model, not trained on them, says: one column per class."""
    part = findings.account.iloc[findings.test_rows]
    named = {name: part[name] for name in ("row", *id_columns(findings.ids).values(), "given_label", "verified")}
    if split.groups_of_test is not None:
        named[GROUP] = pd.Series(split.groups_of_test, part.index)
    p = findings.test_probabilities[comparison.chosen]
    return pd.DataFrame(named).assign(**{f"p({c})": p[:, k] for k, c in enumerate(findings.target.classes)})


def _recall(findings: TableFindings) -> dict[str, dict[str, float | None]]:
    """Share of the held-out rows of each class that each model found; None where a class has none."""
    codes, names = findings.target.codes[findings.test_rows], [str(c) for c in findings.target.classes]
    decided = {model: findings.decide(p) for model, p in findings.test_probabilities.items()}
    return {
        model: {
            name: float((predicted == c)[codes == c].mean()) if (codes == c).any() else None
            for c, name in enumerate(names)
        }
        for model, predicted in decided.items()
    }
