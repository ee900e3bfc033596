"""Which labels of a folder of images to look at first."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from dips._image_study.album import read_album
from dips._image_study.keeping import kept_until_done
from dips._image_study.settings import LABEL, ImageSettings
from dips._image_study.training import config_of, findings_of_album, trained
from dips._image_study.waiting import tell_how_long
from dips._report import ImageFindings, render, summarize_images
from dips._review.notebook import NotebookReview
from dips._review.pictures import material_of_pictures
from dips._study.pictured import Audited
from dips._study.reviewing import notebook_review
from dips._study.warning_log import PythonWarnings, WarningLog, issue
from dips._tools.files import expanded, without_nan
from dips._tools.observer import Observer
from dips._tools.wording import counted
from dips.vision import ImageClassifier
from dips.vision._report import neighbors_of, samples_of


@dataclass(frozen=True)
class ImageAudit(Audited):
    """The labels of images, judged.

    A notebook shows it as a short page; :meth:`plot_map` and :meth:`plot_curves` draw with matplotlib.

    Attributes
    ----------
    classifier : fitted on all labels
    findings : what the page is made from
    folder : where the files are
    """

    classifier: ImageClassifier
    findings: ImageFindings = field(repr=False)
    folder: Path

    def __repr__(self) -> str:
        n_suspects = int((~self.suspects()["useful"]).sum())
        found = f"{counted(int(self.findings.is_given.sum()), 'label')}, {n_suspects:,} suspect"
        return f"Audit of {self.folder}: {found}; see suspects(), samples and write_report()"

    @cached_property
    def samples(self) -> pd.DataFrame:
        """Data frame, one row per image."""
        return samples_of(self.findings)

    @cached_property
    def summary(self) -> dict[str, Any]:
        """What the page shows, as plain data."""
        return without_nan(summarize_images(self.findings))

    def review(self, folder: Path | str | None = None, *, reviewer: str = "", blinded: bool = False) -> NotebookReview:
        """Look at the suspects one by one, in a notebook.

        Parameters
        ----------
        folder : path, optional
            Where decisions are kept. The same folder continues a review. By default it is a temporary one.
        reviewer : str
            Who looks; by default the page asks.
        blinded : bool
            Hide given and suggested labels until one has answered.
        """
        findings, samples = self.findings, self.samples
        made_of = [dict(findings.settings), samples[["row", "given_label"]].astype(str).to_numpy().tolist()]
        checksum = hashlib.sha256(json.dumps(made_of, sort_keys=True).encode()).hexdigest()
        material = material_of_pictures(
            self.summary, samples, findings.images[findings.is_given],
            neighbors_of(self.classifier, findings), checksum,
            originals=self.folder,
        )  # fmt: skip
        return notebook_review(material, render(self.summary), folder, reviewer, blinded)


def audit_images(
    folder: Path | str,
    *,
    labels: Path | str | None = None,
    target: str = LABEL,
    id: str | None = None,
    unlabeled_mark: str | Sequence[str] = (),
    keep_label: str | Sequence[str] = (),
    merge_labels: bool | Mapping[str, str] | None = None,
    map_label: Mapping[str, str] | Sequence[str] = (),
    verified: str | None = None,
    corrections: Path | str | None = None,
    network: str = "fast",
    curator: str = "auto",
    steps: int = 20_000,
    size: int | None = None,
    skip_damaged: bool = False,
    skip_missing: bool = False,
    seed: int = 0,
    command: str | None = None,
    observer: Observer | None = None,
) -> ImageAudit:
    """Find the labels of a folder of images that look wrong: ``dips audit`` on images.

    An audit that was stopped continues when called again; until it is done, your cache folder keeps its training.

    Parameters
    ----------
    folder : path
        JPEG, PNG and other files, in folders of any depth.
    labels, target, id, unlabeled_mark, keep_label, merge_labels, map_label
        Where the labels are, and how to read them; see :func:`fit_images`.
    verified, corrections
        Labels that someone has checked; see :func:`fit_images`.
    network, curator, steps, size, skip_damaged, skip_missing, seed
        What to train on, and how; see :func:`fit_images`.
    command : str, optional
        The command line to show in the report.
    observer : Observer, optional
        Receives stages and warnings while the audit runs; without one, warnings are Python warnings.
    """
    observer = observer or PythonWarnings()
    settings = ImageSettings.of(
        labels=labels, target=target, id=id, unlabeled_mark=unlabeled_mark, keep_label=keep_label,
        merge_labels=merge_labels, map_label=map_label, verified=verified, corrections=corrections, network=network,
        curator=curator, steps=steps, size=size, skip_damaged=skip_damaged, skip_missing=skip_missing, seed=seed,
    )  # fmt: skip
    observer.message("reading", 0.0)
    album = read_album(expanded(folder), settings, observer)
    observer.on_data(album, {})
    tell_how_long(album, replace(settings, holdout=0.0), observer)
    log = WarningLog(album.target.classes)
    observer.message("judging labels", 0.1)
    config = config_of(album, settings, command)
    with kept_until_done(album, config, observer) as checkpoint:
        clf = trained(album, settings, None, checkpoint, log, observer)
    findings = findings_of_album(album, clf, settings, config, log)
    issue(findings.warnings, observer)
    return ImageAudit(clf, findings, album.folder)
