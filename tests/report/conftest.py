import pytest

from tests.effort import quick_studies


@pytest.fixture(autouse=True, scope="module")
def quick():
    with quick_studies():
        yield
