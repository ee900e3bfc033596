"""Columns of several files: every file is read as it is written."""

import pandas as pd
import pyarrow as pa
import pytest

from dips._files.stacking import stacked
from dips._study.data import read_data
from dips._study.settings import Settings


@pytest.mark.parametrize(
    ("pieces", "values"),
    [
        ([["1.5", "NA", "2"], ["2,25", "1.000,5"]], [1.5, None, 2, 2.25, 1000.5]),
        ([["1,5", "2,5"], [1.5, None]], [1.5, 2.5, 1.5, None]),
        ([["1,5 kg", "2,5 kg"], [1.5], [None]], [1.5, 2.5, 1.5, None]),
    ],
    ids=["points and commas", "commas and floats", "a unit, floats and nothing"],
)
def test_numbers_are_read_as_their_file_writes_them(pieces, values):
    column, in_own_way = stacked([pa.chunked_array([piece]) for piece in pieces])
    assert (column.to_pylist(), in_own_way) == (values, True)


@pytest.mark.parametrize(
    "pieces",
    [
        [["1.5", "2.5"], ["3.5"]],
        [["1.526", "2.001"], ["3,5", "4,5"]],
        [["1,5 kg"], ["2.5 lb"]],
        [["01234"], ["2,5"]],
        [["1,5"], ["north"]],
        [["2:30"], ["2,5"]],
    ],
    ids=["one way", "thousands", "other units", "codes", "words", "times"],
)
def test_otherwise_cells_stay_as_they_are(pieces):
    column, in_own_way = stacked([pa.chunked_array([piece]) for piece in pieces])
    assert (column.to_pylist(), in_own_way) == ([cell for piece in pieces for cell in piece], False)


def test_files_with_points_and_commas_are_one_table():
    points = pd.DataFrame({"x": [f"{n / 4}" for n in range(40)], "grade": ["1.5", "2.5"] * 20})
    commas = points.map(lambda cell: cell.replace(".", ","))
    study = read_data([points, commas.assign(grade=points["grade"])], Settings("grade"), unlabeled=points[["x"]])
    assert [c.kind for c in study.schema.columns] == ["number"]
    assert study.target.classes == ["1.5", "2.5"]
    assert "Decimal points in one file and decimal commas in another are read as such: x." in study.notes
