"""A short version of the page, for notebooks: the sentences, the scores and the first suspects."""

from __future__ import annotations

from typing import Any

import pandas as pd

from dips._estimators.reasons import whole_percent
from dips._report.early import as_of_now
from dips._report.page import template
from dips._report.words import chosen_model

_FIRST = 10
_COLUMNS = ("row", "given_label", "suggested_label", "p_wrong", "reason")


def render_compact(summary: dict[str, Any], suspects: pd.DataFrame) -> str:
    """Return HTML that stands in another page: no script, no style of its own beyond a few attributes."""
    summary = as_of_now(summary)
    shown = suspects.head(_FIRST)
    ids = [name for name in summary["points"].get("id_names", []) if name in shown]
    columns = [_COLUMNS[0], *ids, *(c for c in _COLUMNS[1:] if c in shown)]
    return template("compact.html").render(
        s=summary,
        chosen=chosen_model(summary),
        columns=columns,
        rows=[[_cell(c, value) for c, value in zip(columns, row, strict=True)] for row in shown[columns].to_numpy()],
    )


def _cell(column: str, value: Any) -> str:
    if value is None or value != value:
        return "–"
    return f"{whole_percent(value)} %" if column == "p_wrong" else str(value)
