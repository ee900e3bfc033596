"""Warnings that point at the user's own line, and none about models that the user does not know of."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

_ON_THE_WAY = {"dips", "sklearn", "joblib"}  # scikit-learn wraps fit, and searches call it


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn, at the innermost line that is neither in this package nor on the way to it."""
    level, frame = 2, sys._getframe(1)  # level 1 is the line below
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _ON_THE_WAY:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


@contextmanager
def many_classes() -> Iterator[None]:
    """Let scikit-learn train on many classes of few rows each, and not ask every time whether they are quantities."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The number of unique classes is greater than 50%")
        yield
