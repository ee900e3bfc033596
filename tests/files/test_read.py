"""Tables as people have them: every format, every compression, and files that are not as they should be."""

import bz2
import gzip
import lzma
import os
import re
import struct
import subprocess
import sys
import uuid
import zipfile
from datetime import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from dips._files import DataError, read_table
from dips._files.kinds import understand

FRAME = pd.DataFrame({"age": [50, 61, 70], "ward": ["a", "b", None]})
CSV = "age,ward\n50,a\n61,b\n70,\n"


def rows(table):
    return [tuple(None if v is None else str(v) for v in r.values()) for r in table.columns.to_pylist()]


EXPECTED = [("50", "a"), ("61", "b"), ("70", None)]


def written(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refused(words, path):
    with pytest.raises(DataError, match=words) as error:
        read_table(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".txt", ".parquet", ".feather", ".xlsx"])
def test_the_same_table_is_read_from_every_format(tmp_path, suffix):
    path = tmp_path / f"table{suffix}"
    if suffix == ".xlsx":
        pytest.importorskip("openpyxl")
    write = {
        ".csv": lambda: FRAME.to_csv(path, index=False),
        ".txt": lambda: FRAME.to_csv(path, index=False, sep="|"),
        ".tsv": lambda: FRAME.to_csv(path, index=False, sep="\t"),
        ".parquet": lambda: FRAME.to_parquet(path),
        ".feather": lambda: FRAME.to_feather(path),
        ".xlsx": lambda: FRAME.to_excel(path, index=False),
    }
    write[suffix]()
    assert rows(read_table(path)) == EXPECTED


@pytest.mark.parametrize(
    ("suffix", "compress"),
    [
        (".gz", gzip.compress),
        (".bz2", bz2.compress),
        (".xz", lzma.compress),
        (".zst", lambda content: pa.compress(content, "zstd", asbytes=True)),
    ],
)
def test_compressed_files_are_read(tmp_path, suffix, compress):
    assert rows(read_table(written(tmp_path, f"table.csv{suffix}", compress(CSV.encode())))) == EXPECTED


def test_a_zip_file_with_one_table_is_read_and_with_two_refused(tmp_path):
    path = tmp_path / "table.csv.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("table.csv", CSV)
    assert rows(read_table(path)) == EXPECTED
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("other.csv", CSV)
    refused("holds 2 files, not one", path)


@pytest.mark.parametrize("table", [FRAME, pl.from_pandas(FRAME), pa.Table.from_pandas(FRAME)])
def test_tables_in_memory_are_taken_as_they_are(table):
    assert rows(read_table(table)) == EXPECTED


@pytest.mark.parametrize("categories", [False, True])
@pytest.mark.parametrize("suffix", ["feather", "parquet"])
def test_files_that_polars_writes_are_read(tmp_path, suffix, categories):
    frame, path = pl.from_pandas(FRAME), tmp_path / f"t.{suffix}"
    if categories:
        frame = frame.with_columns(pl.col("ward").cast(pl.Categorical))
    frame.write_ipc(path) if suffix == "feather" else frame.write_parquet(path)
    table = read_table(path)
    assert rows(table) == EXPECTED
    assert [c.kind for c in understand(table).columns] == ["number", "category"]
    assert table.columns.take(pa.array([1]))["ward"].to_pylist() == ["b"]


@pytest.mark.skipif(not hasattr(pa, "bool8"), reason="an older version of pyarrow")
def test_types_that_few_functions_take_become_plain():
    ids = [uuid.UUID(int=k) for k in (1, 2, 3)]
    columns = {
        "uuid": pa.array([i.bytes for i in ids], pa.uuid()),
        "flag": pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1, 0, None], pa.int8())),
        "bytes": pa.array([b"a", None, b"b"], pa.binary_view()),
        "runs": pa.RunEndEncodedArray.from_arrays([1, 3], ["a", "b"]),
        "codes": pa.DictionaryArray.from_arrays([0, 1, 0], pa.array(["a", "b"], pa.string_view())),
    }
    columns = {name: pa.array(cells) for name, cells in columns.items()}
    plain = read_table(pa.table(columns)).columns
    assert plain["uuid"].to_pylist() == [str(i) for i in ids]
    assert plain["flag"].to_pylist() == [True, False, None]
    assert plain["bytes"].to_pylist() == [b"a", None, b"b"]
    assert plain["runs"].to_pylist() == ["a", "b", "b"]
    assert plain["codes"].take(pa.array([1])).to_pylist() == ["b"]
    assert read_table(pd.DataFrame({"uuid": ids})).columns["uuid"].to_pylist() == [str(i) for i in ids]


