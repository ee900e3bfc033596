"""From findings to plain data: everything that the page shows and nothing else, ready for JSON."""

from __future__ import annotations

from typing import Any

import numpy as np

from dips._estimators.reasons import ROW, phrases
from dips._persistence.model import versions
from dips._report.distributions import summarize_distributions
from dips._report.findings import TableFindings
from dips._report.label_words import worth_of_suspects
from dips._report.points import summarize_points
from dips._report.quality import summarize_quality
from dips._report.score_words import score_sentences
from dips._report.segments import noise_by_class
from dips._report.suspects import suspects_of
from dips._report.words import headline, next_steps

_MAX_COLUMNS = 60  # in the table of columns


def summarize(findings: TableFindings) -> dict[str, Any]:
    """Return what the page shows."""
    account, target, uneven = findings.account, findings.target, findings.uneven
    summary = {
        "unit": ROW,
        "target": target.name,
        "classes": [str(c) for c in target.classes],
        "positive": target.positive,
        "metric": findings.metric,
        "rows": _rows(findings),
        "labels": {
            "share_wrong": findings.noise_rate,
            "interval": None if findings.noise_interval is None else list(findings.noise_interval),
            "checked": findings.checked,
            "worth": worth_of_suspects(suspects_of(account)["p_wrong"], findings.noise_interval),
            "n_suspects": int(account["suspicion"].notna().sum()),
            "n_useful": int((account["useful"] & (account["source"] == "given")).sum()),
        },
        "columns": _columns(findings),
        "n_columns": len(findings.schema.columns),
        "n_used": len(findings.schema.used),
        "notes": findings.notes,
        "reading": findings.reading,
        "baseline": findings.baseline,
        "warnings": findings.warnings,
        "models": findings.models,
        "rounds": _rounds(findings),
        "points": summarize_points(findings),
        "noise": {
            "by_class": noise_by_class(account, target.classes, account["suspicion"].notna()),
            "by_value": None if uneven is None else uneven.to_json(account["suspicion"].notna().to_numpy()),
            "n_values": 0 if uneven is None else uneven.n_values,
        },
        "quality": summarize_quality(findings),
        "importance": [{"column": c} | v for c, v in list(findings.importance.items())[:15]],
        "distributions": summarize_distributions(findings),
        "drift": findings.drift,
        "outliers": findings.outliers,
        "phrases": phrases(ROW),
        "made": _made(findings),
    }
    in_words = {"headline": headline(summary), "next_steps": next_steps(summary), "scores": score_sentences(summary)}
    return summary | in_words


def _rows(findings: TableFindings) -> dict[str, Any]:
    source, target = findings.account["source"], findings.target
    codes = target.codes[target.is_labeled]
    return {
        "all": len(findings.account),
        "labeled": int(target.is_labeled.sum()),
        "unlabeled": int((~target.is_labeled).sum()),
        "pseudo": int((source == "pseudo").sum()),
        "test": int(findings.test_rows.size),
        "verified": int(findings.account["verified"].sum()),
        "test_verified": findings.n_verified_test,
        "by_class": np.bincount(codes, minlength=len(target.classes)).tolist(),
        "files": [{"path": s["path"], "rows": s["rows"]} for s in findings.sources],
    }


def _columns(findings: TableFindings) -> list[dict[str, Any]]:
    return [
        {
            "name": c.name,
            "kind": c.kind,
            "n_distinct": c.n_distinct,
            "n_missing": c.n_missing,
            "example": c.example,
            "note": c.note,
            "alone": findings.leaks.get(c.name),
        }
        for c in sorted(findings.schema.columns, key=lambda c: c.is_used and c.name not in findings.leaks)[
            :_MAX_COLUMNS
        ]
    ]


def _rounds(findings: TableFindings) -> dict[str, Any]:
    """How the training set grew; a class's pseudo-labels by the round they were proposed in."""
    history = (findings.judge if findings.model is None else findings.model).history_
    codes = {c: k for k, c in enumerate(findings.target.classes)}
    pseudo = findings.account[findings.account["source"] == "pseudo"]
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
        "given_suspects": _suspects_by_class(findings, len(codes)),
    }


def _suspects_by_class(findings: TableFindings, n_classes: int) -> list[int]:
    is_suspect = findings.account["suspicion"].notna().to_numpy()
    return np.bincount(findings.target.codes[is_suspect], minlength=n_classes).tolist()


def _made(findings: TableFindings) -> dict[str, Any]:
    return {
        "command": findings.config.get("command", ""),
        "made_at": findings.config.get("made_at", ""),
        "settings": findings.settings,
        "versions": findings.config.get("versions", versions()),
        "backbone": type(findings.judge.estimator_).__name__,
        "judge_is_chosen": findings.model is None or findings.judge is findings.model,
    }
