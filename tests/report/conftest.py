import pytest
from patients import quick_backbones


@pytest.fixture(autouse=True, scope="module")
def quick():
    with quick_backbones():
        yield