@pytest.mark.parametrize("freq", ["M", "Q-NOV", "W-WED", "2D", "h"])
def test_periods_are_read_as_the_time_they_begin(freq, tmp_path):
    periods = pd.period_range("2024-01-01", periods=3, freq=freq).insert(1, pd.NaT)
    begin = periods.to_timestamp().as_unit("us")
    frame = pd.DataFrame({"when": periods})
    assert pd.Index(read_table(frame).columns["when"].to_pandas()).equals(begin)
    frame.to_parquet(tmp_path / "t.parquet")
    assert pd.Index(read_table(tmp_path / "t.parquet").columns["when"].to_pandas()).equals(begin)
    assert [c.kind for c in understand(read_table(pd.concat([frame] * 9))).columns] == ["date"]


def test_periods_that_never_end_are_times(tmp_path):
    frame = pd.DataFrame({"until": pd.PeriodIndex(["2024-01-01", "9999-12-31"], freq="D")})
    assert read_table(frame).columns["until"].to_pylist() == [datetime(2024, 1, 1), datetime(9999, 12, 31)]


def test_periods_are_known_in_a_process_that_has_seen_none(tmp_path):
    pd.DataFrame({"month": pd.period_range("2024-01", periods=3, freq="M")}).to_parquet(tmp_path / "t.parquet")
    ask = "import sys, dips._files; print(dips._files.read_table(sys.argv[1]).columns['month'][1].as_py())"
    done = subprocess.run([sys.executable, "-c", ask, str(tmp_path / "t.parquet")], capture_output=True, text=True)
    assert done.stdout == "2024-02-01 00:00:00\n"


@pytest.mark.parametrize(("described", "length"), [('{"freq": "EONS"}', "EONS"), ("{", "?"), ("[]", "?")])
def test_periods_of_an_unknown_length_are_refused_in_words(described, length):
    names = {"ARROW:extension:name": "pandas.period", "ARROW:extension:metadata": described}
    table = pa.table([[1, 2]], pa.schema([pa.field("era", pa.int64(), metadata=names)]))
    words = f"Column 'era' holds periods of '{length}', which pandas does not know; write dates."
    with pytest.raises(DataError, match=re.escape(words)):
        read_table(table)


def test_complex_numbers_are_refused_in_words():
    with pytest.raises(DataError, match="'phase' holds complex128 values; write them as numbers, texts or dates"):
        read_table(pd.DataFrame({"age": [1.0, 2.0], "phase": np.arange(2) + 1j}))


def test_a_column_of_several_types_becomes_text():
    table = read_table(pd.DataFrame({"mixed": [1, "two", None, 3.5]}))
    assert rows(table) == [("1",), ("two",), (None,), ("3.5",)]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("gone.csv", None, "There is no file"),
        ("empty.csv", b"", "is empty"),
        ("table.doc", b"x", "ends in '.doc', which does not name a known format"),
        ("short.parquet", b"PAR1 and no more", "cannot be read as a parquet file"),
        ("cut.csv.gz", gzip.compress(CSV.encode(), mtime=0)[:-12], "cannot be read as a csv file"),
        ("header.csv", "age,ward\n", "has a header \\(age, ward\\) but no rows"),
        ("unnamed.csv", ",,\n1,2,3\n", "names no column"),
        ("numbers.csv", "1.5,2\n3,4\n", "looks like data"),
        ("image.csv", b"a,b\n\x89PNG\x00\x00\x01", "is not a text file"),
    ],
)
def test_files_that_cannot_be_read_are_refused_in_one_sentence(tmp_path, name, content, words):
    refused(words, tmp_path / name if content is None else written(tmp_path, name, content))


def test_a_folder_is_no_table(tmp_path):
    refused("is a folder", tmp_path)


def test_an_excel_file_says_which_sheet_is_read(tmp_path):
    pytest.importorskip("openpyxl")
    with pd.ExcelWriter(tmp_path / "book.xlsx") as book:
        FRAME.to_excel(book, sheet_name="patients", index=False)
        FRAME.to_excel(book, sheet_name="notes", index=False)
    assert "the first, 'patients', is read" in read_table(tmp_path / "book.xlsx").notes[0]


def test_columns_without_a_name_or_with_that_of_another_are_told_apart_and_said(tmp_path):
    table = read_table(written(tmp_path, "t.csv", "a,b,a,,a\n1,2,3,4,5\n"))
    assert table.names == ["a", "b", "a.2", "column_4", "a.3"]
    assert "no name in the header; called column_4" in table.notes[0]
    assert "the name of another; called a.2, a.3" in table.notes[1]


