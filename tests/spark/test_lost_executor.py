"""An executor that is lost, with its JVM and its workers, changes nothing in the result."""

from __future__ import annotations

from tests.spark.driver import COLUMNS
from tests.spark.scripts import needs_a_cluster, ran


@needs_a_cluster
def test_a_lost_executor_changes_nothing(java, claims, tmp_path):
    X, y, folder = claims
    labeled = tmp_path / "labeled.parquet"
    X[COLUMNS].assign(y=y).to_parquet(labeled, index=False)
    assert ran("tests.spark.lost_executor", labeled, folder, tmp_path) == {"lost": True, "same": True}
