"""``dips inspect``: a look before the work."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dips._cli.app import run as dips
from dips._files import sample
from dips._study.inspecting import inspect
from dips.exceptions import DataError
from tests.effort import quick_studies

RNG = np.random.RandomState(0)
N = 300
SEEN = pd.Timestamp("2020-01-01") + pd.to_timedelta(RNG.randint(0, 12, N) * 31, unit="D")
CHURN = RNG.choice(["Yes", "yes", "No"], N, p=[0.3, 0.1, 0.6])
TABLE = pd.DataFrame(
    {
        "customer_id": RNG.randint(0, 100, N),
        "charge": [f"${x:,.2f}" for x in RNG.uniform(100, 5_000, N)],
        "seen": [f"{d.month:02d}/{d.month:02d}/2020" if i else "03/04/2020" for i, d in enumerate(SEEN)],
        "zip": [f"{z:05d}" for z in RNG.randint(500, 700, N)],
        "closed": np.where(np.char.lower(CHURN.astype(str)) == "yes", "x", "o"),
        "churn": CHURN,
    }
)


@pytest.fixture
def path(tmp_path):
    TABLE.to_csv(tmp_path / "customers.csv", index=False)
    return str(tmp_path / "customers.csv")


def test_it_shows_types_guesses_warnings_and_options(path, capsys):
    assert dips(["inspect", path, "--target", "churn", "--merge-labels"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "300 rows, 5 columns besides the target." in out
    assert "Column 'charge': amounts in $." in out
    assert "03/04/2020 is read day first, as 2020-04-03: a guess; --type seen=date:month-first if that is wrong" in out
    assert "Column 'zip': some begin with 0, so they are codes; --type zip=number if that is wrong." in out
    assert "'closed' predicts the label almost on its own (balanced accuracy 100 %" in out
    assert "Options to consider: --group customer_id --drop closed" in out


def test_names_of_columns_are_shown_in_full(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    names = ["days_between_screening_and_arrest", "x" * 300]
    pd.DataFrame([[1, 2], [3, 4]], columns=names).to_csv(tmp_path / "long.csv", index=False)
    assert dips(["inspect", str(tmp_path / "long.csv")]) == 0
    out = capsys.readouterr().out
    assert out.startswith("2 rows, 2 columns.")
    cells = [line.split()[0] for line in out.splitlines() if line.strip()]
    assert names[0] in "".join(cells)
    assert "".join(cells).count("x") < 110


@pytest.mark.parametrize("named", ["each", "by a pattern"])
def test_several_files_are_read_as_one_table(tmp_path, capsys, named):
    frame = pd.DataFrame({"x": np.arange(60) % 50, "y": ["a", "b", "b"] * 20})
    files = [tmp_path / "ward_1.csv", tmp_path / "ward_2.csv"]
    for part, file in zip((frame[:25], frame[25:]), files, strict=True):
        part.to_csv(file, index=False)
    given = map(str, files) if named == "each" else [str(tmp_path / "ward_*.csv")]
    assert dips(["inspect", *given, "-t", "y"]) == 0
    expected = "60 rows, 1 column besides the target.\n'y': 60 labeled (a 20, b 40), 0 not."
    assert capsys.readouterr().out.startswith(expected)


def test_a_table_that_would_be_refused_is_shown_and_refused(path, capsys):
    assert dips(["inspect", path, "--target", "chrun"]) == 3
    captured = capsys.readouterr()
    assert "charge" in captured.out
    assert "has no column 'chrun'; did you mean 'churn'?" in captured.err
    assert dips(["inspect", path, "--target", "chrun", "--json"]) == 3
    assert "did you mean 'churn'?" in json.loads(capsys.readouterr().out)["problem"]


def test_a_table_without_a_column_to_learn_from_is_refused(tmp_path, capsys):
    pd.DataFrame({"y": ["a", "b"] * 10, "one": 1}).to_csv(tmp_path / "one.csv", index=False)
    assert dips(["inspect", str(tmp_path / "one.csv"), "-t", "y"]) == 3
    captured = capsys.readouterr()
    assert "'y': 20 labeled (a 10, b 10), 0 not." in captured.out
    assert "No column is left to learn from: one (constant)." in captured.err


def test_cells_that_only_blanks_set_apart_are_one_column_which_is_said(tmp_path, capsys):
    (tmp_path / "blanks.txt").write_text("x y\n" + "1 a\n2 b\n" * 10)
    assert dips(["inspect", str(tmp_path / "blanks.txt"), "-t", "y"]) == 3
    assert "cells are set apart by commas, semicolons, tabs or bars" in capsys.readouterr().err


def test_for_machines_it_is_one_document(path, capsys):
    assert dips(["inspect", path, "-t", "churn", "--json", "--type", "zip=ignore", "--group", "customer_id"]) == 0
    record = json.loads(capsys.readouterr().out)
    kinds = {c["name"]: c["kind"] for c in record["columns"]}
    assert kinds == {"customer_id": "group", "charge": "number", "seen": "date", "zip": "dropped", "closed": "category"}
    assert record["labels"]["variants"][0]["label"] == "Yes"
    assert "--merge-labels" in record["options"]
    assert record["repeated_ids"] == {}


def test_without_a_target_the_columns_are_shown(path, capsys):
    assert dips(["inspect", path]) == 0
    assert "churn" in capsys.readouterr().out


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_of_a_large_file_a_sample_is_looked_at_and_all_labels(tmp_path, monkeypatch, suffix):
    monkeypatch.setattr(sample, "_LARGE_FILE", 1_000)
    monkeypatch.setattr(sample, "_SAMPLE", 100)
    path = tmp_path / f"large.{suffix}"
    TABLE.to_csv(path, index=False) if suffix == "csv" else TABLE.to_parquet(path)
    inspection = inspect(path, "churn", merge_labels=True)
    assert inspection.n_rows == 300
    assert 50 < inspection.look.table.n_rows < 200
    assert inspection.target.is_labeled.sum() == 300
    assert inspection.duplicates is None
    assert any("rows drawn at random, not in all" in note for note in inspection.notes)
    assert [leak.columns for leak in inspection.leaks] == [("closed",)]
    assert inspection.look.table.columns["charge"].to_pylist() == TABLE["charge"].iloc[inspection.look.rows].tolist()


@pytest.mark.parametrize("name", ["id", "group", "verified", "type"])
def test_a_column_of_lists_can_have_no_part_in_the_study(name):
    table = TABLE.assign(places=[[k, k] for k in range(len(TABLE))])
    given = {"places": "category"} if name == "type" else "places"
    with pytest.raises(DataError, match=f"^{name} names 'places', which holds list<.*> values; name a column of numb"):
        inspect(table, "churn", merge_labels=True, **{name: given})
    assert inspect(table, "churn", merge_labels=True, drop="places", type={"places": "ignore"}).n_rows == 300


@pytest.mark.skipif(not hasattr(pa, "uuid"), reason="an older version of pyarrow")
def test_types_that_few_functions_take_are_read_from_a_large_file(tmp_path, monkeypatch):
    monkeypatch.setattr(sample, "_LARGE_FILE", 1_000)
    keys = pa.array([bytes([k % 256, k // 256] * 8) for k in range(len(TABLE))], pa.uuid())
    pq.write_table(pa.Table.from_pandas(TABLE).append_column("key", keys), tmp_path / "large.parquet")
    columns = {c.name: c.kind for c in inspect(tmp_path / "large.parquet", "churn", merge_labels=True).schema.columns}
    assert columns["key"] == "id"


def test_a_broken_line_of_a_large_file_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sample, "_LARGE_FILE", 1_000)
    path = tmp_path / "large.csv"
    path.write_text(TABLE.to_csv(index=False) + "1,2\n")
    assert dips(["inspect", str(path)]) == 3
    assert "Line 302 of" in capsys.readouterr().err


def test_what_the_options_say_is_kept_in_the_run_and_can_be_run_again(path, tmp_path, capsys):
    said = ["--merge-labels", "--type", "zip=ignore", "--group", "customer_id", "--drop", "closed"]
    quick = ["--time-limit", "0.0001", "--json"]
    with quick_studies():
        assert dips(["fit", path, "-t", "churn", "-o", str(tmp_path / "run"), *said, *quick]) == 0
        config = str(tmp_path / "run" / "config.json")
        assert dips(["fit", "--config", config, "-o", str(tmp_path / "again"), *quick]) == 0
    settings = [json.loads((tmp_path / name / "config.json").read_text())["settings"] for name in ("run", "again")]
    assert settings[0] == settings[1]
    assert (settings[0]["type"], settings[0]["merge_labels"]) == ({"zip": "ignore"}, True)
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert metrics["reading"]["labels"]["merged"]
    assert metrics["reading"]["groups"]["n_groups"] <= 100


def test_a_list_is_not_cut_without_a_word(tmp_path, capsys):
    wide = pd.DataFrame(RNG.normal(size=(N, 120)), columns=[f"c{i}" for i in range(120)])
    wide.assign(kind=[f"class {i % 30:02d}" for i in range(N)]).to_csv(tmp_path / "wide.csv", index=False)
    assert dips(["inspect", str(tmp_path / "wide.csv"), "-t", "kind"]) == 0
    shown = capsys.readouterr().out
    assert "class 11: 10 and 18 more)" in shown
    assert "120 columns: 120 numbers." in shown
    assert "more columns" not in shown


def test_dozens_of_columns_are_shown_one_by_one(tmp_path, capsys):
    wide = pd.DataFrame(RNG.normal(size=(N, 40)), columns=[f"c{i}" for i in range(40)])
    wide.assign(kind=["a", "b"] * (N // 2)).to_csv(tmp_path / "wide.csv", index=False)
    assert dips(["inspect", str(tmp_path / "wide.csv"), "-t", "kind"]) == 0
    shown = capsys.readouterr().out
    assert all(f" c{i} " in shown for i in range(40))
    assert "example" in shown
