"""The image experiments: several curators and seeds on one data set, side by side on one device."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
import torch
from sklearn.base import clone

from dips._typing import Array
from dips.curators import CURATORS
from dips.curators.base import Curator
from dips.datasets import flip_labels
from dips.vision.datasets import ImageData
from dips.vision.pool import Pool
from dips.vision.run import Plan, Run, together
from dips.vision.training import Recipe


@dataclass(frozen=True)
class Arm:
    """One of the things compared: a curator and how it is used."""

    name: str
    curator: str | Curator
    recipe: Recipe
    plan: Plan = field(default_factory=Plan)


def labeled_part(y: Array, n_labeled: int, seed: int) -> Array:
    """Return the labels with all but `n_labeled` of them hidden (-1), as many of each class as it has labels for."""
    rng = np.random.RandomState(seed)
    classes = np.unique(y)
    hidden = np.full(y.shape, -1)
    for c in classes:
        rows = rng.permutation(np.flatnonzero(y == c))[: n_labeled // classes.size]
        hidden[rows] = c
    return hidden


def noisy_labels(data: ImageData, noise: str | float, n_labeled: int, seed: int) -> Array:
    """Labels of the training images, -1 where hidden: what people said, or the truth with symmetric noise."""
    if isinstance(noise, str):
        return labeled_part(data.noisy[noise], n_labeled, seed)
    return flip_labels(labeled_part(data.y_train, n_labeled, seed), noise, random_state=seed)[0]


def compare(
    data: ImageData,
    arms: Iterable[Arm],
    seeds: Iterable[int],
    *,
    noise: str | float,
    n_labeled: int,
    device: torch.device,
    log: Path | None = None,
) -> list[dict[str, Any]]:
    """Train every arm with every seed, all side by side, and return a record for each checkpoint and curation.

    The true labels are used for two things alone: the accuracy on the test images, and how many of the dropped and the
    kept labels are wrong.
    """
    records: list[dict[str, Any]] = []
    runs = []
    began = time.perf_counter()
    file = None if log is None else log.open("a")
    test_images = torch.as_tensor(data.X_test, device=device)
    for seed in seeds:
        labels = noisy_labels(data, noise, n_labeled, seed)
        pool = Pool.of(data.X_train, labels, int(data.y_test.max()) + 1, device)
        is_wrong = labels != data.y_train
        for arm in arms:
            note = partial(_note, records, file, began, {"arm": arm.name, "seed": seed}, pool.labeled_rows, is_wrong)
            curator = CURATORS.resolve(arm.curator) if isinstance(arm.curator, str) else clone(arm.curator)
            validation = test_images, data.y_test
            runs.append(Run(pool, arm.recipe, arm.plan, curator, seed, validation=validation, log=note))
    together([run.proceed() for run in runs])
    if file is not None:
        file.close()
    return records


def _note(
    records: list[dict[str, Any]],
    file: IO[str] | None,
    began: float,
    of_run: dict[str, Any],
    rows: Array,
    is_wrong: Array,
    record: dict[str, Any],
) -> None:
    record = {**of_run, **record, "wall_s": time.perf_counter() - began}
    if "useful" in record:
        record |= _judged(record.pop("useful"), rows, is_wrong)
    records.append(record)
    if file is not None:
        file.write(json.dumps(record) + "\n")
        file.flush()


def _judged(useful: Array, rows: Array, is_wrong: Array) -> dict[str, float]:
    """How many labels are dropped and what share of the dropped, and of the kept, is wrong."""
    dropped = np.setdiff1d(rows, useful)
    return {
        "n_kept": int(useful.size),
        "n_out": int(dropped.size),
        "wrong_kept": float(is_wrong[useful].mean()),
        "wrong_dropped": float(is_wrong[dropped].mean()) if dropped.size else float("nan"),
    }


def steps_to(records: list[dict[str, Any]], accuracy: float) -> int | None:
    """Steps until the accuracy is first reached; None if it never is."""
    return min((r["step"] for r in records if r.get("accuracy", 0) >= accuracy), default=None)
