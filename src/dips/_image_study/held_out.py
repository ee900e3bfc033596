"""Held-out images: what a network that was not trained on their labels says of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from torch import Tensor

from dips._image_study.album import Album
from dips._image_study.settings import FILE, ImageSettings
from dips._image_study.training import trained
from dips._report.metric_words import amount, amount_with_range
from dips._report.score_words import few_verified
from dips._study.account import GROUP
from dips._study.metrics import METRICS, intervals, scores_on
from dips._study.settings import Settings
from dips._study.splits import HoldOut, hold_out
from dips._study.warning_log import WarningLog
from dips._tools.observer import Observer

NETWORK = "network"
_SCORED = ("accuracy", "balanced_accuracy", "log_loss")


def images_to_hold_out(album: Album, settings: ImageSettings) -> HoldOut:
    """The labeled images that are held out: the same share of each class, drawn by the labels as they were given.

    Copies are held out together, since a network could have learned the labels of the others by heart.
    """
    drawn = Settings(settings.target, holdout=settings.holdout, seed=settings.seed)
    same = album.same[album.given.is_labeled]
    has_copies = np.unique(same).size < same.size
    return hold_out(album.given, drawn, groups=album.same if has_copies else None, now=album.target)


@dataclass(frozen=True)
class HeldOut:
    """What a network that was not trained on some labels says of their images.

    Attributes
    ----------
    frame : one line per held-out image, with the network's answers
    scores : value, low and high of each metric, by the labels as they are
    n_verified : how many of these labels somebody has checked
    on_verified : the scores by these alone; empty where they are too few
    baseline : the most frequent label, and the accuracy of always answering it
    pretrained : what the network learned from the images alone, which need not be learned again
    """

    frame: pd.DataFrame
    scores: dict[str, Any]
    n_verified: int
    on_verified: dict[str, Any]
    baseline: dict[str, Any]
    pretrained: dict[str, Tensor] | None = None

    def in_words(self) -> list[str]:
        """Say how good it is."""
        accuracy = amount_with_range("accuracy", self.scores["accuracy"])
        return [
            f"A network trained without the labels of {len(self.frame):,} held-out images has an accuracy of "
            f"{accuracy} on them, by their present labels; always {self.baseline['label']!r} would have "
            f"{amount('accuracy', self.baseline['accuracy'])}.",
            *self._on_verified_in_words(),
        ]

    def _on_verified_in_words(self) -> list[str]:
        if not self.n_verified:
            return []
        if not self.on_verified:
            return [few_verified(self.n_verified)]
        accuracy = amount_with_range("accuracy", self.on_verified["accuracy"])
        return [
            f"On the {self.n_verified:,} held-out images whose label is verified, accuracy is {accuracy}. These labels "
            "are nearly the truth, but people check doubtful images first, so these images need not be like the others."
        ]


def scored(
    album: Album, settings: ImageSettings, split: HoldOut, checkpoint: Path, log: WarningLog, observer: Observer
) -> HeldOut:
    """Train without the held-out labels, and score by them."""
    test, groups = split.test, split.groups_of_test
    hidden = np.isin(np.arange(len(album.images)), test)
    clf = trained(album, settings, hidden, checkpoint, log, observer)
    p, given = clf.predict_proba(album.images[test]), album.labels.iloc[test]
    codes = np.searchsorted(clf.classes_, given.to_numpy())
    metrics = {name: METRICS[name] for name in _SCORED}
    counts, is_verified, last = np.bincount(codes), album.verified.mask[test], len(clf.classes_) - 1
    scores = intervals(codes, {NETWORK: p}, last, NETWORK, settings.seed, metrics, groups)[NETWORK]
    on_verified = scores_on(is_verified, codes, {NETWORK: p}, last, settings.seed, metrics, groups).get(NETWORK, {})
    named = {"row": test, FILE: given.index, "given_label": given.to_numpy(), "verified": is_verified}
    if groups is not None:
        named[GROUP] = groups
    return HeldOut(
        pd.DataFrame(named).assign(**{f"p({c})": p[:, k] for k, c in enumerate(clf.classes_)}),
        _without_gain(scores),
        int(is_verified.sum()),
        _without_gain(on_verified),
        {"label": str(clf.classes_[counts.argmax()]), "accuracy": float(counts.max() / codes.size)},
        clf.pretrained_weights_,
    )


def _without_gain(scores: dict[str, Any]) -> dict[str, Any]:
    """There is one network, so it is better than no other."""
    return {name: {k: score[k] for k in ("value", "low", "high")} for name, score in scores.items()}
