"""A folder of colors and a table of their labels, and how the commands are told of them."""

import numpy as np
import pandas as pd
from PIL import Image

CLASSES = ("blue", "green", "red")
QUICK = ["--steps", "16", "--network", "tiny", "--rounds", "2", "--holdout", "0.25"]
QUICKLY = {"steps": 4, "network": "tiny"}
N, N_LABELED, N_WRONG = 48, 30, 3


def make_colors(place):
    """Make a folder of colors, of which some have a label, the first of them wrong; and a table of these."""
    (place / "colors" / "more").mkdir(parents=True)
    rng = np.random.RandomState(0)
    lines = []
    for k in range(N):
        pixels = rng.randint(0, 120, (12, 16, 3)).astype(np.uint8)
        pixels[..., 2 - k % 3] += 100
        name = f"{'more/' if k % 2 else ''}{k:02}.png"
        Image.fromarray(pixels).save(place / "colors" / name)
        if k < N_LABELED:
            lines.append((name, CLASSES[(k + (k < N_WRONG)) % 3], "yes" if k == N_WRONG else "no"))
    pd.DataFrame(lines, columns=["path", "color", "checked"]).to_csv(place / "labels.csv", index=False)
    return place


def labels_of(place):
    return {"labels": place / "labels.csv", "target": "color", "id": "path"}


def labeled(place, *more):
    return [str(place / "colors"), "--labels", str(place / "labels.csv"), "-t", "color", "--id", "path", *more]
