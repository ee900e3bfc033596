import pytest

from tests import effort


@pytest.fixture(autouse=True, scope="module")
def whole_effort(little_effort):
    with effort.whole_effort():
        yield
