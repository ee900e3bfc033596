"""What was found about the labels of images, as the data of the same page that a table's report is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from dips._estimators.reasons import IMAGE, phrases, reason
from dips._persistence.model import versions
from dips._report.points import packed_curves, points_of, short, thresholds_of
from dips._report.segments import instead_of, noise_by_class
from dips._report.suspects import is_suspect, suspicion_ranks
from dips._report.thumbnails import Thumbnails
from dips._report.words import headline, next_steps
from dips._tools.arrays import Array, Rows

_BYTES = 4_700_000  # what the map may take of the page, most of it pictures
_MAX_CURVE = 100  # points of a learning curve
_EXAMPLES, _MANY_CLASSES = 3, 20  # useful images of each class shown beside a suspect; one each where classes are many


@dataclass(frozen=True)
class ImageFindings:
    """What the report of images is made from.

    Attributes
    ----------
    images : (n, height, width, 1 or 3) bytes, to look at
    account : data frame, one row per image, with the columns of a table's account; the labels are texts
    classes : the labels in order
    curves : (n_labeled, checkpoints) probability of each given label along the training
    checkpoints : the round of each checkpoint, 0 for the warm-up
    history : data frame, one row per round
    curator : the curator, fitted
    noise_rate, noise_interval : estimated share of wrong labels, where the curator estimates it
    title : what the page is about
    settings : of the classifier, as texts
    backbone : network and method, in words
    made_at : when, in words
    command : what was typed
    notes : on how the images were read
    warnings : of the training
    scores : what a network that was not trained on some of the labels reached on them, in words
    """

    images: Array
    account: pd.DataFrame
    classes: list[str]
    curves: Array
    checkpoints: Array
    history: pd.DataFrame
    curator: Any
    noise_rate: float | None
    noise_interval: tuple[float, float] | None
    title: str
    backbone: str
    made_at: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    command: str = ""
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    scores: list[str] = field(default_factory=list)

    @property
    def is_given(self) -> Array:
        """Mask of the labeled images."""
        return (self.account["source"] == "given").to_numpy()

    @property
    def why_all_useful(self) -> str:
        """Why no label was judged, in words; empty where labels were."""
        return getattr(self.curator, "why_all_useful_", "")


def image_account(samples: pd.DataFrame, class_names: Mapping[Any, str], curator: Any) -> pd.DataFrame:
    """Lay out ``samples_`` as the account of a table: numbered as in X, classes by their names, suspects ranked."""
    account = samples.assign(row=np.arange(len(samples)), out_of_fold=np.nan)
    is_given, is_labeled = account["source"] == "given", account["source"] != "unlabeled"
    for column in ("given_label", "suggested_label", "final_label"):
        account[column] = account[column].map(class_names).astype(object)
    account.loc[~is_labeled, ["confidence", "aleatoric"]] = np.nan  # watched, but never labeled
    account.loc[is_given, "out_of_fold"] = getattr(curator, "out_of_fold_", np.nan)
    return ranked(account)


def ranked(account: pd.DataFrame) -> pd.DataFrame:
    """Rank the labels to look at, and say why."""
    account = account.assign(suspicion=suspicion_ranks(account))
    columns = ["suspicion", "given_label", "suggested_label", "confidence", "out_of_fold", "p_wrong"]
    account["reason"] = [
        "" if pd.isna(rank) else reason(given, suggested, confidence, unseen, p_wrong, IMAGE)
        for rank, given, suggested, confidence, unseen, p_wrong in account[columns].itertuples(index=False)
    ]
    return account


def summarize_images(findings: ImageFindings) -> dict[str, Any]:
    """Return what the page shows: the summary of a table without what only tables have, and how the training went."""
    account = findings.account
    other_fits = is_suspect(account) & account["suggested_label"].notna()
    summary = {
        "unit": IMAGE,
        "target": findings.title,
        "classes": findings.classes,
        "positive": len(findings.classes) - 1,
        "metric": "accuracy",
        "rows": _rows(findings),
        "labels": {
            "share_wrong": findings.noise_rate,
            "interval": findings.noise_interval,
            "n_suspects": int(is_suspect(account).sum()),
            "n_listed": int(account["suspicion"].notna().sum()),
            "n_other": int(other_fits.sum()),
            "n_useful": int((account["useful"] & findings.is_given).sum()),
            "why_all_useful": findings.why_all_useful,
        },
        "columns": [],
        "notes": findings.notes,
        "warnings": findings.warnings,
        "scores": findings.scores,
        "models": [],
        "rounds": {"history": [], "proposed": [], "given_suspects": []},
        "training": _training(findings),
        "points": _points(findings),
        "noise": {
            "by_class": noise_by_class(account, findings.classes, other_fits),
            "by_value": None,
            "instead": instead_of(account[other_fits], findings.classes),
        },
        "quality": None,
        "importance": [],
        "phrases": phrases(IMAGE),
        "made": _made(findings),
    }
    return summary | {"headline": headline(summary), "next_steps": next_steps(summary)}


def _rows(findings: ImageFindings) -> dict[str, Any]:
    given = findings.account[findings.is_given]
    counts = given["given_label"].value_counts()
    return {
        "all": len(findings.account),
        "labeled": len(given),
        "unlabeled": len(findings.account) - len(given),
        "pseudo": int((findings.account["source"] == "pseudo").sum()),
        "test": 0,
        "by_class": [int(counts.get(c, 0)) for c in findings.classes],
        "files": [],
    }


def _points(findings: ImageFindings) -> dict[str, Any]:
    thumbnails = Thumbnails(findings.images)
    of_row = np.full(len(findings.account), -1)
    of_row[findings.is_given] = np.arange(len(findings.curves))  # its place among the curves
    n = findings.curves.shape[1]
    spread = np.unique(np.linspace(0, n - 1, min(_MAX_CURVE, n)).round().astype(int))
    about_all = {
        "all_in": "samples_ of the classifier",
        "thresholds": thresholds_of(findings.curator),
        "curator": type(findings.curator).__name__,
        "n_checkpoints": n,
        "thumbnails": {"prefix": thumbnails.prefix, "width": thumbnails.width, "height": thumbnails.height},
        "examples": [thumbnails.of(rows) for rows in _examples(findings)],
        "n_warm_up": int((findings.checkpoints[spread] == 0).sum()),
        "n_judged_by": int((findings.checkpoints[spread] == findings.checkpoints.max()).sum()),
        "values": [],
        "typical": [],
        "id_names": [findings.account.index.name or "name"],
    }

    def beside(rows: Rows) -> dict[str, Any]:
        given = of_row[rows][of_row[rows] >= 0]  # given labels come before pseudo-labels, which have no curve
        return {
            "id": _names(findings.account.index[rows], rows),
            "pictures": thumbnails.of(rows),
            **packed_curves(findings.curves[given][:, spread]),
        }

    return about_all | points_of(findings.account, findings.classes, beside, _BYTES)


def _names(index: pd.Index, rows: Rows) -> list[str]:
    """Names of images, where they are more than their numbers."""
    return [] if index.tolist() == rows.tolist() else [short(str(name)) for name in index]


def _examples(findings: ImageFindings) -> list[Rows]:
    """The useful images of each class with the highest confidence."""
    useful = findings.account.reset_index(drop=True)[findings.is_given & findings.account["useful"].to_numpy()]
    n = _EXAMPLES if len(findings.classes) <= _MANY_CLASSES else 1
    by_confidence = useful.sort_values("confidence", ascending=False, kind="stable")
    return [by_confidence.index[by_confidence["given_label"] == c][:n].to_numpy() for c in findings.classes]


def _training(findings: ImageFindings) -> dict[str, Any]:
    """One record per round, with how many labels were useful after it."""
    n_useful = int(findings.is_given.sum())
    n_labeled, history = n_useful, []
    for record in findings.history.to_dict("records"):
        n_useful += int(record["n_useful_again"]) - int(record["n_new_suspects"])
        history.append({"accuracy": None, **record, "n_useful": n_useful, "n_suspects": n_labeled - n_useful})
    scores = [r["accuracy"] for r in history if r["accuracy"] is not None and r["accuracy"] == r["accuracy"]]
    return {"history": history, "accuracy": scores[-1] if scores else None}


def _made(findings: ImageFindings) -> dict[str, Any]:
    n, height, width, n_channels = findings.images.shape
    color = "gray" if n_channels == 1 else "color"
    return {
        "command": findings.command,
        "made_at": findings.made_at,
        "data": f"{n:,} {color} images, {height} by {width} pixels",
        "settings": dict(findings.settings),
        "versions": versions(),
        "backbone": findings.backbone,
        "judge_is_chosen": True,
    }
