"""What comes out: the table as it was but for the labels, the decisions, the trail, and what fit takes."""

import bz2
import gzip
import io
import json
import lzma
import zipfile

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dips import fit
from dips._files.read import read_table
from dips._files.relabel import can_be_relabeled, relabeled, spliced
from dips._review.export import EXPORTS, corrected_names, corrections_frame, decisions_frame, write_all
from dips._study.reviewing import desk_of_run
from dips._study.run import Run
from dips.exceptions import DataError, OutputError
from tests.patients import patients

from .reviews import client, copy_of, correct, decide, desk_in


@pytest.fixture
def reviewed(finished, tmp_path):
    """Two labels corrected, one kept, one taken away, one skipped, one undone."""
    desk = desk_in(finished, tmp_path)
    rows = desk.queue.rows
    for row in rows[:2]:
        correct(desk, "anna", row)
    decide(desk, "anna", rows[2], note="=1+1")
    decide(desk, "anna", rows[3], "unlabeled")
    decide(desk, "anna", rows[4], "skip")
    correct(desk, "anna", rows[5])
    desk.undo("anna", client())
    return desk


def made(desk, name):
    return next(e for e in EXPORTS if e.name == name).make(desk)


def test_corrections_are_what_fit_reads(reviewed):
    frame = corrections_frame(reviewed).set_index("row")
    rows, given = reviewed.queue.rows, reviewed.material.given
    assert list(frame.columns) == ["patient", "given_label", "label", "reviewer", "time"]
    assert sorted(frame.index) == sorted(rows[:4])
    assert frame["given_label"].to_dict() == {row: given[row] for row in rows[:4]}
    assert frame.loc[rows[0], "label"] not in ("keep", given[rows[0]])
    assert frame.loc[rows[2], "label"] == "keep"
    assert frame.loc[rows[3], "label"] == "unlabeled"
    assert frame.loc[rows[0], "patient"] == f"P{rows[0] - 1:04d}"


def test_what_reviewers_are_divided_on_is_no_correction(reviewed):
    row = reviewed.queue.rows[0]
    decide(reviewed, "bob", row)
    assert row not in corrections_frame(reviewed)["row"].tolist()
    assert set(decisions_frame(reviewed).query("row == @row")["reviewer"]) == {"anna", "bob"}


def test_decisions_are_the_same_as_csv_and_as_parquet(reviewed):
    csv = pd.read_csv(io.BytesIO(made(reviewed, "decisions_csv")[1]))
    parquet = pd.read_parquet(io.BytesIO(made(reviewed, "decisions_parquet")[1]))
    assert csv["row"].tolist() == parquet["row"].tolist() == [*reviewed.queue.rows[:4]]
    assert csv["note"].dropna().tolist() == ["'=1+1"]  # no spreadsheet runs it
    assert parquet["is_wrong"].tolist() == [True, True, False, True]


def test_the_trail_holds_undone_events_too_and_its_chain_can_be_followed(reviewed):
    lines = [json.loads(line) for line in made(reviewed, "trail")[1].splitlines()]
    assert [line["action"] for line in lines] == ["label", "label", "keep", "unlabeled", "skip", "label", "undo"]
    assert [line["previous"] for line in lines[1:]] == [line["hash"] for line in lines[:-1]]


def test_the_corrected_csv_differs_in_the_corrected_cells_alone(reviewed):
    name, content = made(reviewed, "table")
    assert name == "patients_corrected.csv"
    before = reviewed.material.sources[0].path.read_bytes().split(b"\n")
    after = content.split(b"\n")
    changed = {k for k, (a, b) in enumerate(zip(before, after, strict=True)) if a != b}
    assert changed == {*reviewed.queue.rows[:2], reviewed.queue.rows[3]}  # line 0 is the header
    for k in changed:
        assert before[k].rpartition(b",")[0] == after[k].rpartition(b",")[0]


def test_everything_can_be_written_without_a_browser(reviewed, tmp_path):
    paths = write_all(reviewed, tmp_path / "out")
    names = {"corrections.csv", "decisions.csv", "decisions.parquet", "trail.jsonl", "patients_corrected.csv"}
    assert {p.name for p in paths} == names == {p.name for p in (tmp_path / "out").iterdir()}


