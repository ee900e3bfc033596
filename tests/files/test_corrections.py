from datetime import time
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from dips._files.corrections import read_corrections
from dips.exceptions import DataError

Y = ["ill", "well", "ill", None]
KEYS = pd.DataFrame({"patient": ["p1", "p2", "p3", "p4"]})


def corrections(**columns):
    return read_corrections(pd.DataFrame(columns))


def refused(words, y=Y, keys=None, **columns):
    with pytest.raises(DataError, match=words):
        corrections(**columns).apply(y, keys)


def test_a_class_keep_and_unlabeled_are_understood():
    after = corrections(row=[1, 2, 3, 4], label=["well", "keep", "unlabeled", "ill"]).apply(Y)
    assert after.y.tolist() == ["well", "well", None, "ill"]
    assert after.verified.tolist() == [True, True, False, True]
    assert after.y_given.tolist() == Y
    assert after.n_changed == 2


def test_images_are_counted_from_0():
    after = corrections(image=[0], label=["well"]).apply(Y)
    assert after.verified.tolist() == [True, False, False, False]


def test_lines_without_a_label_were_not_looked_at():
    after = corrections(row=[1, 2], label=[None, "keep"]).apply(Y)
    assert after.verified.tolist() == [False, True, False, False]


def test_no_line_is_taken_for_a_total(tmp_path):
    (tmp_path / "c.csv").write_text("label,row\ngood,1\npoor,2\naverage,3\n")
    after = read_corrections(tmp_path / "c.csv").apply(["poor", "poor", "good", "average"])
    assert after.y.tolist() == ["good", "poor", "average", "average"]


def test_a_class_that_is_called_like_a_missing_label_is_given():
    lines = pd.DataFrame({"row": [1, 2], "label": ["None", "NA"]})
    after = read_corrections(lines, keep_label=["None", "mild"]).apply(["mild", "None", "None"])
    assert after.y.tolist() == ["None", "None", "None"]
    assert after.verified.tolist() == [True, False, False]


def test_a_key_finds_its_row():
    after = corrections(patient=["p3"], label=["well"], note=["sure"]).apply(Y, KEYS)
    assert after.y.tolist() == ["ill", "well", "well", None]


def test_the_row_is_used_where_it_still_has_the_key_and_else_the_key():
    assert corrections(row=[3], patient=["p1"], label=["well"]).apply(Y, KEYS).verified.tolist()[0]
    same = pd.DataFrame({"patient": ["p1", "p1", "p3", "p4"]})
    assert corrections(row=[2], patient=["p1"], label=["keep"]).apply(Y, same).verified.tolist()[1]


def test_keys_that_lost_their_zeros_in_a_spreadsheet_find_their_rows():
    keys = pd.DataFrame({"patient": ["007", "010", "10", "00"]})
    assert corrections(patient=[7, 0], label=["well", "ill"]).apply(Y, keys).y.tolist() == [
        "well",
        "well",
        "ill",
        "ill",
    ]
    kept = corrections(patient=["10", "00"], label=["keep", "ill"]).apply(Y, keys)
    assert kept.verified.tolist() == [False, False, True, True]
    twice = pd.DataFrame({"patient": ["007", "07", "1", "2"]})
    refused("names '7', which 2 rows of the table have, as '007' and '07'", Y, twice, patient=[7], label=["keep"])
    by_row = corrections(row=[2], patient=[7], label=["keep"]).apply(Y, twice)
    assert by_row.verified.tolist() == [False, True, False, False]


def test_a_key_that_may_have_lost_its_zeros_is_settled_by_the_row_or_refused():
    keys = pd.DataFrame({"patient": ["007", "7", "8", "9"]})
    lines = corrections(row=[1], patient=[7], given_label=["ill"], label=["well"])
    assert lines.apply(Y, keys).y.tolist() == ["well", "well", "ill", None]
    lines = corrections(row=[2], patient=[7], label=["ill"])
    assert lines.apply(Y, keys).y.tolist() == ["ill", "ill", "ill", None]
    refused("names '7', which 2 rows of the table have, as '007' and '7'", Y, keys, patient=[7], label=["keep"])
    refused("as '007' and '7'", Y, keys, row=[3], patient=[7], label=["keep"])


