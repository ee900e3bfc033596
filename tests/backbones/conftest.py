from __future__ import annotations

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    """On tables this small, threads only wait for each other."""
    with threadpool_limits(1):
        yield
