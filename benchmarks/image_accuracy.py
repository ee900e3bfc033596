"""How good a classifier of images becomes, in how many minutes, and what averaging over views adds.

DIPS_DATA=folder python benchmarks/image_accuracy.py --noise worse --labels 1000 --seeds 10 --steps 40000

Minutes are those of a seed from the start of its pretraining, if it has one of its own, to the last step; seeds that
are trained side by side share the device.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch
from image_pretraining import shared_pretraining
from sklearn.metrics import log_loss, roc_auc_score

from dips._paper.images.measures import noisy_labels, some_of
from dips.datasets._image_sets import ImageData, load_images
from dips.vision import ImageClassifier
from dips.vision._fitting import keep, prepared
from dips.vision._observer import FitObserver
from dips.vision._turns import interleave
from dips.vision._views import AS_IT_IS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="cifar10n")
    parser.add_argument("--noise", default="worse", help="the name of human labels, or a share of symmetric noise")
    parser.add_argument("--labels", type=int, default=1000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--steps", type=int, default=26_000)
    parser.add_argument("--pretrain-steps", type=int)
    parser.add_argument("--pilot-steps", type=int)
    parser.add_argument("--method", default="freematch")
    parser.add_argument("--curator", default="auto")
    parser.add_argument("--network", default="fast")
    parser.add_argument("--max-images", type=int)
    parser.add_argument("--at-once", type=int, default=1, help="seeds that share the device")
    parser.add_argument("--pretrained", help="a file for the weights of one pretraining that all seeds share")
    parser.add_argument(
        "--log", help="a file for the accuracy at every checkpoint, so that a run cut short tells something"
    )
    options = parser.parse_args()
    data = some_of(load_images(options.data), options.max_images)
    noise = float(options.noise) if options.noise.replace(".", "").isdigit() else options.noise
    start = None
    if options.pretrained is not None:
        n_steps = options.pretrain_steps or options.steps
        start = shared_pretraining(Path(options.pretrained), options.network, data.X_train, n_steps)
    for first in range(0, len(options.seeds), options.at_once):
        seeds = options.seeds[first : first + options.at_once]
        labels = {seed: noisy_labels(data, noise, options.labels, seed) for seed in seeds}
        for seed, clf in _fitted(options, data, labels, start).items():
            print(f"seed {seed}", _line(clf, data, labels[seed]), flush=True)


def _classifier(options: argparse.Namespace, seed: int) -> ImageClassifier:
    return ImageClassifier(
        options.network,
        method=options.method,
        curator=options.curator,
        n_steps=options.steps,
        pretrain_steps=options.pretrain_steps,
        pilot_steps=options.pilot_steps,
        random_state=seed,
    )


def _fitted(
    options: argparse.Namespace, data: ImageData, labels: dict[int, np.ndarray], start: dict[str, torch.Tensor] | None
) -> dict[int, ImageClassifier]:
    """A classifier for each seed, trained side by side."""
    fits = {seed: _classifier(options, seed) for seed in labels}
    log = FitObserver(False, 1, None if options.log is None else Path(options.log))
    test = (data.X_test, data.y_test)
    runs = {s: prepared(clf, data.X_train, labels[s], *test, observer=log, start=start) for s, clf in fits.items()}
    interleave([run.proceed() for run, _ in runs.values()])
    for seed, clf in fits.items():
        keep(clf, *runs[seed], None)
    return fits


def _line(clf: ImageClassifier, data: ImageData, labels: np.ndarray) -> str:
    scores = [f"six views {_scores(clf, data)}"]
    clf.views_ = AS_IT_IS
    scores.insert(0, f"one view {_scores(clf, data)}")
    minutes = f"{clf.history_['elapsed_s'].iloc[-1] / 60:.1f} minutes"
    return "; ".join([minutes, *scores, _noise(clf), _suspects(clf, data, labels), _curve(clf)])


def _noise(clf: ImageClassifier) -> str:
    """What the pilots estimate, if there were any."""
    if not hasattr(clf.curator_, "noise_interval_"):
        return "no pilots"
    low, high = clf.curator_.noise_interval_
    return f"noise {100 * clf.curator_.noise_rate_:.1f} % ({100 * low:.1f} to {100 * high:.1f})"


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
