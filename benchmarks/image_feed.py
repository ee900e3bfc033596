"""Images a second: decoding of photographs, the feed of a streamed training, and what the training asks for.

python benchmarks/image_feed.py --images 2000 --side 96 224 --network fast
python benchmarks/image_feed.py --cold 100000

`--cold` also streams made-up images from a file that the system's memory does not hold, like a set larger than memory.
"""

from __future__ import annotations

import argparse
import json
import mmap
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from PIL import Image

from dips.vision._feed import Feed
from dips.vision._image_files import read_images
from dips.vision._image_folder import find_images
from dips.vision._image_pool import ImagePool
from dips.vision._training import Recipe, Training, _sizes

N_CLASSES, N_LABELED = 10, 500
STEPS_TO_WARM_UP = 8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", type=int, default=2000, help="photographs to make, of 640 by 480 pixels")
    parser.add_argument("--side", type=int, nargs="+", default=[96], help="sizes to train at")
    parser.add_argument("--network", default="fast")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--cold", type=int, default=0, help="made-up images in a file, to be read from the disk")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options = parser.parse_args()
    print(f"torch {torch.__version__}, {options.device}, {os.cpu_count()} cores, {options.images:,} JPEG files")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "photographs"
        make_photographs(folder, options.images)
        print(json.dumps({"bare decoding, one thread": round(decoded_per_second(folder))}), flush=True)
        for side in options.side:
            print(json.dumps(measured(folder, Path(place), side, options)), flush=True)
            if options.cold:
                print(json.dumps(from_disk(Path(place) / f"{side}.npy", side, options)), flush=True)


def measured(folder: Path, place: Path, side: int, options: argparse.Namespace) -> dict[str, float]:
    """Images a second of each stage, and steps a second of the training."""
    began = time.perf_counter()
    images = read_images(folder, find_images(folder), size=(side, side), cache=place / "cache").images
    building = len(images) / (time.perf_counter() - began)
    labels = np.where(np.arange(len(images)) < N_LABELED, np.arange(len(images)) % N_CLASSES, -1)
    recipe = Recipe(options.network, batch_size=options.batch_size)
    device = torch.device(options.device)
    streamed, resident = (ImagePool.of(images, labels, N_CLASSES, device, stream) for stream in (True, False))
    n_drawn = sum(_sizes(recipe))
    feed = Feed(streamed, _sizes(recipe), 1 + recipe.augmentation.n_strong, torch.Generator().manual_seed(0))
    feed.use(streamed.labeled_rows)
    steps = {
        name: per_second(Training(pool, recipe, pool.labeled_rows, seed=0).step, options.steps, device)
        for name, pool in (("streamed", streamed), ("resident", resident))
    }
    return {
        "side": side,
        "decoded into the cache, images/s": round(building),
        "fed, images/s": round(n_drawn * per_second(feed.load, options.steps, device)),
        "asked for by the training, images/s": round(n_drawn * steps["resident"]),
        "steps/s, images on the device": round(steps["resident"], 2),
        "steps/s, streamed": round(steps["streamed"], 2),
    }


def from_disk(path: Path, side: int, options: argparse.Namespace) -> dict[str, float]:
    """Steps a second of a training whose images are read from the disk, and the megabytes that it reads."""
    n, rng = options.cold, np.random.default_rng(0)
    made = np.lib.format.open_memmap(path, "w+", np.uint8, (n, side, side, 3))
    some = rng.integers(0, 256, (min(n, 1000), side, side, 3), dtype=np.uint8)
    for first in range(0, n, len(some)):
        made[first : first + len(some)] = some[: n - first]
    made.flush()
    images = np.load(path, mmap_mode="r")
    labels = np.where(np.arange(n) < N_LABELED, np.arange(n) % N_CLASSES, -1)
    recipe, device = Recipe(options.network, batch_size=options.batch_size), torch.device(options.device)
    pool = ImagePool.of(images, labels, N_CLASSES, device, stream=True)
    training = Training(pool, recipe, pool.labeled_rows, seed=0)
    for memory_map in (made._mmap, images._mmap):
        memory_map.madvise(mmap.MADV_DONTNEED)
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    steps = per_second(training.step, options.steps, device)
    megabytes = sum(_sizes(recipe)) * side * side * 3 / 1e6
    return {
        "side": side,
        "GB in the file": round(n * side * side * 3 / 1e9, 2),
        "steps/s, streamed from the disk": round(steps, 2),
        "MB/s of images": round(megabytes * steps),
    }


def per_second(act: Callable[[], None], n: int, device: torch.device) -> float:
    """How often an act is done in a second, after a few times that do not count."""
    for _ in range(STEPS_TO_WARM_UP):
        act()
    _wait(device)
    began = time.perf_counter()
    for _ in range(n):
        act()
    _wait(device)
    return n / (time.perf_counter() - began)


def decoded_per_second(folder: Path) -> float:
    """Photographs that Pillow decodes in a second, in full size, on one thread."""
    paths = [folder / name for name in find_images(folder)][:300]
    began = time.perf_counter()
    for path in paths:
        with Image.open(path) as image:
            image.convert("RGB").load()
    return len(paths) / (time.perf_counter() - began)


def make_photographs(folder: Path, n: int) -> None:
    """Smooth noise with a little grain: about as many bytes as a photograph of this size."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    for k in range(n):
        coarse = Image.fromarray(rng.integers(0, 256, (24, 32, 3), dtype=np.uint8)).resize((640, 480))
        grain = rng.integers(0, 12, (480, 640, 1), dtype=np.uint8)
        Image.fromarray(np.asarray(coarse) // 2 + grain).save(folder / f"{k:06}.jpg", quality=85)


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


if __name__ == "__main__":
    main()
