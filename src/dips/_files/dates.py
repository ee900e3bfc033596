"""Dates as people write them: which form, or forms, a column of texts has, and whether day and month are a guess."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dips._files.values import MOSTLY, SOME, texts

_DAYS = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d")
_NAMED = ("%d %b %Y", "%d %B %Y", "%d. %B %Y", "%b %d, %Y", "%B %d, %Y", "%b %d %Y", "%B %d %Y", "%d-%b-%Y", "%d-%b-%y")
_MONTHS = ("%m/%Y", "%m.%Y", "%m-%Y")
_SHORT = ("%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d-%m-%y", "%m-%d-%y")
ISO = "ISO8601"
DATE_FORMATS = (ISO, *_DAYS, *_NAMED, *_MONTHS, *_SHORT)
_TIMES = ("", " %H:%M:%S", " %H:%M", " %I:%M %p", " %I:%M:%S %p")
_LIKE_A_DATE = (
    r"^\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|^\d{1,2}[./-]\d{1,2}[./-](\d{4}|\d{2})\b|^(19|20)\d{6}$|^\d{1,2}[./-]\d{4}$"
    r"|^\d{1,2}\.?[ -]\p{L}{3,9}[ -]\d{2,4}|^\p{L}{3,9} \d{1,2},? \d{4}"
)
_LIKE_ISO = r"\d{4}-\d{2}-\d{2}"
_AND = "|"  # between the forms of a column that has several
_MOST_FORMS = 4
_LONGEST = 200  # characters of all forms of a column
_LEAST_SHARE = 0.02  # of the cells; a form that reads fewer is not one


def dates(column: pa.ChunkedArray, date_format: str | None) -> pd.Series:
    """Dates of a column without time zone, NaT where a cell is missing or not a date.

    Dates such as 2024-03-28 mean the same everywhere, so they are read among dates of any form.
    """
    if date_format is None:
        series = pd.Series(column.cast(pa.timestamp("us"), safe=False).to_pandas())
    else:
        cells = texts(column).to_pandas()
        first, *others = (_read(cells, one) for one in date_format.split(_AND))
        series = first
        for other in others:
            series = series.fillna(other)
        if (
            ISO not in date_format.split(_AND)
            and (is_iso := series.isna() & cells.str.match(_LIKE_ISO, na=False)).any()
        ):
            series = series.fillna(_read(cells.where(is_iso), ISO))
    return series.dt.tz_localize(None) if getattr(series.dt, "tz", None) is not None else series


def find_date_format(cells: pa.ChunkedArray) -> str | None:
    """Return the format in which (nearly) all texts are dates, several joined by a bar, or None.

    Where day and month could be either, the first format that reads most values wins: the day first.

    Examples
    --------
    >>> find_date_format(pa.chunked_array([["03/04/2024", "03/28/2024"]]))
    '%m/%d/%Y'
    >>> find_date_format(pa.chunked_array([["08.02.22", "09.02.22", "08 February 2022"]]))
    '%d.%m.%y|%d %B %Y'
    """
    known = cells.drop_null()
    some = known.slice(0, SOME)
    if len(known) == 0 or pc.mean(pc.match_substring_regex(some, _LIKE_A_DATE)).as_py() < MOSTLY:
        return None
    formats = _formats_of(some.to_pandas())
    if not formats:
        return None
    if len(formats) == 1 and len(known) > SOME:  # what the first rows leave open, the others may decide
        rivals = [f for f in (formats[0], swapped(formats[0])) if f is not None]
        formats = [max(rivals, key=lambda f: int(dates(known, f).notna().sum()))]
    date_format = _AND.join(formats)
    return date_format if float(dates(known, date_format).notna().mean()) >= MOSTLY else None


def is_date_format(name: Any) -> bool:
    """Whether dates can be read so: in one form or several, or as None where a file stores dates.

    Examples
    --------
    >>> [is_date_format(name) for name in (None, "%d.%m.%y|ISO8601", "%d.%d.%Y", "mixed")]
    [True, True, False, False]
    """
    if name is None:
        return True
    if not isinstance(name, str) or len(name) > _LONGEST:
        return False
    return all(form == ISO or ("%" in form and _can_read(form)) for form in name.split(_AND))


def _can_read(form: str) -> bool:
    try:
        _read(pd.Series(["x"]), form)
    except (ValueError, re.error):  # no such part, or one of them twice
        return False
    return True


def swapped(date_format: str) -> str | None:
    """Return the format with day and month exchanged, or None where only one order is in use.

    Examples
    --------
    >>> swapped("%d/%m/%Y"), swapped("%d.%m.%Y")
    ('%m/%d/%Y', None)
    """
    for mark in "/-":
        day, month = f"%d{mark}%m{mark}", f"%m{mark}%d{mark}"
        if date_format.startswith((day, month)):
            return (month if date_format.startswith(day) else day) + date_format[len(day) :]
    return None


def ambiguous_cell(cells: pa.ChunkedArray, date_format: str) -> str | None:
    """Return a cell that the other order of day and month reads as another day, if that order reads all cells too."""
    other = swapped(date_format)
    if other is None:
        return None
    one, two = dates(cells, date_format), dates(cells, other)
    if int(two.notna().sum()) < int(one.notna().sum()):
        return None
    differs = (one != two) & one.notna()
    return str(cells[int(differs.to_numpy().argmax())].as_py()) if differs.any() else None


def _formats_of(cells: pd.Series) -> list[str]:
    """Return the format that reads most cells, then the one that reads most of the rest, until few are left."""
    formats: list[str] = []
    left = cells
    while len(formats) < _MOST_FORMS and len(left) > (1 - MOSTLY) * len(cells):
        counts = {f: int(_read(left, f).notna().sum()) for f in _candidates(left)}
        best = max(counts, key=lambda f: counts[f])
        if counts[best] < max(1, _LEAST_SHARE * len(cells)):
            return []
        formats.append(best)
        left = left[_read(left, best).isna()]
    return formats if len(left) <= (1 - MOSTLY) * len(cells) else []


def _candidates(cells: pd.Series) -> list[str]:
    has_time, has_half = (bool(cells.str.contains(mark).any()) for mark in (":", "[AaPp][Mm]"))
    times = [time for time in _TIMES if has_half or "%p" not in time] if has_time else [""]
    formats = DATE_FORMATS if cells.str.contains("-", regex=False).any() else DATE_FORMATS[1:]
    return [f + time for f in formats for time in ([""] if f in (ISO, *_MONTHS) else times)]


def _read(cells: pd.Series, date_format: str) -> pd.Series:
    return pd.to_datetime(cells, format=date_format, errors="coerce", utc=True).dt.tz_localize(None)
