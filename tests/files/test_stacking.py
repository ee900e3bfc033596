"""Columns of several files: every file is read as it is written."""

import pandas as pd
import pyarrow as pa
import pytest

from dips._files.stacking import stack
from dips._study.data import read_data
from dips._study.settings import Settings


def read_as_one(pieces):
    """The cells of a column that is all of several files, and whether each was read in its own way."""
    table, in_own_way = stack([pa.table({"x": piece}) for piece in pieces])
    return table["x"].to_pylist(), in_own_way == ["x"]


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
    assert read_as_one(pieces) == (values, True)


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
    assert read_as_one(pieces) == ([cell for piece in pieces for cell in piece], False)


def test_files_with_points_and_commas_are_one_table():
    points = pd.DataFrame({"x": [f"{n / 4}" for n in range(40)], "grade": ["1.5", "2.5"] * 20})
    commas = points.map(lambda cell: cell.replace(".", ","))
    study = read_data([points, commas.assign(grade=points["grade"])], Settings("grade"), unlabeled=points[["x"]])
    assert [c.kind for c in study.schema.columns] == ["number"]
    assert study.target.classes == ["1.5", "2.5"]
    assert "Decimal points in one file and decimal commas in another are read as such: x." in study.notes


POINTS, COMMAS, SAYS_NOTHING = ["0.5", "1.5", "2.5"], ["0,5", "1,5", "2,5"], ["1", "2", "3"]
DOUBTFUL = ["1.234", "2.345", "12.345"]


def read_together(*files):
    """The first three values of x of each file, beside a column w."""
    labels = ["a", "b", "a", "b"] * 3
    frames = [pd.DataFrame({"x": x * 4, "w": w * 4, "label": labels}) for x, w in files]
    study = read_data(frames, Settings("label"))
    (column,) = [c for c in study.schema.columns if c.name == "x"]
    values = column.values(study.table.columns["x"])
    return values.reshape(-1, len(labels))[:, :3].ravel().tolist()


@pytest.mark.parametrize(
    ("files", "values"),
    [
        ([(DOUBTFUL, COMMAS), (POINTS, POINTS)], [1234, 2345, 12345, 0.5, 1.5, 2.5]),
        ([(DOUBTFUL, COMMAS), (DOUBTFUL, POINTS)], [1234, 2345, 12345, 1.234, 2.345, 12.345]),
        ([(DOUBTFUL, POINTS), (["1.234,5", "2,5", "3,5"], COMMAS)], [1.234, 2.345, 12.345, 1234.5, 2.5, 3.5]),
        ([(DOUBTFUL, COMMAS), (SAYS_NOTHING, POINTS)], [1234, 2345, 12345, 1, 2, 3]),
        ([(DOUBTFUL, POINTS), (SAYS_NOTHING, COMMAS)], [1.234, 2.345, 12.345, 1, 2, 3]),
        ([(["1,234", "2,345", "3,456"], POINTS), (COMMAS, COMMAS)], [1234, 2345, 3456, 0.5, 1.5, 2.5]),
    ],
)
def test_of_doubtful_numbers_the_other_columns_of_their_file_tell(files, values):
    assert read_together(*files) == values


@pytest.mark.parametrize("strange", ["k.A.", "3,5"])
def test_where_a_file_does_not_tell_the_same_column_of_the_others_does(strange):
    together = read_together((DOUBTFUL, SAYS_NOTHING), (["1.234,56", "2,5", "4,5"], SAYS_NOTHING))
    assert together == [1234, 2345, 12345, 1234.56, 2.5, 4.5]
    cells, in_own_way = read_as_one([DOUBTFUL, ["1.234,56", "2,5"] * 20 + [strange]])
    assert (cells[0], in_own_way) == ("1.234", False)  # what that is, the whole column tells


def test_files_of_stored_numbers_do_not_tell_how_texts_are_meant():
    stored = [0.25, 1.5, 2.5]
    assert read_together((DOUBTFUL, COMMAS), (stored, stored))[:4] == [1234, 2345, 12345, 0.25]
    assert read_together((DOUBTFUL, SAYS_NOTHING), (stored, stored))[0] == 1.234
