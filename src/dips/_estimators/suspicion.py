"""Which suspects come first: the same order in Python, on the command line and on the page."""

from __future__ import annotations

import pandas as pd

from dips._tools.wording import option
from dips.exceptions import InputError

ORDERS = {"wrong": "most likely wrong", "useful": "most useful to check"}  # which suspects come first


def check_order(order: str, samples: pd.DataFrame) -> None:
    """Refuse an order that is not known, or for which nothing is believed of labels."""
    if order not in ORDERS:
        raise InputError(f"{option('order', order)} is not known; choose one of {', '.join(ORDERS)}.")
    if order == "useful" and ("check_gain" not in samples or samples["check_gain"].isna().all()):
        raise InputError(f"{option('order', 'useful')} needs a curator that estimates p_wrong, such as 'auto'.")


def looks_right(samples: pd.DataFrame, order: str, listed: pd.Series) -> pd.Series:
    """Return a number for each row: the label to look at first has the lowest of those `listed`.

    In the order "wrong" that is the label that is most probably wrong; without beliefs, the label with the
    least confidence along the training, multiplied by the out-of-fold probability where there is one. In the order
    "useful" the classes come in turn, until some labels of each are verified, then the most probably wrong.

    Examples
    --------
    >>> samples = pd.DataFrame({"p_wrong": [0.1, 0.9], "check_gain": [2.0, 1.0]})
    >>> everyone = pd.Series([True, True])
    >>> looks_right(samples, "wrong", everyone).idxmin(), looks_right(samples, "useful", everyone).idxmin()
    (1, 0)
    """
    if order == "useful":
        return -samples["check_gain"].astype(float)
    if "p_wrong" in samples and samples.loc[listed, "p_wrong"].notna().any():  # early accounts have none
        return 1 - samples["p_wrong"].astype(float)
    return samples["confidence"].astype(float) * samples["out_of_fold"].fillna(1.0)
