"""How often ``dips fit`` keeps the right model, by several ways to choose, where the labels to choose by are dirty too.

    DIPS_DATA=... python benchmarks/choosing.py [SEEDS] [--stored]

For each table, number of labels and share of flipped ones, the four candidates answer for the labeled rows out of fold
and for rows whose true labels are known. A rule sees only the former; it is judged by the latter. What was trained is
kept in results/choosing, so that rules can be compared again; with --stored only what is there is used.
"""

from __future__ import annotations

import sys
import warnings
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import tables
from common import show
from sklearn.model_selection import StratifiedKFold

from dips._beliefs.hypotheses import symmetric_noise
from dips._beliefs.noise import calibrate_panels
from dips._study.candidates import CANDIDATES, JUDGE
from dips._study.compare import Comparison, choose, gains_over_usual
from dips._study.examples import Examples
from dips._study.metrics import METRICS
from dips._study.settings import Settings
from dips._study.truth import Truth
from dips.datasets import flip_labels

PLACE = Path(__file__).parents[1] / "results" / "choosing"
TABLES = ("adult", "covid", "german", "drug", "higgs")
SIZES, NOISES = (150, 400), (0.0, 0.2, 0.4)
N_UNLABELED, N_TEST, N_FOLDS = 1_000, 3_000, 5


def path_of(table: str, n: int, noise: float, seed: int) -> Path:
    """Where the answers of one cell are kept."""
    return PLACE / f"{table}-{n}-{noise:g}-{seed}.npz"


