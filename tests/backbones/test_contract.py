"""The shipped contract, run on every family."""

import pytest

from dips.testing import BACKBONE_CHECKS

from .families import FAMILIES


@pytest.mark.parametrize("check", BACKBONE_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_keeps_the_contract(name, check):
    family = FAMILIES[name]
    if family.needs:
        pytest.importorskip(family.needs)
    check(family.estimator(2))
