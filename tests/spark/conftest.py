from __future__ import annotations

import shutil

import numpy as np
import pandas as pd
import pytest

from dips.datasets import make_quadrants
from tests.spark.scripts import environment
from tests.spark.sessions import new_session


@pytest.fixture(scope="session")
def java():
    """Skip where Spark cannot run."""
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, which is not installed")


@pytest.fixture(scope="session")
def spark(java):
    """One session for all tests; tasks are tried again, as on a cluster, which plain local[2] never does."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment().items():
            patch.setenv(name, value)
        session = new_session("local[2,4]")
        yield session
        session.stop()


@pytest.fixture(scope="session")
def claims(tmp_path_factory):
    """Labeled claims, their labels, and a folder with 400 more in three files; the number of each is a column."""
    X, y = make_quadrants(500, random_state=1)
    rng = np.random.RandomState(0)
    y[:20] = 1 - y[:20]
    frame = pd.DataFrame(
        {
            "a": X[:, 0].round(1),
            "b": np.where(rng.uniform(size=500) < 0.1, np.nan, X[:, 1]).astype(np.float32),
            "n": rng.randint(0, 5, 500),
            "ward": rng.choice(["north", "east", "south"], 500),
            "group": pd.Categorical(rng.choice(["x", "y"], 500)),
        }
    )
    folder = tmp_path_factory.mktemp("claims")
    numbered = frame[100:].assign(number=np.arange(400))
    for k, (start, stop) in enumerate([(0, 120), (120, 121), (121, 400)]):
        numbered[start:stop].to_parquet(folder / f"part-{k}.parquet", index=False, row_group_size=50)
    return frame[:100], np.array(["ill", "well"])[y[:100]], folder
