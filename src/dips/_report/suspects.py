"""The suspects of an account, in the order to look at them."""

from __future__ import annotations

import pandas as pd


def suspicion_ranks(account: pd.DataFrame) -> pd.Series:
    """1 for the suspect to look at first: the label that is most probably wrong; NA for rows that are not suspects.

    Where nothing is believed it is the label with the least confidence along the training, multiplied by the
    out-of-fold probability where there is one.
    """
    is_suspect = (account["source"] == "given") & ~account["useful"]
    if "p_wrong" in account and account.loc[is_suspect, "p_wrong"].notna().any():
        right = 1 - account["p_wrong"]
    else:
        right = account["confidence"] * account["out_of_fold"].fillna(1.0)
    return right.where(is_suspect).rank(method="first").astype("Int64")


def suspects_of(account: pd.DataFrame) -> pd.DataFrame:
    """Given labels that are suspect, the one to look at first on top."""
    return account[account["suspicion"].notna()].sort_values("suspicion")
