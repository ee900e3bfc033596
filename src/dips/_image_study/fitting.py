"""From a folder of images to a run folder: read, score on held-out images, train on all, write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dips._image_study.album import read_album
from dips._image_study.held_out import NETWORK, HeldOut, images_to_hold_out, scored
from dips._image_study.keeping import mark_of
from dips._image_study.settings import LABEL, ImageSettings
from dips._image_study.training import config_of, findings_of_album, trained
from dips._image_study.waiting import tell_how_long
from dips._persistence.export import write_frame
from dips._report import ImageFindings
from dips._report.suspects import is_suspect
from dips._study.folder import RunFolder
from dips._study.run import Run
from dips._study.warning_log import PythonWarnings, WarningLog, issue
from dips._tools.files import expanded, make_folder, write_json
from dips._tools.observer import Observer
from dips.vision._report import write_folder

MODEL = "model/network.safetensors"


def fit_images(
    folder: Path | str,
    out: Path | str = "run",
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
    rounds: int | None = None,
    size: int | None = None,
    skip_damaged: bool = False,
    skip_missing: bool = False,
    holdout: float = 0.2,
    seed: int = 0,
    force: bool = False,
    command: str | None = None,
    observer: Observer | None = None,
) -> Run:
    """Train a network on a folder of images, and write a run folder with a report: ``dips fit`` on images.

    Parameters
    ----------
    folder : path
        JPEG, PNG and other files, in folders of any depth.
    out : path
        The folder to write; it appears only once it is complete. A study that was stopped continues from its last round
        when called again.
    labels : path, optional
        The table with the labels; without one, the folder that a file is in is its label.
    target : str
        The column of that table with the labels.
    id : str, optional
        The column with the names of the files; by default the one called file, or else the first.
    unlabeled_mark, keep_label, merge_labels, map_label
        How to read the labels; see :func:`fit`.
    verified : str, optional
        The column of that table that says yes where someone has checked the label.
    corrections : path, optional
        A file with reviewers' decisions.
    network, curator : str
        By name.
    steps : int
        How many steps to train; 20,000 are meant for a GPU.
    rounds : int, optional
        How many rounds; by default 20, or 5 if there are few steps.
    size : int, optional
        Height and width that images are resized to. By default the size that most images have, if it is up to 128
        pixels, else 96 by 96.
    skip_damaged : bool
        Leave out files that cannot be read.
    skip_missing : bool
        Leave out lines of the table of labels whose file is not in the folder.
    holdout : float
        Share of the labeled images to hold out, up to 0.5, to score a network that was not trained on them; 0 for none.
    seed : int
        Seed of everything random.
    force : bool
        Replace a run that exists in `out`.
    command : str, optional
        The command line to record in config.json.
    observer : Observer, optional
        Receives stages, data and warnings while the study runs; without one, warnings are Python warnings.
    """
    observer = observer or PythonWarnings()
    settings = ImageSettings.of(
        labels=labels, target=target, id=id, unlabeled_mark=unlabeled_mark, keep_label=keep_label,
        merge_labels=merge_labels, map_label=map_label, verified=verified, corrections=corrections, network=network,
        curator=curator, steps=steps, rounds=rounds, size=size, skip_damaged=skip_damaged,
        skip_missing=skip_missing, holdout=holdout, seed=seed,
    )  # fmt: skip
    with RunFolder(out, force).held() as place:
        findings = _fit(place, expanded(folder), settings, command, observer)
    issue(findings.warnings, observer)
    return Run(out)


def _fit(
    place: RunFolder, folder: Path, settings: ImageSettings, command: str | None, observer: Observer
) -> ImageFindings:
    observer.message("reading", 0.0)
    album = read_album(folder, settings, observer)
    settings = replace(settings, map_label=album.target.words.mapped)  # divided where labels end
    observer.on_data(album, {})
    split = images_to_hold_out(album, settings) if settings.holdout else None  # refused now, not after the work
    config = config_of(album, settings, command)
    place.begin(mark_of(album, config))
    tell_how_long(album, settings, observer)
    log = WarningLog(album.target.classes)
    held_out = None
    if split is not None:
        observer.message("training without the held-out labels", 0.1)
        held_out = scored(album, settings, split, place.state / "held_out", log, observer)
    observer.message("training on all labels", 0.1 if split is None else 0.5)
    start = None if held_out is None else held_out.pretrained
    clf = trained(album, settings, None, place.state / "all", log, observer, start)
    observer.message("writing", 0.95)
    findings = findings_of_album(album, clf, settings, config, log, [] if held_out is None else held_out.in_words())
    make_folder(place.staging / "model")
    clf.save(place.staging / MODEL)
    write_folder(clf, findings, place.staging, config)
    write_json(place.staging / "metrics.json", _metrics(findings, held_out))
    if held_out is not None:
        write_frame(held_out.frame, place.staging / "held_out.parquet")
    place.finish()
    return findings


def _metrics(findings: ImageFindings, held_out: HeldOut | None) -> dict[str, Any]:
    account, is_given = findings.account, findings.is_given
    return {
        "metric": "accuracy",
        "chosen": NETWORK,
        "test": {} if held_out is None else {NETWORK: held_out.scores},
        "test_verified": {NETWORK: held_out.on_verified} if held_out is not None and held_out.on_verified else {},
        "baseline": None if held_out is None else held_out.baseline,
        "rows": {
            "all": len(account),
            "labeled": int(is_given.sum()),
            "unlabeled": int((~is_given).sum()),
            "test": 0 if held_out is None else len(held_out.frame),
            "verified": int(account["verified"].sum()),
            "test_verified": 0 if held_out is None else held_out.n_verified,
        },
        "labels": {
            "estimated_share_wrong": findings.noise_rate,
            "share_wrong_interval": findings.noise_interval,
            "n_suspects": int(is_suspect(account).sum()),
            "n_listed": int(account["suspicion"].notna().sum()),
            "why_all_useful": findings.why_all_useful,
        },
        "reading": {"notes": findings.notes},
        "warnings": findings.warnings,
    }
