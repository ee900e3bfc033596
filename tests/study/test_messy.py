"""Tables as people really have them: what would be silently wrong is found, said, and where safe mended."""

import numpy as np
import pandas as pd
import pytest

from dips import audit, fit
from dips._beliefs import learning
from dips._study.compare import _folds, hold_out
from dips._study.data import read_data
from dips._study.duplicates import Duplicates
from dips._study.settings import Settings
from dips.exceptions import DataError
from tests.patients import patients

TABLE, WRONG = patients()


def test_a_text_is_one_column_to_drop():
    table = TABLE.assign(agent_note="called")
    study = read_data(table, Settings(target="outcome", drop="agent_note").checked())
    assert next(c.kind for c in study.schema.columns if c.name == "agent_note") == "dropped"


def test_in_python_messages_speak_python(tmp_path):
    with pytest.raises(DataError, match=r"^drop names 'agent_note', which is not a column besides the target"):
        fit(TABLE, target="outcome", out=tmp_path / "run", drop="agent_note")


def test_the_user_says_what_a_column_holds():
    table = TABLE.assign(zip=np.random.RandomState(0).randint(10_000, 99_999, len(TABLE)))
    kinds = {
        c.name: c.kind for c in read_data(table, Settings(target="outcome", type={"zip": "number"})).schema.columns
    }
    assert kinds["zip"] == "number"
    with pytest.raises(DataError, match="type names 'zap'"):
        read_data(table, Settings(target="outcome", type={"zap": "number"}))


def test_spellings_of_a_label_are_merged_on_demand():
    table = TABLE.assign(outcome=TABLE["outcome"].mask(TABLE.index < 6, TABLE["outcome"].str.upper()))
    with pytest.raises(DataError, match="say merge_labels=True to merge them"):
        read_data(table, Settings(target="outcome"))
    assert read_data(table, Settings(target="outcome", merge_labels=True)).target.classes == ["ill", "well"]


def test_unlabeled_rows_with_a_word_stop_the_run():
    table = TABLE.assign(outcome=TABLE["outcome"].where(TABLE.index < 60, "pending"))
    with pytest.raises(DataError, match="say unlabeled_mark='pending'"):
        read_data(table, Settings(target="outcome"))
    assert read_data(table, Settings(target="outcome", unlabeled_mark=("pending",))).target.is_labeled.sum() == 60


def visits(n_patients=60, seed=0):
    """Several rows of each patient, who has one outcome and one way to be measured."""
    rng = np.random.RandomState(seed)
    patient = np.repeat(np.arange(n_patients), rng.randint(2, 6, n_patients))
    like = rng.normal(size=(n_patients, 3))
    ill = rng.rand(n_patients) < 0.5
    frame = pd.DataFrame(like[patient] + 0.01 * rng.normal(size=(patient.size, 3)), columns=["a", "b", "c"])
    return frame.assign(patient_id=[f"P{p:03d}" for p in patient], outcome=np.where(ill[patient], "ill", "well"))


VISITS = visits()


def test_repeated_ids_are_noticed_and_the_option_is_named():
    study = read_data(VISITS, Settings(target="outcome"))
    assert study.repeated_ids == {"patient_id": 60}
    assert any("'patient_id' repeats: 60 values in" in note and "group='patient_id'" in note for note in study.notes)
    grouped = read_data(VISITS, Settings(target="outcome", group="patient_id"))
    assert grouped.repeated_ids == {}
    assert next(c.kind for c in grouped.schema.columns if c.name == "patient_id") == "id"


def test_an_id_that_does_not_repeat_is_not_a_group():
    assert read_data(TABLE, Settings(target="outcome")).repeated_ids == {}


