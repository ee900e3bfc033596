"""Draw the pictures of network.md: `python docs/network_pictures.py` writes docs/images/network. Needs PyTorch."""

from pathlib import Path

import matplotlib as mpl
import torch

mpl.use("Agg")
import matplotlib.pyplot as plt

from dips.network._prior import _causal, _classes, _functions, _latent, _noise, _trees
from dips.network._prior._draws import Draws, ranks, standardized
from dips.network._prior._tables import Shape, make_tables
from dips.network._settings import PriorSettings

FOLDER = Path(__file__).parent / "images" / "network"
COLORS = ["#2b6cb0", "#e8a33d", "#3d9a6b"]
WRONG = "#d03b2f"
ROWS = 400
CRISP = (2.5, 60.0)  # scores decide the class nearly alone
plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "savefig.dpi": 100})


def scatter(ax, x, classes, title, wrong=None):
    """Two columns against each other, coloured by class; wrong labels circled."""
    ax.scatter(x[:, 0], x[:, 1], s=7, c=[COLORS[c] for c in classes.tolist()], linewidth=0)
    if wrong is not None:
        ax.scatter(x[wrong, 0], x[wrong, 1], s=34, facecolor="none", edgecolor=WRONG, linewidth=0.9)
    ax.set(xticks=[], yticks=[])
    ax.set_title(title, fontsize=9)


def draw_functions():
    """One table for every kind of function from columns to classes."""
    draws = Draws("cpu", 4)
    x = standardized(_latent.correlated(draws, 6, ROWS, 2)[0])
    kinds = (_trees.trees, _functions.linear, _functions.additive, _functions.waves, _functions.products)
    fig, axes = plt.subplots(2, 4, figsize=(9.2, 4.6), layout="constrained")
    for number, (ax, kind) in enumerate(zip(axes.flat, [*kinds, _functions.prototypes], strict=False)):
        table = x[number : number + 1]
        scatter(ax, table[0], _classes.by_score(draws, kind(draws, table, 3), CRISP).true[0], kind.__name__)
    caused, scores = _causal.causal(draws, 1, ROWS, 2, 3)
    scatter(axes.flat[6], caused[0], _classes.by_score(draws, scores, CRISP).true[0], "a network of causes")
    clustered, cluster = _latent.clustered(draws, 1, ROWS, 2, 6)
    scatter(axes.flat[7], clustered[0], cluster[0] % 3, "clusters")
    save(fig, "functions")


def draw_noise():
    """The same table under each kind of wrong labels."""
    draws = Draws("cpu", 9)
    x = standardized(draws.normal(1, ROWS, 2))
    labels = _classes.by_score(draws, _functions.waves(draws, x, 2) * 6, CRISP)
    fig, axes = plt.subplots(1, 5, figsize=(11, 2.5), layout="constrained")
    for number, (ax, name) in enumerate(zip(axes, _noise.KINDS, strict=True)):
        kind = torch.tensor([[number]])
        by_class = _noise.wrong_chance(draws, kind, labels, ranks(x), 2)
        wrong = draws.chance(1, ROWS, p=0.15 * by_class.gather(2, labels.true.unsqueeze(-1)).squeeze(-1))
        given = torch.where(wrong, 1 - labels.true, labels.true)
        scatter(ax, x[0], given[0], f"{name}: {wrong.float().mean():.0%} wrong", wrong[0])
    save(fig, "noise")


def draw_tables():
    """Whole tables of two columns as the network gets them; rows without a label are grey."""
    shape = Shape(150, 250, 8, 2, 3)
    tables = make_tables(Draws("cpu", 6), 60, shape, PriorSettings(clean=0.2))
    plain = [i for i in range(60) if not tables.categorical[i].any() and not tables.values[i].isnan().any()][:8]
    fig, axes = plt.subplots(2, 4, figsize=(9.2, 4.6), layout="constrained")
    for ax, i in zip(axes.flat, plain, strict=True):
        x, given = tables.values[i], tables.given[i]
        ax.scatter(x[150:400, 0], x[150:400, 1], s=4, color="#c8ccd2", linewidth=0)
        wrong = given != tables.true[i, :150]
        scatter(ax, x[:150], given, f"{wrong.float().mean():.0%} of 150 labels wrong", wrong)
    save(fig, "tables")


def save(fig, name):
    """Write one picture."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    fig.savefig(FOLDER / f"{name}.png")
    plt.close(fig)


if __name__ == "__main__":
    draw_functions()
    draw_noise()
    draw_tables()
