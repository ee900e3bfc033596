"""What the page says about rows and columns: drift, far-out numbers, and what the model looks at."""

import numpy as np
import pandas as pd
import pytest

from dips._files.kinds import understand
from dips._files.prepare import Preparation
from dips._files.read import read_table
from dips._study.drift import find_drift
from dips._study.importance import importance
from dips._study.metrics import METRICS, metrics_for, read_costs
from dips._study.outliers import find_outliers, usual_range
from dips._tools.wording import command_line
from dips.exceptions import UserError


def prepared(frame):
    table = read_table(frame)
    preparation = Preparation(understand(table)).learn(table)
    return preparation, preparation.encode(table)


def rows(n=400, seed=0):
    rng = np.random.RandomState(seed)
    return pd.DataFrame({"age": rng.normal(50, 9, n).round(1), "dose": rng.rand(n), "ward": rng.choice(list("abc"), n)})


def test_rows_from_one_place_are_said_to_be_alike():
    large = [
        find_drift(*prepared(rows(seed=k)), np.arange(200), np.arange(200, 400), seed=k).is_clear for k in range(6)
    ]
    assert sum(large) <= 1


def test_unlabeled_rows_from_elsewhere_are_found_and_the_column_named():
    frame = rows()
    frame.loc[200:, "age"] += 12
    drift = find_drift(*prepared(frame), np.arange(200), np.arange(200, 400))
    assert drift.is_large
    assert drift.low > 0.6
    assert drift.columns[0][0] == "age"
    assert "are not alike" in drift.warnings()[0]
    assert "'age'" in drift.warnings()[0]


def test_few_unlabeled_rows_are_not_tested():
    assert find_drift(*prepared(rows()), np.arange(390), np.arange(390, 400)) is None


def test_rows_of_separate_groups_can_be_compared():
    frame = pd.DataFrame(np.random.RandomState(0).normal(size=(300, 3)), columns=list("abc"))
    sites = np.repeat([0, 1, 2], [100, 100, 100])
    drift = find_drift(*prepared(frame), np.arange(200), np.arange(200, 300), groups=sites)
    assert 0.35 < drift.auc < 0.65


def test_groups_do_not_make_rows_look_alike_or_different():
    frame = pd.concat([rows(200)] * 2, ignore_index=True)  # every unlabeled row repeats a labeled one
    same = np.tile(np.arange(200), 2)
    drift = find_drift(*prepared(frame), np.arange(200), np.arange(200, 400), groups=same)
    assert not drift.is_large


def test_codes_for_missing_and_slips_are_far_out_and_long_tails_are_not():
    rng = np.random.RandomState(0)
    frame = pd.DataFrame(
        {
            "age": rng.randint(18, 90, 300).astype(float),
            "income": rng.lognormal(10, 1, 300),
            "score": rng.normal(size=300),
        }
    )
    frame.loc[[7, 9], "age"] = 999
    frame.loc[4, "score"] = -60
    table = read_table(frame)
    outliers = {r["column"]: r for r in find_outliers(table, understand(table))}
    assert set(outliers) == {"age", "score"}
    assert (outliers["age"]["values"], outliers["age"]["rows"]) == ([999.0], [8, 10])
    assert outliers["score"]["rows"] == [5]


def test_a_code_with_few_values_has_no_far_out_ones_and_may_be_a_category():
    rng = np.random.RandomState(0)
    codes = rng.choice([5411, 5812, 4829, 5732, 5999, 7995], 2_000, p=[0.35, 0.25, 0.05, 0.1, 0.2, 0.05])
    pain = np.where(rng.rand(2_000) < 0.01, 99, rng.randint(0, 6, 2_000))
    gaps = np.where(rng.rand(2_000) < 0.1, np.nan, codes)
    frame = pd.DataFrame({"mcc": codes, "gaps": gaps, "written": codes.astype(str), "pain": pain})
    for declared, found in ({}, ["pain"]), ({"mcc": "number"}, ["mcc", "pain"]):
        table = read_table(frame)
        with command_line():
            schema = understand(table, types=declared)
        assert sorted(r["column"] for r in find_outliers(table, schema)) == found
        notes = {c.name: c.note for c in schema.columns}
        assert notes["pain"] == ""
        said = "6 different numbers, such as {}, that may be codes; --type {}=category if they are"
        assert notes["written"] == said.format(codes[0], "written")
        assert notes["gaps"] == said.format(f"{gaps[np.isfinite(gaps)][0]:.0f}", "gaps")
        assert notes["mcc"] == ("as declared" if declared else said.format(codes[0], "mcc"))


@pytest.mark.parametrize(("share", "code"), [(0.05, 999.0), (0.05, 0.0), (0.1, 999.0)])
def test_one_value_far_from_all_others_may_be_frequent(share, code):
    values = np.random.RandomState(0).uniform(100, 180, 1000)
    values[: int(share * 1000)] = code
    low, high = usual_range(values)
    assert (low, high) == (values[100:].min(), values[100:].max())


def test_a_value_that_many_rows_have_is_not_far_out():
    assert usual_range(np.append(np.arange(20.0, 90), np.full(20, 999.0)))[1] == 999


def test_a_constant_or_short_column_has_no_far_out_numbers():
    assert usual_range(np.array([1.0] * 50 + [5.0]))[1] == 5
    assert usual_range(np.array([1.0, 2, 900])) == (-np.inf, np.inf)


def test_columns_of_noise_are_marked_and_the_one_that_matters_is_not():
    rng = np.random.RandomState(0)
    frame = pd.DataFrame(rng.normal(size=(300, 8)), columns=list("abcdefgh"))
    preparation, X = prepared(frame)
    codes = (frame["a"] > 0).to_numpy(dtype=int)
    right = rng.rand(300) < 0.9

    def answer(X):
        p = 1 / (1 + np.exp(-4 * X[:, 0] - 0.3 * X[:, 1:] @ np.ones(X.shape[1] - 1)))
        return np.column_stack([1 - p, p])

    importances = importance(answer, preparation, X, np.where(right, codes, 1 - codes), METRICS["accuracy"], 1)
    assert next(iter(importances)) == "a"
    assert [name for name, each in importances.items() if each.is_clear] == ["a"]
    assert all(each.low <= each.loss <= each.high for each in importances.values())


def test_the_cost_metric_answers_for_safety():
    costs = read_costs({"ill": 9}, ["ill", "well"])
    p = np.array([[0.2, 0.8], [0.05, 0.95], [0.9, 0.1]])
    cost = metrics_for(costs)["cost"]
    assert cost.score(np.array([0, 0, 1]), p, 0) == pytest.approx((0 + 9 + 1) / 3)
    with pytest.raises(UserError, match="costs names 'sick', which is not a label; choose one of ill, well"):
        read_costs({"sick": 2}, ["ill", "well"])
