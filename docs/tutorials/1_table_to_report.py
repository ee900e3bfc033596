"""
From a CSV file to a report
===========================

You have a table. One column holds labels; some are missing and some are wrong. One command gives you a model and a
list of the labels that somebody should look at.
"""

# %%
# A table with few labels, some of them wrong
# -------------------------------------------
# We take scikit-learn's breast cancer table, keep 150 labels, flip one in five of them, and save it as a CSV file.
# Because we flipped the labels ourselves, we can check the answers at the end.
import tempfile
from pathlib import Path

import pandas as pd
from sklearn.datasets import load_breast_cancer

import dips
from dips.datasets import flip_labels

folder = Path(tempfile.mkdtemp())
cancer = load_breast_cancer(as_frame=True)
columns = ["mean radius", "mean texture", "mean smoothness", "mean concavity"]
columns += ["worst area", "worst symmetry"]
table = cancer.data[columns].sample(frac=1, random_state=0)[:400]
truth = cancer.target.loc[table.index].map({0: "malignant", 1: "benign"})

given, flipped = flip_labels(truth[:150].to_numpy(), 0.2, random_state=0)
table["diagnosis"] = pd.Series(given, index=table.index[:150])  # the other 250 rows stay empty
table.to_csv(folder / "patients.csv", index=False)
table.iloc[[0, 1, 399]]

# %%
# One command
# -----------
# In a terminal:
#
# .. code-block:: console
#
#    $ dips fit patients.csv --target diagnosis -o run
#
# In Python:
run = dips.fit(folder / "patients.csv", target="diagnosis", out=folder / "run")
sorted(path.name for path in run.folder.iterdir())

# %%
# ``report.html`` is the page to open first; :doc:`7_reading_the_report` explains it. Everything else in the folder is
# plain data: the account of every row, the scores, the settings, and the model in its library's own format.
#
# Which model was kept, and why
# -----------------------------
# Five models are compared by cross-validation on the labeled rows, and scored once on rows that were held out.
print("kept:", run.metrics["chosen"])
pd.Series(run.metrics["validation"], name="validated accuracy").to_frame().round(3)

# %%
# The labels to look at first
# ---------------------------
suspects = run.suspects()
suspects[["row", "given_label", "suggested_label", "confidence", "reason"]].head(8)

# %%
# Row numbers count from 1, as a spreadsheet does. We know which labels we flipped:
were_flipped = flipped[suspects["row"] - 1]
print(f"{were_flipped.sum()} of the {len(were_flipped)} suspects are wrong; {flipped.sum()} labels are.")

# %%
# Use the model
# -------------
# You can load the model later and elsewhere. Loading runs no code from the folder.
again = dips.load_model(folder / "run" / "model")
again.predict(table.drop(columns="diagnosis").tail(5))

# sphinx_gallery_thumbnail_path = 'images/report_light.png'
