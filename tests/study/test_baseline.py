"""What a model has to be measured against, in words."""

import numpy as np
import pandas as pd
import pytest

from dips import fit
from dips._data.labels import encode_values
from dips._files.target import Target
from dips._study.baseline import chance_warnings

QUICK = {"keep": "plain", "time_limit": 1e-6, "rounds": 2}


def patients(n=300, seed=0):
    rng = np.random.RandomState(seed)
    dose = rng.normal(size=n)
    return pd.DataFrame({"dose": dose, "age": rng.normal(size=n), "ill": np.where(dose + rng.normal(size=n) > 1, 1, 0)})


def about_chance(warnings):
    return [w for w in warnings if "tell the classes apart" in w]


def test_where_costs_decide_the_warning_of_one_answer_for_all_is_about_them(tmp_path):
    run = fit(patients(), target="ill", out=tmp_path / "run", metric="cost", costs={"1": 10_000}, **QUICK)
    (warning,) = about_chance(run.warnings)
    assert warning.startswith("With the given costs, the kept model's answers do not tell the classes apart: ")
    assert "check that costs says what you mean" in warning
    assert "threshold" not in warning


@pytest.mark.parametrize("metric", ["accuracy", "cost"])
def test_costs_that_decide_nothing_are_said_to(tmp_path, metric):
    run = fit(patients(), target="ill", out=tmp_path / "run", metric=metric, costs={"1": 3}, **QUICK)
    note = "The costs decide neither which model is kept nor what it predicts; with metric='cost' they do both."
    assert (note in run.summary["notes"]) == (metric == "accuracy")


def test_costs_that_leave_both_answers_are_not_warned_of(tmp_path):
    run = fit(patients(), target="ill", out=tmp_path / "run", metric="cost", costs={"1": 3}, **QUICK)
    assert not about_chance(run.warnings)


@pytest.mark.parametrize("costs_decide", [False, True])
def test_a_model_whose_probabilities_say_nothing_is_not_to_be_used(costs_decide):
    scores = {"balanced_accuracy": {"value": 0.5}, "roc_auc": {"value": 0.52, "low": 0.44, "high": 0.6}}
    target = Target("ill", encode_values(["no", "yes"]), positive=1, notes=[])
    (warning,) = chance_warnings(scores, target, costs_decide)
    assert warning.endswith("Do not use it.")
    assert ("ROC AUC 0.52, 0.44 to 0.60" in warning) == costs_decide
