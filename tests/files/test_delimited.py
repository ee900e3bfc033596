"""Delimited text: whatever delimiter and encoding, cells stay as they were written."""

import pyarrow as pa
import pyarrow.csv
import pytest

from dips._files import DataError, read_table


def read(tmp_path, content, name="table.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_table(path)


def test_threads_of_arrow_hold_nothing_of_python(tmp_path, monkeypatch):
    handed = []

    def read_csv(stream, **options):
        handed.append((stream, options["parse_options"].invalid_row_handler, options["read_options"].use_threads))
        return original(stream, **options)

    original = pa.csv.read_csv
    monkeypatch.setattr(pa.csv, "read_csv", read_csv)
    read(tmp_path, "a,b\n1,2\n")
    ((stream, handler, _),) = handed
    assert (type(stream), handler) == (pa.OSFile, None)
    with pytest.raises(DataError, match=r"Line 3 of .* has 1 cell"):
        read(tmp_path, "a,b\n1,2\n3\n")
    assert not handed[-1][2]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(tmp_path, delimiter):
    text = "\n".join(delimiter.join(cells) for cells in (["a", "b", "c"], ["1", "x y", "2"], ["3", "z", "4"]))
    assert read(tmp_path, text).names == ["a", "b", "c"]


def test_commas_inside_cells_do_not_make_them_the_delimiter(tmp_path):
    table = read(tmp_path, "name;price\nbread;1,50\nmilk;0,90\n")
    assert table.columns.to_pylist()[0] == {"name": "bread", "price": "1,50"}


def test_a_file_of_one_column_is_a_table(tmp_path):
    assert read(tmp_path, "only\n1\n2\n").columns.to_pydict() == {"only": ["1", "2"]}


def test_cells_may_hold_delimiters_quotes_and_line_breaks(tmp_path):
    table = read(tmp_path, 'a,b\n"x, ""y""\nz",1\n')
    assert table.columns.to_pylist() == [{"a": 'x, "y"\nz', "b": "1"}]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252", "latin-1"])
def test_accents_survive_every_encoding(tmp_path, encoding):
    table = read(tmp_path, "name,größe\nJosé,1\nÅsa,2\n".encode(encoding))
    assert table.names == ["name", "größe"]
    assert table.columns["name"].to_pylist() == ["José", "Åsa"]


def test_what_is_not_utf8_is_said(tmp_path):
    assert "is not UTF-8 (byte 8); it is read as cp1252" in read(tmp_path, "name\nJos\xe9\n".encode("latin-1")).notes[0]


def test_text_far_from_the_top_decides_the_encoding_too(tmp_path):
    content = b"name\n" + b"plain\n" * 900_000 + b"Jos\xe9\n"
    assert read(tmp_path, content).columns["name"].to_pylist()[-1] == "José"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n1,2\n3\n", "Line 3 of .* has 1 cell and the header has 2;"),
        ("a,b\n1,2\n3,4,5\n6,7,8\n", "Line 3 of .* has 3 cells and the header has 2, and 1 other line does not fit"),
    ],
)
def test_ragged_rows_are_refused_with_their_line(tmp_path, text, words):
    with pytest.raises(DataError, match=words):
        read(tmp_path, text)


def test_windows_line_ends_are_no_part_of_a_cell(tmp_path):
    assert read(tmp_path, "a,b\r\n1,2\r\n").columns.to_pylist() == [{"a": "1", "b": "2"}]


def test_bytes_that_are_not_of_the_marked_encoding_are_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"\xef\xbb\xbfa,b\n1,2\n\xff\xfe,3,4\n")
    with pytest.raises(DataError, match="begins as UTF-8, but byte 11 is not"):
        read_table(path)
