"""Steps a second of FixMatch, where a step's time goes, and what it cannot go below.

`floor` is the time to read and write once what convolutions and norms must, `norms` the share of norms in it, and
`convolutions` the measured time of the convolutions alone, each as one library call. A norm needs the statistics of all
that its convolution wrote, so it cannot be part of that call: `over_calls` is the network's time over both together.

DIPS_DATA=folder python benchmarks/vision_throughput.py --networks wrn-28-2 fast
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace

import torch
from step_times import breakdown, convolutions_ms, copy_bandwidth, floor_ms, steps_per_second
from torch import nn

from dips._paper.images.measures import noisy_labels
from dips.datasets._image_sets import load_images
from dips.vision._image_pool import ImagePool
from dips.vision._method import Supervised
from dips.vision._training import Recipe


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", nargs="+", default=["wrn-28-2", "fast"])
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--runs", type=int, nargs="*", default=[], help="also time so many runs side by side")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--max-images", type=int)
    options = parser.parse_args()
    device = torch.device(options.device)
    data = load_images("cifar10n")
    labels = noisy_labels(data, "worse", 1000, seed=0)
    n = options.max_images
    pool = ImagePool.of(data.X_train[:n], labels[:n], 10, device)
    bandwidth = copy_bandwidth(device, 2**32 if device.type == "cuda" else 2**24)
    print(f"torch {torch.__version__}, {bandwidth / 1e12:.2f} TB/s read and written by a copy")
    for network in options.networks:
        recipe = Recipe(network, batch_size=options.batch_size)
        for name, each in (("FixMatch", recipe), ("warm-up", replace(recipe, method=Supervised()))):
            times_ms = breakdown(pool, each, options.steps) | {
                "floor": floor_ms(pool, each, bandwidth),
                "norms": floor_ms(pool, each, bandwidth, layers=(nn.BatchNorm2d,)),
                "convolutions": convolutions_ms(pool, each),
            }
            pace = 1000 / times_ms["step"]
            over_calls = times_ms["network"] / (times_ms["convolutions"] + times_ms["norms"])
            record = {f"{k}_ms": round(v, 3) for k, v in times_ms.items()}
            record |= {"over_calls": round(over_calls, 2), "steps_per_second": round(pace, 1)}
            images = round(pace * each.images_per_step)
            print(json.dumps({"network": network, "method": name, "images_a_second": images, **record}), flush=True)
        for n_runs in options.runs:
            total = steps_per_second(pool, recipe, n_runs, options.steps)
            print(f"{network}: {n_runs} runs side by side, {total:.1f} steps/s in all", flush=True)


if __name__ == "__main__":
    main()
