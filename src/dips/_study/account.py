"""The account of every row: where its label came from, whether it is useful or a suspect, and why, in words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from dips._beliefs.belief import probably_right
from dips._data.labels import UNLABELED
from dips._estimators.reasons import reason
from dips._estimators.samples import samples_frame, spread
from dips._files.read import Table
from dips._files.target import Target
from dips._report.segments import UnevenValues
from dips._report.suspects import suspicion_ranks
from dips._study.duplicates import Duplicates
from dips._tools.arrays import Array, Rows
from dips._tools.names import apart_from
from dips.backbones import find_backbone

_COLUMNS = (
    "row",
    "suspicion",
    "p_wrong",
    "check_gain",
    "source",
    "given_label",
    "verified",
    "suggested_label",
    "final_label",
    "confidence",
    "aleatoric",
    "out_of_fold",
    "useful",
    "trained_on",
    "round",
    "reason",
)
GROUP = "group_code"  # tells in held_out.parquet which rows belong together, if any do
_ADDED_LATER = ("held_out", GROUP)


def account_of(
    judge: Any,
    table: Table,
    target: Target,
    ids: list[str],
    model: Any = None,
    unlabeled: Rows | None = None,
    X: Array | None = None,
    duplicates: Duplicates | None = None,
    uneven: UnevenValues | None = None,
    order: str = "wrong",
) -> pd.DataFrame:
    """Return one row per input row, in the same order.

    Parameters
    ----------
    judge : the curated model, fitted on all labeled rows, which judges their labels
    ids : columns of the table that name a row
    model : the chosen model, fitted on the labeled rows, or on these followed by the unlabeled ones; it decides which
        rows were trained on, and the pseudo-labels
    unlabeled : the unlabeled rows that were used
    X : the prepared table, to replay the model on
    duplicates : rows that are the same; where their labels are contrary, those are suspects
    uneven : values at which labels are wrong more often than elsewhere; there, each is believed less
    order : which suspects come first
    """
    labeled, codes = np.flatnonzero(target.is_labeled), target.codes
    columns = _judged_columns(judge, labeled, codes)
    _suspect_uneven(columns, uneven)
    contrary = pd.DataFrame() if duplicates is None else duplicates.suspects
    _suspect_contrary(columns, contrary)
    trained_on = columns["useful"].copy()
    if model is not None and unlabeled is not None:
        seen = np.concatenate([labeled, unlabeled])[: len(model.samples_)]
        trained_on = spread(model.samples_["useful"].astype(bool), seen, codes.size, False)
        _add_pseudo_labels(columns, model, seen, X, len(target.classes))
    account = samples_frame(target.names, index=None, **columns)
    account["row"] = np.arange(1, codes.size + 1)
    account["trained_on"] = trained_on
    account["out_of_fold"] = _out_of_fold(judge, labeled, codes.size)
    account["suspicion"] = suspicion_ranks(account, order)
    account["reason"] = _reasons(account, contrary, target)
    named = {
        column: table.columns[name].to_pandas(integer_object_nulls=True) for name, column in id_columns(ids).items()
    }
    return account.assign(**named)[["row", *named, *_COLUMNS[1:]]]


def id_columns(ids: list[str]) -> dict[str, str]:
    """What the columns that name a row are called in the account."""
    return apart_from(ids, taken=(*_COLUMNS, *_ADDED_LATER))


def _judged_columns(judge: Any, labeled: Rows, codes: Array) -> dict[str, Array]:
    """Columns of ``samples_``, as codes and numbers, with what the judge thinks of the given labels."""
    judged, n = judge.samples_, codes.size
    return {
        "given": codes,
        "final": codes.copy(),
        "rounds": np.where(codes != UNLABELED, 0, -1),
        "confidence": spread(judged["confidence"].astype(float), labeled, n, np.nan),
        "aleatoric": spread(judged["aleatoric"].astype(float), labeled, n, np.nan),
        "p_wrong": spread(judged["p_wrong"].astype(float), labeled, n, np.nan),
        "check_gain": spread(judged["check_gain"].astype(float), labeled, n, np.nan),
        "verified": spread(judged["verified"].astype(bool), labeled, n, False),
        "useful": spread(judged["useful"].astype(bool), labeled, n, False),
        "suggested": spread(_codes(judged["suggested_label"]), labeled, n, UNLABELED),
    }


def _suspect_uneven(columns: dict[str, Array], uneven: UnevenValues | None) -> None:
    """Believe labels less where more of them are wrong; in each class suspect as many as are then expected wrong."""
    p_wrong, given, verified = columns["p_wrong"], columns["given"], columns["verified"]
    if uneven is None or not uneven.values or uneven.is_sample or np.isnan(p_wrong[uneven.values[0].rows]).any():
        return
    for value in uneven.values:
        p_wrong[value.rows] = np.maximum(p_wrong[value.rows], value.part.p_wrong)
    labeled = np.flatnonzero(given != UNLABELED)
    suspects = labeled[~probably_right(p_wrong[labeled], given[labeled])]
    suspects = suspects[~verified[suspects]]
    columns["useful"][suspects] = False
    if given.max() == 1:  # of two classes, what is probably not the one is the other
        wrong = suspects[(p_wrong[suspects] > 0.5) & (columns["suggested"][suspects] == UNLABELED)]
        columns["suggested"][wrong] = 1 - given[wrong]


def _suspect_contrary(columns: dict[str, Array], contrary: pd.DataFrame) -> None:
    """Suspect labels that rows with the same contents contradict, at least as much as these say."""
    if contrary.empty:
        return
    rows = contrary["row"].to_numpy()
    columns["useful"][rows] = False
    columns["suggested"][rows] = contrary["code"]
    believed = columns["p_wrong"][rows]
    columns["p_wrong"][rows] = np.where(np.isnan(believed), believed, np.maximum(believed, contrary["share"]))


def _add_pseudo_labels(columns: dict[str, Array], model: Any, seen: Rows, X: Any, n_classes: int) -> None:
    """Fill in the rows that the model labeled itself; their dynamics are those of its last training."""
    is_pseudo = (model.samples_["source"] == "pseudo").to_numpy()
    samples, rows = model.samples_[is_pseudo], seen[is_pseudo]
    if not rows.size:
        return
    codes = _codes(samples["final_label"])
    columns["final"][rows] = codes
    columns["rounds"][rows] = samples["round"]
    columns["useful"][rows] = samples["useful"].astype(bool)
    replayed = find_backbone(model.estimator_).replayed(model.estimator_, X[rows], n_classes)
    if replayed is not None:
        for name, values in replayed.at(codes).items():
            columns[name][rows] = values


def _codes(labels: pd.Series) -> Array:
    return np.array([UNLABELED if pd.isna(label) else label for label in labels], dtype=np.intp)


def _out_of_fold(judge: Any, labeled: Rows, n_rows: int) -> Array:
    estimate = getattr(judge.curator_, "out_of_fold_", None)
    return np.full(n_rows, np.nan) if estimate is None else spread(estimate, labeled, n_rows, np.nan)


def _reasons(account: pd.DataFrame, contrary: pd.DataFrame, target: Target) -> list[str]:
    is_suspect = account["suspicion"].notna().to_numpy()
    reasons = np.full(len(account), "", dtype=object)
    columns = ["given_label", "suggested_label", "confidence", "out_of_fold", "p_wrong"]
    reasons[is_suspect] = [reason(*values) for values in account.loc[is_suspect, columns].itertuples(index=False)]
    for row, code, other in zip(*(contrary.get(c, ()) for c in ("row", "code", "other")), strict=True):
        label = target.names(np.array([code]))[0]
        reasons[row] = f"row {other + 1} is identical and has the label '{label}'; {reasons[row]}"
    return reasons.tolist()
