"""The share of wrong labels as pilots estimate it, beside the true share: what opens the gate of images' default.

`look wrong` is the share of labels that pilots contradict, and `accuracy` theirs on images without a label.

DIPS_DATA=folder python benchmarks/image_noise.py --data cifar10n --noise 0.0 worse --labels 1000 --seeds 3
DIPS_DATA=folder python benchmarks/image_noise.py --data cifar10n eurosat --method fixmatch freematch --noise 0

Small steps (--steps 120 --batch-size 16 --unlabeled-ratio 3 --lr 0.03) from pretrained weights take minutes on a CPU.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import torch
from image_pretraining import shared_pretraining

from dips._paper.images.measures import noisy_labels, some_of
from dips.curators import ImageAuto
from dips.datasets._image_sets import ImageData, load_images
from dips.vision._fitting import METHODS
from dips.vision._image_pool import ImagePool
from dips.vision._label_noise import estimate_label_noise
from dips.vision._optimizer import Schedule
from dips.vision._pilots import Pilots
from dips.vision._training import Recipe
from dips.vision._turns import interleave, steps

N_COMPARED = 2000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", default=["cifar10n"])
    parser.add_argument("--noise", nargs="+", default=["0.0", "worse"])
    parser.add_argument("--labels", type=int, nargs="+", default=[1000])
    parser.add_argument("--method", nargs="+", choices=METHODS, default=["fixmatch"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=2600, help="of each pilot")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--unlabeled-ratio", type=int, default=7)
    parser.add_argument("--lr", type=float, default=0.06)
    parser.add_argument("--network", default="fast")
    parser.add_argument("--pretrain-steps", type=int, default=26_000)
    parser.add_argument("--pretrained", help="a folder for the weights of one pretraining on each set; without, none")
    parser.add_argument("--max-images", type=int)
    options = parser.parse_args()
    data = {name: some_of(load_images(name), options.max_images) for name in options.data}
    recipes = {name: _recipe(name, options) for name in options.method}
    starts = {}
    if options.pretrained is not None:
        Path(options.pretrained).mkdir(parents=True, exist_ok=True)
        for name, images in data.items():
            path = Path(options.pretrained) / f"{name}.safetensors"
            starts[name] = shared_pretraining(path, options.network, images.X_train, options.pretrain_steps)
    print("data     method    noise labels seed  wrong  estimate  interval      look wrong  gate    accuracy  seconds")
    for seed, noise, n_labeled, name, method in product(
        range(options.seeds), options.noise, options.labels, options.data, options.method
    ):
        labels = noisy_labels(data[name], _share_or_name(noise), n_labeled, seed)
        recipe = replace(recipes[method], start=starts.get(name))
        line = _line(data[name], labels, recipe, options.steps, noise, seed)
        print(f"{name:8} {method:9} {line}", flush=True)


def _recipe(method: str, options: argparse.Namespace) -> Recipe:
    schedule = Schedule(options.steps, lr=options.lr)
    return Recipe(options.network, METHODS[method](), schedule, options.batch_size, options.unlabeled_ratio)


def _line(data: ImageData, labels: np.ndarray, recipe: Recipe, n_steps: int, noise: str, seed: int) -> str:
    began = time.perf_counter()
    curator, accuracy = asked(data, labels, recipe, n_steps, seed)
    rows = np.flatnonzero(labels >= 0)
    wrong, (low, high) = (labels != data.y_train)[rows], curator.noise_interval_
    gate = "open" if curator.is_open else "closed"
    return (
        f"{noise:>5} {rows.size:6} {seed:4}  {wrong.mean():5.3f}  {curator.noise_rate_:8.3f}  {low:.3f}-{high:.3f}   "
        f"{curator.look_wrong_:10.3f}  {gate:6}  {accuracy:8.3f}  {time.perf_counter() - began:7.1f}"
    )


def asked(data: ImageData, labels: np.ndarray, recipe: Recipe, n_steps: int, seed: int) -> tuple[ImageAuto, float]:
    """Return a curator that heard the pilots, and their accuracy on images that they were given without a label."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    pool = ImagePool.of(data.X_train, labels, int(data.y_train.max()) + 1, device)
    rows, curator = pool.labeled_rows, ImageAuto()
    order = np.random.RandomState(seed).permutation(rows.size)
    pilots = Pilots(pool, recipe, rows, labels[rows], order, curator.n_pilots, seed + 100)
    interleave([steps(training, n_steps) for training in pilots.trainings])
    compared = np.random.RandomState(5).permutation(np.flatnonzero(labels < 0))[:N_COMPARED]
    answers, opinions = pilots.answers(), pilots.opinions(compared)
    noise = estimate_label_noise(answers, opinions, labels[rows])
    curator.remember(noise.rate, (noise.low, noise.high), answers, labels[rows])
    return curator, float((opinions.argmax(axis=2) == data.y_train[compared]).mean())


def _share_or_name(noise: str) -> str | float:
    try:
        return float(noise)
    except ValueError:
        return noise


if __name__ == "__main__":
    main()
