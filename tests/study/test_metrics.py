"""Metrics agree with scikit-learn, weighted rows with repeated ones, and intervals hold what they say."""

import numpy as np
import pytest
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    balanced_accuracy_score,
    f1_score,
    log_loss,
    roc_auc_score,
)

from dips._files import UserError
from dips._study.metrics import METRICS, find_metric, intervals

RNG = np.random.RandomState(0)


def example(n=300, n_classes=2):
    y = RNG.randint(0, n_classes, n)
    p = RNG.rand(n, n_classes).round(2) + 0.01 + 0.5 * np.eye(n_classes)[y]
    return y, p / p.sum(axis=1, keepdims=True)


ORACLES = {
    "accuracy": lambda y, p: accuracy_score(y, p.argmax(axis=1)),
    "balanced_accuracy": lambda y, p: balanced_accuracy_score(y, p.argmax(axis=1)),
    "f1": lambda y, p: f1_score(y, p.argmax(axis=1), average="binary" if p.shape[1] == 2 else "macro"),
    "roc_auc": lambda y, p: roc_auc_score(y, p[:, 1] if p.shape[1] == 2 else p, multi_class="ovr"),
    "average_precision": lambda y, p: average_precision_score(y == 1, p[:, 1]) if p.shape[1] == 2 else
    np.mean([average_precision_score(y == c, p[:, c]) for c in range(p.shape[1])]),
    "log_loss": log_loss,
}  # fmt: skip


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_metrics_agree_with_scikit_learn(name, n_classes):
    y, p = example(n_classes=n_classes)
    assert METRICS[name].score(y, p, positive=1) == pytest.approx(ORACLES[name](y, p))


@pytest.mark.parametrize("name", METRICS)
def test_a_row_of_weight_three_counts_as_three_rows(name):
    y, p = example(60)
    w = RNG.randint(1, 4, y.size)
    weighted = METRICS[name].prepare(y, p, 1)(w.astype(float))
    assert weighted == pytest.approx(METRICS[name].score(np.repeat(y, w), np.repeat(p, w, axis=0), 1))


def test_the_positive_class_may_be_the_first():
    y, p = example()
    assert METRICS["average_precision"].score(y, p, 0) == pytest.approx(average_precision_score(y == 0, p[:, 0]))


def test_intervals_hold_their_value_and_gains_are_paired():
    y, p = example()
    scores = intervals(y, {"plain": p, "same": p, "worse": p[:, ::-1]}, positive=1, baseline="plain")
    for record in (r for model in scores.values() for r in model.values()):
        assert record["low"] <= record["value"] <= record["high"]
    for name in METRICS:
        assert scores["same"][name]["gain"] == {"value": 0, "low": 0, "high": 0}
        assert scores["worse"][name]["gain"]["high"] < 0  # for log loss too: a gain is for the better


def test_rows_that_share_their_errors_make_wider_intervals():
    found = {"rows": 0, "groups": 0}
    for seed in range(100):
        rng = np.random.default_rng(seed)
        groups = np.repeat(np.arange(30), 6)
        right, y = (rng.random(30) < 0.8)[groups], rng.integers(0, 2, 180)
        p = {"plain": np.eye(2)[np.where(right, y, 1 - y)]}
        for name, together in (("rows", None), ("groups", groups)):
            only = {"accuracy": METRICS["accuracy"]}
            accuracy = intervals(y, p, 1, "plain", seed, only, together)["plain"]["accuracy"]
            found[name] += accuracy["low"] <= 0.8 <= accuracy["high"]
    assert found["groups"] >= 90
    assert found["rows"] <= 75


@pytest.mark.parametrize("n_groups", [1, 2, 4])
def test_few_groups_make_no_interval_of_nothing(n_groups):
    y, p = example()
    only, groups = {"accuracy": METRICS["accuracy"]}, np.arange(y.size) % n_groups
    of_rows, of_groups = (intervals(y, {"plain": p}, 1, "plain", 0, only, each) for each in (None, groups))
    assert of_groups == of_rows


def test_all_right_in_one_group_is_no_proof_either():
    y = np.arange(40) % 2
    only = {"accuracy": METRICS["accuracy"]}
    of_rows, of_groups = (
        intervals(y, {"plain": np.eye(2)[y]}, 1, "plain", 0, only, groups)["plain"]["accuracy"]
        for groups in (None, np.arange(40) // 10)
    )
    assert of_rows["low"] > 0.9
    assert of_groups["low"] == pytest.approx(0.51, abs=0.01)  # Wilson's interval of four


def test_a_few_rows_that_are_all_answered_right_are_no_proof():
    y = np.array([0, 1, 0, 1])
    p = np.eye(2)[y]
    right, wrong = intervals(y, {"right": p, "wrong": p[:, ::-1]}, positive=1, baseline="right").values()
    assert (right["accuracy"]["value"], right["accuracy"]["high"]) == (1, 1)
    assert right["accuracy"]["low"] == pytest.approx(0.51, abs=0.01)  # Wilson's interval
    assert wrong["accuracy"]["high"] == pytest.approx(0.49, abs=0.01)


@pytest.mark.parametrize("name", ["ROC AUC", "roc-auc", "roc_auc", " Roc_Auc "])
def test_a_metric_is_known_however_it_is_written(name):
    assert find_metric(name) == "roc_auc"


def test_an_unknown_metric_is_refused_with_those_that_are():
    with pytest.raises(UserError, match="metric='gini' is not known; choose one of accuracy, balanced_accuracy"):
        find_metric("gini")