def test_no_patient_is_on_both_sides_of_the_hold_out_or_of_a_fold():
    settings = Settings(target="outcome", group="patient_id")
    study = read_data(VISITS, settings)
    split = hold_out(study.target, settings, study.groups)
    patient = VISITS["patient_id"].to_numpy()
    assert not set(patient[split.train]) & set(patient[split.test])
    assert 0.12 < split.test.size / len(VISITS) < 0.28
    folds = _folds(study.target.codes[split.train], split.train, settings, study.groups)
    assert len(folds) == 5
    for train, test in folds:
        assert not set(patient[train]) & set(patient[test])
        assert set(study.target.codes[test]) == {0, 1}


def test_no_patient_is_on_both_sides_of_the_folds_of_an_audit(monkeypatch):
    seen = []
    real = learning.training_and_test

    def note(labels, n_folds, order, groups=None):
        for train, test in real(labels, n_folds, order, groups):
            seen.append((train, test))
            yield train, test

    monkeypatch.setattr(learning, "training_and_test", note)
    found = audit(VISITS, target="outcome", group="patient_id")
    patient = VISITS["patient_id"].to_numpy()
    assert seen
    assert all(not set(patient[train]) & set(patient[test]) for train, test in seen)
    # Outcomes have nothing to do with the columns: only a model that knew the patient could say them.
    torn = audit(VISITS.drop(columns="patient_id"), target="outcome")
    assert found.samples["out_of_fold"].mean() < 0.6 < torn.samples["out_of_fold"].mean()


@pytest.mark.parametrize("curator", ["auto", "adaptive"])
def test_a_study_in_groups_is_done_and_repeats(tmp_path, curator):
    run = fit(VISITS, target="outcome", out=tmp_path / "run", group="patient_id", rounds=2, curator=curator)
    held_out = run.samples.groupby("patient_id")["held_out"]
    assert (held_out.transform("min") == held_out.transform("max")).all()


def with_duplicates():
    """300 rows twice, 100 of them with the other label; 40 unlabeled rows that are the same as labeled ones."""
    frame, _ = patients(1000, 800, noise=0)
    frame = frame.drop(columns="patient")
    again = frame[:300].copy()
    again.loc[:99, "outcome"] = again.loc[:99, "outcome"].map({"ill": "well", "well": "ill"})
    without = frame[300:340].assign(outcome=None)
    return pd.concat([frame, again, without], ignore_index=True)


def test_duplicates_are_counted_listed_and_contrary_labels_are_suspects(tmp_path):
    frame = with_duplicates()
    found = audit(frame, target="outcome", curator="adaptive")
    notes = " ".join(found.findings.notes)
    assert "340 rows repeat an earlier one in every column (row 1001, 1002" in notes
    assert "40 unlabeled rows are the same as a labeled one." in notes
    assert "200 labels contradict those of rows that are the same; they are suspects." in notes
    suspects = found.suspects().set_index("row")
    assert {*range(1, 101), *range(1001, 1101)} <= set(suspects.index)
    assert suspects.loc[1, "reason"].startswith("row 1001 is the same and has the label")


def test_duplicates_are_on_one_side_of_the_split():
    settings = Settings(target="outcome")
    study = read_data(with_duplicates(), settings)
    split = hold_out(study.target, settings, study.groups)
    same = study.duplicates.same
    assert not set(same[split.train]) & set(same[split.test])
    assert not set(same[split.unlabeled_apart_from(split.test)]) & set(same[split.test])


def test_rows_that_are_often_the_same_are_no_duplicates():
    rng = np.random.RandomState(0)
    frame = pd.DataFrame(rng.choice(["a", "b"], (300, 4)), columns=list("wxyz"))
    study = read_data(frame.assign(outcome=rng.choice(["ill", "well"], 300)), Settings(target="outcome"))
    assert (study.groups, study.duplicates.notes()) == (None, [])


def test_three_equal_rows_outvote_the_fourth():
    found = Duplicates(np.array([0, 0, 0, 0, 1, 1]), np.array([1, 1, 1, 0, 0, 0]), False).contrary
    assert found.to_dict("records") == [{"row": 3, "code": 1, "other": 0, "share": 0.75}]