def test_existing_files_are_not_replaced_unless_that_is_said(reviewed, tmp_path):
    (tmp_path / "decisions.csv").write_text("mine")
    with pytest.raises(OutputError, match=r"decisions.csv exists already; choose another folder, or replace it"):
        write_all(reviewed, tmp_path)
    assert (tmp_path / "decisions.csv").read_text() == "mine"
    assert not (tmp_path / "corrections.csv").exists()
    assert tmp_path / "decisions.csv" in write_all(reviewed, tmp_path, force=True)
    assert (tmp_path / "decisions.csv").read_text() != "mine"


def test_corrected_files_of_one_name_have_different_names(tmp_path):
    paths = [tmp_path / folder / "Data.csv.gz" for folder in ("ward1", "ward2", "old/ward2")]
    names = ["ward1_Data_corrected.csv.gz", "ward2_Data_corrected.csv.gz", "ward2_Data_corrected_2.csv.gz"]
    assert corrected_names(paths) == names
    assert corrected_names([tmp_path / "data.csv", tmp_path / "b" / "DATA.csv"])[1] == "b_DATA_corrected.csv"
    assert corrected_names([tmp_path / "a.csv", tmp_path / "a.parquet"]) == ["a_corrected.csv", "a_corrected.parquet"]


def test_of_two_files_of_one_name_both_are_corrected(tmp_path):
    frames = {}
    for k, ward in enumerate(("ward1", "ward2")):
        frames[ward] = patients(n=100, n_labeled=100, noise=0.15, seed=k)[0]
        (tmp_path / ward).mkdir()
        frames[ward].to_csv(tmp_path / ward / "data.csv", index=False)
    files = [tmp_path / ward / "data.csv" for ward in frames]
    fit(files, "outcome", tmp_path / "run", id=("patient",), time_limit=1e-6)
    desk = desk_of_run(Run(tmp_path / "run"))
    decide(desk, "anna", 3, "unlabeled")
    decide(desk, "anna", 105, "unlabeled")
    write_all(desk, tmp_path / "out")
    for row, (ward, before) in zip((2, 4), frames.items(), strict=True):
        after = pd.read_csv(tmp_path / "out" / f"{ward}_data_corrected.csv")
        assert after["patient"].tolist() == before["patient"].tolist()
        assert after["outcome"].isna().to_numpy().nonzero()[0].tolist() == [row]
    with zipfile.ZipFile(io.BytesIO(made(desk, "table")[1])) as archive:
        assert archive.namelist() == ["ward1_data_corrected.csv", "ward2_data_corrected.csv"]


def test_a_review_goes_on_where_it_ended(reviewed, tmp_path):
    reviewed.store.close()
    again = desk_of_run(Run(tmp_path / "run"), [tmp_path / "patients.csv"])
    assert again.progress("anna")["looked"] == 4
    assert again.line("anna")["status"][:6] == ["label", "label", "keep", "unlabeled", "skip", "open"]


def test_a_table_that_has_changed_is_refused(finished, tmp_path):
    run = copy_of(finished, tmp_path)
    table = tmp_path / "patients.csv"
    table.write_bytes(table.read_bytes().replace(b"north", b"North"))
    with pytest.raises(DataError, match="has changed since the run was made"):
        desk_of_run(run, [table])


UGLY = 'id;a;"the label";b\r\n1;"x;\n""y""";"ill";2\r\n\r\n2; ; well ;3\r\n3;z;ill;\r\n4;z;;"q"'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_every_other_byte_of_an_ugly_file_stays(tmp_path, encoding):
    path = tmp_path / "ugly.csv"
    raw = UGLY.replace("z", "é").encode(encoding)
    path.write_bytes(raw)
    assert relabeled(path, "the label", {}) == raw
    new = relabeled(path, "the label", {0: "well", 1: "ill", 2: None, 3: "a;b"})
    path.write_bytes(new)
    assert read_table(path).columns["the label"].to_pylist() == ["well", " ill ", None, "a;b"]
    expected = UGLY.replace("z", "é").replace('"ill"', '"well"').replace("; well ;", "; ill ;")
    expected = expected.replace("é;ill;", "é;;").replace(';;"q"', ';"a;b";"q"')
    assert new.decode(encoding) == expected


