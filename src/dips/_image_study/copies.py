"""Images that are there more than once, pixel by pixel."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from dips._data.labels import UNLABELED
from dips._report.images import ranked
from dips._report.suspects import is_suspect
from dips._study.duplicates import Duplicates
from dips._tools.arrays import Array
from dips._tools.wording import counted


def same_images(images: Array) -> Array:
    """A code (n,) for each image, the same for images that are the same."""
    digests = [hashlib.blake2b(image.tobytes(), digest_size=16).digest() for image in images]
    return pd.factorize(np.array(digests, dtype=object))[0]


def notes_on_copies(same: Array, codes: Array, names: Sequence[str], classes: Sequence[Any]) -> list[str]:
    """Sentences on images that are there more than once, and on those that have two labels.

    Examples
    --------
    >>> notes_on_copies(np.array([0, 1, 0]), np.array([0, 1, 1]), ["a.png", "b.png", "c.png"], ["cat", "dog"])[1]
    "1 image has more than one label: a.png is labeled 'cat', its copy c.png 'dog'."
    """
    n_copies = same.size - np.unique(same).size
    if not n_copies:
        return []
    notes = [f"{counted(n_copies, 'image is a copy', 'images are copies')} of another; copies are held out together."]
    labeled = pd.DataFrame({"same": same, "code": codes, "name": names})[codes != UNLABELED]
    contrary = labeled[labeled.groupby("same")["code"].transform("nunique") > 1]
    if len(contrary):
        pair = contrary[contrary["same"] == contrary["same"].iloc[0]].drop_duplicates("code")
        (one, its), (other, others) = ((row.name, classes[row.code]) for row in pair.head(2).itertuples(index=False))
        has = counted(contrary["same"].nunique(), "image has", "images have")
        notes.append(f"{has} more than one label: {one} is labeled {its!r}, its copy {other} {others!r}.")
    return notes


def with_contrary_copies(
    account: pd.DataFrame, same: Array, codes: Array, verified: Array, classes: Sequence[Any]
) -> pd.DataFrame:
    """The account, with labels that copies contradict believed no more than these say, and the reason.

    They are suspects. Where labels are only ranked, as none is shown to be wrong, they are ranked as well.
    """
    contrary = Duplicates(same, codes, by_nature=False, settled=verified).contrary
    if contrary.empty:
        return account
    rows, labels = contrary["row"].to_numpy(), [str(classes[code]) for code in contrary["code"]]
    p_wrong, useful, suggested = (account[c].to_numpy(copy=True) for c in ("p_wrong", "useful", "suggested_label"))
    if is_suspect(account).any() or np.isnan(p_wrong[rows]).any():
        useful[rows] = False
    suggested[rows] = labels
    p_wrong[rows] = np.where(np.isnan(p_wrong[rows]), np.nan, np.maximum(p_wrong[rows], contrary["share"]))
    account = ranked(account.assign(p_wrong=p_wrong, useful=useful, suggested_label=suggested))
    reasons = account["reason"].to_numpy(copy=True)
    for row, other, label in zip(rows, contrary["other"], labels, strict=True):
        reasons[row] = f"its copy {account.index[other]} has the label '{label}'; {reasons[row]}".removesuffix("; ")
    return account.assign(reason=reasons)
