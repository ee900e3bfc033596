"""What every labeler must do; a new module is tested by existing."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dips.labelers
from dips.labelers import LABELERS
from dips.testing import LABELER_CHECKS
from dips.testing._labelers import check_proposal

NAMES = list(LABELERS.by_name())


def test_the_labelers_of_the_paper_are_there():
    assert {"greedy", "ups", "flexmatch", "sla", "csa"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
class TestEveryLabeler:
    def test_is_public(self, name):
        cls = LABELERS.by_name()[name]
        assert getattr(dips.labelers, cls.__name__) is cls
        assert cls.__name__ in dips.labelers.__all__

    @pytest.mark.parametrize("check", LABELER_CHECKS, ids=lambda check: check.__name__)
    def test_keeps_the_contract(self, name, check):
        check(LABELERS.resolve(name))

    @settings(deadline=None, max_examples=15)
    @given(st.integers(1, 25), st.lists(st.integers(0, 10), min_size=2, max_size=5), st.integers(0, 10_000))
    def test_proposes_distinct_rows_within_any_caps(self, name, n, caps, seed):
        check_proposal(LABELERS.resolve(name), n, caps, seed)
