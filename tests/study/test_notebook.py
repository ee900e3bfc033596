"""What a study is in Python: completable arguments, a short page, pictures, and the ranking of the command line."""

import inspect
from dataclasses import MISSING, fields

import numpy as np
import pandas as pd
import pytest

import dips
from dips._report.compact import render_compact
from dips._study import audit, fit
from dips._study.settings import Settings
from dips.exceptions import InputError
from tests.patients import patients
from tests.report.pages import HOSTILE

TABLE, WRONG = patients()


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return fit(TABLE, target="outcome", out=tmp_path_factory.mktemp("study") / "run", rounds=2)


@pytest.fixture(scope="module")
def judged():
    return audit(TABLE, target="outcome")


@pytest.fixture
def pyplot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")


def test_an_audit_prints_as_one_line(judged):
    n_suspects = len(judged.suspects())
    assert repr(judged) == (
        f"Audit of 'outcome': 110 labels, {n_suspects} suspect; see suspects(), samples and write_report()"
    )


@pytest.mark.parametrize("function", [fit, audit])
def test_every_argument_is_a_setting_with_the_same_default_and_is_documented(function):
    parameters, described = inspect.signature(function).parameters, inspect.getdoc(function)
    assert not any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    for field in fields(Settings):
        if field.name not in parameters:
            assert function is audit  # it compares no models
            continue
        default = () if field.default is MISSING else field.default
        assert field.name == "target" or parameters[field.name].default == default, field.name
    assert all(name in described for name in parameters)


def test_every_setting_can_be_given_to_fit():
    assert {f.name for f in fields(Settings)} <= set(inspect.signature(fit).parameters)


def test_a_notebook_shows_the_sentences_the_scores_and_the_first_suspects(run, judged):
    shown = run._repr_html_()
    assert "Report on outcome" in shown
    assert "← kept" in shown
    assert run.suspects()["patient"].iloc[0] in shown
    assert "<script" not in shown
    assert "Label audit of outcome" in judged._repr_html_()


def test_a_study_writes_its_page(run, judged, tmp_path):
    run.write_report(tmp_path / "run.html")
    assert (tmp_path / "run.html").read_bytes() == run.report.read_bytes()
    judged.write_report(tmp_path / "audit.html")
    assert "<small>Label audit of</small> outcome" in (tmp_path / "audit.html").read_text(encoding="utf-8")


def test_a_notebook_shows_no_probability_as_if_it_were_certain(judged):
    shown = render_compact(judged.summary, judged.suspects().head(2).assign(p_wrong=[0.9996, 0.002]))
    assert ">over 99\xa0%</td>" in shown
    assert ">under 1\xa0%</td>" in shown


def test_what_a_notebook_shows_is_escaped():
    frame = TABLE.dropna().rename(columns={"outcome": HOSTILE[0], "patient": HOSTILE[2]})
    shown = audit(frame, target=HOSTILE[0], id=HOSTILE[2])._repr_html_()
    assert "<script" not in shown
    assert "<img" not in shown


def test_pictures_return_their_axes(run, judged, pyplot):
    for each in (run, judged):
        ax = each.plot_map()
        assert ax.get_ylabel() == "confidence in the label"
        assert sum(len(c.get_offsets()) for c in ax.collections) == len(each.summary["points"]["row"])
        assert each.plot_calibration().get_xlabel() == "probability of well"
        first = each.suspects()["row"].tolist()[:10]
        assert len(each.plot_curves().lines) == len(first)
        assert len(each.plot_curves(rows=first[:2], ax=pyplot.gca()).lines) >= 2
    with pytest.raises(InputError, match="Row 999 is not among"):
        run.plot_curves(rows=[999])


def test_characterize_says_why_and_ranks_as_the_command_line_does(pyplot):
    rng = np.random.RandomState(0)
    X = rng.normal(size=(200, 3))
    y = np.where((X[:, 0] > 0) ^ (rng.rand(200) < 0.1), "ill", "well")
    for curator in ("auto", "adaptive"):
        characterized = dips.characterize(None, X, y, random_state=0, curator=curator, track=[0, 1])
        by_command = audit(pd.DataFrame(X, columns=list("abc")).assign(y=y), target="y", curator=curator)
        suspects = characterized.suspects()
        assert suspects["reason"].str.contains("models that had not seen the row gave").all()
        assert by_command.suspects()["reason"].str.contains("models that had not seen the row gave").all()
        if curator == "auto":
            assert suspects["p_wrong"].is_monotonic_decreasing
        else:
            unseen = pd.Series(characterized.model.curator_.out_of_fold_)[suspects.index]
            assert (suspects["confidence"].astype(float) * unseen).is_monotonic_increasing
        assert len(characterized.plot_curves().lines) == 2
        assert characterized.plot_map().get_xlabel() == "uncertainty"
        assert characterized.plot_calibration().get_xlabel() == "probability of well"
        assert "of 200 labels are suspect" in characterized._repr_html_()


def test_a_run_scores_a_table_that_holds_the_truth(run):
    scores = run.score(TABLE)
    assert scores.n == 110
    right = (run.predict(TABLE) == TABLE["outcome"]).iloc[:110].mean()
    assert scores.metrics["accuracy"]["value"] == pytest.approx(right)
    assert scores.sentences()[0].startswith("On the 110 rows that have a label: accuracy")
    assert run.score(TABLE.drop(columns="outcome")) is None


def test_the_truth_may_be_spelled_as_it_was_in_training(tmp_path):
    table = TABLE.assign(outcome=TABLE["outcome"].replace("ill", "Ill").where(TABLE.index % 2 == 0, TABLE["outcome"]))
    merged = fit(table, target="outcome", out=tmp_path / "run", merge_labels=True, time_limit=1e-6)
    scores = merged.score(table)
    assert (scores.n, scores.unknown) == (110, [])


def test_a_label_that_reads_like_missing_is_scored_where_it_is_a_class(tmp_path):
    table = TABLE.assign(outcome=TABLE["outcome"].replace("ill", "NA"))
    kept = fit(table, target="outcome", out=tmp_path / "run", keep_label="NA", time_limit=1e-6)
    assert kept.score(table).n == 110


def test_a_model_that_cannot_be_trained_cannot_be_kept(tmp_path):
    with pytest.raises(dips.UserError, match=r"keep='pseudo' cannot be trained here: there are no unlabeled rows"):
        fit(TABLE.dropna(), target="outcome", out=tmp_path / "run", keep="pseudo")
    with pytest.raises(dips.UserError, match="keep='best' is not a model; choose one of plain, curated"):
        fit(TABLE, target="outcome", out=tmp_path / "run", keep="best")
    with pytest.raises(dips.UserError, match="metric='cost' needs to know what it costs"):
        fit(TABLE, target="outcome", out=tmp_path / "run", metric="cost")
