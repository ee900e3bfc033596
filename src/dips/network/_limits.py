"""What the network was made for, and how a larger table is cut to fit: rows, columns, levels and classes."""

from __future__ import annotations

import numpy as np

from dips._tools.arrays import Array, Rows

MAX_LABELS = 1_000  # with more, trained models do as well and cost less
MAX_COLUMNS = 48
MAX_CLASSES = 10
MAX_LEVELS = 48
MAX_CONTEXT_TOKENS = 24_000  # rows × tokens of a row; at width 192 and 6 layers 0.22 GB a draw


def context_rows(codes: Array, most: int, rng: np.random.Generator, first: Array | None = None) -> Rows:
    """Rows for the context: all labeled ones if they fit, else a sample of every class; then unlabeled ones.

    Of labeled rows, those of the mask `first` are taken before the others.
    """
    labeled, unlabeled = np.flatnonzero(codes >= 0), np.flatnonzero(codes < 0)
    if labeled.size > most:
        return np.sort(_sample_of_each_class(codes, labeled, most, rng, first))
    more = rng.permutation(unlabeled)[: most - labeled.size]
    return np.sort(np.append(labeled, more))


def _sample_of_each_class(
    codes: Array, rows: Rows, most: int, rng: np.random.Generator, first: Array | None = None
) -> Rows:
    """Some rows at random, one of each class before any second of its kind where a class is rare."""
    order = rng.permutation(rows)
    if first is not None:
        order = order[np.argsort(~first[order], kind="stable")]
    _, one = np.unique(codes[order], return_index=True)
    rest = np.delete(order, one)
    return np.append(order[one], rest[: max(0, most - one.size)])


def varying(values: Array) -> Array:
    """Which columns (n, F) hold more than one value, a missing one counting as such."""
    absent = np.isnan(values)
    if not len(values):
        return np.zeros(values.shape[1], dtype=bool)
    low, high = np.fmin.reduce(values), np.fmax.reduce(values)  # of what is not missing
    return (low < high) | (absent.any(0) & ~absent.all(0))


def most_telling(values: Array, categorical: Array, codes: Array, most: int) -> Rows:
    """Columns that tell most about the given labels, at most so many, in their own order."""
    scores = [_information(column, is_level, codes) for column, is_level in zip(values.T, categorical, strict=True)]
    return np.sort(np.argsort(-np.array(scores), kind="stable")[:most])


def _information(column: Array, is_level: bool, codes: Array, bins: int = 8) -> float:
    """Mutual information of a column in a few bins with the labels, less what chance alone would show."""
    present = ~np.isnan(column)
    place = np.zeros(column.size, dtype=np.intp)  # missing values are a bin of their own
    if is_level:
        _, places, counts = np.unique(column[present], return_inverse=True, return_counts=True)
        place[present] = 1 + np.argsort(np.argsort(-counts, kind="stable")).clip(max=bins - 1)[places]
    elif present.any():
        cuts = np.unique(np.quantile(column[present], np.linspace(0, 1, bins + 1)[1:-1]))
        place[present] = 1 + np.searchsorted(cuts, column[present])
    table = np.zeros((place.max() + 1, codes.max() + 1))
    np.add.at(table, (place, codes), 1.0)
    table = table[table.any(1)][:, table.any(0)] / codes.size
    chance = table.sum(1, keepdims=True) * table.sum(0)
    information = float((table * np.log(np.where(table > 0, table / chance, 1.0))).sum())
    return information - (table.shape[0] - 1) * (table.shape[1] - 1) / (2 * codes.size)


def common_levels(column: Array, most: int = MAX_LEVELS) -> Array:
    """Where each level of a column goes: a place of its own for the commonest, the last place for all others.

    A level that no row has goes nowhere; it is missing.
    """
    levels = column[~np.isnan(column)].astype(np.intp)
    counts = np.bincount(levels, minlength=1)
    places = np.argsort(np.argsort(-counts, kind="stable")).clip(max=most - 1)
    return np.where(counts > 0, places, np.nan)


def class_groups(n_classes: int, most: int = MAX_CLASSES) -> list[Rows]:
    """Neighboring classes put together until there are few enough groups."""
    return np.array_split(np.arange(n_classes), min(n_classes, most))
