"""Suspects on the terminal, for tables and images."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

from dips._cli.console import make_table

if TYPE_CHECKING:
    import pandas as pd


def suspects_table(suspects: pd.DataFrame, ids: list[str], unit: str = "row") -> Table:
    """One line per suspect: its number, the columns that name it, its labels, and why it is one."""
    is_believed = bool(suspects["p_wrong"].notna().all())
    columns = {
        unit: "right",
        **dict.fromkeys(ids, "left"),
        "given": "left",
        "suggested": "left",
        ("wrong" if is_believed else "confidence"): "right",
        "why": "left",
    }
    rows = [
        [
            r["row"],
            *(r[i] for i in ids),
            r["given_label"],
            _or_dash(r["suggested_label"]),
            f"{100 * r['p_wrong' if is_believed else 'confidence']:.0f} %",
            r["reason"],
        ]
        for _, r in suspects.iterrows()
    ]
    return make_table(columns, rows)


def _or_dash(value: object) -> str:
    return "–" if value is None or value != value else str(value)
