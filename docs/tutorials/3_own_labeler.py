"""
Write your own labeler
======================

A labeler decides which unlabeled rows get a pseudo-label in a round. There are two ways to write one: a function for
a quick experiment, a class for something you keep. The default takes all rows at once, so this page uses the paper's
curator, ``curator="dips"``, which works in rounds.
"""

# %%
# A function
# ----------
# It gets :class:`~dips.labelers.Candidates`, which describes the rows that are still unlabeled, and returns positions
# among them and a label (0 to C - 1) for each.
import matplotlib.pyplot as plt
import numpy as np

from dips import PseudoLabelClassifier
from dips.datasets import flip_labels, make_quadrants
from dips.labelers import Labeler

X, truth = make_quadrants(600, random_state=0)
y = np.full(600, -1)
y[:80], _ = flip_labels(truth[:80], 0.2, random_state=0)


def surest_twenty(candidates):
    """The 20 rows with the most probable class, whatever the class is."""
    best = candidates.probabilities.max(axis=1)
    rows = np.argsort(-best)[:20]
    return rows, candidates.probabilities[rows].argmax(axis=1)


clf = PseudoLabelClassifier(labeler=surest_twenty, curator="dips", random_state=0).fit(X, y)
taken = clf.samples_[clf.samples_["source"] == "pseudo"]

fig, ax = plt.subplots(figsize=(5, 3.2), layout="constrained")
ax.scatter(*X[80:].T, s=6, color="0.8", label="unlabeled")
points = ax.scatter(*X[taken.index].T, s=26, c=taken["round"], cmap="viridis")
ax.set(xticks=[], yticks=[], title="Rows with a pseudo-label, by round")
_ = fig.colorbar(points, ticks=sorted(taken["round"].unique()), label="round")

# %%
# A class
# -------
# A class has settings and a name, and leaves the bookkeeping to its base class. ``choose`` returns a label, a score
# and a yes or no for each candidate; the base class takes the best rows of each class, up to the round's cap.


class Margin(Labeler):
    """Rows whose two most probable classes are far apart."""

    name = "margin"

    def __init__(self, gap=0.6):
        self.gap = gap

    def choose(self, candidates):
        second, first = np.sort(candidates.probabilities, axis=1)[:, -2:].T
        return candidates.probabilities.argmax(axis=1), first - second, first - second > self.gap


for labeler in ("margin", Margin(gap=0.9)):
    clf = PseudoLabelClassifier(labeler=labeler, curator="dips", random_state=0).fit(X, y)
    n_pseudo = (clf.samples_["source"] == "pseudo").sum()
    print(f"{labeler!s:20} {n_pseudo} pseudo-labels, accuracy {clf.score(X, truth):.3f}")

# %%
# :doc:`/contributing` shows the same class as a file of the package, with the checks that run on it. A curator is
# written the same way: a function of :class:`~dips.curators.Evidence` that returns a mask, or a subclass of
# :class:`~dips.curators.Curator`.


def not_often_wrong(evidence):
    """Useful rows had the most probable class for at least half of the training."""
    return evidence.statistics["correctness"] >= 0.5


clf = PseudoLabelClassifier(curator=not_often_wrong, random_state=0).fit(X, y)
print(f"accuracy {clf.score(X, truth):.3f}")
