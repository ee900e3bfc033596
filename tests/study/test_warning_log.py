"""Warnings that matter reach the user, once; known noise does not."""

import json
import warnings

import pytest
from xgboost import XGBClassifier

from dips import audit, fit
from dips._cli.app import run as dips
from dips._study.warning_log import WarningLog, caught_warnings
from dips._tools.observer import Observer
from dips.backbones._xgboost import XGBoost
from tests.patients import patients

NO_USEFUL_ROW = "The curator found no useful row"
SETTINGS = {"target": "outcome", "curator": "dips", "rounds": 2}


@pytest.fixture
def slow_learner(monkeypatch):
    """No label is ever believed above the fixed threshold of the curator."""
    monkeypatch.setattr(
        XGBoost, "default", staticmethod(lambda n_labels=0: XGBClassifier(n_estimators=3, learning_rate=1e-3))
    )


class Recorder(Observer):
    def __init__(self):
        self.warnings = []

    def on_record(self, record):
        assert record["event"] == "warning"
        self.warnings.append(record["message"])


def test_a_study_tells_that_no_row_is_useful_once(slow_learner, tmp_path):
    with pytest.warns(UserWarning, match=NO_USEFUL_ROW) as caught:
        run = fit(patients()[0], out=tmp_path / "run", **SETTINGS)
    assert sum(NO_USEFUL_ROW in str(w.message) for w in caught) == 1
    assert [NO_USEFUL_ROW in sentence for sentence in run.metrics["warnings"]].count(True) == 1
    assert NO_USEFUL_ROW in run.report.read_text(encoding="utf-8")


def test_an_audit_tells_that_no_row_is_useful(slow_learner, tmp_path):
    recorder = Recorder()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # an observer is told instead
        judged = audit(patients()[0], "outcome", curator="dips", observer=recorder)
    assert [NO_USEFUL_ROW in sentence for sentence in recorder.warnings] == [True]
    judged.write_report(tmp_path / "page.html")
    assert NO_USEFUL_ROW in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_the_command_prints_that_no_row_is_useful_once(slow_learner, tmp_path, capsys):
    patients()[0].to_csv(tmp_path / "patients.csv", index=False)
    command = ["fit", str(tmp_path / "patients.csv"), "-t", "outcome", "--curator", "dips", "--rounds", "2"]
    assert dips([*command, "-o", str(tmp_path / "run")]) == 0
    assert capsys.readouterr().err.count(f"Warning: {NO_USEFUL_ROW}") == 1
    assert dips([*command, "-o", str(tmp_path / "json"), "--json"]) == 0
    assert NO_USEFUL_ROW in json.loads(capsys.readouterr().out)["warnings"][0]


def test_warnings_of_cached_parts_are_told_when_a_study_continues(slow_learner, tmp_path, monkeypatch):
    def stop(*args, **kwargs):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("dips._study.fitting._train_on_all", stop)
        with pytest.raises(KeyboardInterrupt):
            fit(patients()[0], out=tmp_path / "run", observer=Observer(), **SETTINGS)
    recorder = Recorder()
    fit(patients()[0], out=tmp_path / "run", observer=recorder, **SETTINGS)
    assert "curated labels and unlabeled rows" in recorder.warnings[0]  # it warned before the stop


def test_known_noise_is_muted_and_the_rest_is_kept():
    with caught_warnings() as messages:
        warnings.warn("old", FutureWarning, stacklevel=1)
        warnings.warn("X does not have valid feature names, but LGBMClassifier was fitted", UserWarning, stacklevel=1)
        for _ in range(2):
            warnings.warn("matters", RuntimeWarning, stacklevel=1)
    assert messages == ["matters"]


def test_sentences_that_differ_in_numbers_only_are_one():
    log = WarningLog()
    log.add("plain", ["off by 1.5e-3", "other"])
    log.add("curated", ["off by 0.2"])
    assert log.sentences() == ["off by 1.5e-3 (Models: plain, curated.)", "other (Models: plain.)"]


def test_the_same_sentence_about_two_classes_is_two_where_classes_are_numbers():
    log = WarningLog([3, 7])
    log.add("plain", ["The 5 labels of class 0 look wrong", "The 5 labels of class 1 look wrong"])
    log.add("curated", ["The 6 labels of class 1 look wrong"])
    assert log.sentences() == [
        "Labels of class '3' look wrong (Models: plain.)",
        "Labels of class '7' look wrong (Models: plain, curated.)",
    ]
