"""The suspects of an account, in the order to look at them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dips._beliefs.belief import probably_right
from dips._tools.wording import option
from dips.exceptions import InputError

ORDERS = {"wrong": "most likely wrong", "useful": "most useful to check"}  # which suspects come first


def suspicion_ranks(account: pd.DataFrame, order: str = "wrong") -> pd.Series:
    """1 for the label to look at first; NA for rows that are not suspects.

    Where no label is one, as of images with little noise, those are ranked that are most probably wrong, as many of
    each class as are expected to be: a ranking, not a verdict.

    In the order "wrong" that is the label that is most probably wrong; without beliefs, the label with the
    least confidence along the training, multiplied by the out-of-fold probability where there is one. In the order
    "useful" the classes come in turn, until some labels of each are verified, then the most probably wrong.
    """
    listed = is_suspect(account)
    if not listed.any() and {"p_wrong", "verified"} <= {*account}:  # early accounts have neither
        listed = _most_probably_wrong(account)
    if order == "useful":
        right = -account["check_gain"]
    elif "p_wrong" in account and account.loc[listed, "p_wrong"].notna().any():
        right = 1 - account["p_wrong"]
    else:
        right = account["confidence"] * account["out_of_fold"].fillna(1.0)
    return right.where(listed).rank(method="first").astype("Int64")


def is_suspect(account: pd.DataFrame) -> pd.Series:
    """Mask of the given labels that are not useful."""
    return (account["source"] == "given") & ~account["useful"].astype(bool)


def _most_probably_wrong(account: pd.DataFrame) -> pd.Series:
    """Mask of the given labels that would be suspects by what is believed; none where nothing is."""
    listed = np.zeros(len(account), dtype=bool)
    open_rows = np.flatnonzero((account["source"] == "given") & ~account["verified"])
    p_wrong = account["p_wrong"].to_numpy(dtype=float)[open_rows]
    if not np.isnan(p_wrong).any():
        listed[open_rows] = ~probably_right(p_wrong, pd.factorize(account["given_label"])[0][open_rows])
    return pd.Series(listed, account.index)


def suspects_of(account: pd.DataFrame, order: str | None = None) -> pd.DataFrame:
    """Given labels to look at, the first on top; in the account's own order or in another one."""
    if order is not None:
        check_order(order, account)
        account = account.assign(suspicion=suspicion_ranks(account, order))
    return account[account["suspicion"].notna()].sort_values("suspicion")


def check_order(order: str, account: pd.DataFrame) -> None:
    """Refuse an order that is not known, or for which nothing is believed of labels."""
    if order not in ORDERS:
        raise InputError(f"{option('order', order)} is not known; choose one of {', '.join(ORDERS)}.")
    if order == "useful" and ("check_gain" not in account or account["check_gain"].isna().all()):
        raise InputError(f"{option('order', 'useful')} needs a curator that estimates p_wrong, such as 'auto'.")
