"""Rows that belong together: noticed, held out together, and never on both sides of a fold."""

import numpy as np
import pandas as pd
import pytest

from dips import audit, fit
from dips._beliefs import learning
from dips._study.between import AFTER, compare_runs
from dips._study.data import read_data
from dips._study.settings import Settings
from dips._study.splits import HoldOut, hold_out, validation_folds
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
    column = next(c for c in grouped.schema.columns if c.name == "patient_id")
    assert (column.kind, column.n_distinct, column.is_used) == ("group", 60, False)


def test_rows_of_no_group_are_counted():
    is_first = ~VISITS["patient_id"].duplicated()
    written_once = VISITS.assign(patient_id=VISITS["patient_id"].where(is_first))
    said = f"'patient_id' is empty in {(~is_first).sum()} of {len(VISITS)} rows, each of which stands alone"
    for table, is_said in ((written_once, True), (VISITS, False)):
        notes = read_data(table, Settings(target="outcome", group="patient_id")).notes
        assert any(note.startswith(said) for note in notes) == is_said


@pytest.mark.parametrize("name", ["PatNr", "mrn"])
def test_ids_of_somebody_may_begin_with_zeros(name):
    numbers = [f"{4000 + int(p[1:]):06d}" for p in VISITS["patient_id"]]
    frame = VISITS.drop(columns="patient_id").assign(**{name: numbers})
    assert read_data(frame, Settings(target="outcome")).repeated_ids == {name: 60}


@pytest.mark.parametrize("name", ["pid", "patientid", "CUSTOMERID", "userid"])
def test_ids_of_somebody_may_be_written_in_one_word(name):
    frame = VISITS.rename(columns={"patient_id": name})
    assert read_data(frame, Settings(target="outcome")).repeated_ids == {name: 60}


def test_codes_that_begin_with_zeros_are_no_groups():
    frame = VISITS.rename(columns={"patient_id": "icd code"})
    frame["icd code"] = [f"{4000 + int(p[1:]):06d}" for p in frame["icd code"]]
    assert read_data(frame, Settings(target="outcome")).repeated_ids == {}


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
    folds = validation_folds(study.target.codes, split, settings)
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


@pytest.fixture(scope="module")
def runs_of_visits(tmp_path_factory):
    """Two runs on one table that hold out the same patients."""
    home = tmp_path_factory.mktemp("visits")
    common = {"target": "outcome", "group": "patient_id"}
    return [fit(VISITS, **common, out=home / keep, keep=keep) for keep in ("plain", "curated")]


def test_two_runs_are_compared_by_whole_groups_too(runs_of_visits):
    plain, curated = runs_of_visits
    compared = compare_runs(plain, curated)["scores"]["all"][AFTER]
    within = curated.metrics["test"]["curated"]
    for metric in ("accuracy", "log_loss"):
        assert compared[metric]["gain"] == pytest.approx(within[metric]["gain"])


def test_few_groups_are_said_to_tell_little_of_others(tmp_path, runs_of_visits):
    wards = VISITS.assign(ward=[f"W{int(p[1:]) % 5}" for p in VISITS["patient_id"]])
    warned = fit(wards, target="outcome", group="ward", out=tmp_path / "run", drop="patient_id").metrics["warnings"]
    assert any("The held-out rows are of only 1 group. So intervals" in w for w in warned)
    assert not any("The held-out rows are of only" in w for run in runs_of_visits for w in run.metrics["warnings"])


def test_a_class_in_one_group_is_refused():
    settings = Settings(target="outcome", group="patient_id")
    ill = VISITS["patient_id"] == VISITS["patient_id"].mode()[0]
    study = read_data(VISITS.assign(outcome=np.where(ill, "ill", "well")), settings)
    words = "'ill' is in too few groups: none is left to (learn from|hold out); label rows of more groups"
    with pytest.raises(DataError, match=words):
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


def test_a_group_is_shown_beside_rows_only_where_nothing_else_names_them():
    visits = VISITS.assign(visit=[f"v{i}" for i in range(len(VISITS))])
    settings = Settings(target="outcome", group="patient_id")
    assert (read_data(VISITS, settings).ids, read_data(visits, settings).ids) == (["patient_id"], ["visit"])


def test_a_column_that_is_said_to_name_rows_and_repeats_is_pointed_out():
    assert read_data(VISITS, Settings(target="outcome", id=("patient_id",))).repeated_ids == {"patient_id": 60}


@pytest.mark.parametrize("n_groups", [3, 4, 6, 10, 20, 30])
def test_of_a_few_large_groups_about_a_fifth_of_the_rows_is_held_out(n_groups):
    rng = np.random.RandomState(n_groups)
    site = rng.choice(n_groups, 600, p=rng.dirichlet(np.full(n_groups, 5)))
    frame = pd.DataFrame(rng.normal(size=(600, 3)), columns=list("abc")).assign(
        site=[f"site {k}" for k in site], outcome=rng.choice(["ill", "well"], 600)
    )
    settings = Settings(target="outcome", group="site")
    study = read_data(frame, settings)
    split = hold_out(study.target, settings, study.groups)
    assert 0.12 < split.test.size / 600 < 0.28
    assert not set(site[split.train]) & set(site[split.test])
    folds = validation_folds(study.target.codes, split, settings)
    assert all(fit.size and validate.size for fit, validate in folds)


def test_folds_from_which_a_class_cannot_be_learned_are_left_out():
    codes, rows, settings = np.array([0, 1, 0, 1, 0, 0]), np.arange(6), Settings(target="outcome")

    def folds(*groups):
        return validation_folds(codes, HoldOut(rows, rows[:0], rows[:0], np.array(groups)), settings)

    assert len(folds(0, 0, 1, 1, 2, 2)) == 2
    ((fit, _),) = folds(0, 0, 0, 0, 1, 2)
    assert {0, 1, 2, 3} <= set(fit)
    with pytest.raises(DataError, match="too few to compare models: besides the rows held out, 1 group with"):
        folds(0, 0, 0, 0, 0, 0)


def test_a_study_of_few_sites_is_done(tmp_path):
    sites = VISITS.assign(patient_id=np.arange(len(VISITS)) % 4)
    run = fit(sites, target="outcome", out=tmp_path / "run", group="patient_id", rounds=2)
    assert set(run.samples["patient_id"][run.samples["held_out"]]) < {0, 1, 2, 3}


def test_two_groups_are_too_few_which_is_said_before_the_work(tmp_path):
    sites = VISITS.assign(patient_id=np.arange(len(VISITS)) % 2)
    with pytest.raises(DataError, match="Groups are too few to compare models: besides the rows held out, 1 group"):
        fit(sites, target="outcome", out=tmp_path / "run", group="patient_id")


def test_python_warns_of_rows_that_may_belong_together():
    with pytest.warns(UserWarning, match=r"'patient_id' repeats: 60 values in .* use group='patient_id'"):
        audit(VISITS, target="outcome")
