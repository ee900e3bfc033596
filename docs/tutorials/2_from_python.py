"""
From Python: a scikit-learn classifier
======================================

:class:`~dips.PseudoLabelClassifier` is used like any other scikit-learn classifier. This page shows what goes in and
what can be read off the fitted object.
"""

# %%
# Rows and labels
# ---------------
# 100 labels, 30 of them wrong, and 900 rows without a label. Unlabeled rows are marked by -1 here; in a column of
# texts they would be ``None`` or ``NaN``.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from dips import CuratedClassifier, PseudoLabelClassifier, characterize
from dips.datasets import flip_labels, make_quadrants

X, truth = make_quadrants(1000, random_state=0)
X_test, y_test = make_quadrants(2000, random_state=1)
y = np.full(1000, -1)
y[:100], flipped = flip_labels(truth[:100], 0.3, random_state=0)

# %%
# Fit, and compare
# ----------------
# ``curator="none"`` switches curation off, which gives plain supervised training and plain pseudo-labeling.
models = {
    "supervised": CuratedClassifier(curator="none", random_state=0).fit(X[:100], y[:100]),
    "pseudo-labeling": PseudoLabelClassifier(curator="none", random_state=0).fit(X, y),
    "curated pseudo-labeling": PseudoLabelClassifier(random_state=0).fit(X, y),
}
for name, model in models.items():
    print(f"{name:25} {model.score(X_test, y_test):.3f}")

# %%
# The account of every row
# ------------------------
# ``samples_`` has one line per input row: where its label came from, the probability ``p_wrong`` that it is wrong, how
# it was learned, and whether it is useful or a suspect.
clf = models["curated pseudo-labeling"]
clf.samples_.iloc[[0, 1, 2, 500, 501]]

# %%
# ``history_`` has one line per round. The default has two: 0 judges the given labels, 1 adds the unlabeled rows.
clf.history_

# %%
# Wrong labels are learned differently. Here is each of the 100 given labels by the two numbers that the method is
# built on:
given = clf.samples_[:100]
fig, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
for wrong, color, text in [(False, "C0", "right"), (True, "C3", "wrong")]:
    for useful, marker, verdict in [(True, "o", "useful"), (False, "x", "suspect")]:
        part = given[(flipped == wrong) & (given["useful"] == useful)]
        ax.scatter(part["aleatoric"], part["confidence"], c=color, marker=marker, s=26, label=f"{text}, {verdict}")
ax.set(xlabel="aleatoric uncertainty", ylabel="confidence in the given label")
_ = ax.legend(fontsize=8)

# %%
# Any backbone
# ------------
# The first argument is the backbone: any classifier with ``predict_proba``. Without it you get XGBoost with slow,
# shallow trees.
clf = PseudoLabelClassifier(HistGradientBoostingClassifier(max_iter=60), labeler="flexmatch", random_state=0)
clf.fit(X[:100], y[:100], X[100:])  # unlabeled rows may also be passed separately
print(f"{clf.score(X_test, y_test):.3f}")

# %%
# Only an audit
# -------------
# :func:`~dips.characterize` needs no unlabeled rows. It trains a model, judges the labels, and lists the suspects.
audit = characterize(None, X[:100], y[:100], random_state=0)
audit.suspects().head()
