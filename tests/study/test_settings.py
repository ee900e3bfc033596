"""Settings are checked before anything is read, and come from TOML or from an earlier run."""

import json
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from dips._files import UserError, read_table
from dips._files.target import read_target
from dips._study.settings import Settings, read_config
from dips.exceptions import DataError, SettingsError


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"target": 4}, "target is the name of a column, as text; got 4, so write '4'"),
        ({"labeler": "grady"}, "labeler='grady' is not known; did you mean 'greedy'"),
        ({"curator": "none"}, "judges no label"),
        ({"backbone": "forest"}, "backbone='forest' is not known; choose one of xgboost"),
        ({"metric": "gini"}, "metric='gini' is not known"),
        ({"holdout": 0.9}, "from 0.05 to 0.5; got 0.9"),
        ({"holdout": "0.2"}, "from 0.05 to 0.5; got '0.2'"),
        ({"max_unlabeled": 1e5}, "max_unlabeled must be a whole number of at least 1; got 100000.0"),
        ({"seed": None}, "seed must be a whole number from 0 to 4294967295; got None"),
        ({"rounds": 1}, "rounds must be 2 or more"),
        ({"time_limit": 0}, "in minutes and above 0"),
        ({"reviewer_error": 10**400}, "share of wrong answers, from 0 to below 0.5; got 1000"),
        ({"class_frequency": 0.5}, "class_frequency takes LABEL=SHARE; got '0.5'"),
        ({"map_label": [5]}, "map_label takes OLD=NEW; got '5'"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, words):
    with pytest.raises(UserError, match=words):
        Settings(**{"target": "y"} | settings).checked()


def test_a_toml_file_is_read(tmp_path):
    (tmp_path / "dips.toml").write_text('target = "y"\ntime-limit = 5\ndrop = ["a", "b"]\n')
    assert read_config(tmp_path / "dips.toml") == {"target": "y", "time_limit": 5, "drop": ["a", "b"]}


def test_the_config_of_a_run_is_read(tmp_path):
    record = {"settings": Settings(target="y", seed=3).to_json(), "data": ["t.csv"], "unlabeled": [], "versions": {}}
    (tmp_path / "config.json").write_text(json.dumps(record))
    read = read_config(tmp_path / "config.json")
    assert (read["target"], read["seed"], read["data"]) == ("y", 3, ["t.csv"])
    assert "positive" not in read  # not set then, not set now


def test_the_config_of_a_run_on_tables_in_memory_names_no_files(tmp_path):
    record = {"settings": Settings(target="y").to_json(), "data": ["t.csv", None], "unlabeled": ["u.csv"]}
    (tmp_path / "config.json").write_text(json.dumps(record))
    read = read_config(tmp_path / "config.json")
    assert "data" not in read
    assert read["unlabeled"] == ["u.csv"]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.toml", "target = ", "is not a readable toml file"),
        ("a.json", "[1]", "is not a readable json file"),
        ("a.json", '{"settings": [1]}', "is not a readable json file"),
        ("a.toml", "targget = 'y'", "sets 'targget', which is not a setting; choose one of backbone"),
    ],
)
def test_config_files_that_cannot_be_used_are_refused(tmp_path, name, text, words):
    (tmp_path / name).write_text(text)
    with pytest.raises(UserError, match=words):
        read_config(tmp_path / name)


@pytest.mark.skipif(sys.platform == "win32", reason="has no such file")
def test_settings_without_end_are_not_read(tmp_path):
    with pytest.raises(UserError, match="/dev/zero is not a plain file"):
        read_config(Path("/dev/zero"))


def test_a_config_file_that_is_not_there_is_said(tmp_path):
    with pytest.raises(UserError, match="There is no config file"):
        read_config(tmp_path / "gone.toml")


def test_the_default_labeler_and_curator_are_those_of_the_estimators():
    checked = Settings(target="y").checked()
    assert (checked.labeler, checked.curator) == ("auto", "auto")


def test_a_time_limit_that_is_no_number_is_refused():
    with pytest.raises(SettingsError, match="time_limit is in minutes and above 0; got nan"):
        Settings(target="y", time_limit=float("nan")).checked()


def test_a_config_that_is_a_folder_or_too_deep_is_refused(tmp_path):
    with pytest.raises(SettingsError, match="is not a plain file"):
        read_config(tmp_path)
    deep = tmp_path / "deep.json"
    deep.write_text("[" * 100_000)
    with pytest.raises(SettingsError, match="is not a readable json file"):
        read_config(deep)


def test_a_text_is_one_name():
    checked = Settings(target="y", drop="agent_note", id="patient", unlabeled_mark="unsure").checked()
    assert (checked.drop, checked.id, checked.unlabeled_mark) == (("agent_note",), ("patient",), ("unsure",))
    assert Settings(target="y", trust_label=np.array("ill")).checked().trust_label == ("ill",)


def test_mappings_come_as_such_or_as_they_are_typed():
    typed = Settings(target="y", type=["zip=category"], map_label=["Y=yes"]).checked()
    given = Settings(target="y", type={"zip": "category"}, merge_labels={"Y": "yes"}).checked()
    assert typed == given
    assert (given.map_label, given.merge_labels) == ({"Y": "yes"}, None)
    with pytest.raises(UserError, match="map_label takes OLD=NEW; got 'Y'"):
        Settings(target="y", map_label=["Y"]).checked()


LABELS = pa.table({"y": ["<=50K", ">50K"] * 5, "x": ["a=b", "a"] * 5})


@pytest.mark.parametrize(
    ("target", "typed", "mapped"),
    [
        ("y", "<=50K=low", {"<=50K": "low"}),
        ("y", ">50K=>=50K", {">50K": ">=50K"}),
        ("y", [">50K=high", "<=50K=low=er"], {">50K": "high", "<=50K": "low=er"}),
        ("x", "a=c", {"a": "c"}),
        ("x", ["a=b=c"], {"a": "b=c"}),
        ("x", {"a=b": "c=d"}, {"a=b": "c=d"}),
    ],
)
def test_a_name_with_an_equals_sign_is_divided_where_a_label_ends(target, typed, mapped):
    checked = Settings(target, map_label=typed).checked()
    assert Settings(**json.loads(json.dumps(checked.to_json()))).checked() == checked
    read = read_target(read_table(LABELS), target, map_label=checked.map_label)
    assert read.words.mapped == mapped
    assert set(mapped.values()) <= set(read.classes)


def test_names_of_which_no_part_is_a_label_are_refused():
    def mapped(*typed):
        return read_target(read_table(LABELS), "y", map_label=Settings("y", map_label=typed).checked().map_label)

    with pytest.raises(DataError, match="map_label '<=40K=low' begins with no label of 'y'; choose one of <=50K, >50K"):
        mapped("<=40K=low")
    with pytest.raises(DataError, match="gives '<=50K' more than one value: low and small; leave all but one out"):
        mapped("<=50K=low", "<=50K=small")
    for typed in ("==", "=low", "a=", {"a": None}):
        with pytest.raises(SettingsError, match="map_label takes OLD=NEW; got"):
            Settings("y", map_label=typed).checked()
