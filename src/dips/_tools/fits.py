"""What every estimator's ``fit`` is held to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral

from sklearn.base import BaseEstimator

from dips._tools.sklearn_compat import Interval

N_JOBS = [Interval(Integral, 1, None, closed="left"), Interval(Integral, None, -1, closed="right"), None]


@contextmanager
def all_or_nothing(model: BaseEstimator) -> Iterator[None]:
    """Around a fit: a success leaves nothing of an earlier fit, a failure leaves all of it."""
    before = vars(model).copy()
    for name in before:
        if name.endswith("_"):
            delattr(model, name)
    try:
        yield
    except BaseException:
        vars(model).clear()
        vars(model).update(before)
        raise
