"""Categories that rows in memory and rows read part by part have in common, and those that training did not have."""

from __future__ import annotations

from typing import Any, TypeAlias

import pandas as pd
from pandas.api.types import is_numeric_dtype

from dips._tools.warnings import warn
from dips._tools.wording import some_of
from dips.exceptions import InputError

Categories: TypeAlias = dict[Any, pd.CategoricalDtype]
"""Types of columns, by name."""


def common_categories(X: Any, vocabulary: Any, ordered_only: bool) -> Categories:
    """Return a type for each column of categories of a pandas frame: its own, then those of the vocabulary.

    Ordered categories stay as they are, because others have no place among them. Others that are numbers in the
    vocabulary are left out: it does not hold all of them.

    Examples
    --------
    >>> X = pd.DataFrame({"ward": ["b", "a"]}, dtype="category")
    >>> common_categories(X, pd.DataFrame({"ward": ["c", None]}), ordered_only=False)["ward"].categories.tolist()
    ['a', 'b', 'c']
    """
    if not isinstance(X, pd.DataFrame):
        return {}
    found = {name: dtype for name, dtype in X.dtypes.items() if isinstance(dtype, pd.CategoricalDtype)}
    if ordered_only:
        return {name: dtype for name, dtype in found.items() if dtype.ordered}
    found = {name: d for name, d in found.items() if d.ordered or not is_numeric_dtype(vocabulary[name])}
    return {name: d if d.ordered else _followed_by(d, vocabulary[name]) for name, d in found.items()}


def with_categories(X: Any, categories: Categories) -> Any:
    """Return the table with columns of these types; refuse a value that is none of the categories."""
    for name, dtype in categories.items():
        values = X[name].dropna()
        strange = values[~values.isin(dtype.categories)].unique().tolist()
        if strange:
            raise InputError(
                f"Column {name!r} holds categories among the unlabeled rows that the labeled rows do not have: "
                f"{some_of(map(repr, strange))}. Give the column of X these categories too."
            )
    return X.astype(categories) if categories else X


def warn_of_unknown(name: Any, value: Any, known: Any) -> None:
    """Say that a column holds no category that the training had."""
    warn(
        f"No value of column {name!r} is known from training (now it holds {value!r}, training held {known!r}), so all "
        "are read as missing; write them as they were in training."
    )


def _followed_by(dtype: pd.CategoricalDtype, values: pd.Series) -> pd.CategoricalDtype:
    return pd.CategoricalDtype(dtype.categories.append(pd.Index(values.dropna()).sort_values()).unique())
