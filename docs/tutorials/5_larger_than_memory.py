"""
Larger than memory
==================

Unlabeled rows are often the bulk of the data. They can stay on disk, in one Parquet file or a folder of them. dips
reads them in batches whenever a model has to see them; only the rows that a model is trained on are in memory
together.
"""

# %%
# A folder of Parquet files
# -------------------------
# Three small files stand in for three hundred large ones.
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from dips import ParquetPool, PseudoLabelClassifier
from dips.datasets import make_quadrants

folder = Path(tempfile.mkdtemp())
X, truth = make_quadrants(30_100, random_state=0)
rows = pd.DataFrame(X, columns=["east", "north"]).assign(site=np.where(truth == 1, "a", "b"))
rows.loc[::3, "site"] = "c"  # text columns work as well
for i in range(3):
    rows[100 + 10_000 * i : 100 + 10_000 * (i + 1)].to_parquet(folder / f"part-{i}.parquet")

pool = ParquetPool(folder)
print(pool.n_rows, pool.columns)

# %%
# Fit
# ---
# The labeled rows are an ordinary data frame. The pool, or just its path, is the third argument. The default learns
# from a sample of 2,000 unlabeled rows, because more rarely pay. ``verbose=1`` shows a progress bar on a terminal.
clf = PseudoLabelClassifier(random_state=0, verbose=1)
clf.fit(rows[:100], truth[:100], folder)
clf.history_[["round", "n_given", "n_pseudo", "n_left"]]

# %%
# All rows, in rounds
# -------------------
# With other curators, every round reads all rows and gives some of them a pseudo-label. The account covers the rows
# on disk too, after the labeled ones, in the order of the files.
rounds = PseudoLabelClassifier(curator="adaptive", n_rounds=3, random_state=0)
rounds.fit(rows[:100], truth[:100], folder)
counts = pd.crosstab(rounds.samples_["round"], rounds.samples_["final_label"]).loc[0:]

fig, ax = plt.subplots(figsize=(5, 3), layout="constrained")
counts.plot.bar(stacked=True, ax=ax, rot=0, color=["C0", "C1"])
_ = ax.set(xlabel="round (0: given labels)", ylabel="rows labeled")

# %%
# Predict in batches
# ------------------
# The fitted classifier predicts any table with the same columns, so a large file can be read in pieces.
for path in sorted(folder.glob("*.parquet")):
    predicted = clf.predict(pd.read_parquet(path))
    print(path.name, np.bincount(predicted))

# %%
# What is kept in memory is about a dozen bytes per row, plus a few numbers per row and class during a round.
# :doc:`/benchmarks` has the figures for ten million rows.
