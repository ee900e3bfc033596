"""A network trained on an album, and what is found about its labels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from torch import Tensor

from dips._estimators.reasons import IMAGE
from dips._image_study.album import Album, file_record, source_of
from dips._image_study.copies import with_contrary_copies
from dips._image_study.settings import FILE, ImageSettings
from dips._report import ImageFindings
from dips._study.folder import how_made
from dips._study.warning_log import WarningLog, caught_warnings
from dips._tools.arrays import Array
from dips._tools.observer import Observer
from dips.vision import ImageClassifier
from dips.vision._fitting import fit_observed
from dips.vision._report import findings_of


def classifier_of(settings: ImageSettings, checkpoint: Path | None = None) -> ImageClassifier:
    """A classifier with these settings, not yet fitted."""
    return ImageClassifier(
        settings.network,
        curator=settings.curator,
        n_steps=settings.steps,
        n_rounds=settings.n_rounds,
        warm_up_steps=settings.warm_up_steps,
        pilot_steps=settings.pilot_steps,
        checkpoint=checkpoint,
        random_state=settings.seed,
    )


def trained(
    album: Album,
    settings: ImageSettings,
    hidden: Array | None,
    checkpoint: Path | None,
    log: WarningLog,
    observer: Observer,
    start: dict[str, Tensor] | None = None,
) -> ImageClassifier:
    """A classifier fitted on all labels but hidden ones, whose images are used as unlabeled.

    `start` are weights that another one was pretrained to on the same images.
    """
    clf = classifier_of(settings, checkpoint)
    labels, verified = album.labels, album.verified.mask
    if hidden is not None:
        labels, verified = labels.where(~hidden, None), verified & ~hidden
    with caught_warnings() as messages:
        before = album.labels_before
        fit_observed(clf, album.images, labels, verified=verified, y_given=before, observer=observer, start=start)
    log.add("the network", messages)
    return clf


def config_of(album: Album, settings: ImageSettings, command: str | None) -> dict[str, Any]:
    """Enough to run it again."""
    return how_made(command) | {
        "unit": IMAGE,
        "settings": settings.to_json(),
        "data": [str(album.folder)],
        "unlabeled": [],
        "sources": source_of(settings, album),
        "corrections": None if settings.corrections is None else file_record(settings.corrections),
        "ids": [FILE],
        "damaged": album.read.damaged,
    }


def findings_of_album(
    album: Album,
    clf: ImageClassifier,
    settings: ImageSettings,
    config: dict[str, Any],
    log: WarningLog,
    scores: list[str] | None = None,
) -> ImageFindings:
    """Gather what the page is made from."""
    findings = findings_of(
        clf,
        album.images,
        title=album.target.name,
        command=config["command"],
        notes=album.notes,
        warnings=log.sentences(),
        scores=scores or [],
        settings={k: str(v) for k, v in settings.to_json().items() if v},
    )
    target, verified = album.target, album.verified.mask
    account = with_contrary_copies(findings.account, album.same, target.codes, verified, target.classes)
    return replace(findings, account=account)
