"""The account of every row: where its label came from, whether it is trusted, what it might be, and why, in words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from dips._typing import Array, Rows
from dips.labels import UNLABELED
from dips.report.words import reason
from dips.tabular.read import Table
from dips.tabular.target import Target


def account_of(
    model: Any, table: Table, target: Target, ids: list[str], labeled: Rows, unlabeled: Rows
) -> pd.DataFrame:
    """Lay out what a curating model found, one row a row of the input, in the input's order.

    Parameters
    ----------
    model : fitted on the labeled rows, or on these followed by the unlabeled ones
    ids : columns of the table that name a row
    """
    seen = np.concatenate([labeled, unlabeled])[: len(model.samples_)]
    account = pd.DataFrame({"row": np.arange(1, table.n_rows + 1)})
    for name in ids:
        account[name if name not in _COLUMNS else f"{name} (input)"] = table.columns[name].to_pandas()
    account["source"] = "unlabeled"
    found = model.samples_.set_axis(seen)
    account.loc[seen, "source"] = found["source"].astype(str)
    for ours, theirs in (("given_label", target.codes), ("final_label", None), ("suggested_label", None)):
        codes = _spread(found[ours], table.n_rows) if theirs is None else theirs
        account[ours] = pd.Series(target.names(codes), dtype=object)
    for name in ("confidence", "aleatoric"):
        account[name] = found[name].reindex(account.index).astype(float)
    account["round"] = found["round"].reindex(account.index, fill_value=-1).astype(int)
    account["useful"] = found["useful"].reindex(account.index, fill_value=False).astype(bool)
    account["out_of_fold"] = _out_of_fold(model, labeled, table.n_rows)
    account["suspicion"] = _ranks(account)
    account["reason"] = _reasons(account)
    return account[[c for c in account if c not in _COLUMNS or c == "row"] + [c for c in _COLUMNS if c != "row"]]


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
    "round",
    "reason",
)


def suspects_of(account: pd.DataFrame) -> pd.DataFrame:
    """Given labels that are not trusted, those to look at first on top."""
    return account[account["suspicion"].notna()].sort_values("suspicion")


def noise_estimate(model: Any, account: pd.DataFrame) -> float:
    """Return the share of given labels that look wrong: the curator's own estimate, else the share it distrusts."""
    given = account["source"] == "given"
    estimate = getattr(model.curator_, "noise_rate_", None)
    return float((given & ~account["useful"]).sum() / given.sum()) if estimate is None else float(estimate)


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


def _ranks(account: pd.DataFrame) -> pd.Series:
    """1 for the label to look at first: the least believed, along the training and by models that had not seen it."""
    belief = account["confidence"] * account["out_of_fold"].fillna(1.0)
    is_suspect = (account["source"] == "given") & ~account["useful"]
    return belief.where(is_suspect).rank(method="first").astype("Int64")


def _reasons(account: pd.DataFrame) -> list[str]:
    is_suspect = account["suspicion"].notna().to_numpy()
    reasons = np.full(len(account), "", dtype=object)
    columns = ["given_label", "suggested_label", "confidence", "out_of_fold"]
    reasons[is_suspect] = [reason(*values) for values in account.loc[is_suspect, columns].itertuples(index=False)]
    return reasons.tolist()
