"""Commands that cannot do what they are asked for: one sentence, and the exit code that says whose fault it is."""

import json
import tempfile

import pytest

from dips._cli.app import run as dips
from dips.exceptions import DataError, InputError, InputTypeError
from tests.patients import patients

from .words import said


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["fit", "patients.csv"], 2, "--target"),
        (["fit", "patients.csv", "-t", "outcome", "--depth", "3"], 2, "--depth"),
        (["fit", "gone.csv", "-t", "outcome"], 3, "There is no file gone.csv"),
        (["fit", "patients.csv", "-t", "outcom"], 3, "did you mean 'outcome'?"),
        (["fit", "patients.csv", "-t", "outcome", "--metric", "gini"], 3, "--metric gini is not known"),
        (["fit", "patients.csv", "-t", "outcome", "--curator", "dipps"], 3, "did you mean 'dips'?"),
        (
            ["fit", "patients.csv", "-t", "outcome", "--curator", "x"],
            3,
            "There are auto, adaptive, beliefs, confidence",
        ),
        (["fit", "patients.csv", "-t", "outcome", "--curator", "image_auto"], 3, "--curator image_auto is for images"),
        (["fit", "patients.csv", "-t", "outcome", "-o", "."], 4, "exists already"),
        (["fit", "patients.csv", "-t", "outcome", "-o", ".", "--force"], 4, "is not a run folder of dips"),
        (["audit", "patients.csv", "-t", "outcome", "-o", "patients.csv"], 4, "exists already"),
        (["fit", "patients.csv", "-t", "outcome", "--jobs", "0"], 3, "--jobs is the number of folds trained at once"),
        (["fit", "patients.csv", "-t", "outcome", "--seed", "-1"], 3, "--seed must be a whole number from 0"),
        (["predict", "gone", "patients.csv"], 5, "is not a run folder of dips: there is no such folder"),
        (["predict", "patients.csv", "patients.csv"], 5, "is not a run folder of dips: it is a file"),
        (
            ["fit", "patients.csv", "-t", "outcome", "-o", "patients.csv/run"],
            4,
            "patients.csv is a file; choose another",
        ),
        (["audit", "patients.csv", "-t", "outcome", "-o", "gone/x.csv"], 4, "dips: There is no folder gone to write x"),
        (["audit", "patients.csv", "-t", "outcome", "--report", "gone/x.html"], 4, "There is no folder gone"),
    ],
)
def test_what_goes_wrong_is_said_in_a_sentence_with_its_code(at_home, arguments, code, words, capsys):
    assert dips(arguments) == code
    out, err = said(capsys)
    assert words in " ".join(err.split())
    assert out == ""
    assert "Traceback" not in err
    assert "judging labels" not in err


@pytest.fixture(params=[ValueError, TypeError, KeyError, RuntimeError])
def a_bug(request, monkeypatch):
    def fail(*args, **kwargs):
        raise request.param("planted")

    monkeypatch.setattr("dips._study.compare._Training.answers", fail)


def test_a_bug_of_ours_ends_with_1_and_says_how_to_report_it(at_home, a_bug, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert dips(["fit", "patients.csv", "-t", "outcome", "-o", "buggy"]) == 1
    err = said(capsys)[1]
    assert "This is a bug in dips, not in your data" in err
    assert "Please report it to the project's issue tracker, with the file" in " ".join(err.split())
    assert "Traceback" not in err
    (report,) = tmp_path.glob("dips-bug-*.txt")
    assert str(report) in err.replace("\n", "")
    assert "planted" in report.read_text()
    assert "Traceback" in report.read_text()


@pytest.mark.parametrize(
    ("module", "code", "words"),
    [
        ("pydantic.errors", 3, "The Python package 'pydantic' is not installed"),
        ("dips.gone", 1, "This is a bug in dips"),
    ],
)
def test_a_package_that_is_not_there_is_named_and_is_no_bug(module, code, words, monkeypatch, capsys):
    def lacking(*args, **kwargs):
        raise ModuleNotFoundError(f"No module named {module!r}", name=module)

    monkeypatch.setattr("dips._cli.app.app", lacking)
    assert dips(["info"]) == code
    assert words in " ".join(said(capsys)[1].split())


@pytest.mark.parametrize("a_bug", [ValueError], indirect=True)
def test_the_traceback_of_a_bug_is_printed_on_demand(at_home, a_bug, monkeypatch, capsys):
    monkeypatch.setenv("DIPS_TRACEBACK", "1")
    assert dips(["fit", "patients.csv", "-t", "outcome", "-o", "buggy"]) == 1
    assert "Traceback" in said(capsys)[1]


@pytest.mark.parametrize("error", [InputError, InputTypeError, DataError])
def test_a_refusal_deep_inside_ends_with_3_in_a_sentence(at_home, error, monkeypatch, capsys):
    def refuse(*args, **kwargs):
        raise error("This cannot be used; use that.")

    monkeypatch.setattr("dips._study.compare._Training.answers", refuse)
    assert dips(["fit", "patients.csv", "-t", "outcome", "-o", "refused"]) == 3
    assert said(capsys)[1].splitlines()[-1] == "dips: This cannot be used; use that."


def test_errors_are_json_for_machines(at_home, capsys):
    assert dips(["fit", "gone.csv", "-t", "outcome", "--json"]) == 3
    assert json.loads(said(capsys)[0]) == {"error": "There is no file gone.csv.", "exit_code": 3}


def test_ctrl_c_says_how_to_go_on(at_home, monkeypatch, capsys):
    def stop(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("dips._study.compare._Training.answers", stop)
    assert dips(["fit", "patients.csv", "-t", "outcome", "-o", "stopped"]) == 130
    assert "The same command continues where it stopped" in said(capsys)[1]


def test_an_ending_that_names_no_format_is_refused_before_the_work(tmp_path, capsys):
    patients()[0].to_csv(tmp_path / "t.csv", index=False)
    assert dips(["audit", str(tmp_path / "t.csv"), "-t", "nothing", "-o", str(tmp_path / "suspects.exe")]) == 4
    assert "results are written as .csv, .parquet or .xlsx" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["fit", "audit"])
def test_a_refusal_comes_with_what_is_known_of_the_table(tmp_path, command, capsys):
    path = tmp_path / "ward.csv"
    rows = "".join(f"{age};Köln;ill\n{age + 30};Bonn;Well\n{age + 60};Bonn;well\n" for age in range(20))
    path.write_bytes(f"Report of ward 7\nage;city;outcome\n{rows}50;Bonn;dead\n".encode("latin-1"))
    assert dips([command, str(path), "-t", "outcome"]) == 3
    words = said(capsys)[1]
    assert "is read as cp1252" in words
    assert "('Report of ward 7') is not part of the table" in words
    assert "The class 'dead' of 'outcome' has 1 labeled row" in words
    assert "look like spellings of one: 'Well' (20), 'well' (20)" in words
    assert dips([command, str(path), "-t", "outcome", "--json"]) == 3
    assert len(json.loads(said(capsys)[0])["notes"]) == 2
