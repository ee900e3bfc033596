"""One column out of several files, which may store it as different types, or write its numbers in different ways."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from dips._files.numbers import TIMES, NumberStyle, find_number_style, numbers
from dips._files.values import as_text, is_number, is_text, texts


def stacked(pieces: list[pa.ChunkedArray], as_written: bool = False) -> tuple[pa.ChunkedArray, bool]:
    """Put the pieces of a column under each other; say whether each had to be read in its own way.

    Numbers with decimal points in one file and decimal commas in another become floats, unless cells are wanted as they
    are written. Otherwise, pieces of different types become text.

    Examples
    --------
    >>> column, in_own_way = stacked([pa.chunked_array([["1.5", "2"]]), pa.chunked_array([["2,25"]])])
    >>> column.to_pylist(), in_own_way
    ([1.5, 2.0, 2.25], True)
    """
    styles = None if as_written else _different_styles(pieces)
    if styles is not None:
        read = [numbers(p, style) for p, style in zip(pieces, styles, strict=True)]
        return pa.chunked_array([pa.array(values, from_pandas=True) for values in read]), True
    if len({p.type for p in pieces if p.type != pa.null()}) > 1:
        pieces = [as_text(p) for p in pieces]
    kind = next((p.type for p in pieces if p.type != pa.null()), pa.null())
    return pa.chunked_array([c for p in pieces for c in p.cast(kind).chunks], type=kind), False


def _different_styles(pieces: list[pa.ChunkedArray]) -> list[NumberStyle] | None:
    """Return how each piece writes its numbers, or None where they are not numbers or one way reads them all."""
    if not any(is_text(p.type) for p in pieces):
        return None
    styles = [_style(p) for p in pieces]
    found = [style for style in styles if style is not None]
    if len(found) < len(styles) or TIMES in found or len({style.decimal for style in found}) == 1:
        return None
    together = pa.chunked_array([c for p in pieces for c in texts(as_text(p)).chunks], type=pa.string())
    joint = find_number_style(together)
    if joint is not None and np.isfinite(numbers(together, joint)).sum() == len(together) - together.null_count:
        return None
    return found if len({style.unit for style in found} - {""}) <= 1 else None


def _style(piece: pa.ChunkedArray) -> NumberStyle | None:
    if is_text(piece.type):
        cells = texts(piece)
        return find_number_style(cells) if cells.null_count < len(cells) else NumberStyle()
    return NumberStyle() if is_number(piece.type) or piece.type == pa.null() else None
