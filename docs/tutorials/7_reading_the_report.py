"""
Reading the report
==================

An audit writes one HTML file that opens anywhere, without a network. This page makes one and explains, part by part,
what it says and how far to trust it.
"""

# %%
# Make a report
# -------------
# 300 labels of scikit-learn's breast cancer table; one in ten is flipped. On the command line:
#
# .. code-block:: console
#
#    $ dips audit patients.csv --target diagnosis --report report.html
import pandas as pd
from sklearn.datasets import load_breast_cancer

import dips
from dips.datasets import flip_labels

cancer = load_breast_cancer(as_frame=True)
columns = ["mean radius", "mean texture", "mean smoothness", "mean concavity"]
columns += ["worst area", "worst symmetry"]
# sphinx_gallery_start_ignore
import os
from pathlib import Path

if "DIPS_DOCS" in os.environ:  # while the site is built: where the link below leads
    os.chdir(os.environ["DIPS_DOCS"] + "/_extra/example")
Path("report.html").unlink(missing_ok=True)
# sphinx_gallery_end_ignore
table = cancer.data[columns][:300]
truth = cancer.target[:300].map({0: "malignant", 1: "benign"})
table["diagnosis"], flipped = flip_labels(truth.to_numpy(), 0.1, random_state=0)

audit = dips.audit(table, target="diagnosis")
audit.write_report("report.html")

# %%
# .. raw:: html
#
#    <p><a class="btn btn-outline-primary" href="../example/report.html">Open the report that was just made</a></p>
#
# In words
# --------
# The first lines say how many labels look wrong, which is an estimate, and how many are listed as suspects, which is a
# decision about each label. The two need not agree: the estimate can be right although nobody can tell which labels
# are wrong.
print(f"estimated share of wrong labels: {audit.share_wrong:.0%} (we flipped {flipped.mean():.0%})")
print(f"suspects: {len(audit.suspects())} of {len(table)}")

# %%
# The map
# -------
# Every dot is a label. Its height is the *confidence*: the probability that the model gave this label, averaged over
# its training. To the right is the *uncertainty*. The dots lie on an arch, and three parts of it are worth
# knowing:
#
# - **top left**: learned early and firmly. Almost surely right.
# - **bottom left**: the model firmly disagrees. Look here first; these are the typical wrong labels.
# - **right, halfway up**: the model never made up its mind. These are hard rows: a rare kind, a border case, or too
#   little information.
#
# Click a dot to see its learning curve, and its values next to a typical row of both labels.
#
# The list
# --------
# The suspects, worst first, each with a suggestion and a reason in words. Sort, filter, and save what you see as CSV.
audit.suspects()[["row", "given_label", "suggested_label", "confidence", "out_of_fold", "reason"]].head(6)

# %%
# ``out_of_fold`` is the probability of the label from models that had not seen the row. If it and the confidence are
# both low, two independent looks agree.
#
# How far to trust it
# -------------------
# A suspect is a reason to look, not a proof. On this table we know the truth:
by_tens = pd.Series(flipped[audit.suspects()["row"] - 1])
print(f"first ten suspects: {by_tens[:10].mean():.0%} wrong; all of them: {by_tens.mean():.0%} wrong")
print(f"of the {flipped.sum()} flipped labels, {by_tens.sum()} are suspects")

# %%
# Three things to keep in mind:
#
# - Rare but right labels look like wrong ones. Never delete suspects unseen where rare cases matter.
# - On tables where models are often wrong, suspects are often right. That is why the page shows the
#   accuracy of the models.
# - If suspects pile up at one ward, month or device ("Where the suspect labels are"), look for a cause there before
#   relabeling.
#
# :doc:`/report` describes every part of the page.

# sphinx_gallery_thumbnail_path = 'images/report_dark.png'
