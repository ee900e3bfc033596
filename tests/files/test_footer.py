"""What stands under a table is no row of it: a sum, unless it only happens to be called so, a source, empty rows."""

from datetime import datetime

import pandas as pd
import pytest

from dips._files import read_table
from dips.exceptions import DataError

ROWS = ["id;age;ward;outcome", "007;50;a;ill", "008;61;b;", "009;70;;well"]


def read(tmp_path, *last, name="table.csv"):
    path = tmp_path / name
    path.write_text("\n".join([*ROWS, *last]) + "\n")
    return read_table(path)


@pytest.mark.parametrize(
    "last",
    ["Total;181;;", "Total:;;;", "GESAMT;60,33;;", "Sum;181;x;3", ";Grand Total;;"],
    ids=["sum", "word alone", "mean", "every cell filled", "not in the first column"],
)
def test_a_last_row_that_sums_up_the_others_is_left_out(tmp_path, last):
    table = read(tmp_path, last)
    assert table.n_rows == 3
    word = next(cell for cell in last.split(";") if cell)
    assert table.notes[-1] == (
        f"The last row of {table.source} ({word!r}) sums up the others and is left out; call it otherwise to keep it."
    )


def test_a_total_may_be_a_count_with_gaps_beside_it(tmp_path):
    path = tmp_path / "wards.csv"
    path.write_text("ward,doctor,nurse,patients\na,X,Y,4\nb,Z,Q,7\nTotal,,,2 wards\n")
    assert read_table(path).n_rows == 2


@pytest.mark.parametrize("last", ["Total (3 patients);181;;", "Total [n=3]:;181;;"])
def test_a_total_may_say_of_what(tmp_path, last):
    assert read(tmp_path, last).n_rows == 3


def test_several_rows_that_sum_up_the_others_are_left_out(tmp_path):
    table = read(tmp_path, "Sum;181;;", "Mean;60.33;;")
    assert table.n_rows == 3
    assert table.notes == [
        f"The last 2 rows of {table.source} ('Sum', 'Mean') sum up the others and are left out; call them otherwise to "
        "keep them."
    ]
    assert read(tmp_path, "average;55;a;ill", "Total;236;;").n_rows == 4  # a class may be called so


@pytest.mark.parametrize("gap", [[], [";;;"]])
def test_a_last_row_of_nothing_but_sums_is_left_out(tmp_path, gap):
    rows = ["id;age;stay;outcome", *(f"p{n};{n};{n % 5};ill" for n in range(30))]
    (tmp_path / "table.csv").write_text("\n".join([*rows, *gap, f";{sum(range(30))};60;"]) + "\n")
    table = read_table(tmp_path / "table.csv")
    assert table.n_rows == 30
    assert "holds nothing but sums of the others and is left out; give it a name to keep it." in " ".join(table.notes)


@pytest.mark.parametrize("last", [";181;x;", "010;181;;", ";180;;", ";;;ill"])
def test_a_last_row_of_something_else_than_sums_stays(tmp_path, last):
    assert read(tmp_path, last).n_rows == 4


