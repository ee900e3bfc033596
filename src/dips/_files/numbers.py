"""Numbers as people write them: either decimal mark, groups of thousands, currencies and units; times as hours."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dips._files.censored import are_ends_of_a_scale, are_limits, has_limits, without_limits
from dips._files.values import MOSTLY, SOME, example, is_number, is_time, texts, value_counts
from dips._tools.arrays import Array

_UNIT = r"(?:\p{Sc}|%|‰|USD|EUR|GBP|CHF|JPY|SEK|NOK|DKK|PLN|CZK|CAD|AUD|INR|CNY)"
_OTHER_UNIT = r"^[+-]?[\d.,' ]*\d ?(?P<unit>[°\p{L}][\p{L}\d°²³/%·^. ]{0,14})$"  # kg, mmHg, kg/m2, yrs.
_BARE = r"^[^\p{L}\p{Sc}%‰]*\d$"
_FEW = 0.02  # of the cells; a unit that fewer have is not looked at
_OF_DAY = r"(?: ?(?:(?P<half>[AaPp])\.?[Mm]\.?|Uhr|h))?"
_TIME = rf"^(?P<hours>\d{{1,3}}):(?P<minutes>[0-5]\d)(?::(?P<seconds>[0-5]\d(?:\.\d+)?))?{_OF_DAY}$"
_A_MINUTE, _AN_HOUR = 60, 3_600  # in seconds
_EXPONENT = r"([eE][+-]?\d+)?$"
_THREE_DIGITS = {
    ",": r"^[+-]?[1-9]\d{0,2}(,\d{3})+$",
    ".": r"^[+-]?[1-9]\d{0,2}\.\d{3}$",
}


@dataclass(frozen=True)
class NumberStyle:
    """How numbers are written.

    Attributes
    ----------
    decimal : the decimal mark; a colon in times, which are read as hours
    grouped : whether thousands are set apart
    unit : what stands behind them besides currencies and percent signs
    """

    decimal: str = "."
    grouped: bool = False
    unit: str = ""

    def may_be(self, usual: NumberStyle) -> bool:
        """Whether numbers written so may mean what they mean in the usual style: pounds are no kilograms."""
        return self.unit in ("", usual.unit) and (self.decimal == ":") == (usual.decimal == ":")


TIMES = NumberStyle(":")
STYLES = (NumberStyle("."), NumberStyle(".", True), NumberStyle(","), NumberStyle(",", True))


def numbers(column: pa.ChunkedArray, style: NumberStyle = STYLES[0]) -> Array:
    """Numbers of a column, NaN where a cell is missing or not a number.

    Examples
    --------
    >>> numbers(pa.chunked_array([["$1,526.12", "76.2%", "(3)"]]), NumberStyle(".", True)).tolist()
    [1526.12, 76.2, -3.0]
    """
    if is_time(column.type):
        return _hours(column)
    if pa.types.is_boolean(column.type) or is_number(column.type):
        values = column.cast(pa.float64(), safe=False).to_numpy()
    else:
        values = _parsed(texts(column), style)
    return np.where(np.isinf(values), np.nan, values)


def find_number_style(cells: pa.ChunkedArray) -> NumberStyle | None:
    """Return how (nearly) all texts are written as numbers, or None where they are not numbers.

    Numbers that begin with a zero are codes: 00123 is not 123. Where 1,526 could be either, it is one thousand. Limits
    such as <5 are numbers among many other numbers.

    Examples
    --------
    >>> find_number_style(pa.chunked_array([["326,93 €", "2"]])), find_number_style(pa.chunked_array([["007", "2"]]))
    (NumberStyle(decimal=',', grouped=False, unit=''), None)
    """
    known = cells.drop_null()
    if has_limits(known):
        return _style_among_limits(known, known.filter(pc.invert(are_limits(known))))
    some = known.slice(0, SOME)
    if len(known) and _share(some, TIMES) >= MOSTLY:
        return TIMES if _share(known, TIMES) >= MOSTLY else None
    if len(known) == 0 or pc.any(pc.match_substring_regex(some, r"^[+-]?0\d")).as_py():
        return None
    is_plain = _share(some, STYLES[0]) == 1
    likely = [style for style in (STYLES[:2] if is_plain else STYLES) if _share(some, style) >= MOSTLY]
    if not likely:
        return _style_in_a_unit(known)
    if pc.any(pc.match_substring_regex(known, r"^[+-]?0\d")).as_py():
        return None
    best, most = likely[0], 0.0
    for style in likely:
        share = _share(known, style)
        if share > most:
            best, most = style, share
        if most == 1:
            break
    if most < MOSTLY:
        return None
    return best if most == 1 else _style_in_a_unit(known) or best


def _style_in_a_unit(known: pa.ChunkedArray) -> NumberStyle | None:
    """How numbers are written of which all have one unit, or some do and the others are as large: 63 beside 58 yrs."""
    some = known.slice(0, SOME)
    unit = find_unit(some, least=_FEW)
    style = find_number_style(_without_unit(known, unit)) if unit else None
    if style is None or style == TIMES:
        return None
    style = replace(style, unit=unit)
    return style if find_unit(some) or _are_in_one_unit(some, style) else None


def _are_in_one_unit(cells: pa.ChunkedArray, style: NumberStyle) -> bool:
    """Whether bare numbers are as large as those with the unit; 2a is no number beside 2, but a stage."""
    has_unit = pc.ends_with(cells, style.unit, ignore_case=True)
    if len(style.unit) == 1 and not pc.all(pc.match_substring(cells.filter(has_unit), " ")).as_py():
        return False
    values, is_named = _parsed(cells, style), has_unit.to_numpy()
    is_read = np.isfinite(values)
    few, many = sorted((values[is_read & is_named], values[is_read & ~is_named]), key=len)
    return bool(len(few) and np.quantile(many, 0.05) <= np.median(few) <= np.quantile(many, 0.95))


def _style_among_limits(known: pa.ChunkedArray, measured: pa.ChunkedArray) -> NumberStyle | None:
    """Limits are written like the numbers beside them, except that they may lack the unit."""
    if len(measured) < MOSTLY * len(known) and are_ends_of_a_scale(known, measured):
        return None
    styles = filter(None, map(find_number_style, (without_limits(known), measured)))
    return next((style for style in styles if _share(known, style) >= MOSTLY), None)


def likeliest_style(cells: pa.ChunkedArray) -> NumberStyle:
    """Return how most of those texts are written that are numbers, be they few or many.

    Examples
    --------
    >>> likeliest_style(pa.chunked_array([["5,1", "neg.", "7,0", "12"]]))
    NumberStyle(decimal=',', grouped=False, unit='')
    """
    unit = find_unit(cells, least=0.0)
    styles = [*STYLES, TIMES, *([replace(style, unit=unit) for style in STYLES] if unit else [])]
    shares = {style: np.isfinite(numbers(cells, style)).mean() for style in styles}
    return max(styles, key=lambda style: shares[style])


def find_unit(cells: pa.ChunkedArray, least: float = MOSTLY) -> str:
    """Return the unit, other than a currency, behind at least this share of the numbers; none where it is rarer.

    Examples
    --------
    >>> find_unit(pa.chunked_array([["70 kg", "81.5 kg", "64Kg"]]), least=0.6), find_unit(pa.chunked_array([["B12"]]))
    ('kg', '')
    """
    known = without_limits(cells.drop_null())
    counts = value_counts(pc.struct_field(pc.extract_regex(known, _OTHER_UNIT).drop_null(), "unit"))
    unit = max(counts, key=lambda u: counts[u], default="")
    n = sum(n for u, n in counts.items() if u.lower() == unit.lower())
    return unit if n >= least * len(known) else ""


def about_unit(read: pa.ChunkedArray, unit: str) -> str:
    """Say which unit numbers have, and how many leave it out; limits often do.

    Examples
    --------
    >>> about_unit(pa.chunked_array([["70 kg", "81", "<40", "64 kg"]]), "kg")
    "numbers in kg, left out in 1 of 4 cells, such as '81'"
    """
    said, bare = f"numbers in {unit}", read.filter(pc.and_not(pc.match_substring_regex(read, _BARE), are_limits(read)))
    return f"{said}, left out in {len(bare):,} of {len(read):,} cells, such as {example(bare)!r}" if len(bare) else said


def units(cells: pa.ChunkedArray) -> dict[str, int]:
    """Count the currencies and percent signs beside the numbers, the most frequent first."""
    matches = pc.extract_regex(cells.drop_null(), rf"(?P<unit>{_UNIT})")
    counts = value_counts(pc.struct_field(matches.drop_null(), "unit"))
    return dict(sorted(counts.items(), key=lambda item: -item[1]))


def is_ambiguous(cells: pa.ChunkedArray, style: NumberStyle) -> bool:
    """Whether every mark stands before three digits, so that 1,526 may be a thousand or one and a half."""
    mark = None if style.decimal != "." else "," if style.grouped else "."
    if mark is None:
        return False
    known = cells.drop_null()
    known = _without_unit(known, style.unit) if style.unit else known
    if _are_marked_otherwise(known.slice(0, SOME), mark):
        return False
    return pc.any(pc.match_substring(known, mark)).as_py() is True and not _are_marked_otherwise(known, mark)


def _are_marked_otherwise(cells: pa.ChunkedArray, mark: str) -> bool:
    bare = _without_units(cells)
    marked = bare.filter(pc.match_substring(bare, mark))
    has_other = pc.any(pc.match_substring(bare, "." if mark == "," else ",")).as_py()
    return bool(has_other) or pc.all(pc.match_substring_regex(marked, _THREE_DIGITS[mark])).as_py() is False


def _share(cells: pa.ChunkedArray, style: NumberStyle) -> float:
    """Share of the cells that are numbers; infinite ones are among numbers that are finite."""
    values = _parsed(cells, style)
    return float((~np.isnan(values)).mean()) if np.isfinite(values).any() else 0.0


def _parsed(cells: pa.ChunkedArray, style: NumberStyle) -> Array:
    if style == TIMES:
        parts = pc.extract_regex(cells, _TIME)
        hours, minutes, seconds = (_floats(pc.struct_field(parts, name)) for name in ("hours", "minutes", "seconds"))
        half = pc.utf8_lower(pc.fill_null(pc.struct_field(parts, "half"), "")).to_numpy()
        hours = np.where(half == "", hours, hours % 12) + 12 * (half == "p")
        return hours + minutes / _A_MINUTE + np.nan_to_num(seconds) / _AN_HOUR
    if style.unit:
        cells = _without_unit(cells, style.unit)
    if style == STYLES[0]:
        try:
            return cells.cast(pa.float64()).to_numpy()
        except pa.ArrowInvalid:
            pass
    bare = _without_units(cells)
    if style.grouped:
        for _ in range(4):  # a match takes the digits before and after one gap
            bare = pc.replace_substring_regex(bare, r"(\d)[ \x{00A0}\x{202F}\x{2009}\x{2019}'](\d{3})", r"\1\2")
    if style.decimal == ",":
        groups = r"(\d{1,3}(\.\d{3})+|\d+)" if style.grouped else r"\d+"
        plain = pc.replace_substring(pc.replace_substring(bare, ".", ""), ",", ".")
        bare = pc.if_else(pc.match_substring_regex(bare, rf"^[+-]?{groups}(,\d+)?{_EXPONENT}"), plain, "x")
    elif style.grouped:
        is_grouped = pc.match_substring_regex(bare, rf"^[+-]?[1-9]\d{{0,2}}(,\d{{3}})+(\.\d*)?{_EXPONENT}")
        bare = pc.if_else(is_grouped, pc.replace_substring(bare, ",", ""), bare)
    return _floats(bare)


def _floats(cells: pa.ChunkedArray) -> Array:
    return pd.to_numeric(cells.to_pandas(), errors="coerce").to_numpy(np.float64, na_value=np.nan)


def _hours(column: pa.ChunkedArray) -> Array:
    """Hours of times that a file stores as such."""
    unit = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[column.type.unit]
    whole = column.cast(pa.int32() if pa.types.is_time32(column.type) else pa.int64())
    return whole.cast(pa.float64(), safe=False).to_numpy() / (unit * _AN_HOUR)


def _without_unit(cells: pa.ChunkedArray, unit: str) -> pa.ChunkedArray:
    """Cut the unit off; what has another one is no number, and what has none is taken to be in this one."""
    is_bare, has_unit = pc.match_substring_regex(cells, _BARE), pc.ends_with(cells, unit, ignore_case=True)
    cut = pc.utf8_rtrim_whitespace(pc.utf8_slice_codeunits(cells, 0, -len(unit)))
    return pc.if_else(has_unit, cut, pc.if_else(is_bare, cells, "x"))


def _without_units(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Strip currency and percent signs, and those of limits; (3) and 3.00- are how bookkeepers write -3."""
    bare = without_limits(pc.replace_substring(cells, "−", "-"))
    bare = pc.replace_substring_regex(bare, r"^\((.*)\)$", r"-\1")
    bare = pc.replace_substring_regex(bare, rf"^([+-]?)\s*{_UNIT}\s*", r"\1")
    bare = pc.replace_substring_regex(bare, rf"\s*{_UNIT}$", "")
    return pc.replace_substring_regex(bare, r"^(\d[\d.,' ]*[.,]\d+)-$", r"-\1")  # but 3- is a grade
