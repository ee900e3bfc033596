"""Small linear algebra on one thread."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


def one_blas_thread() -> AbstractContextManager[Any]:
    """Return a context in which BLAS takes one thread.

    An optimizer of a dozen parameters calls it thousands of times for almost nothing. Waking threads for that gains
    nothing on idle cores, and on busy ones takes many times as long as the work.

    Examples
    --------
    >>> with one_blas_thread():
    ...     pass
    """
    return _blas().limit(limits=1)


@cache
def _blas() -> Any:
    """Look for the libraries once: that takes longer than many a use."""
    return ThreadpoolController().select(user_api="blas")
