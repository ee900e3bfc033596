"""Curves and thresholds are about one class against the rest: which one is said, and a reader may ask for another."""

import numpy as np
import pandas as pd
import pytest

from dips._study import fit
from tests.effort import quick_studies
from tests.patients import patients

HURRIED = {"time_limit": 1e-6, "keep": "plain"}


@pytest.fixture(scope="module")
def table():
    """Three classes, in this order: fine, grave, minor."""
    frame, _ = patients(n=240, n_labeled=240, noise=0)
    score = frame["age"] + 15 * frame["dose"]
    return frame.assign(outcome=pd.cut(score, [-99, 45, 75, 199], labels=["fine", "minor", "grave"]).astype(str))


@pytest.fixture(scope="module")
def run(table, tmp_path_factory):
    with quick_studies():
        return fit(table, "outcome", tmp_path_factory.mktemp("run") / "run", costs={"grave": 20}, **HURRIED)


def test_curves_are_about_the_class_that_is_dearest_to_miss(run):
    assert run.metrics["positive"] == "grave"
    assert run.summary["classes"][run.summary["positive"]] == "grave"
    assert run.summary["quality"]["thresholds"]["cost_missed"] == 20


def test_the_class_that_the_user_names_comes_before_the_dearest(table, tmp_path):
    run = fit(table, "outcome", tmp_path / "run", costs={"grave": 20}, positive="minor", **HURRIED)
    assert run.metrics["positive"] == "minor"


def test_costs_that_make_no_class_the_dearest_change_nothing(table, tmp_path):
    run = fit(table, "outcome", tmp_path / "run", costs={"grave": 20, "fine": 20}, **HURRIED)
    assert run.metrics["positive"] == "minor"  # the last in order


def test_every_class_has_its_own_curves_and_thresholds(run):
    others = run.summary["quality"]["other_classes"]
    held_out = run.held_out["given_label"].to_numpy()
    assert [run.summary["classes"][each["class"]] for each in others] == ["fine", "minor"]
    for each in others:
        name = run.summary["classes"][each["class"]]
        assert each["share_positive"] == pytest.approx((held_out == name).mean())
        assert each["thresholds"]["n_positive"] == (held_out == name).sum()
        assert each["thresholds"]["cost_missed"] == 1
        assert 1 < each["thresholds"]["cost_alarm"] < 20  # the others are missed at their mean cost


def test_a_reader_picks_the_class_on_the_page(run):
    page = run.report.read_text(encoding="utf-8")
    assert page.index(">grave</option>") < page.index(">fine</option>") < page.index(">minor</option>")
    assert page.count("<h3>Where to draw the line for") == 3
    assert page.count('class="of-class"') == page.count('class="of-class" data-class="1"') * 3
    assert "it answers the most probable class" in page


def test_of_two_classes_the_other_one_needs_no_curves(tmp_path):
    run = fit(patients()[0], "outcome", tmp_path / "run", **HURRIED)
    assert run.summary["quality"]["other_classes"] == []
    assert "<option" not in run.report.read_text(encoding="utf-8").split('id="models"')[1].split("</section>")[0]


def test_a_class_without_held_out_rows_has_no_curves():
    from dips._report.quality import curves_of_others

    codes, p = np.array([0, 0, 1, 1]), {"plain": np.full((4, 3), 1 / 3)}
    assert [each["class"] for each in curves_of_others(codes, p, positive=0, costs=None)] == [1]
