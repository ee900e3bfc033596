"""What every curator must do; a new module is tested by existing."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dips.curators
from dips.curators import CURATORS
from dips.testing import CURATOR_CHECKS
from dips.testing._curators import check_order_of_rows_does_not_matter, curate

from .examples import make_evidence, random_labels, random_trajectories

NAMES = list(CURATORS.by_name())


def test_the_curators_of_the_paper_and_the_default_are_there():
    assert {"beliefs", "adaptive", "dips", "confidence", "small_loss", "fluctuation", "fine", "none"} <= set(NAMES)
    assert {"image_auto", "percentile"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
class TestEveryCurator:
    def test_is_public(self, name):
        cls = CURATORS.by_name()[name]
        assert getattr(dips.curators, cls.__name__) is cls
        assert cls.__name__ in dips.curators.__all__

    @pytest.mark.parametrize("check", CURATOR_CHECKS, ids=lambda check: check.__name__)
    def test_keeps_the_contract(self, name, check):
        check(CURATORS.resolve(name))

    @settings(deadline=None, max_examples=10)
    @given(st.integers(2, 4), st.integers(4, 30), st.integers(0, 10_000))
    def test_returns_a_mask_of_any_rows(self, name, n_classes, n, seed):
        trajectories, labels = random_trajectories(n, n_classes, random_state=seed), random_labels(n, n_classes, seed)
        useful = curate(CURATORS.resolve(name), make_evidence(trajectories, labels))
        assert useful.shape == (n,)
        assert useful.dtype == bool

    @settings(deadline=None, max_examples=10)
    @given(st.integers(0, 10_000))
    def test_no_order_of_the_rows_matters(self, name, seed):
        check_order_of_rows_does_not_matter(CURATORS.resolve(name), [seed])
