"""A small file cannot take all memory, and limits can be raised."""

import gzip
import io
import json
import sqlite3
import zipfile
from contextlib import closing

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dips._files import DataError, Preparation, read_table, sample, understand

openpyxl = pytest.importorskip("openpyxl")
TABLE = pd.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "z"]})

UNTIL_2262 = pytest.mark.skipif(pd.__version__ < "3", reason="pandas 2 reads texts as dates up to the year 2262")


def workbook(tmp_path, change):
    """Write an Excel file whose members went through `change(name, content)`."""
    plain = io.BytesIO()
    TABLE.to_excel(plain, index=False)
    path = tmp_path / "t.xlsx"
    with zipfile.ZipFile(plain) as source, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            target.writestr(name, change(name, source.read(name)))
    return path


def in_sheet(old, new):
    return lambda name, content: content.replace(old, new) if "worksheets" in name else content


def test_a_workbook_within_the_limits_is_read(tmp_path):
    assert read_table(workbook(tmp_path, lambda name, content: content)).n_rows == 3


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'<c r="B4"', b"<c xml:space='a long text between the name and the place'  r = 'XFD1048576'"),
        (b'<row r="4"', b"<row r='4000000'"),
        (b"</sheetData>", b'<row r="90"><c r="AAA90"/></row><row r="500"><c r="A500"><v>1</v></c></row></sheetData>'),
    ],
)
def test_a_sheet_of_too_many_cells_is_refused_before_it_is_in_memory(tmp_path, monkeypatch, old, new):
    monkeypatch.setenv("DIPS_MAX_CELLS", "400")
    with pytest.raises(DataError, match="cells are read; use fewer, or set DIPS_MAX_CELLS"):
        read_table(workbook(tmp_path, in_sheet(old, new)))


def test_a_workbook_that_unpacks_to_too_much_is_refused(tmp_path):
    path = workbook(tmp_path, in_sheet(b"</worksheet>", b" " * 40_000_000 + b"</worksheet>"))
    with pytest.raises(DataError, match="unpacks to more than 16 MB, which looks like an attack"):
        read_table(path)


def test_what_a_sheet_says_of_its_size_is_not_believed(tmp_path):
    path = workbook(tmp_path, in_sheet(b'<dimension ref="A1:B4"', b'<dimension ref="A1:XFD1048576"'))
    assert read_table(path).columns.to_pydict() == {"a": [1, 2, 3], "b": ["x", "y", "z"]}


@pytest.mark.parametrize("part", ["worksheets", "styles", "workbook.xml.rels"])
def test_a_workbook_that_is_far_more_work_than_its_size_suggests_is_refused(tmp_path, monkeypatch, part):
    many = {
        "worksheets": (b"</sheetData>", b"<row>" + b"<c/>" * 210_000 + b"</row></sheetData>"),
        "styles": (b"</cellXfs>", b"<xf/>" * 210_000 + b"</cellXfs>"),
        "workbook.xml.rels": (b"</Relationships>", b'<Relationship Id="a"/>' * 210_000 + b"</Relationships>"),
    }[part]
    path = workbook(tmp_path, lambda name, content: content.replace(*many) if part in name else content)
    with pytest.raises(DataError, match="unpacks to more than 200,000 tags, which looks like an attack"):
        read_table(path)


def test_a_long_text_that_many_cells_share_is_counted_for_each(tmp_path):
    spreadsheet = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    namespace = "http://schemas.openxmlformats.org"
    listed = f'<Override PartName="/xl/sharedStrings.xml" ContentType="{spreadsheet}.sharedStrings+xml"/></Types>'
    shared = f'<sst xmlns="{namespace}/spreadsheetml/2006/main"><si><t>{"x" * 1_000_000}</t></si></sst>'
    rows = '<row><c t="s"><v>0</v></c></row>' * 30 + "</sheetData>"
    path = workbook(
        tmp_path, lambda name, c: c.replace(b"</Types>", listed.encode()).replace(b"</sheetData>", rows.encode())
    )
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/sharedStrings.xml", shared)
    with pytest.raises(DataError, match="unpacks to more than 16 million characters"):
        read_table(path)


def test_only_the_first_rows_of_a_sheet_tell_whether_it_is_meant(tmp_path, monkeypatch):
    book = openpyxl.Workbook()
    for n in range(1_000):
        book.active.append([n, n])
    book.create_sheet("second").append(["age", "outcome"])
    book["second"].append([50, "ill"])
    book.save(tmp_path / "t.xlsx")
    monkeypatch.setenv("DIPS_MAX_CELLS", "150")  # enough for a look at both sheets and for the second
    assert read_table(tmp_path / "t.xlsx", wanted=["outcome"]).columns.to_pydict() == {"age": [50], "outcome": ["ill"]}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entities_are_refused(tmp_path, encoding):
    laughs = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><worksheet'

    def change(name, content):
        return content.decode().replace("<worksheet", laughs).encode(encoding) if "worksheets" in name else content

    with pytest.raises(DataError, match="declares XML entities"):
        read_table(workbook(tmp_path, change))


