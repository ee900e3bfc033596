"""The suspects of an account, in the order to look at them."""

from __future__ import annotations

import pandas as pd


def suspicion_ranks(account: pd.DataFrame) -> pd.Series:
    """1 for the suspect to look at first: the label with the least confidence; NA for rows that are not suspects.

    Where there are out-of-fold probabilities, the confidence along the training is multiplied by them.
    """
    confidence = account["confidence"] * account["out_of_fold"].fillna(1.0)
    is_suspect = (account["source"] == "given") & ~account["useful"]
    return confidence.where(is_suspect).rank(method="first").astype("Int64")


def suspects_of(account: pd.DataFrame) -> pd.DataFrame:
    """Given labels that are suspect, the one to look at first on top."""
    return account[account["suspicion"].notna()].sort_values("suspicion")
