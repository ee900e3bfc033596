"""FixMatch or FreeMatch, plain and with curators, on noisy labels: all runs side by side on one device.

DIPS_DATA=folder python benchmarks/vision_accuracy.py --data cifar10n --noise worse --labels 1000 --steps 16000
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import torch

from dips.vision.auto import ImageAuto
from dips.vision.datasets import load_images
from dips.vision.experiments import Arm, compare, steps_to
from dips.vision.fixmatch import FixMatch
from dips.vision.freematch import FreeMatch
from dips.vision.optimizer import Schedule
from dips.vision.percentile import Percentile
from dips.vision.run import Plan
from dips.vision.training import Recipe

CURATORS = {"none": "none", "percentile": Percentile(), "auto": ImageAuto(), "dips": "dips", "small_loss": "small_loss"}
METHODS = ["fixmatch", "freematch"]
ACCURACIES = (0.65, 0.70, 0.75, 0.80, 0.85)


def arms(options: argparse.Namespace) -> list[Arm]:
    schedule = Schedule(options.steps, lr=options.lr)
    method = FixMatch() if options.method == "fixmatch" else FreeMatch(memory=options.memory)
    recipe = Recipe(options.network, method, schedule, options.batch_size)
    plan = Plan(options.warm_up, options.rounds, options.checkpoints)
    return [Arm(c, CURATORS[c], recipe, plan) for c in options.curators]


def with_spread(values: list[float]) -> str:
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{np.mean(values):.2f} ± {error:.2f}"


def summarize(records: list[dict]) -> None:
    """Print final accuracies, steps to accuracies, and how good the curation was over time."""
    for arm in dict.fromkeys(r["arm"] for r in records):
        of_arm = [r for r in records if r["arm"] == arm]
        by_seed = [[r for r in of_arm if r["seed"] == seed] for seed in dict.fromkeys(r["seed"] for r in of_arm)]
        finals = [100 * [r["accuracy"] for r in one if "accuracy" in r][-1] for one in by_seed]
        print(f"{arm}: final accuracy {with_spread(finals)} {np.round(finals, 2).tolist()}")
        print("  steps to", {a: [steps_to(one, a) for one in by_seed] for a in ACCURACIES})
        for t in sorted({r["round"] for r in of_arm if r["event"] == "curation"}):
            judged = [r for r in of_arm if r["event"] == "curation" and r["round"] == t]
            mean = {k: np.mean([r[k] for r in judged]) for k in ("n_kept", "wrong_kept", "wrong_dropped", "n_returned")}
            print(f"  round {t}:", {k: round(float(v), 3) for k, v in mean.items()})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="cifar10n")
    parser.add_argument("--noise", default="worse", help="a name of human labels, or a rate of symmetric noise")
    parser.add_argument("--labels", type=int, default=1000)
    parser.add_argument("--method", default="fixmatch", choices=METHODS)
    parser.add_argument(
        "--memory", type=float, default=0.999, help="of FreeMatch's thresholds; 0.99 for short schedules"
    )
    parser.add_argument("--curators", nargs="+", default=["none", "percentile", "auto"], choices=CURATORS)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--network", default="fast")
    parser.add_argument("--steps", type=int, default=16_000)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--lr", type=float, default=0.06)
    parser.add_argument("--warm-up", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--checkpoints", type=int, default=5)
    parser.add_argument("--log", type=Path, help="JSON lines are added to this file")
    parser.add_argument("--show", action="store_true", help="print what the file of an earlier run holds")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--max-images", type=int)
    options = parser.parse_args()
    if options.show:
        summarize([json.loads(line) for line in options.log.read_text().splitlines()])
        return
    data = load_images(options.data).head(options.max_images)
    noise = options.noise if options.noise in data.noisy else float(options.noise)
    device = torch.device(options.device)
    summarize(
        compare(
            data, arms(options), options.seeds, noise=noise, n_labeled=options.labels, device=device, log=options.log
        )
    )


if __name__ == "__main__":
    main()
