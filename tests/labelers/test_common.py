"""What every labeler must do; a new module is tested by existing."""

import inspect

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier

import dips.labelers
from dips import PseudoLabelClassifier
from dips._tools.sklearn_compat import InvalidParameterError
from dips.datasets import make_quadrants
from dips.labelers import LABELERS

from .examples import FEW, as_pairs, make_candidates, random_members

NAMES = list(LABELERS.by_name())


def small(name):
    """The labeler with its default settings, but few members."""
    labeler = LABELERS.resolve(name)
    return labeler.set_params(n_models=FEW) if "n_models" in labeler.get_params() else labeler


def test_the_labelers_of_the_paper_are_there():
    assert {"greedy", "ups", "flexmatch", "sla", "csa"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
class TestEveryLabeler:
    def test_is_public_documented_and_clonable(self, name):
        cls = LABELERS.by_name()[name]
        assert getattr(dips.labelers, cls.__name__) is cls
        assert cls.__name__ in dips.labelers.__all__
        assert inspect.getdoc(cls)
        assert clone(cls()).get_params() == cls().get_params()

    def test_refuses_settings_out_of_range(self, name):
        for parameter in LABELERS.by_name()[name]().get_params():
            with pytest.raises(InvalidParameterError, match=parameter):
                LABELERS.resolve(LABELERS.by_name()[name](**{parameter: "nonsense"}))

    def test_every_setting_is_checked(self, name):
        cls = LABELERS.by_name()[name]
        assert set(cls._parameter_constraints) == set(cls().get_params())

    @settings(deadline=None, max_examples=15)
    @given(st.integers(1, 25), st.integers(2, 5), st.integers(0, 10_000), st.data())
    def test_proposes_distinct_rows_within_the_caps(self, name, n, n_classes, seed, data):
        caps = data.draw(st.lists(st.integers(0, 10), min_size=n_classes, max_size=n_classes))
        rows, labels = small(name).propose(make_candidates(random_members(n, n_classes, random_state=seed), caps))
        assert rows.shape == labels.shape
        assert np.unique(rows).size == rows.size
        assert set(rows.tolist()) <= set(range(n))
        assert (np.bincount(labels, minlength=n_classes) <= caps).all()

    def test_changes_nothing_it_is_shown_and_draws_no_random_number(self, name):
        members = random_members()
        members.flags.writeable = False
        candidates = make_candidates(members)
        state = np.random.get_state()[1].tolist()
        first = as_pairs(small(name).propose(candidates))
        assert first == as_pairs(small(name).propose(candidates))
        assert np.random.get_state()[1].tolist() == state

    def test_the_order_of_the_rows_does_not_matter(self, name):
        members, caps = random_members(), [4, 3, 2]
        order = np.random.RandomState(0).permutation(members.shape[1])
        plain = as_pairs(small(name).propose(make_candidates(members, caps)))
        shuffled = as_pairs(small(name).propose(make_candidates(members[:, order], caps)))
        assert sorted((order[i], c) for i, c in shuffled) == plain
        assert plain

    @pytest.mark.parametrize("p", [0.5, 0.0, 1.0])
    def test_degenerate_probabilities_are_no_trouble(self, name, p):
        members = np.tile([p, 1 - p], (FEW, 7, 1))
        with np.errstate(all="raise", under="ignore"):
            rows, labels = small(name).propose(make_candidates(members, [2, 2]))
        assert rows.size <= 2
        assert p != 0.5 or rows.size == 0
        assert (labels == (0 if p == 1 else 1)).all()

    def test_runs_in_the_classifier_and_learns(self, name):
        X, y = make_quadrants(160, random_state=0)
        given = np.where(np.arange(160) < 40, y, -1)
        forest = RandomForestClassifier(5, max_depth=3)
        model = PseudoLabelClassifier(forest, labeler=small(name), curator="none", n_rounds=3, random_state=0)
        model.fit(X, given)
        assert (model.labeled_iter_ > 0).any()
        assert model.score(X, y) > 0.9
