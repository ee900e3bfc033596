"""One thread a library: on tables this small, threads that wait for each other cost more than the work itself."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest


@pytest.fixture(autouse=True)
def few_trees(request, monkeypatch):
    """Forests of five trees, except where beliefs themselves are tested: hundreds of fits need no better teachers."""
    if "tests/beliefs" not in request.node.nodeid:
        monkeypatch.setattr("dips._beliefs.teachers._N_TREES", 5)


@pytest.fixture
def few_teachers(monkeypatch):
    """Three folds and one helper, for tests of what happens around the teachers, whose answers do not matter there."""
    from tests.patients import LITTLE_EFFORT

    monkeypatch.setattr(
        "dips._beliefs.learning.Effort.for_labels", lambda n, n_folds=None, network=False: LITTLE_EFFORT
    )


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