def test_cells_at_the_very_end_are_found():
    assert spliced("a,b\n1,", ",", 1, {0: "x"}) == "a,b\n1,x"
    assert spliced("a,b\n1,y", ",", 1, {0: "x"}) == "a,b\n1,x"
    assert spliced("b,a\r\ry,1\r\n\nz,2", ",", 0, {0: "x", 1: "w"}) == "b,a\r\rx,1\r\n\nw,2"


PACK = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda content: pa.compress(content, codec="zstd", asbytes=True),
    ".csv": bytes,
}


@pytest.mark.parametrize("suffix", [".csv", ".gz", ".bz2", ".xz", ".zst"])
def test_compressed_text_stays_compressed(tmp_path, suffix):
    path = tmp_path / ("t.csv" if suffix == ".csv" else f"t.csv{suffix}")
    path.write_bytes(PACK[suffix](b"a,label\n1,x\n2,y\n"))
    path.write_bytes(relabeled(path, "label", {1: "x"}))
    assert read_table(path).columns["label"].to_pylist() == ["x", "x"]


def test_a_zip_keeps_what_its_file_is_called(tmp_path):
    path = tmp_path / "t.csv.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("inner.csv", "a,label\n1,x\n2,y\n")
    path.write_bytes(relabeled(path, "label", {1: "x"}))
    assert zipfile.ZipFile(path).namelist() == ["inner.csv"]
    assert read_table(path).columns["label"].to_pylist() == ["x", "x"]


@pytest.mark.parametrize("suffix", ["parquet", "feather", "xlsx"])
def test_other_formats_keep_their_types(tmp_path, suffix):
    path = tmp_path / f"t.{suffix}"
    frame = pd.DataFrame({"a": [1.5, 2.5, 3.5], "label": [0, 1, 1]})
    if suffix == "xlsx":
        pytest.importorskip("openpyxl")
        frame.to_excel(path, index=False)
    else:
        getattr(frame, f"to_{suffix}")(path)
    before = read_table(path).columns
    path.write_bytes(relabeled(path, "label", {1: "0", 2: None}))
    after = read_table(path).columns
    assert after["label"].to_pylist() == [0, 0, None]
    assert after["a"].to_pylist() == before["a"].to_pylist()
    if suffix == "parquet":
        assert pq.read_schema(path).field("label").type == pa.int64()


@pytest.mark.parametrize("kind", [pl.String, pl.Categorical, pl.Enum(["x", "w", "v"])])
@pytest.mark.parametrize("suffix", ["feather", "parquet"])
def test_files_of_polars_keep_their_types(tmp_path, suffix, kind):
    path = tmp_path / f"t.{suffix}"
    frame = pl.DataFrame({"note": ["a", None, "b"], "label": ["w", "x", "w"]}).with_columns(pl.col("label").cast(kind))
    frame.write_ipc(path) if suffix == "feather" else frame.write_parquet(path)
    path.write_bytes(relabeled(path, "label", {0: "x", 2: None}))
    after = pl.read_ipc(path) if suffix == "feather" else pl.read_parquet(path)
    assert after.schema == frame.schema
    assert after.rows() == [("a", "x"), (None, "x"), ("b", None)]


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".feather"])
def test_of_two_names_that_differ_by_a_blank_the_right_column_is_written(tmp_path, suffix):
    path, frame = tmp_path / f"table{suffix}", pd.DataFrame({" label": ["a", "b"], "label": ["c", "d"]})
    write = {".csv": lambda path: frame.to_csv(path, index=False)}
    write |= {".parquet": frame.to_parquet, ".feather": frame.to_feather}
    write[suffix](path)
    path.write_bytes(relabeled(path, "label", {0: "x"}))
    assert [list(row.values()) for row in read_table(path).columns.to_pylist()] == [["a", "x"], ["b", "d"]]


