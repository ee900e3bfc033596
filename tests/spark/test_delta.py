"""Delta Lake's own row ids, where its jars are at hand: DELTA_JARS=delta-spark.jar,delta-storage.jar pytest ..."""

from __future__ import annotations

import os

import pytest

from tests.spark.driver import COLUMNS
from tests.spark.scripts import ran


@pytest.mark.skipif("DELTA_JARS" not in os.environ, reason="DELTA_JARS names no jars of Delta Lake")
def test_the_row_ids_of_delta_name_the_rows(java, claims, tmp_path):
    X, y, folder = claims
    labeled = tmp_path / "labeled.parquet"
    X[COLUMNS].assign(y=y).to_parquet(labeled, index=False)
    answers = ran("tests.spark.delta", labeled, folder, tmp_path)
    assert "changed since the fit began (it had 400 rows, now 399" in answers.pop("change")
    assert "'delta.enableRowTracking' = true" in answers.pop("without_row_tracking")
    assert answers == {
        "named_by": ["row_id"],
        "ids_are_the_numbers": True,
        "same": True,
        "account": True,
        "ids_survive_compaction": True,
        "rows_of_the_first_version": 400,
    }
