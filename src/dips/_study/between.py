"""Two runs side by side: their scores on the same held-out rows, and which suspects are gone or new."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from dips._estimators.reasons import IMAGE
from dips._report.suspects import is_suspect, suspects_of
from dips._report.words import chosen_model
from dips._study.account import GROUP
from dips._study.metrics import COST, ENOUGH, intervals, metrics_for, read_costs
from dips._study.run import Run
from dips._tools.arrays import Array
from dips._tools.wording import counted
from dips.exceptions import DataError

BEFORE, AFTER = "before", "after"
_LISTED = 50  # suspects on the page, gone and new


def compare_runs(first: Run, second: Run, seed: int = 0) -> dict[str, Any]:
    """Return what differs between two runs on one table, as plain data.

    Both are scored by the labels of the second run, on the rows that both held out: what was corrected in between is
    nearer to the truth. A model is the one that each run chose, as it was before it was trained on the held-out rows.
    Where a run held out too few rows to score on, the suspects are compared all the same.
    """
    _refuse_other_tables(first, second)
    keys, too_few = _keys(first, second), _too_few(first, second)
    rows = _held_out_by_both(first, second, keys) if too_few is None else None
    scores = dict.fromkeys(("all", "verified", "others")) if rows is None else _scores_by_part(rows, second, seed)
    return {
        "target": second.config["settings"]["target"],
        "metric": second.metrics["metric"],
        "runs": [_about(run) for run in (first, second)],
        "n_held_out": 0 if rows is None else len(rows),
        "scores": scores,
        "no_scores": too_few,
        "caution": " ".join(filter(None, (_caution(first, second, keys), _other_costs(first, second)))) or None,
        "enough": ENOUGH,
        "suspects": _suspects(first, second, keys),
    }


def _refuse_other_tables(first: Run, second: Run) -> None:
    if first.folder.samefile(second.folder):
        raise DataError(
            f"{first.folder} is compared with itself; name the run before the corrections and the one after."
        )
    targets = [run.config["settings"]["target"] for run in (first, second)]
    classes = [run.summary["classes"] for run in (first, second)]
    if targets[0] != targets[1] or classes[0] != classes[1]:
        raise DataError(
            f"{first.folder} is about {targets[0]!r} with the classes {', '.join(classes[0][:6])}, {second.folder} "
            f"about {targets[1]!r} with {', '.join(classes[1][:6])}; compare two runs on one table."
        )
    for run in (first, second):
        if run.held_out is None and run.metrics["rows"]["test"] > 0:
            raise DataError(
                f"{run.folder} was made by a version of dips that did not keep its answers for held-out rows; make it "
                f"again with dips fit --config {run.folder / 'config.json'}."
            )


def _keys(first: Run, second: Run) -> list[str]:
    """Columns that name a row in both runs: ids where no two rows share one, or else the number of the row."""
    ids = [name for name in second.config.get("ids", []) if name in first.samples and name in second.samples]
    is_key = ids and not any(run.samples.duplicated(ids).any() for run in (first, second))
    return ids if is_key else ["row"]


def _caution(first: Run, second: Run, keys: list[str]) -> str | None:
    """Say that rows may be taken for one another; None where they have names, or the tables are the same."""
    tables = [[source.get("sha256") for source in run.config["sources"]] for run in (first, second)]
    if keys != ["row"] or tables[0] == tables[1]:
        return None
    return (
        "The tables of the two runs differ, and no column names their rows, so rows are matched by their number. If "
        "rows were moved or removed, different rows are compared: make both runs with --id."
    )


def _other_costs(first: Run, second: Run) -> str | None:
    """Say that the first run does not predict as it is scored here; None where both decide by the same costs."""
    before, after = (_deciding_costs(run, second.summary["classes"]) for run in (first, second))
    if np.array_equal(before, after):
        return None
    return (
        f"The two runs do not decide by the same costs. Here both answer as {second.folder} does, so the scores of "
        f"{first.folder} are not those of the labels that it predicts."
    )


def _deciding_costs(run: Run, classes: list[Any]) -> Array:
    """Return the cost of missing each class where that decides, and else what leads to the most probable class."""
    costs = read_costs(run.config["settings"].get("costs", {}), classes) if run.metrics["metric"] == COST else None
    return np.ones(len(classes)) if costs is None else costs


def _too_few(first: Run, second: Run) -> str | None:
    """Say why there is nothing to score on; None where both runs held out enough."""
    held_out = {str(run.folder): 0 if run.held_out is None else len(run.held_out) for run in (first, second)}
    folder = min(held_out, key=held_out.__getitem__)
    if held_out[folder] >= ENOUGH:
        return None
    unit = "images" if second.config.get("unit") == IMAGE else "rows"
    return (
        f"There are no scores: {folder} held out {held_out[folder] or 'no'} {unit}, and {ENOUGH} are needed. "
        "Label more, or choose a larger --holdout."
    )


def _held_out_by_both(first: Run, second: Run, keys: list[str]) -> pd.DataFrame:
    assert first.held_out is not None
    assert second.held_out is not None
    both = second.held_out.merge(first.held_out, on=keys, suffixes=("", " before"), validate="one_to_one")
    if len(both) < ENOUGH:
        raise DataError(
            f"Only {counted(len(both), 'row was', 'rows were')} held out by both runs, and at least {ENOUGH} are "
            "needed to compare them; make both with the same --seed and --holdout, and correct labels with "
            "--corrections, not in the table."
        )
    return both


def _scores_by_part(rows: pd.DataFrame, second: Run, seed: int) -> dict[str, dict[str, Any] | None]:
    is_verified = rows["verified"].to_numpy(dtype=bool)
    parts = {"all": rows, "verified": rows[is_verified], "others": rows[~is_verified & is_verified.any()]}
    scores = {name: _scores(part, second, seed) for name, part in parts.items()}
    if scores["all"] is None:
        raise DataError("The rows that both runs held out are all of one class; a comparison needs two.")
    return scores


def _scores(rows: pd.DataFrame, second: Run, seed: int) -> dict[str, Any] | None:
    """Every metric of both runs with intervals, and the gain on the same resamples; None where rows are too few."""
    classes = second.summary["classes"]
    codes = rows["given_label"].astype(str).map({c: k for k, c in enumerate(classes)}).to_numpy(dtype=np.intp)
    if codes.size < ENOUGH or np.unique(codes).size < 2:
        return None
    p = {BEFORE: _answers(rows, classes, " before"), AFTER: _answers(rows, classes, "")}
    costs = read_costs(second.config["settings"].get("costs", {}), classes)
    metrics = metrics_for(costs, decide=second.metrics["metric"] == COST)
    groups = rows[GROUP].to_numpy() if GROUP in rows else None
    return {"n": int(codes.size)} | intervals(codes, p, second.summary["positive"], BEFORE, seed, metrics, groups)


def _answers(rows: pd.DataFrame, classes: list[str], suffix: str) -> Array:
    return rows[[f"p({c}){suffix}" for c in classes]].to_numpy(dtype=float)


def _about(run: Run) -> dict[str, Any]:
    labels, samples, kept = run.metrics["labels"], run.samples, chosen_model(run.summary)
    return {
        "folder": str(run.folder),
        "made_at": run.config["made_at"],
        "chosen": run.metrics["chosen"],
        "kept": run.metrics["chosen"] if kept is None else kept["title"],
        "share_wrong": labels["estimated_share_wrong"],
        "interval": labels["share_wrong_interval"],
        "checked": labels.get("checked"),
        "n_labeled": run.metrics["rows"]["labeled"],
        "n_suspects": labels["n_suspects"],
        "n_verified": int(samples["verified"].sum()) if "verified" in samples else 0,
    }


def _suspects(first: Run, second: Run, keys: list[str]) -> dict[str, Any]:
    """Suspects of one run only; those that are gone with what became of them."""
    of_first, of_second = (suspects_of(run.samples[is_suspect(run.samples)]) for run in (first, second))
    after = second.samples.set_index(keys)
    gone = of_first[~_named(of_first, keys).isin(_named(of_second, keys))]
    new = of_second[~_named(of_second, keys).isin(_named(of_first, keys))]
    fates = [_fate(label, after, key) for label, key in zip(gone["given_label"], _named(gone, keys), strict=True)]
    counts = pd.Series(fates, dtype=object).value_counts()
    return {
        "keys": keys,
        "n_stayed": len(of_second) - len(new),
        "n_gone": len(gone),
        "n_new": len(new),
        "fates": {str(fate): int(n) for fate, n in counts.items()},
        "gone": _records(gone.assign(fate=fates), keys),
        "new": _records(new.assign(fate=""), keys),
    }


def _named(account: pd.DataFrame, keys: list[str]) -> pd.Index:
    return pd.MultiIndex.from_frame(account[keys]) if len(keys) > 1 else pd.Index(account[keys[0]])


def _fate(label: Any, after: pd.DataFrame, key: Any) -> str:
    if key not in after.index:
        return "no longer in the table"
    row = after.loc[key]
    if pd.isna(row["given_label"]):
        return "unlabeled"
    if row["given_label"] != label:
        return f"corrected to {row['given_label']}"
    return "verified as right" if row.get("verified", False) else "no longer suspect"


def _records(suspects: pd.DataFrame, keys: list[str]) -> list[dict[str, Any]]:
    shown = suspects[[*keys, "given_label", "suggested_label", "p_wrong", "fate"]].head(_LISTED)
    plain = shown.astype(object).where(shown.notna(), None)
    return [
        {"name": " · ".join(str(r[k]) for k in keys), **{c: r[c] for c in shown.columns if c not in keys}}
        for r in plain.to_dict("records")
    ]
