"""The suspects of an account, in the order to look at them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dips._beliefs.belief import probably_right
from dips._estimators.suspicion import check_order, looks_right


def suspicion_ranks(account: pd.DataFrame, order: str = "wrong") -> pd.Series:
    """1 for the label to look at first; NA for rows that are not suspects.

    Where no label is one, as of images with little noise, those are ranked that are most probably wrong, as many of
    each class as are expected to be: a ranking, not a verdict.
    """
    listed = is_suspect(account)
    if not listed.any() and {"p_wrong", "verified"} <= {*account}:  # early accounts have neither
        listed = _most_probably_wrong(account)
    return looks_right(account, order, listed).where(listed).rank(method="first").astype("Int64")


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
