"""Synthetic tables to try the commands on: patients, some of whose labels are missing or wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from dips._persistence.export import write_frame
from dips._study.folder import refuse_to_overwrite
from dips.datasets import flip_labels

N_LABELED, N_UNLABELED, N_NEW, N_CHECKED = 300, 300, 50, 60
NOISE = 0.15


def make_tables(seed: int = 0) -> dict[str, pd.DataFrame]:
    """Return patients with labels and without, new patients, and corrections of some of the labels, by file name."""
    rng = np.random.default_rng(seed)
    table = _patients(N_LABELED + N_UNLABELED + N_NEW, rng)
    truth = table.pop("outcome").to_numpy()
    given, is_wrong = flip_labels(truth[:N_LABELED], NOISE, random_state=seed)
    known = table[: N_LABELED + N_UNLABELED].assign(outcome=pd.Series(given, dtype=object))
    checked = np.sort(rng.choice(N_LABELED, N_CHECKED, replace=False))
    corrections = pd.DataFrame(
        {"patient": table["patient"][checked], "label": np.where(is_wrong[checked], truth[checked], "keep")}
    )
    return {"patients.csv": known, "new.csv": table[len(known) :], "corrections.csv": corrections}


def write_tables(folder: Path) -> list[Path]:
    """Write the tables into a folder, none over a file that is there already."""
    tables = {folder / name: table for name, table in make_tables().items()}
    for path in tables:
        refuse_to_overwrite(path, force=False, is_folder=False)
    for path, table in tables.items():
        write_frame(table, path)
    return list(tables)


def _patients(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Older patients are ill, and so are those whose dose and pressure do not fit each other."""
    age, dose = rng.integers(20, 90, n), rng.normal(size=n)
    pressure = rng.normal(120 + 0.3 * (age - 55), 12)
    is_ill = (age - 55) / 12 + dose * (pressure - 120) / 10 + 0.3 * rng.normal(size=n) > 0
    return pd.DataFrame(
        {
            "patient": [f"p{i:04d}" for i in range(1, n + 1)],
            "age": age,
            "ward": rng.choice(["north", "south", "east"], n),
            "dose": dose.round(2),
            "pressure": pressure.round(),
            "seen": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 700, n), unit="D"),
            "outcome": np.where(is_ill, "ill", "well"),
        }
    )
