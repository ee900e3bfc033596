"""From a folder of images to a run folder: read, score on held-out images, train on all, write."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dips._estimators.reasons import IMAGE
from dips._image_study.album import Album, read_album, source_of
from dips._image_study.settings import FILE, ImageSettings
from dips._persistence.export import write_frame
from dips._persistence.model import versions
from dips._report import ImageFindings, render, summarize_images
from dips._report.words import amount
from dips._study.compare import HoldOut, hold_out
from dips._study.folder import RunFolder, fingerprint
from dips._study.metrics import METRICS, intervals
from dips._study.run import Run
from dips._study.settings import Settings
from dips._study.warning_log import WarningLog, caught_warnings
from dips._tools.arrays import Array, Rows
from dips._tools.files import make_folder, without_nan, write_json, write_whole
from dips._tools.observer import Observer
from dips.vision import ImageClassifier
from dips.vision._fitting import fit_observed
from dips.vision._networks import check_network
from dips.vision._report import findings_of, write_folder

MODEL = "model/network.safetensors"
_SCORED = ("accuracy", "balanced_accuracy", "log_loss")
_NETWORK = "network"


@dataclass(frozen=True)
class ImageAudit:
    """The labels of images, judged.

    Attributes
    ----------
    classifier : fitted on all labels
    findings : what the page is made from
    """

    classifier: ImageClassifier
    findings: ImageFindings

    def write_report(self, path: Path) -> None:
        """Write the page."""
        write_whole(path, render(without_nan(summarize_images(self.findings))).encode())


def fit_images(folder: Path, out: Path, settings: ImageSettings, force: bool, command: str, observer: Observer) -> Run:
    """Train a classifier on a folder of images and write a run folder; it is complete or absent.

    A study that was stopped continues when called again, from its last round.
    """
    check_network(settings.network)
    with RunFolder(out, force).held() as place:
        observer.message("reading", 0.0)
        album = read_album(folder, settings, observer)
        observer.on_data(album, {})
        split = _hold_out(album, settings) if settings.holdout else None  # refused now, not after the work
        config = _config(album, settings, command)
        place.begin(fingerprint({k: config[k] for k in ("settings", "sources", "corrections", "versions")}))
        state = place.staging / "state"
        log = WarningLog(album.target.classes)
        held_out = None
        if split is not None:
            observer.message("training without the held-out labels", 0.1)
            held_out = _scored(album, settings, split.test, state / "held_out", log, observer)
        observer.message("training on all labels", 0.1 if split is None else 0.5)
        clf = _trained(album, settings, None, state / "all", log, observer)
        observer.message("writing", 0.95)
        findings = _findings(album, clf, settings, config, held_out, log)
        make_folder(place.staging / "model")
        clf.save(place.staging / MODEL)
        write_folder(clf, findings, place.staging, config)
        write_json(place.staging / "metrics.json", _metrics(findings, held_out))
        if held_out is not None:
            write_frame(held_out.frame, place.staging / "held_out.parquet")
        place.finish()
    for sentence in findings.warnings:
        observer.on_record({"event": "warning", "message": sentence})
    return Run(out)


def audit_images(folder: Path, settings: ImageSettings, command: str, observer: Observer) -> ImageAudit:
    """Judge the labels of a folder of images."""
    check_network(settings.network)
    observer.message("reading", 0.0)
    album = read_album(folder, settings, observer)
    observer.on_data(album, {})
    log = WarningLog(album.target.classes)
    observer.message("judging labels", 0.1)
    clf = _trained(album, settings, None, None, log, observer)
    findings = _findings(album, clf, settings, _config(album, settings, command), None, log)
    for sentence in findings.warnings:
        observer.on_record({"event": "warning", "message": sentence})
    return ImageAudit(clf, findings)


def _trained(
    album: Album,
    settings: ImageSettings,
    hidden: Array | None,
    checkpoint: Path | None,
    log: WarningLog,
    observer: Observer,
) -> ImageClassifier:
    """A classifier fitted on all labels but hidden ones, whose images are used as unlabeled."""
    clf = ImageClassifier(
        settings.network,
        curator=settings.curator,
        n_steps=settings.steps,
        n_rounds=settings.n_rounds,
        warm_up_steps=settings.warm_up_steps,
        pilot_steps=settings.pilot_steps,
        checkpoint=checkpoint,
        random_state=settings.seed,
    )
    labels, verified = album.labels, album.verified.mask
    if hidden is not None:
        labels, verified = labels.where(~hidden, None), verified & ~hidden
    with caught_warnings() as messages:
        fit_observed(clf, album.images, labels, verified=verified, observer=observer)
    log.add("the network", messages)
    return clf


def _hold_out(album: Album, settings: ImageSettings) -> HoldOut:
    """The labeled images that are held out: the same share of each class, drawn by the labels as they were given."""
    drawn = Settings(settings.target, holdout=settings.holdout, seed=settings.seed)
    return hold_out(album.given, drawn, now=album.target)


@dataclass(frozen=True)
class _HeldOut:
    """What a network that was not trained on some labels says of their images.

    Attributes
    ----------
    frame : one line per held-out image, with the network's answers
    scores : value, low and high of each metric, by the labels as they are
    n_verified : how many of these labels somebody has checked
    baseline : the most frequent label, and the accuracy of always answering it
    """

    frame: pd.DataFrame
    scores: dict[str, Any]
    n_verified: int
    baseline: dict[str, Any]

    def in_words(self) -> str:
        """Say how good it is."""
        value, low, high = (amount("accuracy", self.scores["accuracy"][k]) for k in ("value", "low", "high"))
        checked = f" ({self.n_verified:,} of them checked)" if self.n_verified else ""
        return (
            f"A network trained without the labels of {len(self.frame):,} held-out images has an accuracy of {value} "
            f"({low} to {high}) on them, by their labels as they are{checked}; always {self.baseline['label']!r} has "
            f"{amount('accuracy', self.baseline['accuracy'])}."
        )


def _scored(
    album: Album, settings: ImageSettings, test: Rows, checkpoint: Path, log: WarningLog, observer: Observer
) -> _HeldOut:
    """Train without the held-out labels, and score by them."""
    hidden = np.isin(np.arange(len(album.images)), test)
    clf = _trained(album, settings, hidden, checkpoint, log, observer)
    p, given = clf.predict_proba(album.images[test]), album.labels.iloc[test]
    codes = np.searchsorted(clf.classes_, given.to_numpy())
    metrics = {name: METRICS[name] for name in _SCORED}
    scores = intervals(codes, {_NETWORK: p}, len(clf.classes_) - 1, _NETWORK, settings.seed, metrics)[_NETWORK]
    counts, is_verified = np.bincount(codes), album.verified.mask[test]
    named = {"row": test, FILE: given.index, "given_label": given.to_numpy(), "verified": is_verified}
    return _HeldOut(
        pd.DataFrame(named).assign(**{f"p({c})": p[:, k] for k, c in enumerate(clf.classes_)}),
        {name: {k: scores[name][k] for k in ("value", "low", "high")} for name in _SCORED},
        int(is_verified.sum()),
        {"label": str(clf.classes_[counts.argmax()]), "accuracy": float(counts.max() / codes.size)},
    )


def _config(album: Album, settings: ImageSettings, command: str) -> dict[str, Any]:
    """Enough to run it again."""
    return {
        "made_by": "dips fit",
        "command": command.encode("utf-8", "replace").decode(),
        "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "unit": IMAGE,
        "settings": settings.to_json(),
        "data": [str(album.folder)],
        "unlabeled": [],
        "sources": source_of(settings, album),
        "corrections": None if settings.corrections is None else {"path": settings.corrections},
        "ids": [FILE],
        "damaged": album.read.damaged,
        "versions": versions(),
    }


def _findings(
    album: Album,
    clf: ImageClassifier,
    settings: ImageSettings,
    config: dict[str, Any],
    held_out: _HeldOut | None,
    log: WarningLog,
) -> ImageFindings:
    return findings_of(
        clf,
        album.images,
        title=album.target.name,
        command=config["command"],
        notes=album.notes,
        warnings=log.sentences(),
        scores=[] if held_out is None else [held_out.in_words()],
        settings={k: str(v) for k, v in settings.to_json().items() if v},
    )


def _metrics(findings: ImageFindings, held_out: _HeldOut | None) -> dict[str, Any]:
    account, is_given = findings.account, findings.is_given
    return {
        "metric": "accuracy",
        "chosen": _NETWORK,
        "test": {} if held_out is None else {_NETWORK: held_out.scores},
        "baseline": None if held_out is None else held_out.baseline,
        "rows": {
            "all": len(account),
            "labeled": int(is_given.sum()),
            "unlabeled": int((~is_given).sum()),
            "test": 0 if held_out is None else len(held_out.frame),
            "verified": int(account["verified"].sum()),
        },
        "labels": {
            "estimated_share_wrong": findings.noise_rate,
            "share_wrong_interval": findings.noise_interval,
            "n_suspects": int(account["suspicion"].notna().sum()),
        },
        "reading": {"notes": findings.notes},
        "warnings": findings.warnings,
    }