@pytest.mark.parametrize("name", ["row", "image"])
def test_a_column_that_names_rows_does_not_count_them(name):
    keys = pd.DataFrame({name: [4, 3, 2, 1]})
    after = corrections(**{name: [2], "label": ["well"]}).apply(Y, keys)
    assert after.y.tolist() == ["ill", "well", "well", None]
    names = pd.DataFrame({name: ["a.png", "b.png", "c.png", "d.png"]})
    after = corrections(**{name: ["c.png"], "label": ["well"]}).apply(Y, names)
    assert after.y.tolist() == ["ill", "well", "well", None]
    after = corrections(**{name: [0], f"{name} (input)": ["c.png"], "label": ["well"]}).apply(Y, names)
    assert after.y.tolist() == ["ill", "well", "well", None]


@pytest.mark.parametrize("name", ["reviewer", "time"])
def test_in_a_file_of_dips_who_and_when_name_no_rows(name):
    keys = pd.DataFrame({name: ["a", "b", "c", "d"]})
    said = {"row": [3], "given_label": ["ill"], "label": ["well"], "reviewer": ["b"], "time": ["a"]}
    assert corrections(**said).apply(Y, keys).y.tolist() == ["ill", "well", "well", None]
    assert corrections(**said | {f"{name} (input)": ["c"], "row": [9]}).apply(Y, keys).y.tolist()[2] == "well"
    assert corrections(**{name: ["c"], "label": ["well"]}).apply(Y, keys).y.tolist()[2] == "well"


def times(*cells):
    return pd.Series([*map(pd.Timestamp, cells), *[pd.NaT] * (4 - len(cells))])


@pytest.mark.parametrize(
    ("cells", "written"),
    [
        (times("2024-03-01", "2024-03-02", "2024-03-03"), "2024-03-02"),
        (times("2024-03-01 04:00", "2024-03-02", "2024-03-02 04:00"), "2024-03-02 00:00:00"),
        (times("2024-03-01 04:00", "2024-03-02 04:00"), "2024-03-02T04:00"),
        (times("2024-03-01 04:00", "2024-03-02 04:00:00.25"), "2024-03-02 04:00:00.250000"),
        (times("2024-03-01", "2024-03-02").dt.tz_localize("Asia/Tokyo"), "2024-03-01T15:00:00Z"),
        (pd.to_timedelta(["1 days", "2 days", None, None]), "2 days"),
        (pd.to_timedelta(["1 days", "1 days 00:30:00", None, None]), "1 days 00:30:00"),
        ([time(4), time(4, 30), None, None], "04:30:00"),
        ([Decimal("0.25"), Decimal("1.00"), None, None], "1"),
        ([Decimal("0.25"), Decimal("1.50"), None, None], "1.50"),
        (np.array([0.25, 0.1, np.nan, np.nan], dtype=np.float32), "0.1"),
        ([1e300, 7.0, np.nan, np.nan], "7"),
        ([True, False, None, None], "FALSE"),
    ],
)
def test_a_key_may_be_a_time_or_any_number(cells, written):
    keys = pd.DataFrame({"at": cells})
    for key in (written, keys["at"][1]):
        after = corrections(at=pd.Series([key], dtype=object), label=["ill"]).apply(Y, keys)
        assert after.verified.tolist() == [False, True, False, False]


def test_keys_and_classes_may_be_numbers_and_files_of_any_kind(tmp_path):
    keys = pd.DataFrame({"id": [7.0, 8.0, None]})
    for name, write in (("c.csv", pd.DataFrame.to_csv), ("c.parquet", pd.DataFrame.to_parquet)):
        write(pd.DataFrame({"id": [8], "label": [1.0]}), tmp_path / name)
        after = read_corrections(tmp_path / name).apply([0, 0, 1], keys)
        assert after.y.tolist() == [0, 1, 1]


def test_what_was_kept_from_spreadsheets_is_read_back():
    keys = pd.DataFrame({"patient": ["=p1", "q", "r"]})
    after = corrections(patient=["'=p1"], label=["'+"]).apply(["+", "b", "b"], keys)
    assert after.verified.tolist() == [True, False, False]


def test_several_columns_are_one_key():
    keys = pd.DataFrame({"ward": ["a", "a", "b", "b"], "bed": [1, 2, 1, 2]})
    after = corrections(ward=["b"], bed=[1], label=["well"]).apply(Y, keys)
    assert after.y.tolist()[2] == "well"