def test_of_two_names_that_differ_by_a_blank_the_exact_one_is_kept(tmp_path):
    table = read_table(written(tmp_path, "t.csv", " outcome,age,outcome\n1,2,3\n"))
    assert table.names == ["outcome.2", "age", "outcome"]
    assert table.notes == ["One column has the name of another; called outcome.2."]


def test_names_may_hold_line_breaks(tmp_path):
    table = read_table(
        written(tmp_path, "t.csv", '"age\n(years)","lab, mmol/l",outcome\n50,1.5,ill\n61,2.5,well\n'),
        wanted=["outcome"],
    )
    assert table.names == ["age\n(years)", "lab, mmol/l", "outcome"]
    assert (table.n_rows, table.notes) == (2, [])


def test_blank_lines_above_the_header_are_not_worth_a_note(tmp_path):
    table = read_table(written(tmp_path, "t.csv", "\n\nage,ward\n50,a\n61,b\n"))
    assert (table.names, table.n_rows, table.notes) == (["age", "ward"], 2, [])


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_a_first_row_that_was_taken_for_the_header_is_told(tmp_path, ending):
    rows = [[5.1, 3.5, "setosa"], [4.9, 3.0, "setosa"], [6.2, 3.4, "virginica"]]
    path, frame = tmp_path / f"iris.{ending}", pd.DataFrame(rows)
    write = frame.to_csv if ending == "csv" else frame.to_excel
    write(path, index=False, header=False)
    (note,) = read_table(path, wanted=["setosa"]).notes
    assert note == (
        f"The first line of {path} is taken for column names, but '5.1', '3.5' look like data; "
        "if so, add a line of names."
    )


@pytest.mark.parametrize("names", ["2022,2023,2024", "2024,2023,2021", "0,1,2", "4000.5,3998.5,3996.5", " nan,inf,7"])
def test_years_and_scales_are_names(tmp_path, names):
    assert not read_table(written(tmp_path, "t.csv", f"shop,{names}\na,3,1,2\nb,1,2,3\n")).notes


@pytest.mark.parametrize("row", ["39,77516,13", "0.1,0.5,0.7", "1,5.1,well", "7,7,well"])
def test_numbers_without_order_look_like_data(tmp_path, row):
    assert read_table(written(tmp_path, "t.csv", f"{row},ill\n3,1,2,well\n1,2,3,ill\n")).notes


def test_a_header_in_the_middle_is_refused(tmp_path):
    one = "age,ward\n50,a\n61,b\n"
    words = r"^Row 3 of .*t.csv repeats the header, as if files had been joined"
    refused(words, written(tmp_path, "t.csv", 2 * one))
    refused("repeats the header, and 2 other rows do, as", written(tmp_path, "t.csv", 4 * one))
    assert read_table(written(tmp_path, "t.csv", "age,ward\nage,b\n50,ward\n")).n_rows == 2


def test_a_stream_damaged_inside_is_refused_in_one_sentence(tmp_path):
    content = bytearray(gzip.compress(("a,b\n" + "".join(f"{i},{i * i}\n" for i in range(500))).encode()))
    content[200] ^= 255
    path = tmp_path / "t.csv.gz"
    path.write_bytes(content)
    refused("cannot be read as a csv file: Error -3 while decompressing", path)


def test_a_header_cell_without_end_is_refused(tmp_path):
    refused("cannot be read as column names: field larger", written(tmp_path, "t.csv", "x" * 140_000 + ",y\n1,2\n"))


def test_names_that_cannot_be_looked_for_are_refused(tmp_path):
    refused("cannot be read: File name too long", tmp_path / ("x" * 5_000 + ".csv"))
    refused("is not valid UTF-8; rename the file", tmp_path / os.fsdecode(b"t\xff.csv"))


def test_a_pipe_is_not_taken_for_an_empty_file(tmp_path):
    os.mkfifo(tmp_path / "t.csv")
    refused("is not a plain file, perhaps a pipe", tmp_path / "t.csv")


def test_a_column_whose_offsets_lead_outside_of_it_is_refused(tmp_path):
    path = tmp_path / "t.feather"
    offsets, letters = pa.py_buffer(struct.pack("<4i", 0, 1, 2, 3)), pa.py_buffer(b"abc")
    column = pa.StringArray.from_buffers(3, offsets, letters)
    pa.feather.write_feather(pa.table({"a": column}), path, compression="uncompressed")
    sound = path.read_bytes()
    assert sound.count(offsets.to_pybytes()) == 1
    path.write_bytes(sound.replace(offsets.to_pybytes(), struct.pack("<4i", 0, 1, 2**30, 2**30)))
    refused("cannot be read as a feather file", path)
