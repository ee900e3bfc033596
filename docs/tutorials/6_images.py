"""
Images
======

The same idea on images: a network, few labels of which some are wrong, many images without a label. This page needs
PyTorch (``pip install "dips-ssl[torch]"``). It uses a tiny network and a few steps, so that it runs in seconds on a
CPU; for real work keep the defaults and use a GPU. :doc:`/vision` has the details, :doc:`/image_results` the results.
"""

# %%
# Handwritten digits
# ------------------
# Images are bytes: (n, height, width) for gray ones, (n, height, width, 3) for color.
import matplotlib.pyplot as plt
import numpy as np
import torch
from sklearn.datasets import load_digits

from dips.datasets import flip_labels
from dips.vision import Augmentation, ImageClassifier

torch.set_num_threads(1)
digits = load_digits(n_class=4)
X = (digits.images * 15).astype(np.uint8)
y = np.full(len(X), -1)
y[:200], flipped = flip_labels(digits.target[:200], 0.2, random_state=0)

# %%
# Fit
# ---
# Short trainings, the *pilots*, first find out whether labels are wrong. If they are, FreeMatch is trained on the
# useful labels and on all images, and every label is judged again after each round. Clean labels would all be used.
# Digits must not be mirrored, so we switch that off.
clf = ImageClassifier(
    "tiny",
    n_steps=100,
    n_rounds=3,
    warm_up_steps=60,
    batch_size=32,
    unlabeled_ratio=2,
    augmentation=Augmentation(flip=False),
    random_state=0,
)
clf.fit(X, y)
low, high = clf.curator_.noise_interval_
print(f"between {low:.0%} and {high:.0%} of the labels are wrong, in truth {flipped[:200].mean():.0%}")
print(f"accuracy on all images: {clf.score(X, digits.target):.3f}")

# %%
# ``samples_`` has the same columns as for tables, and ``history_`` one line per round.
clf.history_

# %%
# Suspect labels
# --------------
# ``clf.write_report("labels.html", X)`` writes a page to relabel from. Here are the eight least confident labels:
given = clf.samples_[:200]
first = given[~given["useful"]].sort_values("confidence").head(8)
fig, axes = plt.subplots(1, 8, figsize=(8, 1.6), layout="constrained")
for ax, (i, row) in zip(axes, first.iterrows(), strict=True):
    ax.imshow(X[i], cmap="gray_r")
    ax.set_title(f"given {row['given_label']}", fontsize=9)
    ax.axis("off")
print(f"{flipped[first.index].sum()} of these 8 were flipped")
