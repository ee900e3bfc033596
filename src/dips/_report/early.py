"""Summaries of early runs, as a page expects them now."""

from __future__ import annotations

from typing import Any

from dips._estimators.reasons import ROW

_ABSENT: dict[str, Any] = {
    "unit": ROW, "warnings": [], "scores": [], "distributions": [], "drift": None, "outliers": None, "baseline": {},
}  # fmt: skip
_RENAMED = {"n_dropped": "n_new_suspects", "n_returned": "n_useful_again"}  # counts of a round


def as_of_now(summary: dict[str, Any]) -> dict[str, Any]:
    """Return the summary with what early ones lack, and with today's names."""
    current = _ABSENT | summary
    for part in ("rounds", "training"):
        if part in current:
            current[part] = current[part] | {"history": [_renamed(record) for record in current[part]["history"]]}
    return current


def _renamed(record: dict[str, Any]) -> dict[str, Any]:
    return {_RENAMED.get(name, name): value for name, value in record.items()}
