"""Values of which only a limit is known, such as <5: numbers among numbers, and said to be limits."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dips._files import read_table, understand
from dips._files.prepare import Preparation
from dips._report.points import in_short
from dips._tools.wording import command_line

MEASURED = [f"{value:.1f}" for value in np.linspace(5.1, 99.9, 60)]


def column(cells, **settings):
    table = read_table(pd.DataFrame({"crp": cells}))
    with command_line():
        understood = understand(table, **settings).columns[0]
    return understood, understood.values(table.columns["crp"]) if understood.kind == "number" else None


@pytest.mark.parametrize(
    ("cells", "last"),
    [
        ([*MEASURED, *["<5"] * 80, ">200"], 200),
        ([*MEASURED, "< 5.0", "≥ 200"], 200),
        ([*(cell.replace(".", ",") for cell in MEASURED), *["<=0,3"] * 9], 0.3),
        ([*(f"{cell} mg/l" for cell in MEASURED), *["<0.3 mg/l"] * 9], 0.3),
        ([*(f"{cell} mg/l" for cell in MEASURED), *["<0.3"] * 9], 0.3),
        ([*MEASURED, "<-3"], -3),
        ([*MEASURED, "<\u22123"], -3),
    ],
)
def test_limits_among_measurements_are_numbers_and_said(cells, last):
    understood, values = column(cells)
    assert understood.kind == "number"
    assert values[-1] == last
    assert np.isfinite(values).all()
    assert "only a limit" in understood.note
    assert understood.note.count("--type crp=category if that is wrong") == 1


def test_the_note_has_the_option_that_overrules_it():
    cells = [*MEASURED, "<5", "<5"]
    assert column(cells)[0].note == (
        "2 cells give only a limit, such as '<5'; read as the limit itself; --type crp=category if that is wrong"
    )
    assert column(cells, types={"crp": "category"})[0].kind == "category"


@pytest.mark.parametrize(
    "cells",
    [["<18", "18", "19", "20", ">20"] * 20, ["<10", ">=10"] * 20, ["<b>", "<i>", "<p>", "7"] * 20],
    ids=["short scale", "limits alone", "no limits"],
)
def test_ends_of_a_scale_stay_categories(cells):
    assert column(cells)[0].kind == "category"


def test_limits_on_a_short_scale_are_read_where_numbers_are_asked_for():
    understood, values = column(["<1", "1", "2", "neg."] * 20, types={"crp": "number"})
    assert values[:3].tolist() == [1, 1, 2]
    assert understood.note == (
        "as declared; 20 cells give only a limit, such as '<1'; read as the limit itself; "
        "20 cells are not numbers, such as 'neg.'; read as missing"
    )


def test_limits_in_a_new_table_are_said():
    preparation = Preparation(understand(read_table(pd.DataFrame({"crp": MEASURED}))))
    preparation.learn(read_table(pd.DataFrame({"crp": MEASURED})))
    new = read_table(pd.DataFrame({"crp": ["7.5", "8", "9", "9", "9", "<5", "n.d."]}))
    assert preparation.check(new) == [
        "Column 'crp': 1 cell gives only a limit ('<5' in row 6); read as the limit itself; "
        "1 cell is not a number ('n.d.' in row 7); read as missing."
    ]
    assert np.array_equal(preparation.encode(new)[:, 0], np.float32([7.5, 8, 9, 9, 9, 5, np.nan]), equal_nan=True)


def test_a_limit_in_another_unit_is_missing_and_one_in_none_is_in_that_of_the_others():
    understood, values = column([*(f"{cell} mg/l" for cell in MEASURED), "<5 g/l", "<7"])
    assert understood.note == (
        "1 cell gives only a limit ('<7'); read as the limit itself; "
        "numbers in mg/l; --type crp=category if that is wrong; 1 cell is not a number ('<5 g/l'); read as missing"
    )
    np.testing.assert_array_equal(values[-2:], [np.nan, 7])


def test_people_see_that_a_value_is_only_a_limit():
    cells = [*(f"{cell} mg/l" for cell in MEASURED), "< 0.3 mg/l", "≥200", None]
    understood, _ = column(cells)
    assert in_short(understood, pa.chunked_array([cells]))[-4:] == ["99.9", "<0.3", "≥200", ""]
