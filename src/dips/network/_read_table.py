"""A table that the network has read: all that it takes to answer about other rows, and the file that keeps it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from dips._data.spans import merged
from dips._tools.arrays import Array
from dips._tools.npz import read_arrays
from dips.backbones._stored import require, within
from dips.exceptions import DamagedFileError
from dips.network._beliefs import NetworkBeliefs
from dips.network._frequencies import reweighed
from dips.network._inference import FrozenNetwork
from dips.network._limits import MAX_COLUMNS, MAX_LEVELS
from dips.network._settings import ModelSettings
from dips.network._weights import Weights, check_arrays

_PARTS = ("about", "columns", "categorical", "values", "codes", "seeds", "factors")
_WEIGHTS, _LEVELS, _ROWS = "weights/", "levels/", "rows/"


@dataclass
class ReadTable:
    """The columns in use and what the network believes after reading them.

    Attributes
    ----------
    weights : of the network
    n_features : columns of the matrix that rows are given as
    starts : where each column of the table begins there; levels of a category may have a column each
    columns : (F,) positions of those in use
    categorical : (F,) which of them hold levels
    levels : for those by position, where each level goes, NaN where nowhere
    values, codes : (n, F), (n,) rows that were read, and their classes, -1 where unlabeled
    n_draws : names that answers are averaged over
    factors : (C,) of the classes' odds, one where their frequencies are not known
    beliefs : what was read
    n_jobs : threads
    """

    weights: Weights
    n_features: int
    starts: Array
    columns: Array
    categorical: Array
    levels: dict[int, Array]
    values: Array
    codes: Array
    n_draws: int
    factors: Array
    beliefs: NetworkBeliefs
    n_jobs: int | None = None

    def predict_proba(self, X: Any) -> Array:
        """Probabilities (m, C) of rows as numbers, all columns."""
        values = cut(merged(np.asarray(X), self.starts), self.columns, self.levels)
        return reweighed(self.beliefs.ask(values, effective_n_jobs(self.n_jobs)), self.factors)

    def save(self, path: Path) -> None:
        """Write the weights, and the rows that were read, to one file of plain arrays."""
        readings = self.beliefs.readings()
        kept = np.unique(np.concatenate([rows for rows, _ in readings]))
        about = {"settings": asdict(self.weights.settings), "n_features": self.n_features, "n_draws": self.n_draws}
        arrays: dict[str, Any] = {
            "about": np.frombuffer(json.dumps(about | {"n_jobs": self.n_jobs}).encode(), np.uint8),
            "starts": self.starts.astype(np.int64),
            "columns": self.columns.astype(np.int64),
            "categorical": self.categorical,
            "values": self.values[kept],
            "codes": self.codes[kept].astype(np.int64),
            "seeds": np.array([seed for _, seed in readings]),
            "factors": self.factors,
        }
        arrays |= {f"{_ROWS}{i}": np.searchsorted(kept, rows) for i, (rows, _) in enumerate(readings)}
        arrays |= {f"{_LEVELS}{j}": places for j, places in self.levels.items()}
        arrays |= {f"{_WEIGHTS}{name}": array.astype(np.float16) for name, array in self.weights.arrays.items()}
        with path.open("wb") as stream:
            np.savez(stream, **arrays)

    @classmethod
    def load(cls, path: Path) -> ReadTable:
        """Read what :meth:`save` wrote, in the same way as before; refused where its parts do not fit each other."""
        arrays = read_arrays(path)
        require(set(_PARTS) <= set(arrays), "an array is missing")
        about, settings = _about(arrays)
        floats = {name: array.astype(np.float32) for name, array in _named(arrays, _WEIGHTS).items()}
        check_arrays(settings, floats)
        levels = {int(j): places for j, places in _named(arrays, _LEVELS).items()}
        rows = _named(arrays, _ROWS)
        starts = arrays["starts"] if "starts" in arrays else np.arange(about["n_features"])  # added after 0.2.0.dev0
        _check_starts(starts, about["n_features"])
        table = (arrays["columns"], arrays["categorical"], levels, arrays["values"], arrays["codes"])
        _check_table(starts.size, *table)
        codes, seeds, factors = arrays["codes"], arrays["seeds"], arrays["factors"]
        _check_factors(factors, int(codes.max()) + 1)
        require(seeds.ndim == 1 and seeds.dtype.kind == "i" and within(seeds, 2**31), "its seeds")
        stored = iter([(rows.get(str(i)), int(seed)) for i, seed in enumerate(seeds)])

        def choose(given: Array, n_groups: int) -> tuple[Array, int]:
            """Give rows and seed of each reading as they were."""
            chosen, seed = next(stored, (None, 0))
            require(chosen is not None and chosen.ndim == 1 and chosen.dtype.kind == "i", "the rows of a reading")
            assert chosen is not None
            require(within(chosen, codes.size) and bool((np.diff(chosen) > 0).all()), "the rows of a reading")
            require(set(range(n_groups)) <= set(given[chosen].tolist()), "a class has no row in a reading")
            return chosen, seed

        weights, n_draws = Weights(settings, floats), about["n_draws"]
        read = NetworkBeliefs(
            FrozenNetwork(weights), arrays["values"], arrays["categorical"], codes, n_draws=n_draws, choose=choose
        )
        require(next(stored, None) is None, "it has more readings than it needs")
        return cls(weights, about["n_features"], starts, *table, n_draws, factors, read, about["n_jobs"])


def cut(table: Array, columns: Array, levels: dict[int, Array]) -> Array:
    """The columns in use, rare levels of categories put together; a level that was not there is missing."""
    values = table[:, columns]
    for place, j in enumerate(columns):
        if j in levels:
            present = ~np.isnan(values[:, place])
            level = values[present, place].astype(np.intp).clip(max=levels[j].size)
            values[present, place] = np.append(levels[j], np.nan)[level]
    return values


def _named(arrays: dict[str, Array], prefix: str) -> dict[str, Array]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _about(arrays: dict[str, Array]) -> tuple[dict[str, Any], ModelSettings]:
    try:
        about = json.loads(arrays["about"].tobytes())
        settings = ModelSettings.from_json(about["settings"])
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise DamagedFileError(f"its description ({error})") from error
    numbers = (about.get("n_features"), about.get("n_draws"))
    require(all(type(n) is int and n >= 0 for n in numbers), "a number in its description")
    require(0 < about["n_features"] <= 2**20 and 0 < about["n_draws"] <= 1000, "a number in its description")
    require(type(about.get("n_jobs")) in (int, type(None)) and about["n_jobs"] != 0, "its number of threads")
    return about, settings


def _check_factors(factors: Array, n_classes: int) -> None:
    require(factors.shape == (n_classes,) and factors.dtype == np.float64, "its factors")
    require(bool(((factors > 0) & np.isfinite(factors)).all()), "its factors")


def _check_starts(starts: Array, n_features: int) -> None:
    require(starts.ndim == 1 and starts.dtype.kind == "i" and starts.size, "where its columns begin")
    require(starts[0] == 0 and within(starts, n_features) and bool((np.diff(starts) > 0).all()), "its columns' order")


def _check_table(
    n_table: int, columns: Array, categorical: Array, levels: dict[int, Array], values: Array, codes: Array
) -> None:
    n = columns.size
    require(columns.shape == (n,) and 0 < n <= MAX_COLUMNS and columns.dtype.kind == "i", "its columns")
    require(within(columns, n_table) and bool((np.diff(columns) > 0).all()), "its columns")
    require(categorical.shape == (n,) and categorical.dtype == bool, "its kinds of columns")
    require(values.dtype == np.float64 and values.shape == (codes.size, n) and codes.ndim == 1, "its rows")
    require(not np.isinf(values).any() and codes.dtype.kind == "i" and codes.min(initial=0) >= -1, "its rows")
    n_classes = int(codes.max(initial=-1)) + 1
    require(n_classes > 1 and np.unique(codes[codes >= 0]).size == n_classes, "its classes")
    require(set(levels) == set(columns[categorical].tolist()), "its levels")
    for places in levels.values():
        require(places.ndim == 1 and places.size and places.dtype.kind == "f", "a level")
        require(within(places[~np.isnan(places)], MAX_LEVELS), "a level")
    level = values[:, categorical]
    require(within(level[~np.isnan(level)], MAX_LEVELS), "a level of its rows")
