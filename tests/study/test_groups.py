"""Rows that belong together: noticed, held out together, and never on both sides of a fold."""

import numpy as np
import pandas as pd
import pytest

from dips import audit, fit
from dips._beliefs import learning
from dips._study.compare import _folds, hold_out
from dips._study.data import read_data
from dips._study.settings import Settings
from dips.exceptions import DataError
from tests.patients import patients

TABLE, _ = patients()
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


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


@pytest.mark.parametrize("name", ["account_age_days", "patientAge", "customer balance"])
def test_a_quantity_of_somebody_is_not_a_group(name):
    frame = VISITS.rename(columns={"patient_id": "name"}).assign(**{name: np.arange(len(VISITS)) // 3})
    assert read_data(frame, Settings(target="outcome")).repeated_ids == {}


def test_no_patient_is_on_both_sides_of_the_hold_out_or_of_a_fold():
    settings = Settings(target="outcome", group="patient_id")
    study = read_data(VISITS, settings)
    split = hold_out(study.target, settings, study.groups)
    patient = VISITS["patient_id"].to_numpy()
    assert not set(patient[split.train]) & set(patient[split.test])
    assert 0.12 < split.test.size / len(VISITS) < 0.28
    folds = _folds(study.target.codes[split.train], split.train, settings, study.groups)
    assert len(folds) == 3  # of quick studies
    for train, test in folds:
        assert not set(patient[train]) & set(patient[test])
        assert set(study.target.codes[test]) == {0, 1}


@pytest.mark.parametrize(("n_ill", "held_out"), [(5, 1), (10, 2), (20, 4), (40, 8)])
@pytest.mark.parametrize("group", [None, "patient"])
def test_of_a_rare_class_no_more_is_held_out_where_rows_belong_together(n_ill, held_out, group):
    rng = np.random.RandomState(0)
    table = pd.DataFrame(rng.normal(size=(200, 4)), columns=list("abcd"))
    table["outcome"] = np.where(np.arange(200) < n_ill, "ill", "well")
    table["patient"] = [f"P{i}" for i in range(200)]
    table = pd.concat([table, table.tail(2)], ignore_index=True)  # all but two rows stand alone
    settings = Settings(target="outcome", group=group, drop=() if group else ("patient",))
    study = read_data(table, settings)
    assert study.groups is not None
    split = hold_out(study.target, settings, study.groups)
    assert (table["outcome"][split.test] == "ill").sum() == held_out
    assert (table["outcome"][split.train] == "ill").sum() == n_ill - held_out


def test_a_class_needs_two_groups_to_learn_from():
    settings = Settings(target="outcome", group="patient_id")
    often = VISITS["patient_id"].value_counts().index
    for n_groups, words in ((1, "none is left to learn from"), (2, "only one is left to learn from")):
        ill = VISITS["patient_id"].isin(often[:n_groups])
        study = read_data(VISITS.assign(outcome=np.where(ill, "ill", "well")), settings)
        with pytest.raises(DataError, match=f"'ill' is in too few groups: {words}; label rows of more groups"):
            hold_out(study.target, settings, study.groups)


def test_corrections_may_leave_too_few_labels_to_learn_from(tmp_path):
    table = TABLE.assign(outcome=np.where(np.arange(len(TABLE)) < 9, "ill", "well"))
    settings = Settings(target="outcome", holdout=0.5)
    given = read_data(table, settings)
    of_class = np.flatnonzero(table["outcome"] == "ill")
    learned = np.intersect1d(of_class, hold_out(given.target, settings).train)
    pd.DataFrame({"row": learned[1:] + 1, "label": "well"}).to_csv(tmp_path / "corrections.csv", index=False)
    now = read_data(table, Settings(target="outcome", corrections=str(tmp_path / "corrections.csv")).checked())
    words = "'ill' is in too few labeled rows: only one is left to learn from; .* choose a smaller holdout"
    with pytest.raises(DataError, match=words):
        hold_out(given.target, settings, now=now.target)


def test_no_patient_is_on_both_sides_of_the_folds_of_an_audit(monkeypatch):
    seen = []
    real = learning.training_and_test

    def note(labels, n_folds, order, groups=None):
        for train, test in real(labels, n_folds, order, groups):
            seen.append((train, test))
            yield train, test

    monkeypatch.setattr(learning, "training_and_test", note)
    audited = audit(VISITS, target="outcome", group="patient_id")
    patient = VISITS["patient_id"].to_numpy()
    assert seen
    assert all(not set(patient[train]) & set(patient[test]) for train, test in seen)
    # Outcomes have nothing to do with the columns: only a model that knew the patient could say them.
    torn = audit(VISITS.drop(columns="patient_id"), target="outcome")
    assert audited.samples["out_of_fold"].mean() < 0.6 < torn.samples["out_of_fold"].mean()


@pytest.mark.parametrize("curator", ["auto", "adaptive"])
def test_a_study_in_groups_is_done_and_repeats(tmp_path, curator):
    run = fit(VISITS, target="outcome", out=tmp_path / "run", group="patient_id", rounds=2, curator=curator)
    held_out = run.samples.groupby("patient_id")["held_out"]
    assert (held_out.transform("min") == held_out.transform("max")).all()


def test_what_was_found_while_reading_is_stored_in_the_run(tmp_path):
    run = fit(VISITS, target="outcome", out=tmp_path / "run", time_limit=1e-6)
    reading = run.metrics["reading"]
    assert reading == run.summary["reading"]
    assert reading["repeated_ids"] == {"patient_id": 60}
    assert {c["name"]: c["kind"] for c in reading["columns"]}["a"] == "number"
    assert set(reading) >= {"labels", "leaks", "duplicates", "groups", "columns"}


def test_a_row_that_is_labeled_later_is_not_trained_on_where_its_group_is_held_out():
    settings = Settings(target="outcome", group="patient_id")
    frame = VISITS.copy()
    last = ~frame.duplicated("patient_id", keep="last")
    frame.loc[last, "outcome"] = None
    given, now = read_data(frame, settings), read_data(VISITS, settings)
    split = hold_out(given.target, settings, given.groups, now=now.target)
    patient = VISITS["patient_id"].to_numpy()
    assert not set(patient[split.train]) & set(patient[split.test])
    assert set(split.test) == set(hold_out(given.target, settings, given.groups).test)
    assert last.to_numpy()[split.train].any()


def test_groups_are_the_same_however_their_names_are_written():
    names = [f"{i // 4}" + ("", " ", ".0", "")[i % 4] for i in range(len(TABLE))]
    names[:3] = ["NA", "NA", ""]
    study = read_data(TABLE.assign(household=names), Settings(target="outcome", group="household").checked())
    assert np.unique(study.groups[:3]).size == 3
    assert study.groups[4:].reshape(-1, 4).std(axis=1).max() == 0
    assert np.unique(study.groups).size == 3 + 1 + (len(TABLE) - 4) // 4
