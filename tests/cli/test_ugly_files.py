"""Ten ugly files: each works, or is refused in one sentence that says what is wrong."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from dips._cli.app import run as dips
from tests.patients import patients

TABLE, _ = patients()
CSV = TABLE.to_csv(index=False)


def fit(tmp_path, capsys, content):
    path = tmp_path / "ugly.csv"
    if isinstance(content, pd.DataFrame):
        content.to_csv(path, index=False)
    else:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    hurried = ["--time-limit", "0.001", "--json"]  # what is read is tested, not what is learned
    code = dips(["fit", str(path), "-t", "outcome", "-o", str(tmp_path / "run"), *hurried])
    captured = capsys.readouterr()
    return code, json.loads(captured.out), captured.err


def works(tmp_path, capsys, content):
    code, record, _ = fit(tmp_path, capsys, content)
    assert code == 0, record
    columns = json.loads((tmp_path / "run" / "report.json").read_text())["columns"]
    return record, {c["name"]: c for c in columns}


def refused(words, tmp_path, capsys, content):
    code, record, err = fit(tmp_path, capsys, content)
    assert code == 3
    assert words in record["error"]
    assert record["error"].count("\n") == 0
    assert "Traceback" not in err
    assert not (tmp_path / "run").exists()


def test_another_delimiter_with_decimal_commas(tmp_path, capsys):
    _, columns = works(tmp_path, capsys, TABLE.to_csv(index=False, sep=";", decimal=","))
    assert columns["dose"]["kind"] == "number"


def test_a_byte_order_mark(tmp_path, capsys):
    _, columns = works(tmp_path, capsys, b"\xef\xbb\xbf" + CSV.encode())
    assert "patient" in columns


def test_latin_1(tmp_path, capsys):
    table = TABLE.assign(ward=TABLE["ward"].replace("south", "süd"))
    works(tmp_path, capsys, table.to_csv(index=False).encode("latin-1"))
    assert "süd" in (tmp_path / "run" / "model" / "preparation.json").read_text(encoding="utf-8")


def test_ragged_rows(tmp_path, capsys):
    lines = CSV.splitlines()
    lines[7] += ",more"
    refused("Line 8 of", tmp_path, capsys, "\n".join(lines))


def test_duplicate_and_empty_column_names(tmp_path, capsys):
    header, rest = CSV.split("\n", 1)
    _, columns = works(tmp_path, capsys, header.replace("dose", "age").replace("ward", "") + "\n" + rest)
    assert {"age", "age.2", "column_4"} <= set(columns)


def test_labels_that_are_all_missing(tmp_path, capsys):
    refused("All 160 labels in 'outcome' are missing", tmp_path, capsys, TABLE.assign(outcome=None))


def test_five_thousand_categories(tmp_path, capsys):
    rng = np.random.RandomState(0)
    code = rng.permutation([f"diagnosis {i}" for i in range(5_000)] + ["diagnosis 1"] * 400)
    table = pd.concat([TABLE] * 34, ignore_index=True)[:5_400].assign(code=code)
    table["patient"] = [f"P{i}" for i in range(len(table))]
    _, columns = works(tmp_path, capsys, table)
    assert (columns["code"]["kind"], columns["code"]["n_distinct"]) == ("category", 5_000)


def test_five_thousand_classes(tmp_path, capsys):
    table = pd.DataFrame({"x": range(5_000), "outcome": [f"class {i}" for i in range(5_000)]})
    refused("has 5000 different labels in 5000 labeled rows", tmp_path, capsys, table)


@pytest.mark.parametrize("written", ["%d.%m.%Y", "%m/%d/%Y", "%Y-%m-%d %H:%M:%S"])
def test_dates_as_text(tmp_path, capsys, written):
    _, columns = works(tmp_path, capsys, TABLE.assign(seen=TABLE["seen"].dt.strftime(written)))
    assert columns["seen"]["kind"] == "date"


def test_mixed_types(tmp_path, capsys):
    dose = TABLE["dose"].astype(object)
    dose[[3, 50]] = ["<0.1", "not measured"]
    _, columns = works(tmp_path, capsys, TABLE.assign(dose=dose))
    assert columns["dose"]["kind"] == "number"
    assert "1 cell gives only a limit ('<0.1')" in columns["dose"]["note"]
    assert "1 cell is not a number ('not measured')" in columns["dose"]["note"]


def test_a_table_that_is_no_table(tmp_path, capsys):
    refused("has no column 'outcome'", tmp_path, capsys, "<html><body>Not found</body></html>\nsorry\n")


@pytest.mark.parametrize("command", ["fit", "audit", "inspect"])
def test_a_folder_of_tables_is_not_taken_for_images(command, tmp_path, capsys):
    for name in ("t.csv", "u.tab", "v.ndjson", "w.csv.gz"):
        (tmp_path / name).write_text(CSV)
    assert dips([command, str(tmp_path), "-t", "outcome"]) == 3
    assert "is a folder; name files in it, for example" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["fit", "audit", "inspect"])
def test_a_folder_of_parquet_files_by_month_is_refused_with_the_pattern_that_names_them(command, tmp_path, capsys):
    for month in ("month=1", "month=2"):
        (tmp_path / "claims" / month).mkdir(parents=True)
        TABLE.to_parquet(tmp_path / "claims" / month / "part-0.parquet")
    (tmp_path / "claims" / "_SUCCESS").touch()
    assert dips([command, str(tmp_path / "claims"), "-t", "outcome"]) == 3
    pattern = re.search("for example '(.*?)'", " ".join(capsys.readouterr().err.split()))[1]
    assert pattern == str(tmp_path / "claims" / "**" / "*.parquet")
    assert dips(["inspect", pattern, "-t", "outcome"]) == 0
    assert f"{2 * len(TABLE)} rows" in capsys.readouterr().out
