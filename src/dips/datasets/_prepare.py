"""Turn a table as published into features and a label, following its declaration."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from dips._data.encoder import TableEncoder
from dips._tools.arrays import Array
from dips._tools.wording import some_of
from dips.datasets._declaration import ANY_OTHER, Declaration
from dips.exceptions import DataError


@dataclass(frozen=True)
class Dataset:
    """A table, ready to be learned from.

    Attributes
    ----------
    name : its name
    X : data frame of the features
    y : (n,) codes of the label, 0..C-1
    classes : what the codes mean
    kinds : kind of each feature, "number", "ordered" or "category"
    groups : (n,) which part each row belongs to, or None
    """

    name: str
    X: pd.DataFrame
    y: Array
    classes: list[Any]
    kinds: Mapping[str, str]
    groups: Array | None = field(default=None)

    @cached_property
    def matrix(self) -> Array:
        """The features as numbers (n, p): categories by rank, missing values NaN."""
        return TableEncoder().fit_transform(self.X).astype(np.float64)

    @cached_property
    def fingerprint(self) -> str:
        """A checksum of everything that is learned from: columns, values, labels and their order."""
        digest = hashlib.sha256("\n".join(map(str, self.X.columns)).encode())
        for part in (self.matrix.astype("<f8"), self.y.astype("<i8")):
            digest.update(np.ascontiguousarray(part).tobytes())
        if self.groups is not None:
            digest.update("\n".join(map(str, self.groups)).encode())
        return digest.hexdigest()


def prepare(raw: pd.DataFrame, declared: Declaration) -> Dataset:
    """Return the features and the label that the declaration describes."""
    _check_columns(raw, declared)
    table = raw if declared.rows is None else raw.query(declared.rows, engine="python")
    if declared.unknown is not None:
        table = table[~table.isin([declared.unknown]).any(axis=1)]
    table = table.reset_index(drop=True)
    y, classes = _label(table[declared.label], declared)
    groups = None if declared.group is None else table[declared.group].to_numpy()
    X = _features(table, declared)
    if X.shape[1] != declared.features:
        raise DataError(
            f"{declared.name} has {declared.features} features, but this table has {X.shape[1]} "
            f"({', '.join(map(str, X.columns[:8]))}, ...); keep the columns that "
            f"dips.datasets.describe({declared.name!r}) lists."
        )
    return Dataset(declared.name, X, y, classes, _kinds(X, declared), groups)


def _check_columns(raw: pd.DataFrame, declared: Declaration) -> None:
    lacking = [c for c in declared.wanted() if c not in raw]
    if lacking:
        raise DataError(
            f"The table of {declared.name} lacks the columns [{some_of(map(repr, lacking), 5)}]; rename yours, or see "
            f"dips.datasets.describe({declared.name!r}) for what it must hold."
        )


def _label(column: pd.Series, declared: Declaration) -> tuple[Array, list[Any]]:
    """Codes 0..C-1 and what they stand for."""
    if column.isna().any():
        raise DataError(f"The label {column.name!r} of {declared.name} is missing in {column.isna().sum()} rows.")
    if declared.above is not None:
        return (column > declared.above).to_numpy(dtype=np.int64), [False, True]
    if declared.classes is not None:
        return _coded(column, declared.classes, declared.name).to_numpy(dtype=np.int64), _meanings(declared.classes)
    if declared.columns and not column.isin([0, 1]).all():
        raise DataError(f"The label {column.name!r} of {declared.name} must be 0 or 1; found {_few(column)}.")
    classes, y = np.unique(column.to_numpy(), return_inverse=True)
    return y.astype(np.int64), classes.tolist()


def _meanings(classes: Mapping[Any, int]) -> list[Any]:
    values = [[v for v, c in classes.items() if c == code] for code in sorted(set(classes.values()))]
    return [v[0] if len(v) == 1 else " or ".join(map(str, v)) for v in values]


def _features(table: pd.DataFrame, declared: Declaration) -> pd.DataFrame:
    no_features = [declared.label, declared.group, *declared.drop, *declared.ignore]
    kept = list(declared.keep) or [str(c) for c in table.columns if c not in no_features]
    X = table[kept].copy()
    for column in declared.zero_is_missing:
        X[column] = X[column].where(X[column] != 0)
    for column in declared.flags:
        X[column] = (X[column] > 0).astype(np.int64)
    for column, codes in declared.codes.items():
        X[column] = _coded(X[column], codes, declared.name)
    for column, order in declared.ranks.items():
        X[column] = _coded(X[column], {value: rank for rank, value in enumerate(order)}, declared.name)
    for new, old in declared.renamed.items():
        X[old] = X.pop(new)
    for new, parts in declared.from_one_hot.items():
        X[new] = table[list(parts)].to_numpy().argmax(axis=1) + 1
    for column in declared.one_hot:
        X = pd.concat([X.drop(columns=column), pd.get_dummies(X[column], prefix=column, dtype=np.int64)], axis=1)
    if declared.columns:
        _check_numbers(X, declared)
    return X


def _coded(column: pd.Series, codes: Mapping[Any, int], name: str) -> pd.Series:
    coded = column.map(lambda value: codes.get(value, codes.get(ANY_OTHER)))
    if coded.isna().any():
        raise DataError(
            f"Column {column.name!r} of {name} holds {_few(column[coded.isna()])}; it may hold {list(codes)[:8]}."
        )
    return coded.astype(np.int64)


def _check_numbers(X: pd.DataFrame, declared: Declaration) -> None:
    texts = [c for c in X if not pd.api.types.is_numeric_dtype(X[c])]
    if texts:
        raise DataError(f"Columns {texts[:5]} of {declared.name} must be numbers; found {_few(X[texts[0]])}.")


def _few(column: pd.Series) -> list[Any]:
    return column.drop_duplicates().head(3).tolist()


def _kinds(X: pd.DataFrame, declared: Declaration) -> dict[str, str]:
    categories = {*declared.codes, *declared.renamed.values()}

    def kind(column: str) -> str:
        if column in declared.ranks or column in declared.from_one_hot:
            return "ordered"
        is_text = not pd.api.types.is_numeric_dtype(X[column])
        return "category" if is_text or column in categories else "number"

    return {c: kind(c) for c in X.columns.astype(str)}
