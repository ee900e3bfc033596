"""What the estimators share: fits that leave no mixture, and settings given in the user's own labels."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dips import CuratedClassifier, PseudoLabelClassifier, SelfTrainingClassifier, characterize
from dips.datasets import make_quadrants

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


# Settings in the user's own labels

AGE = (FRAME[["age"]] - 50) / 20


def lightgbm():
    return pytest.importorskip("lightgbm").LGBMClassifier(n_estimators=4, min_child_samples=3, n_jobs=1, verbose=-1)


def catboost():
    return pytest.importorskip("catboost").CatBoostClassifier(iterations=4, thread_count=1, verbose=0)


WEIGHTED = {
    "HistGradientBoosting": (trees, "class_weight"),
    "LightGBM": (lightgbm, "class_weight"),
    "CatBoost": (catboost, "class_weights"),
    "SGD": (partial(SGDClassifier, loss="log_loss", max_iter=5, tol=None), "class_weight"),
    "Pipeline": (lambda: make_pipeline(StandardScaler(), trees()), "histgradientboostingclassifier__class_weight"),
}


@pytest.mark.parametrize(("make", "parameter"), WEIGHTED.values(), ids=WEIGHTED.keys())
@pytest.mark.parametrize("model", [quick(), CuratedClassifier(curator="none", random_state=0)])
def test_class_weights_are_given_by_label(model, make, parameter):
    estimator = make()

    def fitted(y, weights):
        settings = {"estimator": estimator, f"estimator__{parameter}": weights}
        return clone(model).set_params(**settings).fit(AGE, y)

    by_code, evenly = fitted(TRUTH, {0: 1.0, 1: 9.0}), fitted(TRUTH, {0: 1.0, 1: 1.0})
    for weights in ({"well": 9.0, "ill": 1.0}, {"well": 9.0}):
        by_label = fitted(np.where(TRUTH == 1, "well", "ill"), weights)
        assert_array_equal(by_label.predict_proba(AGE), by_code.predict_proba(AGE))
    assert by_code.predict_proba(AGE)[:, 1].mean() > evenly.predict_proba(AGE)[:, 1].mean()
    assert fitted(TRUTH + 1, {1: 1.0, 2: 9.0}).get_params()[f"estimator__{parameter}"] == {1: 1.0, 2: 9.0}


def test_class_weights_of_unknown_classes_are_refused():
    words = r"class_weight names \['sick'\], but the classes of y are \['ill', 'well'\]; name these\."
    with pytest.raises(ValueError, match=words):
        quick(trees(class_weight={"sick": 2})).fit(AGE, np.where(TRUTH == 1, "ill", "well"))


def test_every_class_needs_a_labeled_row_that_weighs():
    with pytest.raises(ValueError, match="sample_weight is 0 for every labeled row of class 1; give at least one"):
        quick().fit(AGE, Y, sample_weight=(Y != 1).astype(float))
    both = pd.DataFrame({"a": TRUTH, "b": TRUTH})
    with pytest.raises(ValueError, match="every labeled row of class 0 of label 'a'"):
        CuratedClassifier(trees()).fit(AGE, both, sample_weight=TRUTH)
    assert quick().fit(AGE, Y, sample_weight=(Y != -1).astype(float)).classes_.tolist() == [0, 1]


@pytest.mark.parametrize("curator", ["auto", "adaptive"])
def test_rows_of_the_unlabeled_table_belong_to_no_group(curator):
    X, y = make_quadrants(90, random_state=0)
    backbone = HistGradientBoostingClassifier(max_iter=10)
    model = PseudoLabelClassifier(backbone, curator=curator, random_state=0)
    assert len(model.fit(X[:40], y[:40], X[40:], groups=np.arange(40) // 4).samples_) == 90


def test_every_row_needs_a_group():
    X, y = make_quadrants(40, random_state=0)
    with pytest.raises(ValueError, match=r"groups must hold the group of every row of X, 40 of them; got \(39,\)"):
        CuratedClassifier(random_state=0).fit(X, y, groups=np.arange(39))
    with pytest.raises(ValueError, match="groups has one value in all rows, P1; give what tells groups apart"):
        CuratedClassifier(random_state=0).fit(X, y, groups=["P1"] * 40)


def visits(n_patients=150, seed=0):
    """Three visits of each patient, which are alike; a tenth of the patients have a wrong label in all of them."""
    rng = np.random.RandomState(seed)
    patient = np.repeat(np.arange(n_patients), 3)
    X = rng.normal(size=(n_patients, 3))[patient] + 0.01 * rng.normal(size=(patient.size, 3))
    truth = X[patient * 3, 0] > 0
    wrong = (rng.rand(n_patients) < 0.1)[patient]
    return X, np.where(truth ^ wrong, "ill", "well"), [f"P{p}" for p in patient], wrong


def test_rows_of_one_patient_do_not_vouch_for_their_wrong_label():
    X, y, patient, wrong = visits(seed=2)
    alone = characterize(None, X, y, random_state=0)
    together = characterize(None, X, y, groups=patient, random_state=0)
    n_found = [wrong[audit.suspects().index].sum() for audit in (alone, together)]
    assert n_found[1] > wrong.sum() / 2 > 3 * n_found[0]


def test_a_row_without_a_group_stands_alone():
    X, y, patient, _ = visits(40)
    groups = pd.Series(patient).mask(np.arange(120) > 100)
    for model in (CuratedClassifier(trees(), random_state=0), SelfTrainingClassifier(trees(), random_state=0)):
        assert len(model.fit(X, y, groups=groups).samples_) == 120


def test_groups_of_a_search_are_those_of_its_fits(monkeypatch):
    X, y, patient, _ = visits(40)
    seen = []
    monkeypatch.setattr("dips._estimators.curated.check_groups", lambda groups, n: seen.append(groups))
    with config_context(enable_metadata_routing=True):
        params = {"groups": np.array(patient)}
        cross_validate(CuratedClassifier(trees(), curator="none"), X, y, params=params, cv=GroupKFold(2))
    assert [groups.size for groups in seen] == [60, 60]
