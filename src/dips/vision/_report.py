"""The report of an image classifier: its findings, laid out as those of a table, and written as the same page."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dips._report import ImageFindings, render, summarize_images
from dips._report.images import image_account
from dips._tools.arrays import Array
from dips._tools.files import without_nan, write_whole
from dips.exceptions import InputError
from dips.vision._images import as_images

if TYPE_CHECKING:
    from dips.vision._classifier import ImageClassifier


def write_report(
    clf: ImageClassifier, path: Path, X: Any, class_names: Sequence[str] | None = None, title: str = "images"
) -> None:
    """Write the page of a fitted classifier; :meth:`ImageClassifier.write_report` says what is wanted."""
    found = findings_of(clf, X, class_names, title)
    write_whole(path, render(without_nan(summarize_images(found))).encode())


def findings_of(
    clf: ImageClassifier, X: Any, class_names: Sequence[str] | None = None, title: str = "images"
) -> ImageFindings:
    """Gather what the page is made from; refuse, before any work, what it cannot be made from."""
    images, classes = _viewable(X, len(clf.samples_)), _names_of(clf.classes_, class_names)
    if clf.label_curves_.shape[1] == 0:
        raise InputError('curator="none" judged no label, so there is nothing to report; fit with another curator.')
    return ImageFindings(
        images=images,
        account=image_account(clf.samples_, dict(zip(clf.classes_.tolist(), classes, strict=True)), clf.curator_),
        classes=classes,
        curves=clf.label_curves_.to_numpy(),
        checkpoints=clf.label_curves_.columns.get_level_values("round").to_numpy(),
        history=clf.history_,
        curator=clf.curator_,
        noise_rate=getattr(clf.curator_, "noise_rate_", None),
        title=title,
        backbone=f"network {_text(clf.network)}, method {_text(clf.method)}",
        made_at=datetime.now(UTC).isoformat(timespec="seconds"),
        settings={k: _text(v) for k, v in clf.get_params(deep=False).items() if v is not None},
    )


def _viewable(X: Any, n: int) -> Array:
    images = as_images(X)
    if len(images) != n:
        raise InputError(
            f"The classifier was fitted on {n:,} images, and X has {len(images):,}; give the same images in the same "
            "order."
        )
    if images.shape[3] not in (1, 3):
        raise InputError(
            f"Images of {images.shape[3]} channels cannot be shown; give a version of them with 1 or 3, such as "
            "X[..., :3]."
        )
    return images


def _names_of(classes: Array, given: Sequence[str] | None) -> list[str]:
    names = classes.tolist() if given is None else given
    names = [str(c) for c in names] if np.ndim(names) == 1 else []  # a text, a set or a mapping is no list of names
    if len(names) != len(classes) or len(set(names)) < len(names):
        raise InputError(
            f"class_names must be a list of {len(classes)} different names, one for each of classes_ in their order; "
            f"got {given!r}."
        )
    return names


def _text(value: Any) -> str:
    return str(getattr(value, "__name__", value))
