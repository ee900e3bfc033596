"""A row of units below the header is no row: it is not counted, and labels are written into the right lines."""

import io

import numpy as np
import pandas as pd
import pytest

from dips import audit, fit
from dips._cli.app import run as dips
from dips._files import sample
from dips._files.read import read_table
from dips._files.relabel import relabeled
from dips._review.export import corrected_files, corrections_frame
from dips._study.inspecting import inspect
from dips._study.reviewing import desk_of_run
from dips._study.run import Run
from dips.exceptions import DataError, SettingsError
from tests.patients import patients

from .reviews import correct

TABLE, _ = patients(n=200, n_labeled=160, noise=0.15)
UNITS = {"patient": "", "age": "years", "dose": "mg", "ward": "", "seen": "", "outcome": ""}
SAID = "Row 1 has words above numbers ('years', 'mg'); if it belongs to the header, skip_below=1 leaves it out."

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def written(path, n_units=1):
    """Write the table with a title, units and an empty line, which is no row."""
    header, rows = TABLE.to_csv(index=False).split("\n", 1)
    units = ",".join(UNITS[name] for name in TABLE) + "\n"
    path.write_text(f"Export of 2024\n\n{header}\n\n{units * n_units}{rows}")
    return path


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    place = tmp_path_factory.mktemp("units")
    TABLE.to_csv(place / "plain.csv", index=False)
    written(place / "units.csv")
    for name, more in ("plain", {}), ("units", {"skip_below": 1}):
        fit(place / f"{name}.csv", "outcome", place / name, id="patient", time_limit=1e-6, **more)
    return place


def test_files_are_read_as_if_it_were_not_there(tmp_path, monkeypatch):
    path = written(tmp_path / "units.csv", n_units=2)
    assert read_table(path).n_rows == 202
    read = read_table(path, skip_below=2)
    assert read.n_rows == 200
    assert read.columns["patient"].to_pylist() == TABLE["patient"].tolist()
    with pytest.raises(DataError, match="but no rows"):
        read_table(path, skip_below=202)
    look = sample.look_at(path, "outcome", skip_below=2)
    monkeypatch.setattr(sample, "_LARGE_FILE", 10)
    batches = sample.look_at(path, "outcome", skip_below=2)
    assert batches.n_rows == look.n_rows == 200
    assert batches.labels.columns.to_pydict() == look.labels.columns.to_pydict()
    pytest.importorskip("openpyxl")
    pd.concat([pd.DataFrame([UNITS]), TABLE]).to_excel(tmp_path / "units.xlsx", index=False)
    columns = read_table(tmp_path / "units.xlsx", skip_below=1).columns
    assert columns["age"].to_pylist() == TABLE["age"].tolist()


def test_tables_without_a_header_line_keep_all_rows(tmp_path):
    TABLE.to_parquet(tmp_path / "table.parquet")
    assert read_table(tmp_path / "table.parquet", skip_below=1).n_rows == 200
    assert read_table(TABLE, skip_below=1).n_rows == 200


def test_the_option_is_named_where_it_helps_and_gone_where_it_was_given(tmp_path):
    path = written(tmp_path / "units.csv")
    look = inspect(path, "outcome")
    assert SAID in look.notes
    assert "skip_below=1" in look.options
    given = inspect(path, "outcome", skip_below=1)
    assert not any("Row 1" in note for note in given.notes)
    assert "skip_below=1" not in given.options
    frame = pd.concat([pd.DataFrame([UNITS]), TABLE.astype(str)], ignore_index=True)
    assert any(note.endswith("if it belongs to the header, remove it.") for note in inspect(frame, "outcome").notes)
    with pytest.raises(SettingsError, match="skip_below is the number of rows to leave out below the header; got -1"):
        inspect(path, "outcome", skip_below=-1)


def test_a_study_counts_rows_as_if_it_were_not_there(place):
    plain, units = (pd.read_parquet(place / name / "samples.parquet") for name in ("plain", "units"))
    pd.testing.assert_frame_equal(plain, units)
    judged = audit(place / "units.csv", target="outcome", id="patient", skip_below=1).samples
    for name in ("row", "given_label"):
        assert judged[name].fillna("").tolist() == units[name].fillna("").tolist()


def test_a_review_writes_into_the_right_lines(place):
    desk = desk_of_run(Run(place / "units"))
    rows = desk.queue.rows[:5]
    for row in rows:
        correct(desk, "anna", row)
    assert sorted(corrections_frame(desk)["patient"]) == sorted(f"P{row - 1:04d}" for row in rows)
    ((_, content),) = corrected_files(desk)
    before, after = (place / "units.csv").read_text().split("\n"), content.decode().split("\n")
    changed = [k for k, (a, b) in enumerate(zip(before, after, strict=True)) if a != b]
    assert changed == sorted(4 + row for row in rows)  # below a title, two empty lines, the header and the units
    assert [before[k].split(",")[0] for k in changed] == [f"P{row - 1:04d}" for row in sorted(rows)]
    desk.store.close()


def test_a_sheet_of_excel_is_labeled_in_the_right_rows(tmp_path):
    pytest.importorskip("openpyxl")
    path = tmp_path / "units.xlsx"
    pd.concat([pd.DataFrame([UNITS]), TABLE]).to_excel(path, index=False, startrow=2)
    path.write_bytes(relabeled(path, "outcome", {0: "new", 7: None}, skip_below=1))
    labels = read_table(path, wanted=("outcome",), skip_below=1).columns["outcome"].to_pylist()
    expected = TABLE["outcome"].where(TABLE["outcome"].notna(), None).tolist()
    expected[0], expected[7] = "new", None
    assert labels == expected


def test_a_parquet_file_is_labeled_as_it_is_read(tmp_path):
    TABLE.to_parquet(tmp_path / "table.parquet")
    content = relabeled(tmp_path / "table.parquet", "outcome", {3: "new"}, skip_below=1)
    assert pd.read_parquet(io.BytesIO(content))["outcome"][3] == "new"


def test_new_tables_are_predicted_without_it(place, tmp_path):
    new = written(tmp_path / "new.csv")
    out = tmp_path / "out.csv"
    assert dips(["predict", str(place / "units"), str(new), "--skip-below", "1", "-o", str(out)]) == 0
    predicted = pd.read_csv(out)
    assert predicted["patient"].tolist() == TABLE["patient"].tolist()
    assert np.isfinite(predicted["probability"]).all()