def test_rows_that_are_not_there_are_refused():
    refused("row 5.*names a row that the table does not have; it has 4", row=[5], label=["ill"])
    refused("'row' counts them from 1", row=[0], label=["ill"])
    refused("'p9'.*no row of the table has", keys=KEYS, patient=["p9"], label=["ill"])
    refused("holds 'x'", row=["x"], label=["ill"])


def test_a_key_that_rows_share_is_refused():
    refused("2 rows of the table have", keys=pd.DataFrame({"patient": list("aabc")}), patient=["a"], label=["ill"])


@pytest.mark.parametrize("column", ["given_label", "given"])
def test_a_row_without_a_key_that_has_another_label_than_was_looked_at_is_refused(column):
    refused(
        r"\(about row 2\) is about the label 'ill', but that of the row is 'well'. Rows are found by their number",
        **{"row": [1, 2], column: ["ill", "ill"], "label": ["well", "keep"]},
    )
    refused("is about the label 'ill', but that of the row is missing", row=[4], **{column: ["ill"]}, label=["well"])


def test_what_was_looked_at_may_be_corrected_in_the_table_already():
    lines = corrections(row=[1, 2, 4], given_label=["well", "well", "ill"], label=["ill", "keep", "unlabeled"])
    assert lines.apply(Y).y.tolist() == Y


def test_what_was_looked_at_may_be_unknown_or_no_class():
    lines = corrections(row=[1, 2, 3], given_label=[None, "healthy", "ill"], label=["well", "ill", "keep"])
    assert lines.apply(Y).y.tolist() == ["well", "ill", "ill", None]


def test_a_label_that_is_no_class_had_one_name_and_has_one_now():
    renamed = {"row": [1, 2, 3], "given_label": ["sick", "healthy", "sick"], "label": ["keep", "ill", "keep"]}
    assert corrections(**renamed).apply(Y).y.tolist() == ["ill", "ill", "ill", None]
    refused(
        r"\(about row 2\) is about the label 'sick', which is no class of the table and may have got another name, but "
        "that of the row is 'well', and that of an earlier line 'ill'. Rows are found by their number",
        row=[1, 2],
        given_label=["sick", "sick"],
        label=["keep", "keep"],
    )
    refused("that of the row is missing, and that", row=[1, 4], given_label=["sick"] * 2, label=["keep", "well"])


def test_booleans_may_be_written_as_spreadsheets_write_them():
    lines = corrections(row=[1, 2], given_label=["TRUE", "FALSE"], label=["FALSE", "keep"])
    assert lines.apply([True, False, True]).y.tolist() == [False, False, True]
    assert lines.apply(["true", "false", "true"]).y.tolist() == ["false", "false", "true"]


def test_a_key_finds_its_row_whatever_label_it_has_now():
    after = corrections(patient=["p2"], given_label=["ill"], label=["ill"]).apply(Y, KEYS)
    assert after.y.tolist()[1] == "ill"
    after = corrections(patient=["p1"], given_label=["well"], label=["keep"]).apply(Y, KEYS)
    assert after.verified.tolist() == [True, False, False, False]


def test_a_row_named_twice_is_refused():
    refused("as 'ill' and as 'well'; keep one line per row", row=[1, 1], label=["ill", "well"])
    refused("same row as an earlier one; keep", row=[1, 1], label=["ill", "ill"])


def test_unknown_classes_are_refused_with_the_known_ones():
    refused("the label 'sick'; write 'keep', 'unlabeled' or a class of the table: ill, well", row=[1], label=["sick"])


def test_words_that_cannot_be_meant_are_refused():
    refused("no label to keep", row=[4], label=["keep"])
    refused("means something else here", y=["keep", "drop"], row=[1], label=["keep"])


def test_a_file_that_names_no_rows_or_no_labels_is_refused():
    refused("needs the column 'row'", label=["ill"])
    refused("needs the column 'patient', or 'row'", keys=KEYS, name=["p1"], label=["ill"])
    with pytest.raises(DataError, match=r"no column 'label'.* it has row, corrected"):
        corrections(row=[1], corrected=["ill"])


@pytest.mark.parametrize("cell", ["9" * 5_000, "9" * 19, "1.5", "²", "-1"])
def test_what_is_no_number_of_a_row_is_refused(cell):
    with pytest.raises(DataError, match=r"holds '.{1,62}'; it is the number of a row"):
        corrections(row=[cell], label=["ill"]).apply(Y)
