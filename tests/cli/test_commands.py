"""The commands as they are typed: what they print, write and exit with."""

import contextlib
import io
import json
import re
import sqlite3
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import f1_score

from dips import fit
from dips._cli.app import run as dips
from dips._cli.suspects import print_suspects
from dips._estimators.reasons import reason
from dips._study.run import Run
from tests.patients import patients

from .words import said

TABLE, WRONG = patients()
QUICK = ("--rounds", "2")
HURRIED = (*QUICK, "--time-limit", "0.001")  # only the models that are trained in any case


@pytest.fixture(scope="module")
def finished(place):
    """A run, and what was printed while it was made."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        assert dips(["fit", str(place / "patients.csv"), "-t", "outcome", "-o", str(place / "done"), *QUICK]) == 0
    return place / "done", out.getvalue(), err.getvalue()


@pytest.fixture(scope="module")
def run(finished):
    return finished[0]


def test_fit_says_what_it_understood_and_what_it_found(finished):
    _, out, err = finished
    assert "160 rows, 110 labeled and 50 not; 'outcome' is one of ill, well." in err
    assert all(words in err for words in ("identifies the row", "numbers", "categories", "dates"))
    assert all(
        words in out for words in ("plain", "curated", "22 held out", "better than plain", "look wrong", "report.html")
    )
    assert "Traceback" not in err


def test_fit_says_what_the_columns_of_scores_mean_and_what_to_do_next(finished):
    folder, out, _ = finished
    assert "valid.: an estimate of the score on true labels" in out
    assert "estimated to be wrong" in out
    _, steps = out.split("Next:\n")
    review, use = f"dips review {folder}", f"dips predict {folder} new.csv -o predictions.csv"
    assert f"Look at the suspects: {review}" in steps
    assert f"Use the model: {use}" in steps


def test_fit_says_on_the_terminal_that_a_model_is_no_better_than_a_guess(tmp_path, capsys):
    rng = np.random.RandomState(0)
    pd.DataFrame({"a": rng.rand(80), "y": rng.choice(["no", "yes"], 80)}).to_csv(tmp_path / "noise.csv", index=False)
    assert dips(["fit", str(tmp_path / "noise.csv"), "-t", "y", "-o", str(tmp_path / "r"), *HURRIED]) == 0
    out, _ = said(capsys)
    assert "Do not use the model yet" in out
    assert "Use the model:" not in out


def test_every_setting_can_come_from_a_file(place, tmp_path, capsys):
    config = tmp_path / "dips.toml"
    config.write_text(
        f'data = ["{place}/patients.csv"]\ntarget = "outcome"\nrounds = 2\nmetric = "roc_auc"\ndrop = ["ward"]\n'
    )
    assert dips(["fit", "--config", str(config), "-o", str(tmp_path / "r"), "--seed", "3", *HURRIED]) == 0
    settings = json.loads((tmp_path / "r" / "config.json").read_text())["settings"]
    assert (settings["metric"], settings["drop"], settings["seed"], settings["rounds"]) == ("roc_auc", ["ward"], 3, 2)
    out, err = said(capsys)
    assert out.count("Left out: ") == out.count(". Reason: the time limit.") == 1
    assert "% comparing: plain" in err


def test_in_a_file_one_name_needs_no_list(place, tmp_path, capsys):
    config = tmp_path / "dips.toml"
    config.write_text(
        f'data = "{place}/patients.csv"\ntarget = "outcome"\ndrop = "ward"\nkeep-label = 1\ntrust-label = "ill"\n'
    )
    assert dips(["audit", "--config", str(config), "--json"]) == 0
    reading = json.loads(said(capsys)[0])["reading"]
    assert "dropped" in [column["kind"] for column in reading["columns"] if column["name"] == "ward"]


def test_names_with_an_equals_sign_come_from_a_file_as_from_the_command_line(place, tmp_path, capsys):
    names, table, first = {"ill": ">50K", "well": "<=50K"}, tmp_path / "t.csv", tmp_path / "first"
    frame = pd.read_csv(place / "patients.csv")
    frame.assign(outcome=frame["outcome"].map(names)).to_csv(table, index=False)
    typed = ["fit", str(table), "-t", "outcome", "--map-label", "<=50K=low=er", "-o", str(first), *HURRIED]
    assert dips(typed) == 0
    settings = json.loads((first / "config.json").read_text())["settings"]
    assert settings["map_label"] == {"<=50K": "low=er"}
    said(capsys)
    toml = tmp_path / "dips.toml"
    toml.write_text(f'data = ["{table}"]\ntarget = "outcome"\n[map_label]\n"<=50K" = "low=er"\n')
    for config in (first / "config.json", toml):
        assert dips(["audit", str(table), "--config", str(config), "--json"]) == 0
        assert "low=er" in {s["given_label"] for s in json.loads(said(capsys)[0])["suspects"]}
    assert dips(["predict", str(first), str(table), "--json"]) == 0
    assert json.loads(said(capsys)[0])["scores"]["unknown"] == []


def test_a_run_can_be_run_again_from_its_config_and_for_machines_it_is_one_json_document(run, tmp_path, capsys):
    assert dips(["fit", "--config", str(run / "config.json"), "-o", str(tmp_path / "again"), "--json"]) == 0
    out, err = said(capsys)
    record = json.loads(out)
    assert err == ""
    assert record["chosen"] in record["test"]
    assert record["report"].endswith("report.html")
    first, again = (json.loads((p / "metrics.json").read_text()) for p in (run, tmp_path / "again"))
    assert first["test"] == again["test"]


def test_audit_lists_labels_with_reasons(at_home, capsys):
    assert dips(["audit", "patients.csv", "-t", "outcome", "--top", "3"]) == 0
    out, _ = said(capsys)
    assert "of the labels look wrong" in out
    assert "that it is right, according to models that had not seen the row." in " ".join(out.split())


def test_audit_says_how_many_suspects_it_does_not_show(at_home, tmp_path, capsys):
    assert dips(["audit", "patients.csv", "-t", "outcome", "--top", "1"]) == 0
    assert re.search(r"These are the first 1 of \d+; -o suspects.csv writes them all.", said(capsys)[0])
    out = str(tmp_path / "suspects.csv")
    assert dips(["audit", "patients.csv", "-t", "outcome", "--top", "1", "-o", out]) == 0
    assert "These are the first" not in said(capsys)[0]


def test_no_suspect_is_printed_where_none_is_asked_for(at_home, capsys):
    assert dips(["audit", "patients.csv", "-t", "outcome", "--top", "0"]) == 0
    out = said(capsys)[0]
    assert "-o suspects.csv writes them all." in out
    assert "These are the first" not in out
    assert "suggested" not in out
    assert dips(["audit", "patients.csv", "-t", "outcome", "--top", "-1"]) == 2


def test_a_suspect_is_one_line_of_the_terminal(at_home, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert dips(["audit", "patients.csv", "-t", "outcome", "--top", "3"]) == 0
    out, _ = said(capsys)
    lines = [line for line in out.splitlines() if re.match(r"\s+\d+  P\d{4}  ", line)]
    assert len(lines) == 3
    assert all(re.search(r"(ill|well) +(well|ill) +(over )?\d+ % +(under )?\d+ %\s*$", line) for line in lines)


def test_what_no_column_says_of_a_suspect_is_said_beside_it(capsys):
    said_of = {
        "confidence": 0.1,
        "out_of_fold": 0.2,
        "p_wrong": 0.9,
        "given_label": "no; never",
        "suggested_label": "yes",
    }
    plain = reason("no; never", "yes", 0.1, 0.2, 0.9)
    suspects = pd.DataFrame(
        [{"row": 3, "reason": plain} | said_of, {"row": 4, "reason": f"row 9 is the same; {plain}"} | said_of]
    )
    print_suspects(suspects.head(1), [])
    assert "why" not in said(capsys)[0]
    print_suspects(suspects, [])
    out, _ = said(capsys)
    assert re.search(r"90 %\s+20 %\s+row 9 is the same\s*\n", out)
    print_suspects(suspects.head(1).assign(**{"row (input)": "P7", "given": "G8"}), ["row (input)", "given"])
    head, _, line = (row.split("  ") for row in said(capsys)[0].strip().splitlines()[:3])
    assert [h.strip() for h in head if h][:3] == ["row", "row (input)", "given (input)"]
    assert [c.strip() for c in line if c.strip()][:4] == ["3", "P7", "G8", "no; never"]


def test_no_probability_is_printed_as_if_it_were_certain(capsys):
    said_of = {
        "confidence": 0.1,
        "out_of_fold": 0.002,
        "p_wrong": 0.9996,
        "given_label": "no",
        "suggested_label": "yes",
    }
    suspects = pd.DataFrame([{"row": 3, "reason": reason("no", "yes", 0.1, 0.002, 0.9996)} | said_of])
    print_suspects(suspects, [])
    assert re.search(r"no +yes +over 99 % +under 1 %\s*\n", said(capsys)[0])


def test_stages_are_told_where_there_is_no_terminal(at_home, capsys):
    assert dips(["audit", "patients.csv", "-t", "outcome"]) == 0
    assert re.match(r"(  0 % reading\n)? 20 % judging labels\n", said(capsys)[1])
    assert dips(["audit", "patients.csv", "-t", "outcome", "--json"]) == 0
    assert "%" not in said(capsys)[1]


def test_audit_writes_a_list_a_page_and_json(at_home, tmp_path, capsys):
    files = ["-o", str(tmp_path / "s.csv"), "--report", str(tmp_path / "a.html")]
    assert dips(["audit", "patients.csv", "-t", "outcome", "--json", *files]) == 0
    record = json.loads(said(capsys)[0])
    listed = pd.read_csv(tmp_path / "s.csv")
    assert len(listed) == len(record["suspects"]) > 0
    assert {"patient", "given_label", "suggested_label", "confidence", "reason"} <= set(listed)
    assert "Label audit of" in (tmp_path / "a.html").read_text()


@pytest.mark.parametrize(("limit", "code"), [("0.9", 0), ("0.001", 6)])
def test_an_audit_can_fail_a_check(at_home, limit, code, capsys):
    assert dips(["audit", "patients.csv", "-t", "outcome", "--fail-above", limit]) == code


def test_predict_writes_labels_and_probabilities_with_the_ids(run, place, tmp_path, capsys):
    TABLE.drop(columns="outcome").to_parquet(tmp_path / "new.parquet")
    assert dips(["predict", str(run), str(tmp_path / "new.parquet"), "-o", str(tmp_path / "out.csv")]) == 0
    out = pd.read_csv(tmp_path / "out.csv")
    assert list(out) == ["patient", "predicted_outcome", "probability", "probability_ill", "probability_well"]
    assert out["patient"].tolist() == TABLE["patient"].tolist()
    assert out[["probability_ill", "probability_well"]].sum(axis=1).round(4).eq(1).all()


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_predictions_of_a_table_with_predictions_are_new_ones(run, place, tmp_path, kind, capsys):
    read = {"csv": pd.read_csv, "parquet": pd.read_parquet}[kind]
    first, second = tmp_path / f"first.{kind}", tmp_path / f"second.{kind}"
    old = TABLE.assign(predicted_outcome="old", probability_ill=-1.0)
    old.to_csv(first) if kind == "csv" else old.to_parquet(first)
    assert dips(["predict", str(run), str(first), "-o", str(second), "--keep-columns"]) == 0
    assert "'predicted_outcome' is written as 'predicted_outcome (input)'" in capsys.readouterr().err
    predictions = read(second)
    assert predictions.columns.is_unique
    assert set(predictions["predicted_outcome"]) == {"ill", "well"}
    assert set(predictions["predicted_outcome (input)"]) == {"old"}
    assert predictions["probability_ill"].between(0, 1).all()


def test_predict_prints_csv_where_no_file_is_named(run, place, capsys):
    assert dips(["predict", str(run), str(place / "patients.csv"), "--keep-columns"]) == 0
    out, err = said(capsys)
    assert out.startswith("patient,age,dose,ward,seen,outcome,predicted_outcome")
    assert err.startswith("On the 110 rows that have a label: accuracy ")


def test_predict_scores_itself_only_where_the_truth_is_in_the_file(run, place, tmp_path, capsys):
    table = pd.read_csv(place / "patients.csv")
    table.drop(columns="outcome").to_csv(tmp_path / "new.csv", index=False)
    assert dips(["predict", str(run), str(tmp_path / "new.csv"), "--json"]) == 0
    assert "scores" not in json.loads(said(capsys)[0])
    table.assign(outcome=table["outcome"].replace({"ill": "sick"})).to_csv(tmp_path / "other.csv", index=False)
    assert dips(["predict", str(run), str(tmp_path / "other.csv"), "--json"]) == 0
    scores = json.loads(said(capsys)[0])["scores"]
    assert (scores["unknown"], list(scores["recall"]), scores["metric"]) == (["sick"], ["well"], "accuracy")


def test_predict_says_that_scores_on_the_training_rows_are_not_those_of_new_ones(run, place, tmp_path, capsys):
    TABLE.head(100).to_csv(tmp_path / "others.csv", index=False)
    for data, is_known in ((place / "patients.csv", True), (tmp_path / "others.csv", False)):
        assert dips(["predict", str(run), str(data), "-o", str(tmp_path / f"{is_known}.csv")]) == 0
        out, _ = said(capsys)
        assert "On the 1" in out
        assert ("The model was trained on this file" in out) == is_known
        assert dips(["predict", str(run), str(data), "--json"]) == 0
        assert json.loads(said(capsys)[0])["trained_on"] == is_known


def test_a_table_of_a_database_is_known_again(place, tmp_path):
    path = tmp_path / "ward.db"
    with contextlib.closing(sqlite3.connect(path)) as base:
        TABLE.to_sql("visits", base, index=False)
        TABLE.to_sql("others", base, index=False)
    address = f"sqlite:///{path}?table="
    assert dips(["fit", f"{address}visits", "-t", "outcome", "-o", str(tmp_path / "run"), *HURRIED]) == 0
    made = Run(tmp_path / "run")
    assert [made.was_made_of(data) for data in (f"{address}visits", f"{address}others")] == [True, False]


def test_predict_scores_the_positive_class_of_the_run(place, tmp_path, capsys):
    labeled = TABLE[TABLE["outcome"].notna()]
    table = labeled.drop(labeled.index[labeled["outcome"] == "ill"][15:])
    table.to_csv(tmp_path / "rare.csv", index=False)
    out = str(tmp_path / "run")
    assert dips(["fit", str(tmp_path / "rare.csv"), "-t", "outcome", "-o", out, "--keep", "plain", *HURRIED]) == 0
    said(capsys)
    assert Run(out).metrics["positive"] == "ill"
    scores, predicted = Run(out).score(labeled), Run(out).predict(labeled)
    assert scores.metrics["f1"]["value"] == pytest.approx(f1_score(labeled["outcome"], predicted, pos_label="ill"))


@pytest.mark.parametrize("name", ["nan", "Infinity"])
def test_predict_scores_a_class_that_is_called_like_a_number(name, tmp_path):
    table = TABLE.assign(outcome=TABLE["outcome"].replace({"well": name}))
    run = fit(table, "outcome", tmp_path / "run", keep_label=name, keep="plain", time_limit=1e-6)
    assert set(run.score(table).recall) == {"ill", name}


def test_predict_writes_excel_for_excel(run, place, tmp_path, capsys):
    pytest.importorskip("openpyxl")
    pd.read_csv(place / "patients.csv").to_excel(tmp_path / "new.xlsx", index=False)
    assert dips(["predict", str(run), str(tmp_path / "new.xlsx"), "-o", str(tmp_path / "out")]) == 0
    assert "accuracy" in said(capsys)[0]
    assert len(pd.read_excel(tmp_path / "out.xlsx")) == 160


def test_predict_writes_csv_for_formats_that_are_only_read(run, place, tmp_path):
    pd.read_csv(place / "patients.csv").to_json(tmp_path / "new.jsonl", orient="records", lines=True)
    assert dips(["predict", str(run), str(tmp_path / "new.jsonl"), "-o", str(tmp_path / "out")]) == 0
    assert len(pd.read_csv(tmp_path / "out.csv")) == 160


def test_a_model_can_be_kept_whatever_the_comparison_says(place, tmp_path, monkeypatch, capsys):
    asked = ["-t", "outcome", *HURRIED, "--keep", "pseudo", "--costs", "ill=5", "--metric", "cost"]
    assert dips(["fit", str(place / "patients.csv"), *asked, "-o", str(tmp_path / "run")]) == 0
    out = said(capsys)[0]
    assert "Kept, as requested: pseudo-labels, not curated" in out
    assert "Cost per row" in out
    kept = Run(tmp_path / "run")
    assert kept.metrics["chosen"] == "pseudo"
    p = kept.predict_proba(place / "patients.csv")  # ill is column 0, and five times as dear to miss
    assert (kept.predict(place / "patients.csv") == np.where(5 * p[:, 0] >= p[:, 1], "ill", "well")).all()
    labeled = TABLE[TABLE["outcome"].notna()]
    accuracy = kept.score(labeled).metrics["accuracy"]["value"]
    assert accuracy == pytest.approx((kept.predict(labeled) == labeled["outcome"]).mean())
    monkeypatch.setattr("dips._persistence.model.task_cpus", lambda session: 1)
    monkeypatch.setattr("dips._persistence.model.predicted_frame", lambda *given: given[-1].tolist())
    assert kept.model.predict_frame(SimpleNamespace(sparkSession=None)) == [5, 1]  # Spark decides by costs, too


def test_predict_takes_the_one_file_of_a_pattern_and_refuses_several(run, tmp_path, capsys):
    TABLE.to_csv(tmp_path / "new_1.csv", index=False)
    asked = ["predict", str(run), str(tmp_path / "new_*.csv"), "--json"]
    assert dips(asked) == 0
    assert json.loads(said(capsys)[0])["rows"] == len(TABLE)
    TABLE.to_csv(tmp_path / "new_2.csv", index=False)
    assert dips(asked) == 3
    assert "matches 2 files, and dips predict takes one at a time" in json.loads(said(capsys)[0])["error"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t.drop(columns="age"), "lacks 1 of the 4 columns that the model was trained on (age)"),
        (lambda t: t.assign(dose="high"), "'dose' held numbers in training, but most cells are not numbers"),
    ],
)
def test_predict_refuses_a_table_that_does_not_fit(run, tmp_path, change, words, capsys):
    change(TABLE).to_csv(tmp_path / "new.csv", index=False)
    assert dips(["predict", str(run), str(tmp_path / "new.csv"), "-o", str(tmp_path / "out.csv")]) == 3
    assert words in " ".join(said(capsys)[1].split())
    assert not (tmp_path / "out.csv").exists()


def test_report_writes_the_page_again(run, tmp_path, capsys):
    before = (run / "report.html").read_text()
    (run / "report.html").unlink()
    assert dips(["report", str(run)]) == 0
    assert (run / "report.html").read_text() == before
    assert dips(["report", str(run), "-o", str(tmp_path / "p.html")]) == 0
    assert dips(["report", str(run), "-o", str(tmp_path / "p.html")]) == 4


def test_info_names_what_can_be_named(capsys):
    assert dips(["info"]) == 0
    assert "greedy" in said(capsys)[0]
    assert dips(["info", "--json"]) == 0
    assert "xgboost" in json.loads(said(capsys)[0])["backbones"]


def test_demo_is_the_demo(monkeypatch):
    called = []
    monkeypatch.setattr("dips._demo.main", lambda: called.append(1))
    assert dips(["demo"]) == 0
    assert called == [1]


def test_a_demo_that_cannot_draw_says_why(monkeypatch, capsys):
    def refuse():
        raise SystemExit("The demo draws a picture with matplotlib; install it.")

    monkeypatch.setattr("dips._demo.main", refuse)
    assert dips(["demo"]) == 3
    assert "The demo draws a picture with matplotlib" in said(capsys)[1]


def test_every_default_is_in_the_help(capsys):
    assert dips(["fit", "--help"]) == 0
    out = " ".join(said(capsys)[0].split())
    for default in (
        "run",
        "accuracy",
        "xgboost",
        "auto",
        "5; for images 20, or 5 below 2,000 steps",
        "0.2",
        "none",
        "0",
        "1",
        "the dearest by --costs, or of two words the rarer, or the last in order",
    ):
        assert f"[default: {default}]" in out
    assert "reviewers got wrong, such as 0.1. [default: 0] --trust-label" in out  # also with --reviewed


def test_the_version_is_printed(capsys):
    import dips as package

    assert dips(["--version"]) == 0
    assert said(capsys)[0] == f"dips {package.__version__}\n"


def test_the_shell_can_complete_commands(capsys):
    assert dips(["--help"]) == 0
    assert "--install-completion" in said(capsys)[0]


def test_a_damaged_model_is_refused(run, tmp_path, at_home, capsys):
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    content = (copy / "model" / "backbone.ubj").read_bytes()
    (copy / "model" / "backbone.ubj").write_bytes(content[:-9])
    assert dips(["predict", str(copy), "patients.csv"]) == 5
    assert "was cut off or changed" in " ".join(said(capsys)[1].split())


def test_names_that_look_like_markup_are_printed_as_they_are(tmp_path, capsys):
    odd = TABLE.rename(columns={"age": "[red]age[/red]", "dose": "do\x1b[31mse"})
    odd.to_csv(tmp_path / "odd.csv", index=False)
    assert dips(["fit", str(tmp_path / "odd.csv"), "-t", "outcome", "-o", str(tmp_path / "r"), *HURRIED]) == 0
    err = said(capsys)[1]
    assert "[red]age[/red]" in err
    assert "\x1b[31mse" not in err


def test_the_command_is_installed():
    from importlib.metadata import entry_points

    assert [e.value for e in entry_points(group="console_scripts", name="dips")] == ["dips._cli:main"]


@pytest.mark.parametrize(
    "options", [["--labeler", "greedy"], ["--curator", "adaptive"], ["--curator", "dips", "--metric", "log_loss"]]
)
def test_labelers_and_curators_can_be_chosen(place, tmp_path, options, capsys):
    command = ["fit", str(place / "patients.csv"), "-t", "outcome", "-o", str(tmp_path / "r"), *QUICK]
    assert dips([*command, "--json", *options]) == 0
    record = json.loads(said(capsys)[0])
    assert set(record["test"]) == {"plain", "curated", "pseudo", "curated_pseudo", "network"}
    assert set(record["recall"]["plain"]) == {"ill", "well"}
    interval = record["labels"]["share_wrong_interval"]
    assert (interval is None) == ("--curator" in options)
