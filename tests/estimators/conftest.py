import pytest

from tests.effort import quick_studies


@pytest.fixture(scope="module")
def quick():
    """Little effort, for the modules that use it."""
    with quick_studies():
        yield
