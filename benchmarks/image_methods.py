"""FreeMatch against FixMatch on scikit-learn's digits, with few labels, clean and dirty: which one the default takes.

python benchmarks/image_methods.py [SEEDS] [JOBS]

Images of 8 by 8 pixels, the network `tiny`, 400 steps without pretraining: minutes on a CPU. Seeds from 10 on.
"""

from __future__ import annotations

import sys
from itertools import product
from typing import Any

import numpy as np
import torch
from common import run_grid, show, with_error
from sklearn.datasets import load_digits

from dips.datasets import flip_labels
from dips.vision import Augmentation, ImageClassifier

METHODS = ("fixmatch", "freematch")
N_TEST, LABELS, NOISES = 600, (40, 150), (0.0, 0.2)


def main() -> None:
    n_seeds, jobs = ([int(a) for a in sys.argv[1:3]] + [6, 2][len(sys.argv) - 1 :])[:2]
    grid = product(range(10, 10 + n_seeds), LABELS, NOISES)
    frame = run_grid("image_methods", records_of, grid, jobs)
    wide = frame.pivot_table(index=["labels", "noise", "seed"], columns="method", values="accuracy")
    wide["difference"] = wide["freematch"] - wide["fixmatch"]
    means = wide.groupby(["labels", "noise"]).agg(with_error)
    means.index = means.index.map(lambda cell: f"{cell[0]} labels, {100 * cell[1]:.0f} % wrong")
    means.loc["all"] = wide.agg(with_error)
    show("Accuracy, %", means)


def records_of(seed: int, n_labeled: int, noise: float) -> list[dict[str, Any]]:
    """Accuracy of both methods with the same labels."""
    torch.set_num_threads(1)
    digits = load_digits()
    X, y = (digits.images * 15.9).astype(np.uint8)[..., None], digits.target
    rows = np.random.RandomState(seed).permutation(y.size)
    test, train = rows[:N_TEST], rows[N_TEST:]
    labels = np.where(np.arange(train.size) < n_labeled, y[train], -1)
    labels = flip_labels(labels, noise, random_state=seed)[0]
    cell = {"seed": seed, "labels": n_labeled, "noise": noise}
    return [cell | {"method": name, "accuracy": _accuracy(name, seed, X, y, train, test, labels)} for name in METHODS]


def _accuracy(
    method: str, seed: int, X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray, labels: np.ndarray
) -> float:
    clf = ImageClassifier(
        "tiny",
        method=method,
        n_steps=400,
        n_rounds=5,
        warm_up_steps=100,
        pilot_steps=100,
        batch_size=32,
        unlabeled_ratio=3,
        pretrain_steps=0,
        augmentation=Augmentation(flip=False),
        random_state=seed,
    )
    return float((clf.fit(X[train], labels).predict(X[test]) == y[test]).mean())


if __name__ == "__main__":
    main()
