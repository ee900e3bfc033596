from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score
from sklearn.neural_network import MLPClassifier
from xgboost import XGBClassifier

from dips import CuratedClassifier, PseudoLabelClassifier
from dips.curators import DIPS
from dips.datasets import make_quadrants
from dips.labelers import SLA

X, Y = make_quadrants(80, random_state=0)


def boosting():
    return XGBClassifier(n_estimators=3, n_jobs=1)


def nothing_is_useful(evidence):
    return np.zeros(evidence.labels.shape, dtype=bool)


def one_class_is_useful(evidence):
    return evidence.labels == 0


@pytest.mark.parametrize("curator", [nothing_is_useful, one_class_is_useful])
def test_a_curator_that_leaves_too_little_is_told_at_the_users_line(curator):
    with pytest.warns(UserWarning, match="The curator") as caught:
        CuratedClassifier(boosting(), curator=curator).fit(X, Y)
    assert {warning.filename for warning in caught} == {__file__}


def test_scikit_learn_on_the_way_does_not_hide_the_users_line():
    with pytest.warns(UserWarning, match="The curator") as caught:
        cross_val_score(CuratedClassifier(boosting(), curator=nothing_is_useful), X, Y, cv=2)
    assert {warning.filename for warning in caught} == {__file__}


def test_labels_in_another_order_than_the_rows_are_pointed_out():
    frame, labels = pd.DataFrame(X), pd.Series(Y)
    model = CuratedClassifier(boosting(), curator="none", random_state=0)
    with pytest.warns(UserWarning, match=r"same rows in different orders.*pass y\.loc\[X\.index\]"):
        model.fit(frame, labels[::-1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(frame, labels)
        model.fit(frame, labels.set_axis(range(100, 180)))  # other names, so none to go by
        model.fit(X, labels[::-1])


def test_an_allocation_that_does_not_converge_is_told_at_the_users_line():
    given = np.where(np.arange(80) < 30, Y, -1)
    model = PseudoLabelClassifier(boosting(), labeler=SLA(n_models=2, max_iter=1), curator="none", n_rounds=2)
    with pytest.warns(ConvergenceWarning, match="Sinkhorn") as caught:
        model.fit(X, given)
    assert {warning.filename for warning in caught} == {__file__}


def test_a_training_that_ends_before_its_window_is_told_at_the_users_line():
    net = MLPClassifier((4,), max_iter=50, tol=10.0, n_iter_no_change=1, random_state=0)
    with pytest.warns(UserWarning, match="before the window") as caught:
        CuratedClassifier(net, curator=DIPS(window=(0.9, 1))).fit(X, Y)
    assert {w.filename for w in caught if "window" in str(w.message)} == {__file__}


@pytest.mark.filterwarnings("error:The number of unique classes")
@pytest.mark.parametrize("curator", ["auto", "adaptive"])
@pytest.mark.parametrize("model", [CuratedClassifier, PseudoLabelClassifier])
def test_helpers_do_not_ask_whether_many_classes_are_quantities(model, curator):
    model(boosting(), curator=curator).fit(X, np.arange(80) % 45)
