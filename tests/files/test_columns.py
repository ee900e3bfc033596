"""What a column is taken for, and how a new table is compared with the old one."""

import datetime

import numpy as np
import pandas as pd
import pytest

from dips._files import DataError, Schema, read_table, understand


def kind(values, name="x"):
    column = understand(read_table(pd.DataFrame({name: values}))).columns[0]
    return column.kind


WORDS = ["the patient came in with a cough", "was sent home after two days", "no change since the last visit"]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 2, 3, 5], "number"),
        ([1.5, None, 2.5, 3.5], "number"),
        (["1.5", " 2", "?", "3"], "number"),
        (["1,5", "2,25", "3", "4"], "number"),
        (["1.234,5", "2", "3,1", "4"], "number"),
        (["007", "012", "3", "4"], "category"),
        (["a", "b", "a", None], "category"),
        ([True, False, True, True], "category"),
        (["2024-03-01", "2024-04-02", None, "2024-05-03"], "date"),
        (["2024-03-01T10:15:00Z", "2024-04-02T11:00:00Z"], "date"),
        (["31.12.2023", "01.02.2024"], "date"),
        (["03/28/2024", "04/02/2024"], "date"),
        ([datetime.date(2024, 3, 1), datetime.date(2024, 4, 1)], "date"),
        ([7, 7, 7], "constant"),
        (["x", "x", "x"], "constant"),
        ([None, None], "empty"),
        (["?", "", "NA"], "empty"),
        ([[1], [2]], "unreadable"),
        ([f"{w} {i}" for i in range(20) for w in WORDS], "text"),
        ([f"P{i:04d}" for i in range(60)], "id"),
        (list(range(100, 160)), "id"),
        ([f"kind {i % 45}" for i in range(200)], "category"),
    ],
)
def test_kinds(values, expected):
    assert kind(values) == expected


def test_whole_numbers_name_a_row_only_if_called_so_or_counted_up():
    values = np.random.RandomState(0).permutation(1000)[:100]
    assert kind(values, "patient_id") == "id"
    assert kind(values, "weight") == "number"


def test_a_constant_with_gaps_says_something():
    assert kind(["x", None, "x"]) == "category"


def test_a_few_cells_that_are_no_numbers_are_said_and_missing():
    cells = [str(i * 3 % 50) for i in range(98)] + ["n.d.", "neg."]
    table = read_table(pd.DataFrame({"lab": cells}))
    column = understand(table).columns[0]
    assert column.kind == "number"
    assert "2 cells are not numbers, such as 'n.d.'" in column.note
    assert np.isnan(column.values(table.columns["lab"])).sum() == 2


def test_many_cells_that_are_no_numbers_make_categories():
    assert kind([str(i % 7) for i in range(60)] + ["low"] * 40) == "category"


def test_day_and_month_are_told_apart_by_a_day_beyond_twelve():
    column = understand(read_table(pd.DataFrame({"d": ["03/04/2024"] * 9 + ["25/04/2024"]}))).columns[0]
    assert column.date_format == "%d/%m/%Y"


def test_what_the_user_says_goes_before():
    table = read_table(pd.DataFrame({"a": [1, 2], "b": [3, 4]}))
    assert [c.kind for c in understand(table, drop=("a",), ids=("b",)).columns] == ["dropped", "id"]


TRAINING = pd.DataFrame(
    {"age": [50, 61, 72], "seen": ["01.02.2024", "13.04.2024", "15.05.2024"], "ward": ["a", "b", "a"], "one": [1, 1, 1]}
)


def check(new):
    schema = Schema.from_json(understand(read_table(TRAINING)).to_json())
    return schema.check(read_table(new))


def test_the_same_columns_in_any_order_are_fine():
    assert check(TRAINING[["ward", "seen", "age"]]) == []


def test_columns_that_are_not_known_are_ignored_and_said():
    assert check(TRAINING.assign(more=1)) == ["Columns not known from training are ignored: more."]


@pytest.mark.parametrize(
    ("new", "words"),
    [
        (TRAINING.drop(columns=["age", "ward"]), r"lacks 2 of the 3 columns .* \(age, ward\); add them, with empty"),
        (
            TRAINING.rename(columns={"age": "Age"}),
            "lacks 1 of .*; add it, with empty cells where a value is unknown, and write 'age', not 'Age'",
        ),
        (TRAINING.assign(age=["old", "young", "old"]), "'age' held numbers .* such as 'old' in row 1"),
        (TRAINING.assign(seen=["May 1st", "May 2nd", "x"]), r"'seen' held dates .* \(%d.%m.%Y\)"),
        (TRAINING.assign(age="old"), r"write them as in training \(\d+\)"),
        (TRAINING.assign(seen=[1, 2, 3]), "'seen' held dates in training, but int64"),
        (TRAINING.assign(age=pd.to_datetime(["2024-05-01"] * 3)), "'age' held numbers in training, but timestamp"),
        (TRAINING.assign(ward=[[1], [2], [3]]), "'ward' held categories in training, but list"),
    ],
)
def test_missing_and_retyped_columns_are_refused(new, words):
    with pytest.raises(DataError, match=words):
        check(new)


def test_a_few_cells_of_another_kind_are_said_and_read_as_missing():
    new = pd.concat([TRAINING] * 3, ignore_index=True)
    new["age"] = ["50", "old", *["60"] * 7]
    assert check(new) == ["Column 'age': 1 cell is not a number ('old' in row 2); read as missing."]


def test_numbers_may_come_as_text_and_gaps_as_nothing():
    assert check(TRAINING.assign(age=["50", None, "70"], ward=[None, "b", None])) == []


OF_CATEGORIES = {"stage": [1, 2, None, 2], "is_ill": [True, False, True, None], "ward": ["a", "b", "a", "b"]}
OF_CATEGORIES |= {"seen": pd.to_datetime(["2024-03-01", None, "2024-04-02", "2024-04-02"])}


@pytest.mark.parametrize("way", ["memory", "parquet", "feather"])
def test_categories_that_are_no_texts_are_what_they_stand_for(tmp_path, way):
    frame = pd.DataFrame({name: pd.Categorical(cells) for name, cells in OF_CATEGORIES.items()})
    frame.to_parquet(tmp_path / "table.parquet")
    frame.to_feather(tmp_path / "table.feather")
    table = read_table(frame if way == "memory" else tmp_path / f"table.{way}")
    assert [c.kind for c in understand(table).columns] == ["number", "category", "category", "date"]


def test_dates_of_a_database_are_read_where_training_had_another_form():
    new = TRAINING.assign(seen=["2024-05-01", "13.04.2024", "2024-05-03 10:00:00"])
    assert check(new) == []
    values = understand(read_table(TRAINING)).columns[1].values(read_table(new).columns["seen"])
    assert values.dt.strftime("%m-%d").tolist() == ["05-01", "04-13", "05-03"]


def test_each_column_that_is_only_written_otherwise_may_be_the_one_to_rename():
    with pytest.raises(DataError, match="write 'ward', not 'WARD'"):
        check(TRAINING.drop(columns="age").rename(columns={"ward": "WARD"}))


def test_the_example_of_a_day_has_no_time():
    frame = pd.DataFrame({"seen": pd.to_datetime(["2024-05-01", "2024-05-02"]), "at": ["2024-05-01 10:00:00", None]})
    assert [c.example for c in understand(read_table(frame)).columns] == ["2024-05-01", "2024-05-01 10:00:00"]
