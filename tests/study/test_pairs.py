"""A study of a table with blood pressures: they are learned from, shown, stored and read again."""

import json

import numpy as np
import pandas as pd
import pytest

from dips import audit, fit
from dips._study.run import Run

RNG = np.random.RandomState(0)
UPPER, LOWER = RNG.randint(90, 180, 300), RNG.randint(55, 100, 300)
TABLE = pd.DataFrame({"bp": [f"{a}/{b}" for a, b in zip(UPPER, LOWER, strict=True)], "age": RNG.randint(20, 90, 300)})
TABLE["outcome"] = np.where((UPPER > 140) ^ (RNG.rand(300) < 0.05), "ill", "well")

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return fit(TABLE, target="outcome", out=tmp_path_factory.mktemp("pairs") / "run", rounds=2)


def test_the_report_shows_one_column_that_matters_and_both_numbers_by_label(run):
    summary = json.loads((run.folder / "report.json").read_text())
    assert [r["column"] for r in summary["distributions"]][:2] == ["bp (first)", "bp (second)"]
    assert [r["column"] for r in summary["importance"]] == ["bp", "age"]
    page = (run.folder / "report.html").read_text()
    assert "pairs of numbers" in page
    assert "two numbers, such as" in page
    assert "bp (first)" in page


def test_a_stored_run_reads_new_tables_in_the_same_way(run, tmp_path):
    TABLE.drop(columns="outcome").to_csv(tmp_path / "new.csv", index=False)
    stored = Run(run.folder)
    new = stored.predict_proba(str(tmp_path / "new.csv"))
    assert (np.asarray(new) == np.asarray(run.predict_proba(TABLE))).all()
    high = stored.predict(pd.DataFrame({"bp": ["175 / 80,0", "100/80"], "age": [50, 50]}))
    assert list(high) == ["ill", "well"]


def test_an_audit_reads_them_too():
    found = audit(TABLE, target="outcome").findings.reading["columns"]
    assert [c["kind"] for c in found] == ["pair", "number"]
