"""From findings to plain data: everything that the page shows and nothing else, ready for JSON."""

from __future__ import annotations

from typing import Any

import numpy as np

from dips._persistence.model import versions
from dips._report.findings import TableFindings
from dips._report.points import summarize_points
from dips._report.quality import summarize_quality
from dips._report.segments import noise_by_class, noise_by_value
from dips._report.words import ROW, headline, next_steps, phrases

_MAX_COLUMNS = 60  # in the table of columns


def summarize(found: TableFindings) -> dict[str, Any]:
    """Return what the page shows."""
    account, target = found.account, found.target
    summary = {
        "unit": ROW,
        "target": target.name,
        "classes": [str(c) for c in target.classes],
        "positive": target.positive,
        "metric": found.metric,
        "rows": _rows(found),
        "labels": {
            "share_wrong": found.noise_rate,
            "n_suspects": int(account["suspicion"].notna().sum()),
            "n_useful": int((account["useful"] & (account["source"] == "given")).sum()),
        },
        "columns": _columns(found),
        "notes": found.notes,
        "warnings": found.warnings,
        "models": found.models,
        "rounds": _rounds(found),
        "points": summarize_points(found),
        "noise": {
            "by_class": noise_by_class(account, target.classes, account["suspicion"].notna()),
            "by_value": noise_by_value(found),
        },
        "quality": summarize_quality(found),
        "importance": [{"column": c, "loss": v} for c, v in list(found.importance.items())[:15]],
        "phrases": phrases(ROW),
        "made": _made(found),
    }
    return summary | {"headline": headline(summary), "next_steps": next_steps(summary)}


def _rows(found: TableFindings) -> dict[str, Any]:
    source, target = found.account["source"], found.target
    codes = target.codes[target.is_labeled]
    return {
        "all": len(found.account),
        "labeled": int(target.is_labeled.sum()),
        "unlabeled": int((~target.is_labeled).sum()),
        "pseudo": int((source == "pseudo").sum()),
        "test": int(found.test_rows.size),
        "by_class": np.bincount(codes, minlength=len(target.classes)).tolist(),
        "files": [{"path": s["path"], "rows": s["rows"]} for s in found.sources],
    }


def _columns(found: TableFindings) -> list[dict[str, Any]]:
    return [
        {
            "name": c.name,
            "kind": c.kind,
            "n_distinct": c.n_distinct,
            "n_missing": c.n_missing,
            "example": c.example,
            "note": c.note,
            "alone": found.leaks.get(c.name),
        }
        for c in sorted(found.schema.columns, key=lambda c: c.is_used and c.name not in found.leaks)[:_MAX_COLUMNS]
    ]


def _rounds(found: TableFindings) -> dict[str, Any]:
    """How the training set grew; a class's pseudo-labels by the round they were proposed in."""
    history = (found.judge if found.model is None else found.model).history_
    codes = {c: k for k, c in enumerate(found.target.classes)}
    pseudo = found.account[found.account["source"] == "pseudo"]
    by_round = [
        {
            "round": t,
            "by_class": np.bincount(group["final_label"].map(codes).astype(int), minlength=len(codes)).tolist(),
            "useful": int(group["useful"].sum()),
        }
        for t, group in pseudo.groupby("round")
    ]
    return {
        "history": history.to_dict("records"),
        "proposed": by_round,
        "given_suspects": _suspects_by_class(found, len(codes)),
    }


def _suspects_by_class(found: TableFindings, n_classes: int) -> list[int]:
    is_suspect = found.account["suspicion"].notna().to_numpy()
    return np.bincount(found.target.codes[is_suspect], minlength=n_classes).tolist()


def _made(found: TableFindings) -> dict[str, Any]:
    return {
        "command": found.config.get("command", ""),
        "made_at": found.config.get("made_at", ""),
        "settings": found.settings,
        "versions": found.config.get("versions", versions()),
        "backbone": type(found.judge.estimator_).__name__,
        "judge_is_chosen": found.model is None or found.judge is found.model,
    }
