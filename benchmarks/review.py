"""What checking labels buys: accuracy, the noise estimate, and how many of the next suspects are wrong.

    DIPS_DATA=... python benchmarks/review.py --seeds 3 --jobs 4

A simulated reviewer checks 0, 20, 60, 100 and 200 labels of a table in which some are wrong, and each time the next
ones are chosen anew: by dips, the most probably wrong or the most useful to check first; by cleanlab, the least
normalized margin of out-of-fold probabilities of the same backbone first; or at random. The reviewer knows the truth,
or errs in a tenth of the looks, which the model is told or not. The model is always ours, trained with the verified
labels, except for "accuracy alone": the backbone trained on the corrected table without the labels that cleanlab finds
wrong. Some minutes for each table, kind of noise and seed on one core; ``--from FILE`` prints the tables of records
that are there already. docs/review_results.md has the figures.
"""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path

import pandas as pd
from common import run_grid, show
from simulated_review import CLEANLAB, LIKELY, LOOKS, RANDOM, USEFUL, Reviewer, reviews

DESIGNED_ON = ("adult", "covid", "compas", "credit")  # looked at while this was built
UNSEEN = ("blog", "agaricus-lepiota", "higgs", "drug", "german", "heart")
NOISE = ("symmetric", "one way")  # which labels are wrong
WAYS = (LIKELY, USEFUL, CLEANLAB, RANDOM)
REVIEWERS = [
    *(Reviewer(way) for way in WAYS),
    *(Reviewer(way, error=0.1) for way in (LIKELY, CLEANLAB, RANDOM)),
    *(Reviewer(way, error=0.1, told=0.1) for way in (LIKELY, USEFUL)),
]
MEASURES = ("log loss", "noise error", "width", "interval holds", "next wrong", "wrong left", "accuracy alone")
TASK, SETTING = ["table", "seed"], ["noise", "reviewer"]


def cell(table: str, noise: str, seed: int, reviewers: list[Reviewer], numbers: list[int]) -> list[dict]:
    """All reviewers on one task."""
    return list(reviews(table, noise, seed, reviewers, numbers))


def named(records: pd.DataFrame) -> pd.DataFrame:
    """The records with a name for every kind of reviewer, and what the looks have added to the accuracy."""
    errs = records["error"].map("errs {:.0%}".format).where(records["error"] > 0, "never errs")
    told = (records["told"] == 0).map({True: ", untold", False: ""}).where(records["error"] > 0, "")
    records = records.assign(reviewer=errs + told + ": " + records["way"])
    first = records[records["looks"] == 0].set_index([*TASK, *SETTING])["accuracy"]
    before = first.loc[pd.MultiIndex.from_frame(records[[*TASK, *SETTING]])].values
    return records.assign(gain=records["accuracy"] - before)


def with_spread(values: pd.Series) -> str:
    """Mean over tasks and its standard error, in percent; tables count alike."""
    by_table = values.groupby(level="table")
    error = (by_table.var(ddof=1) / by_table.size()).sum(skipna=False) ** 0.5 / by_table.ngroups  # nan of one seed
    return f"{100 * by_table.mean().mean():.1f} ± {100 * error:.1f}"


def show_all(records: pd.DataFrame) -> None:
    """Print what the looks bought."""
    records = named(records)
    n_seeds = records["seed"].nunique()
    for tables, title in ((DESIGNED_ON, "designed on"), (UNSEEN, "unseen")):
        part = records[records["table"].isin(tables)].set_index("table")
        if part.empty:
            continue
        about = f"mean over {part.index.nunique()} tables ({title}), up to {n_seeds} seeds"
        for measure in ("accuracy", "gain"):
            by = part.groupby([*SETTING, "looks"])[measure].apply(with_spread).unstack("looks")
            show(f"{measure}, %, after so many looks; {about} ± standard error over seeds", _flat(by))
        for measure in part.columns.intersection(MEASURES):  # "accuracy alone" is cleanlab's
            of_measure = part.dropna(subset=[measure])
            by = of_measure.groupby([*SETTING, "looks"])[measure].mean().mul(100).round(1).unstack("looks")
            show(f"{measure}, % (log loss × 100), after so many looks; {about}", _flat(by))
    likely = records[records["reviewer"] == f"never errs: {LIKELY}"].set_index("table", append=True)
    by = likely.groupby(["noise", "table", "looks"])["gain"].apply(with_spread).unstack("looks")
    show("accuracy in points that a review brings on each table, most likely wrong first", _flat(by))


def _flat(frame: pd.DataFrame) -> pd.DataFrame:
    frame.index = [", ".join(names) for names in frame.index]
    return frame


def main() -> None:
    """Run the grid, or read what it found, and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1, help="processes, of one thread each")
    parser.add_argument("--tables", nargs="*", default=[*DESIGNED_ON, *UNSEEN])
    parser.add_argument("--ways", nargs="*", default=WAYS, choices=WAYS, help="how the next labels are chosen")
    parser.add_argument("--never-errs", action="store_true", help="leave out reviewers who err")
    parser.add_argument("--looks", type=int, nargs="*", default=LOOKS, help="after how many looks to measure")
    parser.add_argument("--from", dest="records", type=Path, help="records of an earlier run, one JSON object a line")
    options = parser.parse_args()
    if options.records:
        show_all(pd.read_json(options.records, lines=True))
    else:
        who = [r for r in REVIEWERS if r.way in options.ways and not (options.never_errs and r.error)]
        tasks = product(range(options.seeds), options.tables, NOISE)
        grid = [(table, noise, seed, who, options.looks) for seed, table, noise in tasks]
        show_all(run_grid("review", cell, grid, options.jobs))


if __name__ == "__main__":
    main()