def test_texts_that_read_like_missing_stay_what_they_are_in_excel(tmp_path):
    frame = pd.DataFrame({"outcome": ["NA", "EU", "NA"], "when": pd.to_datetime(["2024-01-01", None, "2024-01-03"])})
    frame.to_excel(tmp_path / "t.xlsx", index=False)
    table = read_table(tmp_path / "t.xlsx").columns
    assert table.column("outcome").to_pylist() == ["NA", "EU", "NA"]
    assert pa.types.is_timestamp(table.schema.field("when").type)


def test_a_compressed_text_that_unpacks_to_too_much_is_refused_until_the_limit_is_raised(tmp_path, monkeypatch):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"0,0\n" * 5_000_000))
    with pytest.raises(DataError, match="unpacks to more than 16 MB"):
        read_table(path)
    monkeypatch.setenv("DIPS_MAX_EXPANSION", "2000")
    assert read_table(path).n_rows == 5_000_000


def test_a_parquet_file_of_too_many_cells_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"zeros": np.zeros(17_000_000, dtype=np.int8)}), path)
    monkeypatch.setenv("DIPS_MAX_EXPANSION", "20")
    with pytest.raises(DataError, match="unpacks to 17,000,000 rows of 1 columns"):
        read_table(path)
    monkeypatch.setenv("DIPS_MAX_CELLS", "10")
    with pytest.raises(DataError, match="at most 10 cells are read"):
        read_table(path)


def test_a_limit_is_a_number(tmp_path, monkeypatch):
    monkeypatch.setenv("DIPS_MAX_CELLS", "many")
    with pytest.raises(ValueError, match="DIPS_MAX_CELLS must be a whole number; got 'many'"):
        read_table(workbook(tmp_path, lambda name, content: content))


@pytest.mark.parametrize("cells", [[1e308, 1.0], ["1e308", "2"], [1e39, -1.0]])
def test_a_number_too_large_for_models_is_refused_with_its_column(cells):
    table = read_table(pd.DataFrame({"big": cells * 5}))
    with pytest.raises(DataError, match="Column 'big' holds 1e"):
        Preparation(understand(table)).learn(table).encode(table)


@pytest.mark.parametrize(
    "column",
    [
        pytest.param(pa.array(["9999-12-31", "2020-01-01"]), marks=UNTIL_2262),
        pa.array([10**15, 0]).cast(pa.timestamp("ms")),
        pa.array([10**12, 0]).cast(pa.timestamp("s")),
        pa.array([10**7, 1], pa.int32()).cast(pa.date32()),
    ],
)
def test_dates_far_away_are_dates(column):
    table = read_table(pa.table({"when": pa.chunked_array([column] * 5)}))
    schema = understand(table)
    encoded = Preparation(schema).learn(table).encode(table)
    assert schema.columns[0].kind == "date"
    assert np.isfinite(encoded[:, 0]).all()
    assert encoded[0, 0] > encoded[1, 0]


def test_lines_of_json_with_keys_of_their_own_are_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("DIPS_MAX_CELLS", "100000")
    for name, line in {"flat": '{"k%d": 1}', "within": '{"a": {"k%d": 1}}'}.items():
        path = tmp_path / f"{name}.jsonl"
        path.write_text("\n".join(line % n for n in range(1_000)))
        with pytest.raises(DataError, match=r"1,000 rows of 1,00[01] columns, and at most 100,000 cells are read"):
            read_table(path)
    listed = tmp_path / "listed.json"
    listed.write_text(json.dumps([{f"k{n}": 1} for n in range(1_000)]))
    with pytest.raises(DataError, match="at most 100,000 cells are read"):
        read_table(listed)


@pytest.mark.parametrize("name", ["deep.jsonl", "deep.json"])
def test_json_that_is_too_deep_is_refused(tmp_path, name):
    path = tmp_path / name
    path.write_text('{"a":' * 100_000 if name.endswith("l") else "[" * 100_000)
    with pytest.raises(DataError, match=r"is not a JSON object|cannot be read as a json file"):
        read_table(path)


def endless_view(place, selected):
    path = place / "endless.db"
    with closing(sqlite3.connect(path)) as database:
        numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
        database.execute(f"CREATE VIEW v AS {numbers} SELECT {selected} FROM n")
    return path


def test_a_view_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("DIPS_MAX_CELLS", "100000")
    with pytest.raises(DataError, match="at most 100,000 cells are read"):
        read_table(endless_view(tmp_path, "i"))


def test_a_view_that_computes_without_end_is_refused_though_it_gives_no_row(tmp_path, monkeypatch):
    monkeypatch.setattr("dips._files.sqlite._STEPS_ALWAYS_FINE", 5_000_000)
    monkeypatch.setenv("DIPS_MAX_EXPANSION", "10")
    with pytest.raises(DataError, match="it is far more work than its size suggests"):
        read_table(endless_view(tmp_path, "COUNT(*)"))


def test_a_large_file_that_is_damaged_is_refused_by_a_look_at_it_too(tmp_path, monkeypatch):
    monkeypatch.setattr(sample, "_LARGE_FILE", 10)
    for name, content in {"t.parquet": b"PAR1 is not enough", "t.csv.gz": b"\x1f\x8b\x08 is not enough"}.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(DataError, match="cannot be read as a"):
            sample.look_at(tmp_path / name)
