import pytest

from tests.patients import quick_backbones


@pytest.fixture(autouse=True, scope="module")
def quick():
    with quick_backbones():
        yield
