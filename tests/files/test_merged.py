"""Merged cells of Excel, as in lists of visits where the patient is written once."""

import io
import tracemalloc
import zipfile

import pytest

from dips._files import DataError, read_table
from dips._files.merged import Merged, merged_cells
from dips._files.relabel import relabeled

openpyxl = pytest.importorskip("openpyxl")

HEADER = ["patient", "visit", "outcome"]
VISITS = [["P1", 1, "ill"], [None, 2, None], [None, 3, None], ["P2", 1, "well"], ["P3", 1, "ill"], [None, 2, None]]
MERGED = ("A4:A6", "A8:A9", "C4:C6", "A1:C1")  # the last is a title over all columns


@pytest.fixture
def path(tmp_path):
    book = openpyxl.Workbook()
    for row in (["Ward 3"], [], HEADER, *VISITS):
        book.active.append(row)
    for cells in MERGED:
        book.active.merge_cells(cells)
    book.save(tmp_path / "visits.xlsx")
    return tmp_path / "visits.xlsx"


def test_each_row_has_the_value_of_the_cell_that_it_is_merged_with(path):
    table = read_table(path, wanted=("outcome",))
    assert table.names == HEADER
    assert table.columns["patient"].to_pylist() == ["P1", "P1", "P1", "P2", "P3", "P3"]
    assert table.columns["outcome"].to_pylist() == ["ill", "ill", "ill", "well", "ill", None]
    said = "Cells that are merged over several rows count for each of these rows: 'patient', 'outcome'."
    assert said in table.notes


def test_a_row_below_the_header_that_is_left_out_shifts_nothing(path):
    table = read_table(path, skip_rows=2, skip_below=1)
    assert table.columns["patient"].to_pylist() == [None, None, "P2", "P3", "P3"]


def test_one_label_of_several_merged_ones_can_be_corrected(path):
    path.write_bytes(relabeled(path, "outcome", {1: "well"}))
    assert read_table(path).columns["outcome"].to_pylist() == ["ill", "well", "ill", "well", "ill", None]
    kept = {str(cells) for cells in openpyxl.load_workbook(path).active.merged_cells.ranges}
    assert kept == set(MERGED) - {"C4:C6"}


def with_more(path, references):
    """Merge more cells of a sheet, however little sense that makes."""
    added, content = "".join(f'<mergeCell ref="{reference}"/>' for reference in references), io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(content, "w") as new:
        for member in old.infolist():
            new.writestr(member, old.read(member).replace(b"</mergeCells>", f"{added}</mergeCells>".encode()))
    path.write_bytes(content.getvalue())
    return path


def test_merged_cells_may_reach_below_the_table(path):
    assert read_table(with_more(path, ["C8:C1048576"])).columns["outcome"].to_pylist()[-2:] == ["ill", "ill"]


def test_merged_cells_that_lie_upon_each_other_are_refused(path):
    with pytest.raises(DataError, match="more merged cells than cells"):
        read_table(with_more(path, ["A4:A9"] * 5))


def test_a_tag_that_two_chunks_cut_is_found():
    tag = b'<mergeCell ref="A2:A4"/>'
    for before in range((1 << 20) - len(tag), (1 << 20) + 1):
        assert merged_cells(io.BytesIO(b" " * before + tag)) == [Merged(column=0, first=1, last=3)]


def test_a_tag_without_end_is_not_kept():
    endless = io.BytesIO(b"<" + b"x" * (1 << 25))
    tracemalloc.start()
    assert merged_cells(endless) == []
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 23
