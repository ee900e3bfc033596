"""How often the page says that labels are wrong more often at some value: where that is so, and where it is not.

    DIPS_DATA=... python benchmarks/uneven.py [SEEDS]

On each table labels are flipped evenly (13 %), or in one value of one column (25 % there, 3 % elsewhere), and judged by
``dips audit``. Counted is how often a value is named first: any where flips are even, the right one or another where
they are not. Tables have at most 1,500 rows; about 5 s for each table, way and seed on one core.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pandas as pd
from common import show
from messy import drawn, tables

from dips._study import audit
from dips.datasets import flip_labels

EVEN, INSIDE, OUTSIDE = 0.13, 0.25, 0.03
LEAKS = {
    "compas_two_years": [
        "is_recid", "r_charge_degree", "r_days_from_arrest", "r_offense_date", "r_charge_desc", "r_jail_in",
        "r_jail_out", "violent_recid", "is_violent_recid", "vr_charge_degree", "vr_offense_date", "vr_charge_desc",
        "start", "end", "event", "in_custody", "out_custody", "compas_screening_date", "c_jail_in", "c_jail_out",
    ],
    "covid": ["Days_hospital_to_outcome", "Sex", "Race"],
    "higgs_atlas": ["EventId", "Weight"],
    "blog_feedback": ["target_comments_24h", "source_day"],
}  # fmt: skip


def a_value(frame: pd.DataFrame, rng: np.random.RandomState) -> tuple[str, object] | None:
    """A value that a tenth to a half of the rows have, of a column with few values."""
    candidates = [
        (column, value)
        for column in frame
        if frame[column].nunique() <= 12
        for value, share in frame[column].value_counts(normalize=True).items()
        if 0.1 < share < 0.5
    ]
    return candidates[rng.randint(len(candidates))] if candidates else None


def claim(frame: pd.DataFrame, labels: np.ndarray) -> tuple[str, str] | None:
    """The value that the page names first."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values = audit(frame.assign(__label=labels), target="__label").findings.uneven.values
    return (values[0].column, values[0].value) if values else None


def judged(frame: pd.DataFrame, truth: np.ndarray, seed: int) -> dict[str, object]:
    """What is said with even flips, and with flips in one value."""
    rng = np.random.RandomState(1_000 + seed)
    even, _ = flip_labels(truth, EVEN, random_state=rng)
    record: dict[str, object] = {"even, a claim": int(claim(frame, even) is not None)}
    value = a_value(frame, rng)
    if value is not None:
        all_flipped, _ = flip_labels(truth, 1.0, random_state=rng)
        wrong = rng.rand(truth.size) < np.where(frame[value[0]] == value[1], INSIDE, OUTSIDE)
        said = claim(frame, np.where(wrong, all_flipped, truth))
        is_right = said is not None and said[0] == value[0] and same(said[1], value[1])
        record |= {"one value": 1, "named": int(is_right), "another named": int(said is not None and not is_right)}
    return record


def same(said: str, value: object) -> bool:
    """Whether a value is the one that was said, however numbers are written."""
    try:
        return float(said) == float(str(value))
    except ValueError:
        return said.strip() == str(value).strip()


def main() -> None:
    """Print one line per table, and the totals."""
    n_seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    records = []
    for name, (frame, label) in tables().items():
        frame = frame.drop(columns=[c for c in LEAKS.get(name, []) if c in frame])
        for seed in range(n_seeds):
            part, truth = drawn(frame, label, seed)
            records.append({"table": name, "even": 1} | judged(part, truth.to_numpy(), seed))
            print(records[-1], file=sys.stderr, flush=True)
    by_table = pd.DataFrame(records).fillna(0).groupby("table", sort=False).sum().astype(int)
    by_table.loc["all"] = by_table.sum()
    show("Claims that labels are wrong more often at one value", by_table)


if __name__ == "__main__":
    main()
