"""The report of an image classifier: checks what the user gave, and hands plain data to the page."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from torch import nn

from dips._estimators.reasons import IMAGE
from dips._persistence.export import write_frame
from dips._persistence.model import versions
from dips._report import ImageFindings, render, summarize_images
from dips._report.images import image_account
from dips._review.pictures import IMAGES, NEIGHBORS, nearest
from dips._tools.arrays import Array
from dips._tools.files import make_folder, without_nan, write_json, write_whole
from dips.exceptions import InputError, OutputError
from dips.vision._image_pool import on_host
from dips.vision._images import as_images
from dips.vision._training import predict

if TYPE_CHECKING:
    from dips.vision._classifier import ImageClassifier

_COARSE = 16  # pixels are enough to tell which images are alike


def write_report(
    clf: ImageClassifier, path: Path, X: Any, class_names: Sequence[str] | None = None, title: str = "images"
) -> None:
    """Write the page of a fitted classifier; the parameters are those of :meth:`ImageClassifier.write_report`."""
    findings = findings_of(clf, X, class_names, title)
    write_whole(path, render(without_nan(summarize_images(findings))).encode())


def write_review(
    clf: ImageClassifier, folder: Path, X: Any, class_names: Sequence[str] | None = None, title: str = "images"
) -> None:
    """Write the folder of a review; the parameters are those of :meth:`ImageClassifier.write_review`."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise OutputError(f"{folder} exists already; choose another name.")
    findings = findings_of(clf, X, class_names, title)
    make_folder(folder)
    config = {"made_by": "dips.vision", "made_at": findings.made_at, "unit": IMAGE, "settings": dict(findings.settings)}
    write_folder(clf, findings, folder, config | {"data": [], "unlabeled": [], "versions": versions()})


def write_folder(clf: ImageClassifier, findings: ImageFindings, folder: Path, config: dict[str, Any]) -> None:
    """Write what a review needs, and the page; of the images, those that have a label."""
    summary, samples = without_nan(summarize_images(findings)), samples_of(findings)
    np.save(folder / IMAGES, findings.images[findings.is_given])
    np.save(folder / NEIGHBORS, neighbors_of(clf, findings))
    for name in ("samples.parquet", "samples.csv"):
        write_frame(samples, folder / name)
    write_json(folder / "report.json", summary, indent=None)
    write_whole(folder / "report.html", render(summary).encode())
    write_json(folder / "config.json", config)


def samples_of(findings: ImageFindings) -> pd.DataFrame:
    """The account with the images' names, where they have any, as a column."""
    samples, names = findings.account.reset_index(drop=True), findings.account.index
    if names.tolist() != list(range(len(samples))):
        samples.insert(1, names.name or "name", [str(name) for name in names])
    return samples


def neighbors_of(clf: ImageClassifier, findings: ImageFindings) -> Array:
    """For each labeled image those most like it: by what the network sees, or else by their pixels."""
    given = np.flatnonzero(findings.is_given)
    images = findings.images[given]
    features = _features(clf, images) if images.shape[3] == clf.scaling_.mean.numel() else None
    if features is None:
        step = max(1, max(images.shape[1:3]) // _COARSE)
        features = images[:, ::step, ::step].reshape(len(images), -1).astype(np.float32)
        features -= features.mean(axis=0)
    return given[nearest(features)]


def _features(clf: ImageClassifier, images: Array) -> Array | None:
    """What the last layer of the network is given (n, d); None for a network that does not end in a linear layer."""
    layers = [layer for layer in clf.network_.modules() if isinstance(layer, nn.Linear)]
    if not layers:
        return None
    seen: list[Array] = []
    hook = layers[-1].register_forward_pre_hook(lambda layer, inputs: seen.append(inputs[0].float().cpu().numpy()))
    try:
        predict(clf.network_, clf.scaling_, on_host(images))  # as they are: one view of each
    finally:
        hook.remove()
    return np.concatenate(seen)


def findings_of(
    clf: ImageClassifier, X: Any, class_names: Sequence[str] | None = None, title: str = "images", **more: Any
) -> ImageFindings:
    """Gather what the page is made from, with `more` of its fields; refuse unusable input before any work."""
    images, classes = _viewable(X, len(clf.samples_)), _names_of(clf.classes_, class_names)
    if clf.label_curves_.shape[1] == 0:
        raise InputError('curator="none" judged no label, so there is nothing to report; fit with another curator.')
    told = {"settings": {k: _text(v) for k, v in clf.get_params(deep=False).items() if v is not None}} | more
    return ImageFindings(
        images=images,
        account=image_account(clf.samples_, dict(zip(clf.classes_.tolist(), classes, strict=True)), clf.curator_),
        classes=classes,
        curves=clf.label_curves_.to_numpy(),
        checkpoints=clf.label_curves_.columns.get_level_values("round").to_numpy(),
        history=clf.history_,
        curator=clf.curator_,
        noise_rate=getattr(clf.curator_, "noise_rate_", None),
        noise_interval=getattr(clf.curator_, "noise_interval_", None),
        title=title,
        backbone=f"network {_text(clf.network)}, method {_text(clf.method)}",
        made_at=datetime.now(UTC).isoformat(timespec="seconds"),
        **told,
    )


def _viewable(X: Any, n: int) -> Array:
    images = as_images(X)
    if len(images) != n:
        raise InputError(
            f"The classifier was fitted on {n:,} images, but X has {len(images):,}; pass the same images in the same "
            "order."
        )
    if images.shape[3] not in (1, 3):
        raise InputError(
            f"Images of {images.shape[3]} channels cannot be shown; pass a version of them with 1 or 3, such as "
            "X[..., :3]."
        )
    return images


def _names_of(classes: Array, given: Sequence[str] | None) -> list[str]:
    names = classes.tolist() if given is None else given
    names = [str(c) for c in names] if np.ndim(names) == 1 else []  # a text, a set or a mapping is not a list of names
    if len(names) != len(classes) or len(set(names)) < len(names):
        raise InputError(
            f"class_names must be a list of {len(classes)} different names, one for each of classes_, in their order; "
            f"got {given!r}."
        )
    return names


def _text(value: Any) -> str:
    return str(getattr(value, "__name__", value))
