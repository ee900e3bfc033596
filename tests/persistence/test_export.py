"""Files for people: there in full or not at all, and no spreadsheet runs what is in them."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dips._files import OutputError
from dips._persistence.export import check_kind, to_csv, write_frame
from dips._tools.files import write_whole


@pytest.mark.parametrize(
    "cell", ["=1+1", "+A1", "-2+3", "@SUM(A1)", "\tx", "\r=1", "=HYPERLINK(1)", "-cmd|' /C calc'!A0"]
)
def test_cells_that_begin_as_a_formula_are_defused(cell):
    text = to_csv(pd.DataFrame({"a": [cell], cell: ["x"]}))
    back = pd.read_csv(pd.io.common.StringIO(text))
    assert back["a"][0].startswith("'")
    assert back.columns[1].startswith("'")


def test_a_carriage_return_cannot_smuggle_in_a_line():
    text = to_csv(pd.DataFrame({"a": ["x\r=1+1", "y"]}))
    assert pd.read_csv(pd.io.common.StringIO(text)).shape == (2, 1)


@pytest.mark.parametrize("cell", ["plain", "-5", "+1.5e3", "a=b", "", "x@y"])
def test_other_cells_stay(cell):
    assert to_csv(pd.DataFrame({"a": [cell, "x"]})).splitlines()[1].strip('"') == cell


def test_numbers_stay_numbers():
    assert to_csv(pd.DataFrame({"a": [-5, 2.5]})) == "a\n-5.0\n2.5\n"


@pytest.mark.parametrize("labels", [[1, None, 2], ["a", None, "b"], [1, "b", None], [None, None, None]])
def test_labels_with_gaps_can_be_written_as_parquet(tmp_path, labels):
    write_frame(pd.DataFrame({"label": pd.Series(labels, dtype=object)}), tmp_path / "t.parquet")
    back = pd.read_parquet(tmp_path / "t.parquet")["label"]
    assert back.isna().tolist() == [v is None for v in labels]
    assert [str(v) for v in back.dropna()] == [str(v) for v in labels if v is not None]


def test_other_endings_are_refused(tmp_path):
    with pytest.raises(OutputError, match=r"has no ending; results are written as"):
        check_kind(tmp_path / "report")
    with pytest.raises(OutputError, match=r"ends in '.doc'; results are written as .csv, .parquet or .xlsx"):
        write_frame(pd.DataFrame({"a": [1]}), tmp_path / "t.doc")


def test_excel_runs_no_formula_of_the_data(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    write_frame(pd.DataFrame({"=name": ["=1+1", "-5", "plain"], "n": [1, 2, 3]}), tmp_path / "t.xlsx")
    cells = list(openpyxl.load_workbook(tmp_path / "t.xlsx").active.iter_rows())
    assert [[cell.value for cell in row] for row in cells] == [["'=name", "n"], ["'=1+1", 1], ["-5", 2], ["plain", 3]]
    assert all(cell.data_type != "f" for row in cells for cell in row)


def test_a_file_that_cannot_be_finished_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "out.csv"
    write_whole(path, b"old")
    monkeypatch.setattr("os.replace", lambda *a: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(OutputError, match="cannot be written: No space left on device"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["out.csv"]


@pytest.mark.parametrize("name", ["file/out.csv", "n" * 300])
def test_a_name_that_no_file_can_have_is_said(tmp_path, name):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OutputError, match="cannot be written"):
        write_whole(tmp_path / name, b"new")


def test_a_folder_that_is_not_there_is_said(tmp_path):
    with pytest.raises(OutputError, match="cannot be written: No such file or directory"):
        write_frame(pd.DataFrame({"a": np.arange(3)}), tmp_path / "gone" / "out.csv")


@pytest.mark.parametrize("dtype", ["category", "string", object])
def test_formulas_are_defused_whatever_the_type_of_the_column(dtype):
    assert to_csv(pd.DataFrame({"a": pd.Series(["=1+1", "x"], dtype=dtype)})) == "a\n'=1+1\nx\n"


def test_formulas_of_a_dictionary_column_of_parquet_are_defused():
    frame = pa.table({"a": pa.array(["=1+1", "x", None]).dictionary_encode()}).to_pandas()
    assert to_csv(frame) == 'a\n\'=1+1\nx\n""\n'


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_whole_numbers_with_gaps_keep_every_digit(tmp_path, kind):
    labels = pd.Series([1234567890123456789, None, 1234567890123456790], dtype=object)
    write_frame(pd.DataFrame({"label": labels}), tmp_path / f"t.{kind}")
    if kind == "csv":
        assert (tmp_path / "t.csv").read_text() == 'label\n1234567890123456789\n""\n1234567890123456790\n'
    else:
        assert pq.read_table(tmp_path / "t.parquet")["label"].to_pylist() == [1234567890123456789, None, labels[2]]


def test_headers_that_become_the_same_are_refused():
    with pytest.raises(OutputError, match="Two columns would both be called"):
        to_csv(pd.DataFrame([[1, 2]], columns=["=a", "'=a"]))
