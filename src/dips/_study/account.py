"""The account of every row: where its label came from, whether it is trusted, what it might be, and why, in words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from dips._data.labels import UNLABELED
from dips._files.read import Table
from dips._files.target import Target
from dips._report.suspects import suspicion_ranks
from dips._report.words import reason
from dips._tools.arrays import Array, Rows
from dips.backbones import find_backbone


def account_of(
    judge: Any,
    table: Table,
    target: Target,
    ids: list[str],
    model: Any = None,
    unlabeled: Rows | None = None,
    X: Array | None = None,
) -> pd.DataFrame:
    """Lay out what was found, one row a row of the input, in the input's order.

    Parameters
    ----------
    judge : the curated model, fitted on all labeled rows, which says what to think of their labels
    ids : columns of the table that name a row
    model : the chosen model, fitted on the labeled rows or on these followed by the unlabeled ones; it says which rows
        were trained on, and what the unlabeled were taken for
    unlabeled : rows without a label that were put to use
    X : the prepared table, to replay the model on
    """
    n, labeled = table.n_rows, np.flatnonzero(target.is_labeled)
    account = pd.DataFrame({"row": np.arange(1, n + 1)})
    for name in ids:
        account[name if name not in _COLUMNS else f"{name} (input)"] = table.columns[name].to_pandas()
    account["source"] = np.where(target.is_labeled, "given", "unlabeled")
    judged = judge.samples_.set_axis(labeled)
    account["given_label"] = pd.Series(target.names(target.codes), dtype=object)
    account["suggested_label"] = pd.Series(target.names(_spread(judged["suggested_label"], n)), dtype=object)
    account["final_label"] = account["given_label"]
    for name in ("confidence", "aleatoric"):
        account[name] = judged[name].reindex(account.index).astype(float)
    account["round"] = np.where(target.is_labeled, 0, -1)
    account["useful"] = judged["useful"].reindex(account.index, fill_value=False).astype(bool)
    account["trained_on"] = account["useful"]
    account["out_of_fold"] = _out_of_fold(judge, labeled, n)
    if model is not None and unlabeled is not None:
        _add_model(account, model, target, np.concatenate([labeled, unlabeled]), X)
    account["suspicion"] = suspicion_ranks(account)
    account["reason"] = _reasons(account)
    return account[[c for c in account if c not in _COLUMNS or c == "row"] + [c for c in _COLUMNS if c != "row"]]


def _add_model(account: pd.DataFrame, model: Any, target: Target, rows: Rows, X: Any) -> None:
    """Which rows the chosen model was trained on, and what it took those without a label for."""
    seen = rows[: len(model.samples_)]
    found = model.samples_.set_axis(seen)
    account.loc[seen, "trained_on"] = found["useful"].astype(bool)
    account.loc[np.setdiff1d(account.index, seen), "trained_on"] = False
    pseudo = np.sort(found.index[found["source"] == "pseudo"].to_numpy())
    if not pseudo.size:
        return
    codes = found.loc[pseudo, "final_label"].to_numpy(dtype=np.intp)
    account.loc[pseudo, "source"] = "pseudo"
    account.loc[pseudo, "final_label"] = pd.Series(target.names(codes), index=pseudo, dtype=object)
    account.loc[pseudo, "round"] = found.loc[pseudo, "round"].astype(int)
    account.loc[pseudo, "useful"] = found.loc[pseudo, "useful"].astype(bool)
    replayed = find_backbone(model.estimator_).replayed(model.estimator_, X[pseudo], len(target.classes))
    if replayed is not None:
        for name, values in replayed.at(codes).items():
            account.loc[pseudo, name] = values


_COLUMNS = (
    "row",
    "suspicion",
    "source",
    "given_label",
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


def noise_estimate(judge: Any) -> float | None:
    """Return the share of given labels that look wrong, where the curator estimates it."""
    estimate = getattr(judge.curator_, "noise_rate_", None)
    return None if estimate is None else float(estimate)


def _spread(labels: pd.Series, n_rows: int) -> Array:
    """Codes of some rows, by their index, among all rows; -1 elsewhere."""
    codes = np.full(n_rows, UNLABELED)
    known = labels.notna()
    codes[labels.index[known]] = labels[known].astype(int)
    return codes


def _out_of_fold(model: Any, labeled: Rows, n_rows: int) -> Array:
    values = np.full(n_rows, np.nan)
    estimate = getattr(model.curator_, "out_of_fold_", None)
    if estimate is not None:
        values[labeled] = estimate
    return values


def _reasons(account: pd.DataFrame) -> list[str]:
    is_suspect = account["suspicion"].notna().to_numpy()
    reasons = np.full(len(account), "", dtype=object)
    columns = ["given_label", "suggested_label", "confidence", "out_of_fold"]
    reasons[is_suspect] = [reason(*values) for values in account.loc[is_suspect, columns].itertuples(index=False)]
    return reasons.tolist()
