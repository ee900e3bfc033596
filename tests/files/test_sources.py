"""Where tables come from: a sheet of several, below a title, JSON lines, patterns of files, a database."""

import gzip
import json
import sqlite3
from contextlib import closing

import pandas as pd
import pytest

from dips._files import DataError, read_table
from dips._files.sources import named_sources

FRAME = pd.DataFrame({"age": [50, 61, 70], "ward": ["a", "b", None], "outcome": ["ill", "well", "ill"]})
ROWS = [("50", "a", "ill"), ("61", "b", "well"), ("70", None, "ill")]


def rows(table):
    return [tuple(None if v is None else str(v) for v in r.values()) for r in table.columns.to_pylist()]


@pytest.fixture
def book(tmp_path):
    pytest.importorskip("openpyxl")
    path = tmp_path / "book.xlsx"
    with pd.ExcelWriter(path) as writer:
        pd.DataFrame({"About": ["made by the clinic", "in March"]}).to_excel(writer, sheet_name="read me", index=False)
        FRAME.to_excel(writer, sheet_name="data", index=False, startrow=3)
    return path


def test_the_sheet_that_has_the_target_is_read_and_said(book):
    table = read_table(book, wanted=("outcome",))
    assert rows(table) == ROWS
    assert "has 2 sheets; the first that fits, 'data', is read. sheet='read me' reads another" in table.notes[0]


@pytest.mark.parametrize("sheet", ["data", 2, "2"])
def test_a_sheet_can_be_named(book, sheet):
    assert rows(read_table(book, sheet=sheet)) == ROWS
    with pytest.raises(DataError, match="has no sheet 'dta'; choose one of 'read me', 'data'"):
        read_table(book, sheet="dta")


PREAMBLE = "Report of ward 7\nexported on 2024-03-01, by hand\n\n"


@pytest.mark.parametrize("wanted", [("outcome",), ()])
@pytest.mark.parametrize("preamble", [PREAMBLE, "Report of ward 7,,\nexported,,\n,,\n"])
def test_three_lines_above_the_header_are_left_out_and_said(tmp_path, preamble, wanted):
    path = tmp_path / "t.csv"
    path.write_text(preamble + FRAME.to_csv(index=False))
    table = read_table(path, wanted=wanted)
    assert table.names == ["age", "ward", "outcome"]
    assert rows(table) == ROWS
    assert table.notes == [
        f"The first 3 lines of {path} ('Report of ward 7') are not part of the table; skip_rows 0 includes them."
    ]


