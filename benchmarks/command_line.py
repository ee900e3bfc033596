"""What ``dips fit`` prints and finds on real tables whose labels are partly hidden and partly flipped.

    DIPS_DATA=... python benchmarks/command_line.py [TABLE ...]

For each table and each share of flipped labels, runs the command as a person would, then compares with the truth: how
many of the suspects are flipped (precision), how many of the flipped are suspects (recall), and the accuracy of the
shipped model, and of a plain one, on the rows whose labels were hidden.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from dips._files import Preparation, read_table
from dips._study import Run
from dips._study.candidates import BY_NAME
from dips._study.examples import Examples
from dips._study.settings import Settings
from dips.datasets import flip_labels

TABLES = {  # name: target, columns known only after the outcome, labels given
    "adult": ("salary", [], 1000),
    "covid": ("is_dead", ["Days_hospital_to_outcome"], 1000),
    "credit_default": ("default.payment.next.month", [], 3000),
}
SHARES = (0.0, 0.2)


def dirty_table(name: str, share: float) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Return the table with few, dirty labels, the true labels, and which rows were flipped."""
    target, after, n_labeled = TABLES[name]
    frame = pd.read_parquet(Path(os.environ["DIPS_DATA"], f"{name}.parquet")).drop(columns=after)
    truth = frame[target].astype(str).str.strip().to_numpy()
    labeled = np.random.RandomState(0).permutation(len(frame))[:n_labeled]
    given, wrong = flip_labels(truth[labeled], share, random_state=0)
    labels, flipped = np.full(len(frame), None, dtype=object), np.zeros(len(frame), dtype=bool)
    labels[labeled], flipped[labeled] = given, wrong
    return frame.assign(**{target: labels}), truth, flipped


def accuracy_of_plain(run: Run, frame: pd.DataFrame, target: str, hidden: np.ndarray, truth: np.ndarray) -> float:
    table = read_table(frame)
    preparation = Preparation(run.model.preparation.schema).learn(table)
    X, classes = preparation.encode(table), run.model.classes
    codes = frame[target].map({str(c): k for k, c in enumerate(classes)}).fillna(-1).to_numpy(dtype=int)
    model = BY_NAME["plain"].fit(Examples(X, codes), np.flatnonzero(codes >= 0), hidden, Settings(target=target))
    return float((np.array(classes, dtype=str)[model.predict(X[hidden])] == truth[hidden]).mean())


def study(name: str, share: float, place: Path) -> None:
    target = TABLES[name][0]
    frame, truth, flipped = dirty_table(name, share)
    path, folder = place / f"{name}.csv", place / f"{name}-{share:.0%}"
    frame.to_csv(path, index=False)
    print(f"\n== {name}, {share:.0%} of the labels flipped\n$ dips fit {path.name} --target {target}", flush=True)
    command = [sys.executable, "-m", "dips", "fit", str(path), "--target", target, "--out", str(folder)]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    run = Run(folder)
    suspects, hidden = run.suspects()["row"].to_numpy() - 1, np.flatnonzero(frame[target].isna())
    right = (run.predict(frame).astype(str)[hidden] == truth[hidden]).mean()
    plain = accuracy_of_plain(run, frame, target, hidden, truth)
    print(f"against the truth, {hidden.size:,} hidden labels: accuracy {right:.1%}, of the plain model {plain:.1%}")
    if flipped.any():
        n_found = flipped[suspects].sum()
        print(
            f"{flipped.sum()} labels were flipped; {n_found} of {suspects.size} suspects are among them, "
            f"precision {flipped[suspects].mean():.0%}, recall {n_found / flipped.sum():.0%}, "
            f"of the first 50 {flipped[suspects[:50]].mean():.0%}"
        )


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        for name in sys.argv[1:] or TABLES:
            for share in SHARES:
                study(name, share, Path(place))


if __name__ == "__main__":
    main()
