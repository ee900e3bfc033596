"""Which labels are most useful to check: some drawn at random first, then those that are most probably wrong."""

from __future__ import annotations

import numpy as np

from dips._tools.arrays import Array

N_OPENING = 20  # labels that are drawn at random
_SUREST = 0.999  # that a label is wrong; 1 and more mark those drawn at random


def check_gain(p_wrong: Array, verified: Array) -> Array:
    """Return (n,) what a look at each label is worth: the most useful label has the highest, a verified one 0.

    A look removes a wrong label with probability p_wrong, and tells how labels go wrong. The labels that look most
    suspicious to a model that is misled about the noise tell little, as they are where it errs: errors that all go one
    way hide in the class that looks right. So the first looks go to labels drawn at random, which are worth 1 more.

    Parameters
    ----------
    p_wrong : (n,) probability of each label to be wrong
    verified : (n,) mask of those that were checked
    """
    unseen = np.random.RandomState(p_wrong.size).permutation(np.flatnonzero(~verified))
    gain = np.where(verified, 0.0, np.minimum(p_wrong, _SUREST))
    gain[unseen[: max(0, N_OPENING - int(verified.sum()))]] += 1
    return gain
