"""One thread a library, and small models for the examples in docstrings, which are run as tests."""

import os
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # on tables this small, threads that wait for each other cost most

import pytest

from tests.effort import quick_studies


@pytest.fixture(autouse=True, scope="module")
def quick_examples(request):
    """What examples show needs no better models."""
    if request.path.is_relative_to(Path(__file__).parent / "src"):
        with quick_studies():
            yield
    else:
        yield
