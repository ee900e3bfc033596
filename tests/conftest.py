"""How much is trained, and families of backbones that a test registers."""

import pytest

from tests import effort


@pytest.fixture(scope="session", autouse=True)
def little_effort():
    """Few teachers wherever a test does not ask for all."""
    with effort.little_effort():
        yield


@pytest.fixture
def whole_effort(little_effort):
    """All teachers, for tests of how good they are."""
    with effort.whole_effort():
        yield


@pytest.fixture
def forget_families(monkeypatch):
    """Backbone families that a test registers are forgotten at its end, or when this is called."""
    from dips.backbones import _registry

    before = {name: dict(getattr(_registry, name)) for name in ("_by_handle", "_by_name")}

    def forget():
        for name, families in before.items():
            monkeypatch.setattr(_registry, name, dict(families))

    forget()
    return forget
