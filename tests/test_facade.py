"""What the estimators share: fits that leave no mixture, and settings given in the user's own labels."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.ensemble import HistGradientBoostingClassifier

from dips import CuratedClassifier, PseudoLabelClassifier

RNG = np.random.RandomState(0)
FRAME = pd.DataFrame({"age": RNG.randint(20, 80, 80), "ward": RNG.choice(["east", "west"], 80)})
TRUTH = ((FRAME["age"] > 50) ^ (FRAME["ward"] == "west")).to_numpy().astype(int)
Y = np.where(np.arange(80) < 50, TRUTH, -1)


def trees(**settings):
    return HistGradientBoostingClassifier(max_iter=4, min_samples_leaf=3, **settings)


def quick(estimator=None, **settings):
    estimator = trees() if estimator is None else estimator
    return PseudoLabelClassifier(estimator, **{"n_rounds": 2, "curator": "none", "random_state": 0} | settings)


# A fit that fails, and one that follows another


def fail(evidence):
    raise RuntimeError("the curator gave up")


@pytest.mark.parametrize("model", [quick(), CuratedClassifier(trees(), curator="none", random_state=0)])
def test_a_fit_that_fails_leaves_the_model_as_it_was(model):
    model.fit(FRAME, TRUTH)
    before, expected = vars(model).copy(), model.predict_proba(FRAME)
    model.set_params(curator=fail)
    with pytest.raises(RuntimeError, match="gave up"):
        model.fit(RNG.normal(size=(80, 5)), np.where(TRUTH == 1, "well", "ill"))
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items() if name.endswith("_"))
    assert_array_equal(model.predict_proba(FRAME), expected)
    assert model.feature_names_in_.tolist() == ["age", "ward"]


def test_a_first_fit_that_fails_leaves_nothing():
    model = quick(curator=fail)
    with pytest.raises(RuntimeError):
        model.fit(FRAME, Y)
    assert not [name for name in vars(model) if name.endswith("_")]


def test_a_fit_that_follows_another_leaves_nothing_of_it():
    model = quick().fit(FRAME, np.column_stack([TRUTH, 1 - TRUTH]))
    model.fit(FRAME.to_numpy()[:, :1].astype(float), TRUTH)
    alone = quick().fit(FRAME.to_numpy()[:, :1].astype(float), TRUTH)
    assert vars(model).keys() == vars(alone).keys()
