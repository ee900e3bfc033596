"""Columns of a frame that are text, though most of their values are numbers, and what would read them as such."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dips._tools.warnings import warn

_MANY = 30  # different ones; fewer may well be categories
_SOME = 2_000  # values show how a column is written
_DECIMAL_COMMAS = re.compile(r"[+-]?([1-9]\d{0,2}(\.\d{3})+|\d+)(,\d+)?")
_GROUPS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?")
_MARK = re.compile(r"\d[.,]\d")


def reads_as(value: Any) -> float | None:
    """Return the finite number that a value is, or that its text says."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


_WAYS: dict[str, Callable[[str], bool]] = {
    "points": lambda text: reads_as(text) is not None,
    "groups": lambda text: bool(_GROUPS.fullmatch(text.strip())) or reads_as(text) is not None,
    "commas": lambda text: bool(_DECIMAL_COMMAS.fullmatch(text.strip())),
}


def warn_of_numbers(columns: Mapping[Any, Sequence[Any]]) -> None:
    """Say of which columns most texts are numbers, of which new ones would be missing; codes are not meant.

    Beside a column that has decimal commas for sure, 5.076 is five thousand.

    Parameters
    ----------
    columns : the different values of each column that is not numeric, by name
    """
    found = [numbers for name, values in columns.items() if (numbers := _Numbers.among(name, values)) is not None]
    witness = next((numbers.name for numbers in found if numbers.ways == ["commas"]), None)
    for numbers in found:
        warn(numbers.sentence(witness))


@dataclass(frozen=True)
class _Numbers:
    """The texts of a column that are numbers.

    Attributes
    ----------
    name : of the column
    texts : that are numbers
    n_values : of the column
    ways : in which the texts may be written, the likeliest first
    other : a value that is no number, where there is one
    """

    name: Any
    texts: list[str]
    n_values: int
    ways: list[str]
    other: Any = None

    @classmethod
    def among(cls, name: Any, values: Sequence[Any]) -> _Numbers | None:
        """Return None where numbers are few, or codes."""
        some = [v for v in values[:_SOME] if isinstance(v, str)]
        counts = {way: sum(map(reads, some)) for way, reads in _WAYS.items()}
        ways = [way for way in _WAYS if counts[way] == max(counts.values())]
        texts = [v for v in values if isinstance(v, str) and _WAYS[ways[0]](v)]
        if len(texts) < max(_MANY, len(values) / 2) or any(re.match(r"0\d", v) for v in texts):
            return None
        are_numbers = set(texts)
        return cls(name, texts, len(values), ways, next((v for v in values if v not in are_numbers), None))

    def sentence(self, witness: Any) -> str:
        """Say what to do; the witness is a column with decimal commas."""
        marked = next((v for v in self.texts if _MARK.search(v)), None)
        is_told = witness is not None and marked is not None and "commas" in self.ways
        way = "commas" if is_told else self.ways[0]
        shown = repr(self.texts[0] if way == "points" or marked is None else marked)
        if is_told and len(self.ways) > 1:
            assert marked is not None
            value = float(marked.replace(".", "").replace(",", "."))
            shown += f" ({value:.10g} if it is written like column {witness!r})"
        others = "" if self.other is None else f", others are not, such as {self.other!r}"
        return (
            f"Column {self.name!r} is text, though {len(self.texts)} of its {self.n_values} values are numbers, such "
            f"as {shown}{others}. They are read as categories, so a number that training did not have is missing. If "
            f"they are quantities, {self._remedy(way)}."
        )

    def _remedy(self, way: str) -> str:
        if way == "points":
            return "make the column numeric first, such as with pandas.to_numeric(column, errors='coerce')"
        marks = "decimal=',', thousands='.'" if way == "commas" else "thousands=','"
        missing = "" if self.other is None else f", na_values=[{self.other!r}]"
        return f"read them as such, with pandas.read_csv(file, {marks}{missing})"
