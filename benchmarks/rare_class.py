"""Does a rare class hide the wrong labels of the others? ``python benchmarks/rare_class.py [SEEDS]``

Made-up tables of six columns and 600 labels, of which none, 8 or 40 are of a fourth class; a fifth of the labels are
wrong, in proportion to the classes or among the three larger ones. And 3, 5, 8 and 9 among scikit-learn's digits, with
8 fives of 400, a quarter of the labels of the others wrong. A row is a mean over seeds: the share of wrong labels, its
estimate and interval, the share of wrong labels that are suspects, and accuracy on other rows.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from sklearn.datasets import load_digits

from dips import CuratedClassifier, characterize

N_LABELS, N_OTHERS, N_DIGITS, N_RARE_DIGITS = 600, 2_000, 400, 8
PROPORTIONAL, AMONG_OTHERS = "in proportion", "among the others"


def made_up(rare: int, rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Rows, classes, which rows have labels, and the rare class: by their first columns, the rare one by the fourth."""
    X, has_label = rng.normal(size=(N_LABELS + N_OTHERS, 6)), np.arange(N_LABELS + N_OTHERS) < N_LABELS
    true = np.where(X[:, 0] + 0.6 * X[:, 1] > 0.7, 0, np.where(X[:, 2] - X[:, 0] > 0.7, 1, 2))
    for rows, count in ((np.flatnonzero(has_label), rare), (np.flatnonzero(~has_label), rare * N_OTHERS // N_LABELS)):
        chosen = rng.choice(rows, count, replace=False)
        true[chosen] = 3
        X[chosen, 3] += 3.5
    return X, true, has_label, 3


def digits(rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """The same of 3, 5, 8 and 9, of which few fives have labels; the others are left out among the labels."""
    X, digit = load_digits(return_X_y=True)
    X, digit = X[np.isin(digit, (3, 5, 8, 9))], digit[np.isin(digit, (3, 5, 8, 9))]
    order = rng.permutation(digit.size)
    fives = np.flatnonzero((digit[order] == 5) & (np.arange(digit.size) < N_DIGITS))
    kept = np.delete(np.arange(digit.size), fives[N_RARE_DIGITS:])
    X, true = X[order][kept], np.searchsorted((3, 5, 8, 9), digit[order][kept])
    return X, true, kept < N_DIGITS, 1


def with_errors(true: np.ndarray, rate: float, spared: int | None, rng: np.random.RandomState) -> np.ndarray:
    """Labels of which a share is wrong, each naming a class as often as that occurs; one may be spared both ways."""
    labels, counts = true.copy(), np.bincount(true).astype(float)
    for row in np.flatnonzero((rng.rand(true.size) < rate) & (true != spared)):
        others = counts.copy()
        others[[true[row]] if spared is None else [true[row], spared]] = 0
        labels[row] = rng.choice(others.size, p=others / others.sum())
    return labels


def measured(X: np.ndarray, true: np.ndarray, has_label: np.ndarray, labels: np.ndarray) -> list[float]:
    """The numbers of a row of the table, for one seed."""
    rows, wrong = X[has_label], labels != true[has_label]
    audit = characterize(None, rows, labels, random_state=0)
    curator, suspect = audit.model.curator_, ~audit.samples["useful"].to_numpy(dtype=bool)
    accuracy = []
    for name in ("none", "auto"):
        model = CuratedClassifier(curator=name, random_state=0).fit(rows, labels)
        accuracy.append(model.score(X[~has_label], true[~has_label]))
    return [wrong.mean(), curator.noise_rate_, *curator.noise_interval_, suspect[wrong].mean(), *accuracy]


def main() -> None:
    warnings.simplefilter("ignore")
    seeds = range(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
    cases = [
        ("made up, no rare class", 0, PROPORTIONAL),
        ("made up, 8 rare rows", 8, AMONG_OTHERS),
        ("made up, 8 rare rows", 8, PROPORTIONAL),
        ("made up, 40 rare rows", 40, PROPORTIONAL),
        ("digits, 8 rare rows", None, AMONG_OTHERS),
    ]
    print(
        f"{'table':24}{'errors':18}{'wrong':>7}{'estimate':>10}{'interval':>15}{'found':>7}{'plain':>8}{'default':>9}"
    )
    for name, rare, way in cases:
        rows = []
        for seed in seeds:
            rng = np.random.RandomState(seed)
            X, true, has_label, rare_class = digits(rng) if rare is None else made_up(rare, rng)
            rate, spared = (0.25 if rare is None else 0.2), rare_class if way == AMONG_OTHERS else None
            rows.append(measured(X, true, has_label, with_errors(true[has_label], rate, spared, rng)))
        wrong, estimate, low, high, found, plain, default = 100 * np.mean(rows, axis=0)
        interval = f"{low:.1f} to {high:.1f}"
        print(
            f"{name:24}{way:18}{wrong:7.1f}{estimate:10.1f}{interval:>15}{found:7.0f}{plain:8.1f}{default:9.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
