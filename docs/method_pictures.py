"""Draw the pictures of method.md: `python docs/method_pictures.py` writes docs/images/method/*.png."""

from pathlib import Path

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
import matplotlib.pyplot as plt
from xgboost import XGBClassifier

from dips import CuratedClassifier, PseudoLabelClassifier, characterize
from dips.datasets import flip_labels, make_quadrants

FOLDER = Path(__file__).parent / "images" / "method"
RIGHT, WRONG, UNLABELED = "#2b6cb0", "#d03b2f", "#b8bec7"
N_LABELED = 100
plt.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "savefig.dpi": 150})


def data():
    """Two quadrants: 100 labels of which 30 are wrong, 900 rows without a label."""
    X, truth = make_quadrants(1000, random_state=0)
    y = np.full(1000, -1)
    y[:N_LABELED], flipped = flip_labels(truth[:N_LABELED], 0.3, random_state=0)
    return X, truth, y, flipped


def draw_problem(X, y, flipped):
    """Few labels, some wrong, many rows without."""
    fig, ax = plt.subplots(figsize=(5.2, 3.6), layout="constrained")
    ax.scatter(*X[N_LABELED:].T, s=6, color=UNLABELED, label="no label (900)")
    for wrong, color, text in [(False, RIGHT, "right label (70)"), (True, WRONG, "wrong label (30)")]:
        for label, marker in [(0, "o"), (1, "^")]:
            part = X[:N_LABELED][(flipped == wrong) & (y[:N_LABELED] == label)]
            ax.scatter(*part.T, s=34, color=color, marker=marker, edgecolor="white", linewidth=0.5,
                       label=text if label == 0 else None)  # fmt: skip
    ax.set(xticks=[], yticks=[], title="Circles are labeled 0, triangles 1", xlim=(-1.05, 1.05))
    ax.legend(fontsize=8, loc="upper right")
    save(fig, "problem")


def draw_curves(audit, flipped):
    """The probability of the given label along one training."""
    labels = audit.samples["given_label"].to_numpy().astype(int)
    curves = audit.trajectories[np.arange(N_LABELED), :, labels]
    fig, axes = plt.subplots(1, 2, figsize=(8, 3), sharey=True, layout="constrained")
    for ax, wrong, color, text in [(axes[0], False, RIGHT, "right labels"), (axes[1], True, WRONG, "wrong labels")]:
        ax.plot(curves[flipped == wrong].T, color=color, alpha=0.35, linewidth=1)
        ax.axhline(0.5, color="0.6", linewidth=0.8, linestyle=":")
        ax.set(title=text, xlabel="trees trained so far", ylim=(0, 1))
    axes[0].set_ylabel("probability of the given label")
    save(fig, "curves")


def draw_map(samples, flipped):
    """Every label by its two averages."""
    fig, ax = plt.subplots(figsize=(5.6, 3.6), layout="constrained")
    useful = samples["useful"].to_numpy().astype(bool)
    for wrong, color, text in [(False, RIGHT, "right"), (True, WRONG, "wrong")]:
        for kept, marker, verdict in [(True, "o", "useful"), (False, "X", "suspect")]:
            part = samples[(flipped == wrong) & (useful == kept)]
            ax.scatter(part["aleatoric"], part["confidence"], s=34, color=color, marker=marker, edgecolor="white",
                       linewidth=0.4, label=f"{text}, {verdict} ({len(part)})")  # fmt: skip
    ax.set(xlabel="aleatoric uncertainty: average of p (1 − p)", ylabel="confidence: average of p", ylim=(0, 1))
    ax.legend(fontsize=8, loc="lower left")
    save(fig, "map")


def draw_gain():
    """Test accuracy by noise, ten seeds."""
    X_test, y_test = make_quadrants(4000, random_state=99)
    noises, seeds = [0, 0.1, 0.2, 0.3, 0.4], range(10)
    names = {"supervised": "0.55", "pseudo-labeling": WRONG, "curated pseudo-labeling": RIGHT}
    accuracy = {name: np.zeros((len(noises), len(seeds))) for name in names}
    for i, noise in enumerate(noises):
        for seed in seeds:
            X, y = make_quadrants(1000, random_state=seed)
            given, _ = flip_labels(y[:N_LABELED], noise, random_state=seed)
            labeled, others = X[:N_LABELED], X[N_LABELED:]
            models = [
                CuratedClassifier(curator="none", random_state=seed).fit(labeled, given),
                PseudoLabelClassifier(curator="none", random_state=seed).fit(labeled, given, others),
                PseudoLabelClassifier(random_state=seed).fit(labeled, given, others),
            ]
            for name, model in zip(names, models, strict=True):
                accuracy[name][i, seed] = 100 * model.score(X_test, y_test)
    fig, ax = plt.subplots(figsize=(5.6, 3.4), layout="constrained")
    for name, color in names.items():
        mean, error = accuracy[name].mean(axis=1), accuracy[name].std(axis=1, ddof=1) / np.sqrt(len(seeds))
        ax.errorbar(100 * np.array(noises), mean, error, color=color, marker="o", capsize=3, label=name)
        print(f"{name:25}", " ".join(f"{m:.1f} ± {e:.1f}" for m, e in zip(mean, error, strict=True)))
    ax.set(xlabel="wrong labels, %", ylabel="test accuracy, %", xticks=[0, 10, 20, 30, 40])
    ax.legend(fontsize=9)
    save(fig, "gain")


def save(fig, name):
    """One file per picture, on white."""
    FOLDER.mkdir(exist_ok=True, parents=True)
    fig.savefig(FOLDER / f"{name}.png", metadata={"Software": None})
    plt.close(fig)


if __name__ == "__main__":
    X, truth, y, flipped = data()
    backbone = XGBClassifier(n_estimators=100, learning_rate=0.05, max_depth=3, n_jobs=1)
    labeled, rows = (X[:N_LABELED], y[:N_LABELED]), np.arange(N_LABELED)
    # The default's model learns from beliefs; adaptive watches one that was given every label as it is.
    audit = characterize(backbone, *labeled, curator="adaptive", track=rows, random_state=0)
    draw_problem(X, y, flipped)
    draw_curves(audit, flipped)
    draw_map(audit.samples, flipped)
    draw_gain()