def answers(table: str, n: int, noise: float, seed: int) -> dict[str, np.ndarray]:
    """Labels, beliefs, and the probabilities of every candidate: out of fold and on the test rows."""
    path = path_of(table, n, noise, seed)
    if path.exists():
        with np.load(path) as stored:
            return dict(stored)
    X, y = tables.load(table)
    rows = np.random.RandomState(seed).permutation(y.size)
    labeled, others = rows[:n], rows[n:]
    test, unlabeled = np.split(others, [min(N_TEST, others.size // 2)])
    codes = y.copy()
    codes[labeled], _ = flip_labels(y[labeled], noise, random_state=seed)
    settings, unlabeled = Settings(target="", seed=seed), unlabeled[:N_UNLABELED]
    by_name = {"labels": codes[labeled], "y_test": y[test]}
    folds = list(StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed).split(labeled, codes[labeled]))
    for candidate in CANDIDATES:
        out_of_fold = np.zeros((n, int(y.max()) + 1))
        for fit, validate in folds:
            model = candidate.fit(Examples(X, codes), labeled[fit], unlabeled, settings)
            out_of_fold[validate] = model.predict_proba(X[labeled[validate]])
        model = candidate.fit(Examples(X, codes), labeled, unlabeled, settings)
        by_name |= {f"{candidate.name}_folds": out_of_fold, f"{candidate.name}_test": model.predict_proba(X[test])}
        if candidate == JUDGE:
            by_name |= {"p_wrong": model.samples_["p_wrong"].to_numpy(), "truth": y[labeled]}
            by_name |= {"rate": np.array([model.curator_.noise_rate_, *model.curator_.noise_interval_])}
    PLACE.mkdir(parents=True, exist_ok=True)
    np.savez(path, **by_name)
    return by_name


def kept(by_name: dict[str, np.ndarray], by_belief: bool, usual: str) -> str:
    """The candidate that a study keeps, by accuracy on labels as given or on what is believed of them."""
    labels, p_wrong = by_name["labels"], by_name["p_wrong"]
    belief = np.column_stack([np.where(labels == c, 1 - p_wrong, p_wrong) for c in (0, 1)])
    truth = Truth(belief) if by_belief else Truth.given(labels, 2)
    comparison = Comparison()
    comparison.of_folds = {c.name: [by_name[f"{c.name}_folds"]] for c in CANDIDATES}
    comparison.validate([truth], "accuracy", 1)
    if usual == "best":
        return max(comparison.validation, key=comparison.validation.__getitem__)
    return choose(gains_over_usual(comparison, [truth], Settings(target=""), 1, [usual]))


RULES = {  # name: by belief, what is kept unless another is clearly better
    "labels as given; curated, unless (0.1.0)": (False, "curated"),
    "labels as given; the best": (False, "best"),
    "beliefs; the best": (True, "best"),
    "labels as given; curated and unlabeled, unless": (False, "curated_pseudo"),
    "beliefs; curated and unlabeled, unless (now)": (True, "curated_pseudo"),
}


def judged(table: str, n: int, noise: float, seed: int) -> list[dict]:
    """One record per rule: how far the kept candidate is behind the truly best one, and ahead of the plain one."""
    by_name = answers(table, n, noise, seed)
    y, p = by_name["y_test"], {c.name: by_name[f"{c.name}_test"] for c in CANDIDATES}
    accuracy = {name: 100 * METRICS["accuracy"].score(y, each, 1) for name, each in p.items()}
    loss = {name: METRICS["log_loss"].score(y, each, 1) for name, each in p.items()}
    chosen = {rule: kept(by_name, *how) for rule, how in RULES.items()}
    chosen |= {f"always {c.title}": c.name for c in CANDIDATES}
    return [
        {
            "rule": rule,
            "noise": noise,
            "behind": max(accuracy.values()) - accuracy[name],
            "gain": accuracy[name] - accuracy["plain"],
            "log loss": loss[name],
        }
        for rule, name in chosen.items()
    ]


def calibrated(table: str, n: int, noise: float, seed: int) -> list[dict]:
    """Log loss and calibration error of the default, as it is and calibrated through the estimated noise."""
    by_name = answers(table, n, noise, seed)
    y, labels, p = by_name["y_test"], by_name["labels"], by_name["curated_pseudo_test"]
    out_of_fold, estimated = by_name["curated_pseudo_folds"], symmetric_noise(by_name["rate"][0], labels, p.shape[1])
    panel = calibrate_panels([out_of_fold], labels, [estimated], np.random.RandomState(0))[0]
    return [
        {"noise": noise, "rule": rule, "log loss": METRICS["log_loss"].score(y, q, 1), "error": error_of(y, q)}
        for rule, q in (("as it is", p), ("calibrated", panel([p])))
    ]


def error_of(y: np.ndarray, p: np.ndarray) -> float:
    """Expected calibration error of the predicted class in percent, in ten groups by its probability."""
    sure, right = p.max(axis=1), p.argmax(axis=1) == y
    groups = np.minimum((10 * sure).astype(int), 9)
    return 100 * sum(abs((sure - right)[groups == g].sum()) for g in range(10)) / y.size


def main() -> None:
    warnings.filterwarnings("ignore")
    n_seeds = next((int(argument) for argument in sys.argv[1:] if argument.isdecimal()), 3)
    cells = [(*cell, seed) for seed in range(n_seeds) for cell in product(TABLES, SIZES, NOISES)]
    if "--stored" in sys.argv:
        cells = [c for c in cells if path_of(*c).exists()]
    records = pd.DataFrame([record for cell in cells for record in judged(*cell)])
    records["right"] = 100 * (records["behind"] <= 0.5)
    means = records.groupby("rule", sort=False)[["right", "behind", "gain", "log loss"]].mean().round(3)
    by_noise = records.pivot_table("right", "rule", "noise").round(0).add_prefix("right at ")
    show(f"{len(cells)} cells: within half a point of the best (%), points behind it", means.join(by_noise))
    records = pd.DataFrame([record for cell in cells for record in calibrated(*cell)])
    means = records.groupby(["rule", "noise"])[["log loss", "error"]].mean().round(3)
    show("Curated and unlabeled, calibrated or not", means)


if __name__ == "__main__":
    main()
