"""Checks the list of categories in a stored XGBoost model, by which it recodes those of a new table."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from dips._tools.arrays import Array
from dips.backbones._stored import require, whole_numbers, within

_WHOLE_TYPES = range(9, 17)  # XGBoost's numbers for whole numbers of 8 to 64 bits


def check_categories(record: Any, n_columns: int) -> None:
    """Refuse lists whose texts, lengths or order lead out of them."""
    columns = record["enc"]
    require(isinstance(columns, list) and len(columns) in (0, n_columns), "its lists of categories")
    ends = whole_numbers(record["feature_segments"], "its lists of categories")
    order = whole_numbers(record["sorted_idx"], "the order of its categories")
    lists = [_categories(column) for column in columns]
    sizes = [len(categories) for categories in lists]
    expected = np.concatenate([[0], np.cumsum(sizes)]) if any(sizes) or ends.size else np.empty(0)
    require(np.array_equal(ends, expected), "its numbers of categories do not add up")
    require(order.size == sum(sizes), "the order of its categories")
    start = 0
    for categories in lists:
        _check_order(categories, order[start : start + len(categories)])
        start += len(categories)


def _check_order(categories: list[Any], order: Array) -> None:
    require(within(order, len(categories)), "the order of its categories leads out of them")
    ordered = [categories[place] for place in order]
    is_rising = all(a < b for a, b in pairwise(ordered))  # so none is there twice
    require(is_rising, "its categories are not in order")


def _categories(column: Any) -> list[Any]:
    """Return a column's categories: whole numbers, or texts as the signed bytes that XGBoost compares."""
    require(isinstance(column, dict), "a list of categories")
    values = whole_numbers(column["values"], "a list of categories")
    if "offsets" not in column:
        require(column["type"] in _WHOLE_TYPES, "a list of categories is of an unknown type")
        return list(values.tolist())
    offsets = whole_numbers(column["offsets"], "a list of categories")
    if offsets.size == 0:
        require(values.size == 0, "a list of categories")
        return []
    is_ordered = offsets[0] == 0 and offsets[-1] == values.size and bool((np.diff(offsets) >= 0).all())
    require(is_ordered, "a category's text lies outside of its list")
    texts = values.tolist()
    return [texts[a:b] for a, b in pairwise(offsets)]
