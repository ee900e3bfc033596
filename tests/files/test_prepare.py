"""The preparation: floats that mean the same today and after it was written down and read again."""

import json

import numpy as np
import pandas as pd
import pytest

from dips._files import Preparation, read_table, understand

RNG = np.random.RandomState(0)
N = 120
FRAME = pd.DataFrame(
    {
        "age": RNG.randint(20, 90, N),
        "sex": RNG.choice(["f", "m"], N),
        "ward": RNG.choice(["a", "b", "c"], N),
        "code": RNG.choice([f"code {i}" for i in range(20)], N),
        "drug": RNG.choice([f"drug number {i}" for i in range(60)], N),
        "seen": pd.Timestamp("2024-01-01") + pd.to_timedelta(RNG.randint(0, 900, N), unit="h"),
        "note": [
            f"patient {i} came in with {w} and went home" for i, w in enumerate(RNG.choice(["a cough", "pain"], N))
        ],
    }
)


def learned(frame=FRAME):
    table = read_table(frame)
    return Preparation(understand(table)).learn(table), table


def test_every_row_becomes_floats_with_a_name_each():
    preparation, table = learned()
    X = preparation.encode(table)
    assert X.shape == (N, len(preparation.features))
    assert X.dtype == np.float32
    assert np.isfinite(X).all()
    assert len(set(preparation.features)) == X.shape[1]


def test_it_is_the_same_after_it_was_written_down():
    preparation, table = learned()
    record = json.loads(json.dumps(preparation.to_json()))
    again = Preparation.from_parts(record, preparation.arrays())
    assert (again.encode(table) == preparation.encode(table)).all()
    assert again.features == preparation.features


def test_arrays_hold_no_objects():
    assert all(a.dtype.kind in "fiu" for a in learned()[0].arrays().values())


def test_columns_of_a_table_are_found_in_the_matrix():
    preparation, _ = learned()
    everything = range(len(preparation.features))
    assert [j for c in preparation.schema.used for j in everything[preparation.columns_of(c.name)]] == list(everything)
    with pytest.raises(KeyError):
        preparation.columns_of("gone")


def test_two_categories_are_one_column_and_few_are_one_each():
    preparation, _ = learned()
    assert len(preparation.features[preparation.columns_of("sex")]) == 1
    assert len(preparation.features[preparation.columns_of("ward")]) == 3
    assert preparation.features[preparation.columns_of("code")] == ["code rank"]


@pytest.mark.parametrize(
    ("column", "is_known"), [("sex", np.isfinite), ("ward", lambda x: x != 0), ("code", np.isfinite)]
)
def test_a_category_never_seen_is_none_of_those_known(column, is_known):
    preparation, _ = learned()
    new = read_table(FRAME.assign(**{column: "new"}))
    assert not is_known(preparation.encode(new)[:, preparation.columns_of(column)]).any()


def test_many_categories_never_seen_are_said():
    preparation, table = learned()
    assert preparation.check(table) == []
    new = read_table(FRAME.assign(ward=["a"] * 100 + ["z"] * 20))
    assert preparation.check(new) == [
        "Column 'ward': 17 % of its cells hold categories not seen in training, such as 'z'."
    ]


def test_numbers_unlike_those_of_training_are_said():
    preparation, _ = learned()
    age, name = FRAME["age"], "Column 'age'"
    low, high = f"{age.min():g}", f"{age.max():g}"
    assert preparation.check(read_table(FRAME.assign(age=age + age.max()))) == [
        f"{name}: 100 % of its numbers lie outside those of training, {low} to {high}."
    ]
    few = age.where(age.index > 10, 1e6)
    assert preparation.check(read_table(FRAME.assign(age=few))) == []
    stored = Preparation.from_parts(preparation.to_json(), preparation.arrays())
    del stored.encoders["age"].settings["range"]  # as stored by earlier versions
    assert stored.check(read_table(FRAME.assign(age=1e6))) == []


def test_a_column_that_lost_its_values_is_said():
    preparation, _ = learned()
    said = "In training every row had a value in these columns, and here none has: sex, ward."
    assert preparation.check(read_table(FRAME.assign(sex="", ward=None))) == [said]


def test_the_target_may_be_there_or_not():
    preparation, _ = learned()
    assert preparation.check(read_table(FRAME.assign(outcome=1)), target="outcome") == []


def test_a_misspelled_category_is_near_the_right_one():
    preparation, _ = learned()
    spellings = ["drug number 7", "drug numbr 7", "something else"]
    new = read_table(FRAME.head(3).assign(drug=spellings))
    right, near, far = preparation.encode(new)[:, preparation.columns_of("drug")][:, 1:]
    assert np.linalg.norm(right - near) < 0.5 * np.linalg.norm(right - far)


def test_dates_become_a_day_and_the_parts_that_vary():
    preparation, table = learned()
    assert preparation.features[preparation.columns_of("seen")] == [
        "seen day", "seen month", "seen weekday", "seen hour",
    ]  # fmt: skip
    first = preparation.encode(table)[0, preparation.columns_of("seen")]
    day = FRAME["seen"][0]
    assert first[1:].tolist() == [day.month, day.day_of_week, day.hour]
    assert first[0] == pytest.approx((day - pd.Timestamp(0)) / pd.Timedelta(days=1), rel=1e-5)


def test_rows_not_learned_from_change_nothing():
    table = read_table(FRAME)
    schema, rows = understand(table), np.arange(60)
    part = Preparation(schema).learn(table, rows)
    other = Preparation(schema).learn(read_table(FRAME.iloc[:60].reset_index(drop=True)))
    assert np.array_equal(part.encode(table), other.encode(table), equal_nan=True)


def test_numbers_as_text_and_as_numbers_are_the_same():
    as_text = FRAME.assign(age=FRAME["age"].astype(str))
    preparation, table = learned(as_text)
    assert (preparation.encode(read_table(FRAME)) == preparation.encode(table)).all()


@pytest.mark.parametrize("kind", ["category", "text", "date", "number"])
def test_a_column_may_have_no_value_in_the_rows_to_learn_from(kind):
    cell = {"category": "north", "text": "came in with a cough", "date": "2024-03-01", "number": "5"}[kind]
    table = read_table(pd.DataFrame({"age": [50, 61, 70], "few": [None, None, cell]}))
    preparation = Preparation(understand(table, types={"few": kind})).learn(table, np.array([0, 1]))
    X = preparation.encode(table)
    assert X.shape == (3, len(preparation.features))
    assert preparation.columns_of("few").stop > preparation.columns_of("few").start
    assert np.isnan(X[:2, preparation.columns_of("few")]).all()
