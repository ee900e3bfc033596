"""The suspects of an account, in the order to look at them."""

from __future__ import annotations

import pandas as pd

from dips.exceptions import InputError

ORDERS = {"wrong": "most likely wrong", "useful": "most useful to check"}  # which suspects come first


def suspicion_ranks(account: pd.DataFrame, order: str = "wrong") -> pd.Series:
    """1 for the suspect to look at first; NA for rows that are not suspects.

    In the order "wrong" that is the label that is most probably wrong; where nothing is believed, the label with the
    least confidence along the training, multiplied by the out-of-fold probability where there is one. In the order
    "useful" the classes come in turn, until some labels of each are verified, then the most probably wrong.
    """
    is_suspect = (account["source"] == "given") & ~account["useful"]
    if order == "useful":
        right = -account["check_gain"]
    elif "p_wrong" in account and account.loc[is_suspect, "p_wrong"].notna().any():
        right = 1 - account["p_wrong"]
    else:
        right = account["confidence"] * account["out_of_fold"].fillna(1.0)
    return right.where(is_suspect).rank(method="first").astype("Int64")


def suspects_of(account: pd.DataFrame, order: str | None = None) -> pd.DataFrame:
    """Given labels that are suspect, the one to look at first on top; in the account's own order or in another one."""
    if order is not None:
        check_order(order, account)
        account = account.assign(suspicion=suspicion_ranks(account, order))
    return account[account["suspicion"].notna()].sort_values("suspicion")


def check_order(order: str, account: pd.DataFrame) -> None:
    """Refuse an order that is not known, or for which nothing is believed of labels."""
    if order not in ORDERS:
        raise InputError(f"order={order!r} is not known; choose one of {', '.join(ORDERS)}.")
    if order == "useful" and ("check_gain" not in account or account["check_gain"].isna().all()):
        raise InputError("order='useful' needs a curator that estimates p_wrong, such as 'auto'.")
