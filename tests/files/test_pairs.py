"""Two numbers in one cell, such as a blood pressure of 123/76: read as two, and shown as one column."""

import json

import numpy as np
import pandas as pd
import pytest

from dips._files import DataError, Preparation, read_table, understand
from dips._files.declared import read_types
from dips._persistence.checks import checked_preparation
from dips._report.points import in_short, middle, sides
from dips._review.cells import TableCells
from dips._study.duplicates import find_duplicates
from dips._study.importance import importance
from dips._study.metrics import METRICS
from dips._study.outliers import find_outliers
from dips._tools.wording import command_line
from dips.exceptions import ModelError, SettingsError

RNG = np.random.RandomState(0)
UPPER, LOWER = RNG.randint(90, 180, 200), RNG.randint(55, 100, 200)
PRESSURE = [f"{a}/{b}" for a, b in zip(UPPER, LOWER, strict=True)]
SAID = f"two numbers, such as {PRESSURE[0]}, read as such; --type bp=category if that is wrong"


def column(cells, name="bp", **settings):
    table = read_table(pd.DataFrame({name: cells}))
    with command_line():
        understood = understand(table, **settings).columns[0]
    return understood, understood.values(table.columns[name])


def prepared(cells, **others):
    table = read_table(pd.DataFrame({"bp": cells, **others}))
    return Preparation(understand(table)).learn(table), table


@pytest.mark.parametrize(
    ("write", "unit"),
    [
        ("{}/{}".format, ""),
        ("{} / {}".format, ""),
        (" {}/{} ".format, ""),
        ("{}/{} mmHg".format, "mmHg"),
        ("{}/{}mm Hg".format, "mm Hg"),
        (lambda a, b: f"{a},5/{b},25", ""),
        (lambda a, b: f"{a}.5/{b}.25", ""),
    ],
)
def test_pairs_are_read_as_two_numbers_and_said(write, unit):
    cells = [write(a, b) for a, b in zip(UPPER, LOWER, strict=True)]
    understood, values = column(cells)
    assert (understood.kind, understood.unit) == ("pair", unit)
    assert understood.note.startswith(f"two numbers{' in ' + unit if unit else ''}, such as {cells[0].strip()}, read")
    assert np.abs(values - np.column_stack([UPPER, LOWER])).max() <= 0.5


@pytest.mark.parametrize(
    "cells",
    [
        [f"{a}/{b}" for a, b in zip(range(1, 13), range(8, 20), strict=True)] * 9,
        [f"{1 + k % 12}/{2000 + k % 24}" for k in range(200)],
        [f"{1 + k % 28}/{1 + k % 12}" for k in range(200)],
        [f"{k % 12 + 1:02}/{k % 40 + 20}" for k in range(200)],
        [f"{2000 + k % 24}/{2001 + k % 24}" for k in range(200)],
        [f"{4711 + k}/{k % 40 + 50}" for k in range(200)],
        [f"{k % 30}/{k % 40 + 50}/{k % 50}" for k in range(200)],
        [f"12/03/20{k % 20 + 10}" for k in range(200)],
        [cell if k % 10 else "n.d." for k, cell in enumerate(PRESSURE)],
    ],
    ids=["few", "month and year", "day and month", "zeros", "years", "cases", "three", "dates", "one in ten no pair"],
)
def test_other_texts_with_a_slash_stay_what_they_were(cells):
    assert column(cells)[0].kind in ("category", "date", "id", "text")


def test_codes_by_name_stay_categories():
    assert column(PRESSURE, "code")[0].kind == "category"


def test_cells_that_are_no_pairs_are_missing_and_counted():
    understood, values = column(["k.A.", "120", None, *PRESSURE])
    assert understood.note == f"{SAID}; 2 cells are not pairs, such as 'k.A.'; read as missing"
    assert (understood.example, understood.n_missing) == (PRESSURE[0], 1)
    assert np.isnan(values[:3]).all()
    assert (values[3:] == np.column_stack([UPPER, LOWER])).all()


def test_the_user_says_what_such_a_column_is():
    for kind in ("category", "text"):
        assert column(PRESSURE, types={"bp": kind})[0].kind == kind
    some = [*PRESSURE[:10], "n.d."]
    assert column(some)[0].kind == "category"
    declared, values = column(some, types={"bp": "pair"})
    assert declared.note == "as declared; 1 cell is not a pair ('n.d.'); read as missing"
    assert values[0].tolist() == [UPPER[0], LOWER[0]]
    with pytest.raises(DataError, match=r"declared as pairs of numbers, such as 123/76, but holds none \(row 1 has"):
        column(["a", "b"], types={"bp": "pair"})
    assert read_types(["bp=pair"]) == {"bp": "pair"}
    with pytest.raises(SettingsError, match=r"number\|pair\|date"):
        read_types(["bp=couple"])