def test_labels_are_written_below_a_title(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("Report of ward 7\r\n\r\na,outcome\r\n1,ill\r\n2,well\r\n", newline="")
    changed = relabeled(path, "outcome", {1: "ill"})
    assert changed == b"Report of ward 7\r\n\r\na,outcome\r\n1,ill\r\n2,ill\r\n"


def test_labels_are_written_into_the_sheet_that_was_read(tmp_path):
    path = tmp_path / "t.xlsx"
    with pd.ExcelWriter(path) as book:
        pd.DataFrame({"about": ["us", "you"]}).to_excel(book, sheet_name="notes", index=False)
        pd.DataFrame({"a": [1, 2], "outcome": ["ill", "well"]}).to_excel(
            book, sheet_name="data", index=False, startrow=2
        )
    path.write_bytes(relabeled(path, "outcome", {1: "ill"}))
    assert read_table(path, wanted=("outcome",)).columns["outcome"].to_pylist() == ["ill", "ill"]
    assert pd.read_excel(path, sheet_name="notes")["about"].tolist() == ["us", "you"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            '{"n":[1, 2],"outcome" : "ill"}\r\n\r\n{"n": [], " b": {"c": "}"}, "outcome":"é"}\n{"n": [3] }',
            '{"n":[1, 2],"outcome" : null}\r\n\r\n{"n": [], " b": {"c": "}"}, "outcome":"wéll"}\n'
            '{"n": [3] , "outcome": "ill"}',
        ),
        (
            '[{"outcome": 0},\n {"outcome": 1, "n": "outcome"},\n {"n": 2}]\n',
            '[{"outcome": null},\n {"outcome": "wéll", "n": "outcome"},\n {"n": 2, "outcome": "ill"}]\n',
        ),
    ],
    ids=["lines", "a list"],
)
def test_every_other_byte_of_json_stays(tmp_path, before, after):
    path = tmp_path / "t.jsonl.gz"
    path.write_bytes(gzip.compress(before.encode("utf-8-sig")))
    assert gzip.decompress(relabeled(path, "outcome", {})).decode("utf-8-sig") == before
    new = relabeled(path, "outcome", {2: "ill", 1: "wéll", 0: None})
    assert gzip.decompress(new).decode("utf-8-sig") == after


def test_numbers_and_booleans_of_json_stay_what_they_are(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": 1, "b": true}\n{"a": 0, "b": false}\n')
    assert relabeled(path, "a", {0: "0"}) == b'{"a": 0, "b": true}\n{"a": 0, "b": false}\n'
    assert relabeled(path, "b", {1: "True"}) == b'{"a": 1, "b": true}\n{"a": 0, "b": true}\n'
    path.write_text('{"a": 1, "b": true}\n{"a": null, "b": null}\n{}\n')
    assert relabeled(path, "a", {1: "0", 2: "1"}) == b'{"a": 1, "b": true}\n{"a": 0, "b": null}\n{"a": 1}\n'
    assert relabeled(path, "b", {1: "True"}) == b'{"a": 1, "b": true}\n{"a": null, "b": true}\n{}\n'


@pytest.mark.parametrize("suffix", ["jsonl", "xlsx"])
def test_beside_booleans_a_text_stays_a_text(tmp_path, suffix):
    path, labels = tmp_path / f"t.{suffix}", [True, False, "unsure", True]
    if suffix == "xlsx":
        pytest.importorskip("openpyxl")
        pd.DataFrame({"a": range(4), "label": labels}).to_excel(path, index=False)
    else:
        path.write_text("".join(json.dumps({"a": a, "label": label}) + "\n" for a, label in enumerate(labels)))
    true, false, unsure, _ = before = read_table(path).columns["label"].to_pylist()
    assert len(set(before)) == 3
    path.write_bytes(relabeled(path, "label", {0: unsure, 1: true, 2: false}))
    assert read_table(path).columns["label"].to_pylist() == [unsure, true, false, true]


@pytest.mark.parametrize("label", ["007", "+7", "-0", "\u0667", "9" * 5_000])
def test_beside_numbers_a_text_stays_a_text(tmp_path, label):
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps({"a": 8}) + "\n" + json.dumps({"a": label}) + "\n" + '{"a": null}\n')
    path.write_bytes(relabeled(path, "a", {0: label, 2: label}))
    assert read_table(path).columns["a"].to_pylist() == [label] * 3


def test_labels_cannot_be_written_into_every_format(tmp_path):
    path = tmp_path / "t.db"
    assert not can_be_relabeled(path)
    assert not can_be_relabeled("sqlite:///t.db?table=csv")
    with pytest.raises(DataError, match="correct it with the file of corrections"):
        relabeled(path, "outcome", {0: "well"})
