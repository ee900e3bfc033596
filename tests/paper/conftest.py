"""Tiny tables under the names of real ones, so that every experiment can be run in seconds, and the command."""

import numpy as np
import pandas as pd
import pytest

from dips._cli.app import run
from dips.datasets._tables import TABLES

N = 260


@pytest.fixture(scope="session")
def data_folder(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("tables"), np.random.default_rng(0)
    signal = rng.normal(size=N)
    noisy = (signal + 0.3 * rng.normal(size=N) > 0).astype(int)
    german = pd.DataFrame(rng.normal(size=(N, 24)), columns=[f"A{i}" for i in range(1, 25)])
    german.assign(A1=signal, **{"class": noisy + 1}).to_parquet(folder / "german_credit_numeric.parquet")
    columns = ["age", "sex", "cp", "trestbps", "chol", "fbs", "restecg", "thalach", "exang", "oldpeak", "slope", "ca"]
    heart = pd.DataFrame(rng.normal(size=(N, 13)), columns=[*columns, "thal"])
    sites = rng.choice(["cleveland", "hungarian", "switzerland", "va_long_beach"], N)
    heart.assign(age=signal, num=noisy, site=sites).to_parquet(folder / "heart_disease_4sites.parquet")
    assert {"german", "heart"} <= set(TABLES)
    return folder


@pytest.fixture
def tables(data_folder, monkeypatch):
    monkeypatch.setenv("DIPS_DATA", str(data_folder))
    return data_folder


@pytest.fixture
def paper(tmp_path, capfd):
    """Run ``dips paper`` in a folder of its own; return the exit code and what was printed."""

    def call(*arguments):
        results = [] if arguments[0] in ("list", "data") else ["--results", str(tmp_path / "results")]
        code = run(["paper", *arguments, *results])
        printed = capfd.readouterr()
        return code, printed.out, printed.err

    return call
