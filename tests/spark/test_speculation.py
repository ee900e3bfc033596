"""A task that is run twice at a time, because its first run is slow, changes nothing in the result."""

from __future__ import annotations

from tests.spark.driver import COLUMNS
from tests.spark.scripts import needs_a_cluster, ran


@needs_a_cluster
def test_a_second_run_of_a_slow_task_changes_nothing(java, claims, tmp_path):
    X, y, folder = claims
    labeled = tmp_path / "labeled.parquet"
    X[COLUMNS].assign(y=y).to_parquet(labeled, index=False)
    answers = ran("tests.spark.speculation", labeled, folder, tmp_path)
    assert answers == {"same": True, "runs_of_the_slow_task": [0, 1], "threads": [2, 2]}