def test_below_dates_of_excel_a_line_of_text_is_no_row(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    days = [[datetime(2024, 1, day), "ward a", day] for day in range(1, 20)]
    for row in [["day", "ward", "beds"], *days, ["Total", None, 190], [], ["Printed on 1 May 2024"]]:
        book.active.append(row)
    book.save(tmp_path / "table.xlsx")
    assert read_table(tmp_path / "table.xlsx").n_rows == 19


@pytest.mark.parametrize("last", ["010;181;Total;", "Totalis;;;", "Anna;181;;"])
def test_other_last_rows_stay_without_a_word(tmp_path, last):
    table = read(tmp_path, last)
    assert (table.n_rows, table.notes) == (4, [])


@pytest.mark.parametrize("last", ["Total;40;a;ill", "Total;;a;ill", "Total;40;b;"])
def test_a_row_that_is_only_called_a_total_stays_and_is_said(tmp_path, last):
    table = read(tmp_path, last)
    assert table.n_rows == 4
    assert "is called 'Total' and is read as data" in table.notes[-1]


def test_a_number_that_rows_above_have_proves_no_total(tmp_path):
    path = tmp_path / "grades.csv"
    for numbers in ([2024] * 5, [1, 2, 3, 2, 2], [5, 0, 0, 0, 5]):
        rows = [f"{grade},{n}" for grade, n in zip(["good", "poor", "good", "poor", "average"], numbers, strict=True)]
        path.write_text("\n".join(["grade,year", *rows]) + "\n")
        assert read_table(path).n_rows == 5
    path.write_text("ward,patient\na,1\nb,1\nc,1\nTotal,3\n")
    assert read_table(path).n_rows == 3


def test_a_category_called_total_stays(tmp_path):
    table = read(tmp_path, "Total;50;;ill", "Total;;;")
    assert (table.n_rows, table.notes) == (5, [])


def test_totals_of_excel_are_left_out_and_those_of_frames_stay(tmp_path):
    pytest.importorskip("openpyxl")
    frame = pd.DataFrame({"id": [7, 8, 9, "Summe"], "age": [50, 61, 70, 181]})
    frame.to_excel(tmp_path / "table.xlsx", index=False)
    assert read_table(tmp_path / "table.xlsx").n_rows == 3
    assert read_table(frame).n_rows == 4


@pytest.mark.parametrize(
    ("last", "words"),
    [
        ([";;;", "Quelle: KIS, Stand 2024;;;"], "The last 2 rows of {} ('Quelle: KIS, Stand 2024') are no rows"),
        ([";;;", ";;;"], "The last 2 rows of {} are no rows of the table and are left out."),
        (["As of May;;;"], "The last row of {} ('As of May') is no row of the table and is left out."),
    ],
)
def test_lines_under_a_table_are_left_out(tmp_path, last, words):
    table = read(tmp_path, *last)
    assert table.n_rows == 3
    assert table.notes[-1].startswith(words.format(table.source))


def test_a_total_below_an_empty_row_and_above_a_source_is_left_out(tmp_path):
    table = read(tmp_path, ";;;", "Total;;;", "Quelle: KIS;;;")
    assert (table.n_rows, len(table.notes)) == (3, 3)


def test_an_empty_row_within_a_table_stays_and_is_said(tmp_path):
    table = read(tmp_path, ";;;", "010;40;a;ill")
    assert table.n_rows == 5
    assert table.notes == [f"1 row has no value in any column of {table.source} (row 4); remove what is no row."]


@pytest.mark.parametrize("last", ["010;;;", "Anna Maria;40;;", ";Anna Maria;;"])
def test_a_row_of_few_values_stays(tmp_path, last):
    assert read(tmp_path, last).n_rows == 4


def test_free_text_with_little_beside_it_stays(tmp_path):
    path = tmp_path / "notes.csv"
    path.write_text("note;label\nwell again;well\nstill ill;\n")
    assert read_table(path).n_rows == 2


def test_rows_of_which_nothing_but_a_text_is_known_stay(tmp_path):
    path = tmp_path / "reviews.csv"
    known = [f"review {i} of somebody,good,me" for i in range(30)]
    path.write_text("\n".join(["text,label,annotator", *known, *(f"another review {i},," for i in range(3))]) + "\n")
    table = read_table(path)
    assert (table.n_rows, table.notes) == (33, [])


def test_rows_of_which_only_the_time_is_known_stay(tmp_path):
    path = tmp_path / "times.csv"
    times = [f"2024-01-01 {hour:02d}:00" for hour in range(24)]
    path.write_text("\n".join(["time,a,b", *(f"{t},1,2" for t in times[:20]), *(f"{t},," for t in times[20:])]) + "\n")
    assert read_table(path).n_rows == 24


def test_many_lines_of_text_under_a_table_are_rows(tmp_path):
    assert read(tmp_path, *(f"see note {i};;;" for i in range(6))).n_rows == 9
    assert read(tmp_path, *(f"see note {i};;;" for i in range(5))).n_rows == 3


def test_any_number_of_empty_rows_is_left_out(tmp_path):
    table = read(tmp_path, *[";;;"] * 200)
    assert table.n_rows == 3
    assert table.notes == [f"The last 200 rows of {table.source} are no rows of the table and are left out."]


def test_to_leave_out_all_rows_below_the_header_is_refused_as_that(tmp_path):
    (tmp_path / "table.csv").write_text("\n".join(ROWS) + "\n")
    with pytest.raises(DataError, match="but no rows; leave out fewer below it than 99"):
        read_table(tmp_path / "table.csv", skip_below=99)