def test_a_new_table_is_read_as_in_training_also_after_storing():
    preparation, table = prepared(PRESSURE)
    assert preparation.features == ["bp first", "bp second"]
    record = json.loads(json.dumps(preparation.to_json()))
    stored = checked_preparation(record, preparation.arrays())
    assert (stored.encode(table) == np.column_stack([UPPER, LOWER])).all()
    new = read_table(pd.DataFrame({"bp": ["130 / 81,5", "131/82 ", "", "132/80", "unknown"]}))
    assert stored.check(new) == ["Column 'bp': 1 cell is not a pair ('unknown' in row 5); read as missing."]
    nan = np.nan
    expected = np.float32([[130, 81.5], [131, 82], [nan, nan], [132, 80], [nan, nan]])
    assert np.array_equal(stored.encode(new), expected, equal_nan=True)
    kilopascal = read_table(pd.DataFrame({"bp": ["17/11", "16/10"]}))
    low, high = LOWER.min(), LOWER.max()
    assert stored.check(kilopascal)[0].endswith(
        f"; second number: 100 % of its numbers lie outside those of training, {low} to {high}."
    )
    with pytest.raises(DataError, match=r"held pairs of numbers such as .* in training, but int64 values now"):
        stored.check(read_table(pd.DataFrame({"bp": [120, 130]})))
    with pytest.raises(DataError, match="held pairs of numbers in training, but most cells are not"):
        stored.check(read_table(pd.DataFrame({"bp": ["high", "low", "120/80"]})))
    record["encoders"]["bp"]["ranges"] = [[0.0, 1.0]]
    with pytest.raises(ModelError):
        checked_preparation(record, preparation.arrays())


def test_both_numbers_are_shuffled_together():
    preparation, table = prepared(PRESSURE, age=RNG.randint(20, 90, 200))
    X = preparation.encode(table)
    codes = (UPPER - LOWER > 55).astype(int)

    def predict_proba(X):
        p = (X[:, 0] - X[:, 1] > 55).astype(float)
        return np.column_stack([1 - p, p])

    found = importance(predict_proba, preparation, X, codes, METRICS["accuracy"], 1)
    assert list(found) == ["bp", "age"]
    assert found["bp"].is_clear
    assert found["age"].loss == 0


def test_people_see_one_column_and_either_number_where_numbers_are_counted():
    understood, _ = column([*PRESSURE, "k.A."])
    raw = read_table(pd.DataFrame({"bp": ["120 / 80,5", "110/70", "k.A.", "130/90"]})).columns["bp"]
    assert in_short(understood, raw) == ["120/80.5", "110/70", "k.A.", "130/90"]
    assert middle(understood, raw) == "120/80.5"
    assert sides(understood, raw) == [
        ("bp (first)", "number", [120, 110, None, 130]),
        ("bp (second)", "number", [80.5, 70, None, 90]),
    ]


def test_far_numbers_of_a_pair_are_pointed_out():
    table = read_table(pd.DataFrame({"bp": [*PRESSURE, "999/99"]}))
    (found,) = find_outliers(table, understand(table))
    assert (found["column"], found["values"], found["rows"]) == ("bp (first)", [999.0], [201])


def test_rows_with_the_same_pair_are_the_same_however_it_is_written():
    ages = RNG.rand(200)
    frame = pd.DataFrame({"bp": [*PRESSURE, *(c.replace("/", " / ") for c in PRESSURE[:20])]})
    frame["age"] = [*ages, *ages[:20]]
    table = read_table(frame)
    duplicates = find_duplicates(table, understand(table), np.zeros(220, dtype=int))
    assert duplicates.repeats.size == 20


def test_a_review_marks_pairs_that_are_unusual_for_a_class():
    cells = ["250/60", "k.A.", *PRESSURE]
    table = read_table(pd.DataFrame({"bp": cells}))
    n = len(cells)
    shown = TableCells(
        table.columns, understand(table), np.arange(n), np.arange(n) % 2, np.ones(n, dtype=bool), 2, ["bp"], []
    )
    assert [shown.of(row)["unusual"] for row in (0, 1)] == [[[0, 1]], [[]]]
    assert shown.of(0)["values"] == ["250/60"]
