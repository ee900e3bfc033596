"""Means, errors and tests, against their definitions written out."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from dips._paper.engine.statistics import compare, holm, standard_error
from dips._paper.engine.tables import markdown, means, paired


def test_without_shared_rows_it_is_the_paired_t_test():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 12))
    expected = stats.ttest_rel(a, b)
    assert compare(a, b).p == pytest.approx(expected.pvalue)
    assert compare(a, b).difference == pytest.approx((a - b).mean())


def test_shared_rows_make_it_harder_to_be_significant_as_nadeau_and_bengio_say():
    rng = np.random.default_rng(1)
    a, b = rng.normal(0.8, 1, 10), rng.normal(0, 1, 10)
    d, ratio = a - b, 0.25
    t = d.mean() / np.sqrt((1 / 10 + ratio) * ((d - d.mean()) ** 2).sum() / 9)
    assert compare(a, b, ratio).p == pytest.approx(2 * (1 - stats.t.cdf(abs(t), 9)))
    assert compare(a, b, ratio).p > compare(a, b).p
    assert compare(a, b, ratio).error == compare(a, b).error == standard_error(d)


def test_the_test_keeps_its_level_where_nothing_differs():
    rng = np.random.default_rng(2)
    rejected = [compare(*rng.normal(size=(2, 8))).p < 0.05 for _ in range(2000)]
    assert 0.03 < np.mean(rejected) < 0.07


def test_equal_results_are_no_difference_and_two_seeds_no_evidence():
    assert compare([1, 2, 3], [1, 2, 3]).p == 1
    assert compare([2, 3, 4], [1, 2, 3]).p == 0
    assert np.isnan(compare([2, 3], [1, 2]).p)


def naive_holm(p):
    adjusted, running = {}, 0.0
    for rank, i in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
        running = max(running, (len(p) - rank) * p[i])
        adjusted[i] = min(1.0, running)
    return [adjusted[i] for i in range(len(p))]


def test_holm_is_its_definition_and_leaves_out_what_is_unknown():
    p = np.random.default_rng(3).uniform(0, 0.2, 9)
    assert holm(p) == pytest.approx(naive_holm(p))
    with_gap = holm([*p, np.nan])
    assert with_gap[:-1] == pytest.approx(naive_holm(p))
    assert np.isnan(with_gap[-1])


def frame():
    rng = np.random.default_rng(4)
    rows = [
        {"method": m, "table": t, "seed": s, "accuracy": rng.uniform(), "test_over_train": 0.25}
        for m in ("one", "two")
        for t in ("x", "y")
        for s in range(5)
    ]
    return pd.DataFrame(rows)


def test_means_are_over_seeds_with_the_published_value_beside():
    table = means(frame(), "method", "table", published=lambda m, t: "50" if (m, t) == ("one", "x") else None)
    values = 100 * frame().query("method == 'two' and table == 'y'")["accuracy"]
    assert table.loc["two", "y"] == f"{values.mean():.2f} ± {values.std() / np.sqrt(5):.2f}"
    assert list(table.columns) == ["x", "x, paper", "y"]
    assert table["x, paper"].tolist() == ["50", ""]


def test_pairs_are_compared_seed_by_seed_whatever_the_order_of_rows():
    shuffled = frame().sample(frac=1, random_state=0)
    table = paired(frame(), [("one", "two")], by="table")
    assert table.loc["x"].tolist() == paired(shuffled, [("one", "two")], by="table").loc["x"].tolist()
    wide = frame().query("table == 'x'").pivot_table(index="seed", columns="method", values="accuracy")
    assert table.loc["x", "difference"].startswith(f"{100 * (wide['one'] - wide['two']).mean():+.2f}")


def test_a_seed_that_one_of_them_lacks_does_not_count():
    lacking = frame().drop(frame().query("method == 'two' and seed == 3").index)
    assert paired(lacking, [("one", "two")], by="table")["seeds"].tolist() == [4, 4]


def test_bars_in_names_do_not_break_a_markdown_table():
    assert r"a\|b" in markdown(pd.DataFrame({"n": ["a|b"]}))
