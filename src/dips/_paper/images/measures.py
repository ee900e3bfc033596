"""Trains once on an image set with few labels, and measures the result."""

from __future__ import annotations

import base64
import io
import warnings
from collections.abc import Generator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from sklearn.base import clone

from dips._tools.arrays import Array, Rows
from dips._tools.observer import Observer
from dips.curators._base import Curator
from dips.datasets import flip_labels
from dips.datasets._image_sets import ImageData
from dips.exceptions import InputError
from dips.vision._image_pool import ImagePool
from dips.vision._rounds import CurationPlan, ImageRounds
from dips.vision._training import Recipe
from dips.vision._turns import interleave

_MAX_EXAMPLES = 40
_TILES_PER_ROW = 8


def some_of(data: ImageData, n: int | None) -> ImageData:
    """Return n training and n test images, at random and the same ones every time; None returns all."""
    if n is None:
        return data
    train, test = (np.random.RandomState(0).permutation(y.size)[:n] for y in (data.y_train, data.y_test))
    return replace(
        data,
        X_train=data.X_train[train],
        y_train=data.y_train[train],
        X_test=data.X_test[test],
        y_test=data.y_test[test],
        noisy={name: labels[train] for name, labels in data.noisy.items()},
    )


def labeled_part(y: Array, n_labeled: int, seed: int) -> Array:
    """Return the labels with all but `n_labeled` of them hidden (-1); every class keeps equally many."""
    rng = np.random.RandomState(seed)
    classes = np.unique(y)
    if n_labeled < classes.size:
        raise InputError(f"{n_labeled} labels are too few for {classes.size} classes; each needs at least one.")
    hidden = np.full(y.shape, -1)
    for c in classes:
        rows = rng.permutation(np.flatnonzero(y == c))[: n_labeled // classes.size]
        hidden[rows] = c
    return hidden


def noisy_labels(data: ImageData, noise: str | float, n_labeled: int, seed: int) -> Array:
    """Labels of the training images, -1 where hidden: those that people gave, or the truth with symmetric noise."""
    if isinstance(noise, str):
        if noise not in data.noisy:
            known = ", ".join(data.noisy) or "none"
            raise InputError(f"The set has no human labels called {noise!r}; choose from {known}.")
        return labeled_part(data.noisy[noise], n_labeled, seed)
    return flip_labels(labeled_part(data.y_train, n_labeled, seed), noise, random_state=seed)[0]


def train_and_measure(
    data: ImageData,
    labels: Array,
    recipe: Recipe,
    plan: CurationPlan,
    curator: Curator,
    seed: int,
    device: torch.device,
) -> Generator[None, None, dict[str, Any]]:
    """Train once; return how accurate the network became, how long it took, and how good the curation was.

    It yields after every few steps, so that several can share one device. The true labels are used only for the
    accuracy on the test images, and to count how many useful labels and how many suspects are wrong.
    """
    pool = ImagePool.of(data.X_train, labels, int(max(data.y_train.max(), data.y_test.max())) + 1, device)
    test = torch.as_tensor(data.X_test, device=device)
    if device.type == "cuda":
        _rehearse(pool, recipe, curator, seed)
    account = _Account(pool.labeled_rows, labels != data.y_train)
    run = ImageRounds(pool, recipe, plan, clone(curator), seed, validation=(test, data.y_test), observer=account)
    yield from run.proceed()
    last = account.curve[-1]
    return {
        "accuracy": last["accuracy"],
        "top5": _top5(run.training.probabilities(test), data.y_test),
        "training_s": last["elapsed_s"],
        "n_labeled": int(pool.labeled_rows.size),
        "n_images": int(labels.size),
        "n_test": int(data.y_test.size),
        "share_wrong": float(account.is_wrong[pool.labeled_rows].mean()),
        "curve": account.curve,
        "curation": account.curation,
        "examples": _examples(run, data),
    }


def _rehearse(pool: ImagePool, recipe: Recipe, curator: Curator, seed: int) -> None:
    """Compile everything that the training needs, so that its time is that of the training alone."""
    brief = replace(recipe, schedule=replace(recipe.schedule, n_steps=4), pretrain_steps=min(recipe.pretrain_steps, 4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a curator thinks after four steps means nothing
        interleave(
            [
                ImageRounds(
                    pool, brief, CurationPlan(warm_up_steps=2, n_rounds=2, n_checkpoints=2), clone(curator), seed
                ).proceed()
            ]
        )


@dataclass
class _Account(Observer):
    """Keeps the accuracy at every checkpoint, and how good every curation was."""

    rows: Rows  # with a label
    is_wrong: Array  # (n,)
    curve: list[dict[str, Any]] = field(default_factory=list)
    curation: list[dict[str, Any]] = field(default_factory=list)

    def on_record(self, record: dict[str, Any]) -> None:
        """Note a checkpoint or a curation."""
        if record["event"] == "checkpoint":
            of_checkpoint = ("round", "step", "accuracy", "elapsed_s", "coverage", "loss")
            self.curve.append({name: record[name] for name in of_checkpoint})
        elif record["event"] == "curation":
            judged = self._judged(record["useful"])
            self.curation.append({"round": record["round"], **judged, "n_returned": record["n_useful_again"]})

    def _judged(self, useful: Rows) -> dict[str, Any]:
        """How many labels are useful, and what share of the useful ones and of the suspects is wrong."""
        suspects = np.setdiff1d(self.rows, useful)
        return {  # by the names that records have had from the first run on
            "n_kept": int(useful.size),
            "wrong_kept": float(self.is_wrong[useful].mean()),
            "wrong_dropped": float(self.is_wrong[suspects].mean()) if suspects.size else None,
        }


def _top5(p: Array, y: Array) -> float | None:
    """Share of images whose class is among the five most probable; None if there are no more than five classes."""
    if p.shape[1] <= 5:
        return None
    return float((np.argsort(p, axis=1)[:, -5:] == y[:, None]).any(axis=1).mean())


def _examples(run: ImageRounds, data: ImageData) -> dict[str, Any] | None:
    """Some of the suspects, evenly spread by confidence, the lowest first; None if there are none."""
    suspects = np.flatnonzero(run.is_given & ~run.useful)
    if not suspects.size:
        return None
    by_confidence = suspects[np.argsort(run.confidence[suspects], kind="stable")]
    chosen = by_confidence[np.unique(np.linspace(0, suspects.size - 1, _MAX_EXAMPLES).round().astype(int))]
    names = data.class_names or [str(c) for c in range(run.pool.n_classes)]
    return {
        "rows": chosen.tolist(),
        "given": [names[c] for c in run.labels[chosen]],
        "true": [names[c] for c in data.y_train[chosen]],
        "tile": list(data.X_train.shape[1:3]),
        "tiles_a_row": _TILES_PER_ROW,
        "mosaic": _mosaic(data.X_train[chosen]),
    }


def _mosaic(images: Array) -> str:
    """Images (n, height, width, channels) as tiles of one PNG picture, in base 64."""
    from PIL import Image

    n, height, width, channels = images.shape
    n_rows = -(-n // _TILES_PER_ROW)
    tiles = np.zeros((n_rows * _TILES_PER_ROW, height, width, channels), dtype=np.uint8)
    tiles[:n] = images
    grid = tiles.reshape(n_rows, _TILES_PER_ROW, height, width, channels).swapaxes(1, 2)
    grid = grid.reshape(n_rows * height, _TILES_PER_ROW * width, channels)
    file = io.BytesIO()
    Image.fromarray(grid[..., 0] if channels == 1 else grid).save(file, "PNG", optimize=True)
    return base64.b64encode(file.getvalue()).decode()
