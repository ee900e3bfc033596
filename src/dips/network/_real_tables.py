"""Real tables as plain numbers, to look at while the network trains.

``DIPS_DATA=FOLDER python -m dips.network._real_tables OUT`` reads FOLDER/NAME.parquet for each name in ``TARGETS``.
These tables were looked at while the synthetic ones were designed; scikit-learn's own, written to a second file, were
not.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn import datasets

from dips.network._limits import MAX_COLUMNS, MAX_LEVELS

ROWS = 3_000
LEAKS = {
    "compas_two_years": (
        "is_recid",
        "r_",
        "vr_",
        "violent_recid",
        "is_violent_recid",
        "start",
        "end",
        "event",
        "in_custody",
        "out_custody",
        "decile_score",
        "score_text",
        "c_jail",
        "v_",
        "screening_date",
        "compas_screening",
        "c_offense_date",
        "c_arrest_date",
        "c_charge_desc",
        "type_of",
        "dob",
    ),
    "covid": ("Days_hospital_to_outcome", "Sex_", "Race"),
    "higgs_atlas": ("EventId", "Weight"),
    "blog_feedback": ("source_day",),
    "drug_consumption": ("ID", "Semer", "Caff", "Choc"),
}
TARGETS = {
    "adult": ("salary", lambda y: y),
    "agaricus_lepiota": ("habitat", lambda y: y),
    "blog_feedback": ("target_comments_24h", lambda y: y > 0),
    "compas_two_years": ("two_year_recid", lambda y: y),
    "covid": ("is_dead", lambda y: y),
    "credit_default": ("default.payment.next.month", lambda y: y),
    "drug_consumption": ("Nicotine", lambda y: ~y.isin(["CL0", "CL1"])),
    "german_credit": ("class", lambda y: y),
    "higgs_atlas": ("Label", lambda y: y),
    "heart_disease_4sites": ("num", lambda y: y > 0),
}
HELD_OUT = {"breast_cancer": datasets.load_breast_cancer, "wine": datasets.load_wine, "digits": datasets.load_digits}


def looked_at(name: str) -> tuple[pd.DataFrame, pd.Series]:
    """Columns and classes of one of the tables in the folder ``DIPS_DATA``, without those that tell the answer."""
    frame = pd.read_parquet(Path(os.environ.get("DIPS_DATA", ".")) / f"{name}.parquet")
    target, classes_of = TARGETS[name]
    leaks = [column for column in frame if column == target or str(column).startswith(LEAKS.get(name, ("\0",)))]
    return frame.drop(columns=leaks), classes_of(frame[target])


def held_out(name: str) -> tuple[pd.DataFrame, pd.Series]:
    """Columns and classes of one of scikit-learn's own tables."""
    bunch = HELD_OUT[name](as_frame=True)
    return bunch.data, bunch.target


def as_numbers(frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Levels by frequency for texts, NaN for what is missing, and which columns are categories."""
    frame = frame.replace({"?": None, " ?": None}).replace(-999.0, np.nan)
    texts = np.array([not pd.api.types.is_numeric_dtype(frame[column]) for column in frame])
    numbers = pd.DataFrame(
        {
            column: _codes(frame[column]) if text else frame[column].astype(float)
            for column, text in zip(frame, texts, strict=True)
        }
    )
    return numbers.to_numpy(np.float32), texts


def _codes(column: pd.Series) -> pd.Series:
    order = {level: min(place, MAX_LEVELS - 1) for place, level in enumerate(column.value_counts().index)}
    return column.map(order).astype(float)


def most_varied(values: np.ndarray) -> np.ndarray:
    """Columns with the most distinct values, no more than the network was made for; constant ones never."""
    distinct = np.array([len(np.unique(column[~np.isnan(column)])) for column in values.T])
    order = np.argsort(-distinct, kind="stable")[:MAX_COLUMNS]
    return np.sort(order[distinct[order] > 1])


def prepared(frame: pd.DataFrame, target: pd.Series, seed: int = 0) -> dict[str, np.ndarray]:
    """At most 3,000 rows of a table, as arrays."""
    values, categorical = as_numbers(frame)
    rows = np.random.default_rng(seed).permutation(len(values))[:ROWS]
    values = values[rows]
    kept = most_varied(values)
    classes = np.unique(target.to_numpy().astype(str)[rows], return_inverse=True)[1]
    return {"values": values[:, kept], "categorical": categorical[kept], "classes": classes.astype(np.int64)}


def main(out: Path) -> None:
    """Write all tables, looked at and held out, to two files in a folder."""
    out.mkdir(parents=True, exist_ok=True)
    for file, names, load in (("tables.npz", TARGETS, looked_at), ("held_out.npz", HELD_OUT, held_out)):
        arrays = {f"{name}.{part}": array for name in names for part, array in prepared(*load(name)).items()}
        np.savez_compressed(out / file, allow_pickle=False, **arrays)
        for name in names:
            values, categorical, classes = (arrays[f"{name}.{part}"] for part in ("values", "categorical", "classes"))
            print(name, values.shape, categorical.sum(), "categories", np.bincount(classes))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
