"""A driver that is killed goes on from its checkpoint, in another session, to the same result."""

from __future__ import annotations

import signal

import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from dips import ParquetPool
from tests.spark.driver import COLUMNS, fitted, pool_of
from tests.spark.scripts import start


def test_a_killed_driver_goes_on(spark, claims, tmp_path):
    X, y, folder = claims
    labeled, checkpoint = str(tmp_path / "labeled.parquet"), str(tmp_path / "run")
    X[COLUMNS].assign(y=y).to_parquet(labeled, index=False)
    done = start("tests.spark.driver", labeled, folder, checkpoint)
    assert done.returncode == -signal.SIGKILL, done.stderr[-2000:]
    continued = fitted(labeled, pool_of(spark, str(folder), checkpoint))
    through = fitted(labeled, ParquetPool(folder, columns=COLUMNS, stays=True))
    assert_array_equal(through.predict_proba(X[COLUMNS]), continued.predict_proba(X[COLUMNS]))
    pd.testing.assert_frame_equal(through.samples_, continued.samples_)
    counts = [c for c in through.history_ if c != "elapsed_s"]
    pd.testing.assert_frame_equal(through.history_[counts], continued.history_[counts])
    with pytest.raises(ValueError, match="other settings or data"):
        fitted(labeled, pool_of(spark, str(folder / "part-0.parquet"), checkpoint))
