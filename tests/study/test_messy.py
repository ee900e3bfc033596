"""Tables as people really have them: what would be silently wrong is found, said, and where safe mended."""

import numpy as np
import pytest

from dips import fit
from dips._study.data import read_data
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
