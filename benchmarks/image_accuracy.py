"""How good a classifier of images becomes, in how many minutes, and what averaging over views adds.

DIPS_DATA=folder python benchmarks/image_accuracy.py --noise worse --labels 1000 --seeds 11 --steps 140000
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from sklearn.metrics import log_loss, roc_auc_score

from dips._paper.images.measures import noisy_labels, some_of
from dips.datasets._image_sets import ImageData, load_images
from dips.vision import ImageClassifier
from dips.vision._views import AS_IT_IS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="cifar10n")
    parser.add_argument("--noise", default="worse", help="the name of human labels, or a share of even noise")
    parser.add_argument("--labels", type=int, default=1000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--steps", type=int, default=26_000)
    parser.add_argument("--pilot-steps", type=int)
    parser.add_argument("--method", default="fixmatch")
    parser.add_argument("--curator", default="auto")
    parser.add_argument("--network", default="fast")
    parser.add_argument("--max-images", type=int)
    parser.add_argument(
        "--log", help="a file for the accuracy at every checkpoint, so that a run cut short tells something"
    )
    options = parser.parse_args()
    data = some_of(load_images(options.data), options.max_images)
    noise = float(options.noise) if options.noise.replace(".", "").isdigit() else options.noise
    for seed in options.seeds:
        clf = ImageClassifier(
            options.network,
            method=options.method,
            curator=options.curator,
            n_steps=options.steps,
            pilot_steps=options.pilot_steps,
            log=options.log,
            random_state=seed,
        )
        print(f"seed {seed}", _line(clf, data, noisy_labels(data, noise, options.labels, seed)), flush=True)


def _line(clf: ImageClassifier, data: ImageData, labels: np.ndarray) -> str:
    began = time.perf_counter()
    clf.fit(data.X_train, labels, data.X_test, data.y_test)
    minutes = (time.perf_counter() - began) / 60
    scores = [f"six views {_scores(clf, data)}"]
    clf.views_ = AS_IT_IS
    scores.insert(0, f"one view {_scores(clf, data)}")
    return "; ".join([f"{minutes:.1f} minutes", *scores, _suspects(clf, data, labels), _curve(clf)])


def _scores(clf: ImageClassifier, data: ImageData) -> str:
    p = clf.predict_proba(data.X_test)
    accuracy = (clf.classes_[p.argmax(axis=1)] == data.y_test).mean()
    return f"{100 * accuracy:.2f} %, log loss {log_loss(data.y_test, p, labels=clf.classes_):.3f}"


def _suspects(clf: ImageClassifier, data: ImageData, labels: np.ndarray) -> str:
    rows = labels >= 0
    wrong, samples = (labels != data.y_train)[rows], clf.samples_[rows]
    useful, p_wrong = samples["useful"].to_numpy(), samples["p_wrong"].to_numpy(dtype=float)
    said = (
        f"{100 * wrong[useful].mean():.1f} % of {useful.sum()} useful labels wrong, {100 * wrong.mean():.1f} % of all"
    )
    if wrong.all() or not wrong.any() or np.isnan(p_wrong).any():
        return said
    return f"{said}, AUC of p_wrong {roc_auc_score(wrong, p_wrong):.3f}"


def _curve(clf: ImageClassifier) -> str:
    """Minutes and accuracy at the end of some rounds."""
    rounds = clf.history_[clf.history_["round"] > 0].iloc[3::4]
    points = zip(rounds["elapsed_s"] / 60, 100 * rounds["accuracy"], strict=True)
    return "curve " + ", ".join(f"{minutes:.1f}: {accuracy:.1f}" for minutes, accuracy in points)


if __name__ == "__main__":
    main()
