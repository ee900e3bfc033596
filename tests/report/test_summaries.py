"""What the page says about labels, points and models is what was found."""

import numpy as np
import pandas as pd
import pytest

from dips._report import render, summarize
from dips._report.points import _MAX_POINTS, short
from dips._report.quality import _calibration, _roc
from dips._report.words import headline
from dips._study import audit
from dips._tools.files import without_nan
from dips._tools.shares import calibration_of, wilson
from tests.patients import patients


def one_bad_ward():
    """Labels are wrong in one ward, and right elsewhere."""
    frame, _ = patients(n=600, n_labeled=600, noise=0.0)
    rng = np.random.RandomState(1)
    wrong = rng.rand(600) < np.where(frame["ward"] == "north", 0.25, 0.0)
    frame["outcome"] = np.where(wrong, frame["outcome"].map({"ill": "well", "well": "ill"}), frame["outcome"])
    return frame


@pytest.fixture(scope="module")
def findings(quick):
    return audit(one_bad_ward(), target="outcome", curator="adaptive").findings


def test_the_default_finds_the_ward_with_the_wrong_labels(quick):
    assert len(audit(one_bad_ward(), target="outcome").suspects()) >= 20


def test_wrong_labels_in_one_ward_are_part_of_the_share_that_looks_wrong(quick):
    low, high = audit(one_bad_ward(), target="outcome").interval
    assert low < 189 * 0.25 / 600 < high  # of 600 labels, a quarter of the 189 in the north


@pytest.fixture(scope="module")
def summary(findings):
    return summarize(findings)


def test_the_ward_with_the_wrong_labels_is_named(summary):
    first = summary["noise"]["by_value"][0]
    assert (first["column"], first["value"]) == ("ward", "north")
    assert first["share"] > 5 * first["elsewhere"]
    assert any("where ward is north" in step for step in summary["next_steps"])


def test_shares_by_class_add_up_to_the_suspects(summary):
    by_class = summary["noise"]["by_class"]
    assert sum(r["k"] for r in by_class) == summary["labels"]["n_suspects"]
    assert sum(r["n"] for r in by_class) == 600
    assert all(r["low"] <= r["share"] <= r["high"] for r in by_class)
    assert by_class[0]["instead"][0]["label"] == "well"


def test_columns_that_are_not_listed_are_counted(findings, monkeypatch):
    monkeypatch.setattr("dips._report.summary._MAX_COLUMNS", 2)
    wide = without_nan(summarize(findings))
    n = len(findings.schema.columns)
    assert f"with {len(findings.schema.used)} columns to learn outcome from" in wide["headline"]["data"]
    assert f"and {n - 2} more columns." in render(wide)


def test_a_number_far_from_all_others_is_written_out(summary):
    far = {"column": "bill", "n": 1, "values": [1_664_090.0], "rows": [7], "low": -34_041.0, "high": 2.5}
    assert "<td>1664090</td><td>7</td><td>-34041 to 2.5</td>" in render(summary | {"outliers": [far]})


def test_three_classes_are_named_with_one_or(summary):
    assert headline(summary | {"classes": ["card", "loan", "account"]})["data"].endswith("(card, loan or account).")
    assert summary["headline"]["data"].endswith("(ill or well).")


def test_an_audit_has_no_models_and_no_scores(summary):
    assert summary["models"] == []
    assert summary["quality"] is None
    assert summary["headline"]["model"] == ""


def test_every_suspect_is_drawn_in_order(findings, summary):
    points = summary["points"]
    ranks = [r for r in points["rank"] if r]
    assert ranks == list(range(1, summary["labels"]["n_suspects"] + 1))
    assert points["row"][0] == findings.account.sort_values("suspicion")["row"].iloc[0]


def test_points_are_as_in_the_account(findings, summary):
    points = summary["points"]
    account = findings.account.set_index("row").loc[points["row"]]
    assert points["confidence"] == (1000 * account["confidence"]).round().astype(int).tolist()
    age = next(c for c in points["values"] if c["name"] == "age")
    shown = [age["distinct"][k] for k in age["codes"]]
    assert shown == [str(v) for v in findings.table.columns["age"].to_pandas().iloc[np.array(points["row"]) - 1]]


def test_of_long_values_fewer_points_are_shown(findings):
    from dataclasses import replace

    table = findings.table
    noisy = table.columns.append_column("note", [[f"{i} " + "many different words " * 3 for i in range(600)]])
    assert len(summarize(findings)["points"]["row"]) == 600 < _MAX_POINTS
    from dips._report import points

    original = points._BYTES
    try:
        points._BYTES = 40_000
        few = summarize(replace(findings, table=replace(table, columns=noisy)))
    finally:
        points._BYTES = original
    assert 200 <= len(few["points"]["row"]) < 600


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (3.0, "3"),
        (0.123456789, "0.12346"),
        (172300.5, "172300"),
        ("x" * 80, "x" * 59 + "…"),
        (1e20, "1e+20"),
    ],
)
def test_values_are_cut_to_a_cell(value, text):
    assert short(value) == text


def test_intervals_of_shares_hold_them():
    for k, n in ((0, 10), (10, 10), (3, 7), (500, 1000)):
        low, high = wilson(k, n)
        assert 0 <= low <= k / n <= high <= 1


def test_a_calibrated_model_lies_on_the_diagonal():
    rng = np.random.RandomState(0)
    p = rng.rand(20_000)
    codes = (rng.rand(p.size) < p).astype(int)
    for group in _calibration(codes, np.column_stack([1 - p, p]), 1):
        assert group["said"] == pytest.approx(group["seen"], abs=0.03)


def test_the_calibration_of_equal_probabilities_does_not_depend_on_the_order_of_the_rows():
    p, is_positive = np.repeat([0.3, 0.6], [100, 40]), np.repeat([1, 0, 1, 0], [30, 70, 24, 16]) == 1
    order = np.random.RandomState(0).permutation(p.size)
    for rows in (np.arange(p.size), order):
        groups = calibration_of(p[rows], is_positive[rows])
        assert [(g["said"], g["seen"], g["n"]) for g in groups] == [
            (pytest.approx(0.3), 0.3, 100),
            (pytest.approx(0.6), 0.6, 40),
        ]


def test_lines_begin_and_end_where_they_should():
    rng = np.random.RandomState(0)
    codes, p = rng.randint(0, 2, 5_000), rng.rand(5_000)
    line = _roc(codes, np.column_stack([1 - p, p]), 1)
    assert (line[0], line[-1], len(line) <= 120) == ([0, 0], [1, 1], True)


def test_dates_and_gaps_are_shown_for_people(quick):
    frame, _ = patients(n=120, n_labeled=120)
    frame.loc[3, "seen"] = pd.NaT
    points = summarize(audit(frame, target="outcome").findings)["points"]
    seen = next(c for c in points["values"] if c["name"] == "seen")
    at = points["row"].index(4)
    assert seen["distinct"][seen["codes"][at]] == ""
    assert all(len(v) in (0, 10) for v in seen["distinct"])
