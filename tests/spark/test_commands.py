"""``dips fit`` and ``dips predict`` with tables on Spark."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from dips import fit
from dips._cli import main
from dips._study.data import read_data
from dips._study.settings import Settings
from dips._tools.observer import Observer
from tests.effort import quick_studies


@pytest.fixture(autouse=True, scope="module")
def quick():
    with quick_studies():
        yield


def labeled(claims):
    X, y, _ = claims
    return X.assign(outcome=y, number=np.arange(1000, 1100))


def test_a_study_draws_its_unlabeled_rows_by_hash(spark, claims):
    settings = Settings(target="outcome", id=("number",), max_unlabeled=30)
    stages, observer = [], Observer()
    observer.message = lambda text, fraction: stages.append(text)
    study = read_data(labeled(claims), settings, [f"spark:{claims[2]}"], observer)
    again = read_data(labeled(claims), settings, [f"spark:{claims[2]}"])
    assert study.table.n_rows == 130
    assert stages[0] == "Spark: drawing a sample"
    assert re.fullmatch(r"Spark: drawing a sample, [\d,]+ rows a second", stages[1])
    assert study.table.columns.equals(again.table.columns)
    assert any("30 of 400 rows of spark:" in note for note in study.notes)
    assert study.sources[1]["path"].startswith("spark:")


def test_predictions_are_written_by_spark(spark, claims, tmp_path, monkeypatch, capsys):
    run = fit(
        labeled(claims), "outcome", tmp_path / "run", unlabeled=[f"spark:{claims[2]}"], id=("number",), rounds=2,
        max_unlabeled=40, time_limit=1e-6,
    )  # fmt: skip
    monkeypatch.setattr(
        "sys.argv", ["dips", "predict", str(run.folder), f"spark:{claims[2]}", "-o", str(tmp_path / "p")]
    )
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    assert re.search(r"400 rows predicted by Spark, [\d,]+ rows a second; written to", capsys.readouterr().out)
    predicted = pd.read_parquet(tmp_path / "p").sort_values("number", ignore_index=True)
    rows = pd.read_parquet(claims[2])
    assert_allclose(predicted[["probability_ill", "probability_well"]], run.predict_proba(rows))
    assert_array_equal(predicted["predicted_outcome"], run.predict(rows))


def test_a_table_that_is_not_there_is_one_sentence(spark, claims):
    with pytest.raises(ValueError, match=r"Spark failed while opening no_such_table: .*no_such_table"):
        read_data(labeled(claims), Settings(target="outcome"), ["spark:no_such_table"])
