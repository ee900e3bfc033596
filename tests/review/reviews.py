"""Reviews to test: of copies of one run, so that each test decides for itself."""

import itertools
import shutil

import numpy as np
import pandas as pd
import pyarrow as pa

from dips._files.columns import Column, Schema
from dips._review.cells import TableCells
from dips._review.material import Material
from dips._study.reviewing import desk_of_run, server_of_run
from dips._study.run import Run

_clients = (f"client-{n}" for n in itertools.count())


def copy_of(finished, place):
    """The run, with its table beside it."""
    shutil.copytree(finished, place, dirs_exist_ok=True)
    return Run(place / "run")


def desk_in(finished, place, **settings):
    run = copy_of(finished, place)
    return desk_of_run(run, [place / "patients.csv"], **settings)


def server_in(finished, place, **settings):
    run = copy_of(finished, place)
    return server_of_run(run, [place / "patients.csv"], **settings)


def client():
    return next(_clients)


def other_class(desk, row):
    return next(c for c in desk.material.classes if c != desk.material.given[row])


def decide(desk, reviewer, row, action="keep", label=None, note=""):
    return desk.decide(reviewer, client(), row, action, label, note)


def correct(desk, reviewer, row):
    """Give a row another label than it has."""
    return decide(desk, reviewer, row, "label", other_class(desk, row))


def large_material(n=12_000, n_columns=200):
    """Over ten thousand suspects; what would judge them does not matter, so nothing does."""
    rng = np.random.RandomState(0)
    table = pa.table({f"column_{j}": rng.normal(size=n) for j in range(n_columns)})
    is_suspect, codes = np.arange(n) % 8 > 0, rng.randint(0, 2, n)
    account = pd.DataFrame(
        {
            "row": np.arange(1, n + 1),
            "key": "",
            "given": codes,
            "suggested": 1 - codes,
            "p_wrong": rng.uniform(size=n),
            "suspicion": np.where(is_suspect, np.arange(n), np.nan),
            "height": rng.uniform(size=n),
            "across": rng.uniform(0, 0.25, n),
            "useful": ~is_suspect,
            "is_checkable": True,
            "reason": "synthetic",
        }
    )
    schema = Schema([Column(name, "number") for name in table.column_names])
    cells = TableCells(table, schema, np.arange(n), codes, ~is_suspect, 2, ["column_7"], [])
    return Material("large", "label", "row", ["no", "yes"], account, "a" * 64, cells)
