"""The account and the page's data of a run, laid out for review: the same for tables and for images."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from dips._estimators.reasons import reason
from dips._report.points import codes_of, placed_on_map, short
from dips._review.material import GIVEN, KEY, ROW, SUGGESTED, Material, Showing

_ON_THE_MAP = 1_200  # dots around the row that is looked at


def lay_out(
    summary: dict[str, Any],
    samples: pd.DataFrame,
    checksum: str,
    showing: Callable[[pd.DataFrame], Showing],
    keys: dict[str, list[Any]] | None = None,
    curves: pd.DataFrame | None = None,
    **more: Any,
) -> Material:
    """Make the material of a review.

    Parameters
    ----------
    summary : the page's data
    samples : the account of every row
    checksum : of the run
    showing : makes what shows rows, given the account of the labeled ones
    keys : columns that name a row, one cell for each row of `samples`
    curves : learning curves besides those on the page
    more : other fields of the material
    """
    is_given = (samples["source"] == "given").to_numpy()
    classes, points = [str(c) for c in summary["classes"]], summary["points"]
    numbers = samples["row"].tolist()
    by_row = {name: dict(zip(numbers, cells, strict=True)) for name, cells in (keys or {}).items()}
    account = _account(samples[is_given], classes, by_row, summary["unit"])
    return Material(
        title=summary["target"],
        target=summary["target"],
        unit=summary["unit"],
        classes=classes,
        account=account,
        checksum=checksum,
        showing=showing(account),
        curve=_curves(points, account, curves),
        map=_map(points),
        n_checkpoints=points["n_checkpoints"],
        n_warm_up=points.get("n_warm_up", 0),
        keys=by_row,
        **more,
    )


def _account(given: pd.DataFrame, classes: list[str], keys: dict[str, dict[int, Any]], unit: str) -> pd.DataFrame:
    """The labeled rows, with what is known of each."""
    at, n = placed_on_map(given), len(given)
    p_wrong = given["p_wrong"].to_numpy(dtype=float) if "p_wrong" in given else np.full(n, np.nan)
    account = pd.DataFrame(
        {
            ROW: given["row"].to_numpy(dtype=int),
            KEY: [" · ".join(short(cells[row]) for cells in keys.values()) for row in given["row"]],
            GIVEN: codes_of(_texts(given["given_label"]), classes),
            SUGGESTED: codes_of(_texts(given["suggested_label"]), classes),
            "p_wrong": p_wrong,
            "suspicion": given["suspicion"].astype("Float64").to_numpy(dtype=float, na_value=np.nan),
            "height": at["height"].to_numpy(dtype=float),
            "across": at["across"].to_numpy(dtype=float),
            "useful": given["useful"].to_numpy(dtype=bool),
            "is_checkable": ~given["verified"].to_numpy(dtype=bool) if "verified" in given else np.ones(n, dtype=bool),
        }
    )
    account["reason"] = given["reason"].to_list() if "reason" in given else _reasons(given, p_wrong, unit)
    return account


def _reasons(given: pd.DataFrame, p_wrong: Any, unit: str) -> list[str]:
    labels = _texts(given["given_label"]), _texts(given["suggested_label"])
    columns = (*labels, given["confidence"], given["out_of_fold"], p_wrong)
    return [reason(g, s, confidence, unseen, p, unit) for g, s, confidence, unseen, p in zip(*columns, strict=True)]


def _texts(labels: pd.Series) -> pd.Series:
    """Labels as texts, None where there is none."""
    return pd.Series([None if pd.isna(label) else str(label) for label in labels], dtype=object)


def _curves(
    points: dict[str, Any], account: pd.DataFrame, more: pd.DataFrame | None
) -> Callable[[int], list[float] | None]:
    """Learning curves of the rows that the page shows, too, and of more."""
    numbers, n = account[ROW].to_numpy(), points["n_curve"]
    if not n:
        return lambda position: None
    raw = np.frombuffer(base64.b64decode(points["curves"]), dtype=np.uint8).reshape(-1, n)
    place = {row: k for k, row in enumerate(points["row"][: len(raw)]) if points["round"][k] <= 0}
    if more is not None and more.shape[1] == n + 1:
        place |= {int(row): len(raw) + k for k, row in enumerate(more[ROW])}
        raw = np.concatenate([raw, more.drop(columns=ROW).to_numpy(dtype=np.uint8)])

    def curve(position: int) -> list[float] | None:
        k = place.get(int(numbers[position]))
        return None if k is None else (raw[k] / 255).round(3).tolist()

    return curve


def _map(points: dict[str, Any]) -> dict[str, Any]:
    """Some of the given labels around the one that is looked at; suspects lie with the others."""
    given = [k for k, t in enumerate(points["round"]) if t <= 0]
    step = max(1, -(-len(given) // _ON_THE_MAP))
    drawn = given[::step]
    return {
        "watched": points.get("watched", True),
        "height": [points["confidence"][k] for k in drawn],
        "across": [points["aleatoric"][k] for k in drawn],
        "useful": [points["useful"][k] for k in drawn],
    }
