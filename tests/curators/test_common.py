"""What every curator must do; a new module is tested by existing."""

import dataclasses
import inspect

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.utils._param_validation import InvalidParameterError
from xgboost import XGBClassifier

import dips.curators
from dips import CuratedClassifier, PseudoLabelClassifier
from dips._dynamics import STATISTICS
from dips.curators import CURATORS
from dips.curators._base import keep_every_class
from dips.curators._choose import curator_names
from dips.datasets import flip_labels, make_quadrants

from .examples import make_evidence, random_labels, random_trajectories

NAMES = list(CURATORS.by_name())


def shown_to(curator, evidence):
    """Leave only the statistics that the curator asked for."""
    statistics = {name: evidence.statistics[name] for name in {"confidence", "aleatoric", *curator.statistics}}
    return dataclasses.replace(evidence, statistics=statistics)


def curate(name, evidence):
    curator = CURATORS.resolve(name)
    return curator.curate(shown_to(curator, evidence))


def test_the_curators_of_the_paper_and_the_default_are_there():
    assert {"auto", "dips", "confidence", "small_loss", "fluctuation", "fine", "none"} <= set(NAMES)
    assert {"image_auto", "percentile"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
class TestEveryCurator:
    def test_is_public_documented_and_clonable(self, name):
        cls = CURATORS.by_name()[name]
        assert getattr(dips.curators, cls.__name__) is cls
        assert cls.__name__ in dips.curators.__all__
        assert inspect.getdoc(cls)
        assert clone(cls()).get_params() == cls().get_params()
        assert set(cls.statistics) <= set(STATISTICS)

    def test_refuses_settings_out_of_range(self, name):
        for parameter in CURATORS.by_name()[name]().get_params():
            with pytest.raises(InvalidParameterError, match=parameter):
                CURATORS.resolve(CURATORS.by_name()[name](**{parameter: "nonsense"}))

    def test_every_setting_is_checked(self, name):
        cls = CURATORS.by_name()[name]
        assert set(cls._parameter_constraints) == set(cls().get_params())

    @settings(deadline=None, max_examples=10)
    @given(st.integers(2, 4), st.integers(4, 30), st.integers(0, 10_000))
    def test_returns_a_mask_of_the_rows(self, name, n_classes, n, seed):
        trajectories, labels = random_trajectories(n, n_classes, random_state=seed), random_labels(n, n_classes, seed)
        useful = curate(name, make_evidence(trajectories, labels))
        assert useful.shape == (n,)
        assert useful.dtype == bool

    @settings(deadline=None, max_examples=10)
    @given(st.integers(2, 4), st.integers(0, 10_000))
    def test_the_order_of_the_rows_does_not_matter(self, name, n_classes, seed):
        n = 40
        rng = np.random.RandomState(seed)
        trajectories, labels = random_trajectories(n, n_classes, random_state=seed), random_labels(n, n_classes, seed)
        is_given, features, order = rng.uniform(size=n) < 0.5, rng.normal(size=(n, 4)), rng.permutation(n)
        is_given[:n_classes] = True  # every class has a given label
        if name == "auto":  # its second opinion deals rows out to folds by their place; of images it has none
            features = features.reshape(n, 2, 2)
        plain = curate(name, make_evidence(trajectories, labels, is_given, features))
        shuffled = make_evidence(trajectories[:, order], labels[order], is_given[order], features[order])
        assert (curate(name, shuffled) == plain[order]).all()

    def test_changes_nothing_it_is_shown_and_draws_no_random_number(self, name):
        evidence = make_evidence(random_trajectories(), random_labels())
        for array in (*evidence.statistics.values(), evidence.labels, evidence.probabilities):
            array.flags.writeable = False
        state = np.random.get_state()[1].tolist()
        assert (curate(name, evidence) == curate(name, evidence)).all()
        assert np.random.get_state()[1].tolist() == state

    @pytest.mark.filterwarnings("ignore:The curator")
    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_leaves_every_class_a_row_to_train_on(self, name, n_classes):
        for seed in range(5):
            trajectories = random_trajectories(30, n_classes, random_state=seed)
            evidence = make_evidence(trajectories, random_labels(30, n_classes, seed))
            useful = keep_every_class(curate(name, evidence), evidence)
            assert np.unique(evidence.labels[useful]).size == n_classes


@pytest.mark.filterwarnings("ignore:The curator")
@pytest.mark.parametrize("name", curator_names("tables"))
def test_runs_in_the_classifiers_and_learns(name):
    X, truth = make_quadrants(200, random_state=0)
    y, flipped = flip_labels(truth, 0.1, random_state=0)
    backbone = XGBClassifier(n_estimators=100, n_jobs=1)  # the paper's: the published thresholds suit it
    curated = CuratedClassifier(backbone, curator=name, random_state=0).fit(X, y)
    assert curated.score(X, truth) > 0.85
    assert flipped[curated.samples_["useful"]].mean() <= flipped.mean()
    y[80:] = -1
    model = PseudoLabelClassifier(backbone, curator=name, n_rounds=3, random_state=0).fit(X, y)
    assert model.score(X, truth) > 0.85
