"""Which labels are most useful to check: the least believed of every class in turn, then the most probably wrong."""

from __future__ import annotations

import numpy as np

from dips._tools.arrays import Array

N_OPENING, N_OF_CLASS = 20, 5  # looks to begin with, and the fewest that a class gets of them
_SUREST = 0.999  # that a label is wrong; 1 and more mark those to begin with


def check_gain(p_wrong: Array, given: Array, settled: Array, n_classes: int) -> Array:
    """Return (n,) what a look at each label is worth: the most useful label has the highest, a settled one 0.

    A look removes a wrong label with probability p_wrong, and tells how labels go wrong. Errors that all go one way
    hide in the class that looks right, where a model that takes errors for even suspects few: looks at its suspects
    alone would not find them for long. So the first looks go to all classes in turn, in each to the labels that are
    most probably wrong. That was chosen on four tables, and held on others; docs/review_results.md has the figures.

    Parameters
    ----------
    p_wrong : (n,) probability of each label to be wrong
    given : (n,) codes of the labels, verified ones as they were before
    settled : (n,) mask of those that were checked, or that are never wrong
    n_classes : how many classes there are

    Examples
    --------
    >>> check_gain(np.array([0.9, 0.8, 0.3, 0.1]), np.array([0, 0, 0, 1]), np.zeros(4, dtype=bool), 2).round(1)
    array([10.9,  9.8,  8.3, 10.1])
    """
    gain = np.where(settled, 0.0, np.minimum(p_wrong, _SUREST))
    enough = max(N_OF_CLASS, N_OPENING // n_classes)
    for c in range(n_classes):
        of_class = given == c
        rows = np.flatnonzero(of_class & ~settled)
        wanted = max(0, enough - int((of_class & settled).sum()))
        first = rows[np.argsort(-p_wrong[rows], kind="stable")[:wanted]]
        gain[first] += np.arange(wanted, 0, -1)[: first.size]
    return gain
