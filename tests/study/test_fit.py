"""A study from a table to a folder: what is compared, chosen and written, and that a stop loses nothing."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import ExtraTreesClassifier

from dips._files import DataError, ModelError, OutputError, Preparation, read_table, understand
from dips._study import audit, fit
from dips._study.candidates import Trained
from dips._study.compare import compare
from dips._study.data import read_data
from dips._study.examples import Examples
from dips._study.folder import RunFolder
from dips._study.leaks import LeakCheck
from dips._study.run import Run
from dips._study.settings import Settings
from dips._study.splits import hold_out
from dips._tools.observer import Observer
from tests.patients import patients

TABLE, WRONG = patients()


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return fit(TABLE, target="outcome", out=tmp_path_factory.mktemp("study") / "run", rounds=2)


def test_the_folder_holds_all_that_was_promised(run):
    names = {p.name for p in run.folder.iterdir()}
    assert names == {
        "config.json", "held_out.parquet", "metrics.json", "model", "report.html", "report.json", "samples.csv",
        "samples.parquet",
    }  # fmt: skip
    assert {p.name for p in (run.folder / "model").iterdir()} == {
        "manifest.json", "backbone.ubj", "preparation.json", "preparation.npz",
    }  # fmt: skip
    assert [p.name for p in run.folder.parent.iterdir()] == ["run"]


def test_the_model_inside_a_run_points_to_the_run(run):
    words = r"model is not a run folder .* holds no config.json; name the folder above it, .*run\.$"
    with pytest.raises(ModelError, match=words):
        Run(run.folder / "model")


def test_all_models_are_scored_and_one_is_chosen_by_validation(run):
    m = run.metrics
    assert set(m["test"]) == {"plain", "curated", "pseudo", "curated_pseudo", "network"}
    better = {name: g["value"] for name, g in m["validation_gains"].items() if g["value"] > 2 * g["error"]}
    assert m["chosen"] == (max(better, key=better.get) if better else m["usual"])
    rows = {"all": 160, "labeled": 110, "unlabeled": 50, "train": 88, "test": 22}
    assert m["rows"] == {**rows, "verified": 0, "test_verified": 0}


def test_the_account_has_every_row_in_order_with_its_id(run):
    samples = run.samples
    assert samples["row"].tolist() == list(range(1, 161))
    assert samples["patient"].tolist() == TABLE["patient"].tolist()
    labeled = samples["source"] == "given"
    assert labeled.tolist() == [True] * 110 + [False] * 50
    assert samples.loc[labeled, "given_label"].tolist() == TABLE["outcome"][:110].tolist()
    assert samples["held_out"].sum() == 22
    assert len(pd.read_csv(run.folder / "samples.csv")) == 160


def test_a_label_is_suspect_if_and_only_if_it_is_not_useful(run):
    samples = run.samples
    given = samples["source"] == "given"
    assert (samples["suspicion"].notna() == (given & ~samples["useful"])).all()
    suspects = run.suspects()
    assert suspects["suspicion"].tolist() == list(range(1, len(suspects) + 1))
    assert suspects["reason"].str.len().gt(20).all()
    assert (suspects["suggested_label"] != suspects["given_label"]).all()


def test_the_first_suspects_are_wrong_labels(run):
    first = run.suspects()["row"].to_numpy()[:5] - 1
    assert WRONG[first].mean() >= 0.6


def test_the_model_answers_for_a_new_table(run):
    p = run.predict_proba(TABLE.drop(columns="outcome"))
    assert p.shape == (160, 2)
    assert set(run.predict(TABLE)) <= {"ill", "well"}


def test_the_same_study_gives_the_same_result(run, tmp_path):
    again = fit(TABLE, target="outcome", out=tmp_path / "run", rounds=2)
    assert again.metrics["test"] == run.metrics["test"]
    pd.testing.assert_frame_equal(again.samples, run.samples)
    assert (again.predict_proba(TABLE) == run.predict_proba(TABLE)).all()


def test_the_config_is_enough_to_run_it_again(run):
    config = run.config
    assert config["settings"]["target"] == "outcome"
    assert config["sources"][0]["rows"] == 160
    assert config["versions"]["dips"]


def test_labels_of_held_out_rows_decide_nothing(tmp_path):
    settings = Settings(target="outcome", rounds=2)
    study = read_data(TABLE, settings)
    split = hold_out(study.target, settings)
    X = Preparation(study.schema).learn(study.table).encode(study.table)
    swapped = study.target.codes.copy()
    swapped[split.test] = 1 - swapped[split.test]
    runs = []
    other = replace(study.target, labels=replace(study.target.labels, codes=swapped))
    for k, target in enumerate((study.target, other)):
        folder = RunFolder(tmp_path / str(k))
        folder.begin("")
        runs.append(compare(Examples(X, target.codes), target, split, settings, folder))
    assert runs[0].validation == runs[1].validation
    assert runs[0].chosen == runs[1].chosen
    assert all((runs[0].test[name] == runs[1].test[name]).all() for name in runs[0].test)


class Stages(Observer):
    def __init__(self):
        self.told = []

    def message(self, text, fraction):
        self.told.append(text)


def test_a_stopped_study_goes_on_where_it_was(tmp_path, monkeypatch):
    calls, real = [], Trained.fit

    def stop_at_the_third_candidate(self, *args):
        calls.append(self.name)
        if self.name == "pseudo":
            raise KeyboardInterrupt
        return real(self, *args)

    monkeypatch.setattr(Trained, "fit", stop_at_the_third_candidate)
    with pytest.raises(KeyboardInterrupt):
        fit(TABLE, target="outcome", out=tmp_path / "run", rounds=2)
    assert not (tmp_path / "run").exists()
    before = len(calls)

    def note(self, *args):
        calls.append(self.name)
        return real(self, *args)

    monkeypatch.setattr(Trained, "fit", note)
    stages = Stages()
    continued = fit(TABLE, target="outcome", out=tmp_path / "run", rounds=2, observer=stages)
    assert calls[before] == "pseudo"  # plain and curated were kept
    assert stages.told[1] == "continuing where it stopped"
    monkeypatch.setattr(Trained, "fit", real)
    whole = fit(TABLE, target="outcome", out=tmp_path / "whole", rounds=2)
    assert continued.metrics["test"] == whole.metrics["test"]
    assert [p.name for p in tmp_path.glob(".*")] == []


def test_no_model_is_trained_twice_unless_a_stop_lost_it(tmp_path, monkeypatch):
    trained, real = [], Trained.fit

    def note(self, examples, labeled, *others):
        trained.append((self.name, *labeled))
        return real(self, examples, labeled, *others)

    def stop(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(Trained, "fit", note)
    how = {"target": "outcome", "keep": "curated"}
    whole = fit(TABLE[:110], out=tmp_path / "whole", **how)
    assert len(set(trained)) == len(trained)
    with monkeypatch.context() as patch:
        patch.setattr("dips._study.fitting.importance", stop)
        with pytest.raises(KeyboardInterrupt):
            fit(TABLE[:110], out=tmp_path / "stopped", **how)
    trained.clear()
    continued = fit(TABLE[:110], out=tmp_path / "stopped", **how)
    assert [name for name, *_ in trained] == ["curated", "curated"]  # on the training part, and on all labels
    assert importances(continued) == importances(whole)


def importances(run):
    return json.loads((run.folder / "report.json").read_text())["importance"]


def test_changed_data_is_another_study(tmp_path, monkeypatch):
    real = Trained.fit
    monkeypatch.setattr(
        Trained,
        "fit",
        lambda self, *a: real(self, *a) if self.name == "plain" else (_ for _ in ()).throw(KeyboardInterrupt),
    )
    with pytest.raises(KeyboardInterrupt):
        fit(TABLE, target="outcome", out=tmp_path / "run", rounds=2)
    assert list(tmp_path.glob(".run.unfinished/state/plain-*.npz"))
    names = []
    monkeypatch.setattr(Trained, "fit", lambda self, *a: names.append(self.name) or real(self, *a))
    fit(TABLE.assign(dose=TABLE["dose"] + 1), target="outcome", out=tmp_path / "run", rounds=2)
    assert names[0] == "plain"


def test_an_output_that_is_there_is_refused_before_anything_is_read(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "x").write_text("")
    with pytest.raises(OutputError):
        fit("no such file.csv", target="outcome", out=tmp_path / "run")


def test_without_unlabeled_rows_models_that_need_them_are_left_out(tmp_path):
    run = fit(TABLE[:110], target="outcome", out=tmp_path / "run", rounds=2)
    assert set(run.metrics["test"]) == {"plain", "curated", "network"}
    assert run.metrics["skipped"]["pseudo"] == "there are no unlabeled rows"


def test_of_very_many_unlabeled_rows_some_are_drawn_and_that_is_said(tmp_path):
    run = fit(TABLE, target="outcome", out=tmp_path / "run", rounds=2, max_unlabeled=20, time_limit=1e-6)
    assert "20 of 50 unlabeled rows, drawn at random, are used" in " ".join(run.summary["notes"])
    study = read_data(TABLE, Settings(target="outcome"))
    assert hold_out(study.target, Settings(target="outcome", max_unlabeled=20)).unlabeled.size == 20
    assert len(run.samples) == 160


def test_a_time_limit_leaves_later_models_out_and_says_so(tmp_path):
    run = fit(TABLE, target="outcome", out=tmp_path / "run", rounds=2, time_limit=1e-6)
    assert set(run.metrics["test"]) == {"plain"}
    assert run.metrics["skipped"] == dict.fromkeys(("curated", "pseudo", "curated_pseudo", "network"), "the time limit")
    assert run.metrics["labels"]["n_suspects"] == len(run.suspects())  # labels are judged all the same


def test_unlabeled_rows_may_come_in_files_of_their_own(tmp_path):
    TABLE[:110].to_csv(tmp_path / "labeled.csv", index=False)
    TABLE[110:].drop(columns="outcome").to_parquet(tmp_path / "more.parquet")
    settings = Settings(target="outcome")
    study = read_data(tmp_path / "labeled.csv", settings, [tmp_path / "more.parquet"])
    assert study.table.n_rows == 160
    assert study.target.is_labeled.tolist() == [True] * 110 + [False] * 50
    assert study.table.columns["age"].to_pylist() == [str(a) for a in TABLE["age"]]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"drop": ("age, ward",)}, r"drop takes one column at a time; write drop=\['age', 'ward'\]\.$"),
        ({"drop": ("gone",)}, r"drop names 'gone', which is not a column besides the target; .*ward, seen\.$"),
        ({"id": ("outcome",)}, "id names 'outcome'"),
        (
            {"drop": ("age", "dose", "ward", "seen")},
            r"No column is left to learn from: patient \(id\), age \(dropped\)",
        ),
    ],
)
def test_columns_that_cannot_be_used_as_asked_are_refused(settings, words):
    with pytest.raises(DataError, match=words):
        read_data(TABLE, Settings(target="outcome", **settings))


def test_too_few_labels_to_hold_any_out_are_refused():
    study = read_data(TABLE[:15], Settings(target="outcome"))
    with pytest.raises(DataError, match="5 % of 15 labeled rows are too few to hold out some of each of 2 classes"):
        hold_out(study.target, Settings(target="outcome", holdout=0.05))


def test_files_with_other_columns_are_refused():
    with pytest.raises(DataError, match=r"lacks columns that .* has \(age\)"):
        read_data([TABLE, TABLE.drop(columns="age")], Settings(target="outcome"))


def test_the_held_out_part_has_every_class():
    study = read_data(TABLE, Settings(target="outcome"))
    split = hold_out(study.target, Settings(target="outcome"))
    assert set(study.target.codes[split.test]) == {0, 1}
    assert not set(split.test) & set(split.train)
    assert set(split.unlabeled) == set(range(110, 160))


def test_a_column_that_tells_the_label_is_found():
    labeled = TABLE[:110].assign(died_on=np.where(TABLE["outcome"][:110] == "ill", "2024-05-01", None))
    table = read_table(labeled.drop(columns="outcome"))
    codes = (labeled["outcome"] == "ill").to_numpy().astype(int)
    preparation = Preparation(understand(table)).learn(table)
    leaks = LeakCheck(preparation, preparation.encode(table), codes, np.arange(110)).leaks()
    assert [leak.columns for leak in leaks] == [("died_on",)]


def test_an_audit_and_a_study_list_the_same_suspects(run):
    audited = audit(TABLE, target="outcome")
    assert audited.suspects()["row"].tolist() == run.suspects()["row"].tolist()
    assert audited.share_wrong == pytest.approx(run.metrics["labels"]["estimated_share_wrong"])


def test_a_wide_table_asks_the_forest_for_importances_once(monkeypatch):
    asked = []

    class Counting(ExtraTreesClassifier):
        @property
        def feature_importances_(self):
            asked.append(self)
            return super().feature_importances_

    monkeypatch.setattr("dips._study.leaks.ExtraTreesClassifier", Counting)
    table = read_table(
        pd.DataFrame(np.random.RandomState(0).normal(size=(40, 60)), columns=[f"c{j}" for j in range(60)])
    )
    preparation = Preparation(understand(table)).learn(table)
    LeakCheck(preparation, preparation.encode(table), np.arange(40) % 2, np.arange(40))
    assert len(asked) == 1


def test_more_than_two_classes_and_numbers_as_labels(tmp_path):
    table = TABLE.assign(outcome=pd.cut(TABLE["age"], [0, 40, 60, 100], labels=[1, 2, 3]).astype(int)).drop(
        columns="age"
    )
    run = fit(table, target="outcome", out=tmp_path / "run", rounds=2, metric="log_loss")
    assert run.model.classes == [1, 2, 3]
    assert run.predict(table).dtype.kind == "i"
    assert json.loads((run.folder / "metrics.json").read_text())["metric"] == "log_loss"