def test_the_lines_above_the_header_can_be_counted_by_the_user(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("v1,x,y\n" + FRAME.to_csv(index=False))
    assert read_table(path).names == ["v1", "x", "y"]
    table = read_table(path, skip_rows=1)
    assert (table.names, rows(table), table.notes) == (["age", "ward", "outcome"], ROWS, [])


def test_a_ragged_line_below_a_title_has_its_number_in_the_file(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(PREAMBLE + FRAME.to_csv(index=False) + "1,2,3,4\n")
    with pytest.raises(DataError, match=r"Line 8 of .* has 4 cells and the header has 3"):
        read_table(path)


def test_json_lines(tmp_path):
    lines = "\n".join(json.dumps(r) for r in FRAME.to_dict("records")).replace("NaN", "null")
    (tmp_path / "t.jsonl").write_text(lines)
    (tmp_path / "t.ndjson.gz").write_bytes(gzip.compress(lines.encode()))
    (tmp_path / "t.json").write_text(f"[{lines}]".replace("\n", ","))
    for name in ("t.jsonl", "t.json"):  # as some programs on Windows write them
        (tmp_path / f"marked_{name}").write_text((tmp_path / name).read_text(), encoding="utf-8-sig")
    for name in ("t.jsonl", "t.ndjson.gz", "t.json", "marked_t.jsonl", "marked_t.json"):
        assert rows(read_table(tmp_path / name)) == ROWS


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-16-le", "utf-32"])
def test_json_that_is_not_in_utf_8_is_refused_in_words(tmp_path, encoding):
    lines = '{"city": "Bonn", "n": 1}\n{"city": "Köln", "n": 2}\n'
    path, line = tmp_path / "t.jsonl", 2 if encoding == "cp1252" else 1
    path.write_bytes(lines.encode(encoding))
    with pytest.raises(DataError, match=f"^Line {line} of .*t.jsonl is not in UTF-8, as JSON has to be; save"):
        read_table(path)
    path.write_bytes('[{"city": "Köln"}]'.encode("cp1252"))
    with pytest.raises(DataError, match=r"t.jsonl is not in UTF-8, as JSON has to be"):
        read_table(path)


def test_json_lines_of_mixed_types_become_text_and_broken_ones_are_refused(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": 1}\n{"a": "<5", "b": true}\n')
    assert rows(read_table(path)) == [("1", None), ("<5", "True")]
    path.write_text('{"a": 1}\n{"a": \n')
    with pytest.raises(DataError, match=r"Line 2 of .* is not a JSON object"):
        read_table(path)


def test_a_pattern_is_the_files_that_match_it_in_order(tmp_path):
    for name in ("ward_b.csv", "ward_a.csv", "other.csv"):
        FRAME.to_csv(tmp_path / name, index=False)
    assert named_sources(f"{tmp_path}/ward_*.csv") == [f"{tmp_path}/ward_a.csv", f"{tmp_path}/ward_b.csv"]
    assert len(named_sources([f"{tmp_path}/ward_*.csv", FRAME])) == 3
    with pytest.raises(DataError, match="No file matches"):
        named_sources(f"{tmp_path}/none_*.csv")


def test_a_file_whose_name_looks_like_a_pattern_is_a_file(tmp_path):
    FRAME.to_csv(tmp_path / "t[1].csv", index=False)
    assert named_sources(str(tmp_path / "t[1].csv")) == [str(tmp_path / "t[1].csv")]


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "visits.db"
    with closing(sqlite3.connect(path)) as db:
        FRAME.to_sql("pat ients", db, index=False)
    return path


def test_a_table_of_a_database_is_read_and_the_file_is_not_touched(database):
    before = database.read_bytes()
    assert rows(read_table(f"sqlite:///{database}?table=pat%20ients")) == ROWS
    assert "has one table, 'pat ients', which is read" in read_table(database).notes[0]
    assert database.read_bytes() == before


def test_a_table_of_a_database_that_is_not_there_is_named_with_those_that_are(database, tmp_path):
    with pytest.raises(DataError, match=r"there is no table 'x'\. It has pat ients; write sqlite:///"):
        read_table(f"sqlite:///{database}?table=x")
    with pytest.raises(DataError, match="There is no database"):
        read_table(f"sqlite:///{tmp_path}/gone.db?table=x")
    (tmp_path / "no.db").write_text("not a database at all, only a text")
    with pytest.raises(DataError, match="cannot be read as a SQLite database"):
        read_table(tmp_path / "no.db")


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("sqlite://[::1", "is not the address of a table"),
        ("sqlite:///~nobody-of-this-name/x.db", "There is no database"),
        (f"sqlite:///{'a' * 5_000}", "cannot be read as a SQLite database"),
        ("sqlite:///a%00b.db", "There is no database"),
    ],
)
def test_addresses_that_name_no_file_are_refused(address, words):
    with pytest.raises(DataError, match=words):
        read_table(address)


def test_a_name_in_another_encoding_is_a_sentence(tmp_path):
    path = tmp_path / "t.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE t (name_of_the_column)")
        database.execute("INSERT INTO t VALUES (1)")
        database.commit()
    path.write_bytes(path.read_bytes().replace(b"name_of_the_column", b"name_\xfa\xff_the_column"))
    with pytest.raises(DataError, match="cannot be read as a SQLite database"):
        read_table(f"sqlite:///{path}?table=t")


def test_the_home_of_nobody_is_a_name_like_any_other():
    with pytest.raises(DataError, match="There is no file ~nobody-of-this-name"):
        read_table("~nobody-of-this-name/x.csv")
