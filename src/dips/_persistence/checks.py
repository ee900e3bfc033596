"""Checks of a model folder before anything is made of it: which files, which classes, which columns.

Checksums reveal damage, but not who wrote a file: these checks also hold if somebody has computed the checksums anew.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dips._files.columns import KINDS, USED
from dips._files.dates import is_date_format
from dips._files.encoders import BUCKETS, ENCODERS
from dips._files.prepare import Preparation
from dips._tools.arrays import Array
from dips.backbones._stored import require
from dips.exceptions import ModelError

PREPARATION = ("preparation.json", "preparation.npz")
_PARTS_OF_DATES = {"day", "month", "weekday", "hour"}
_TEXTS = ("name", "kind", "decimal", "unit", "example", "note")


def check_manifest(record: dict[str, Any], file_name: str) -> None:
    """Refuse a manifest with other files than it must have, or with classes that no model has."""
    files = record["files"]
    require(set(files) in ({file_name}, {file_name, *PREPARATION}), f"it lists the files {sorted(files)[:5]}")
    classes, categories = record["classes"], record["categories"]
    require(isinstance(classes, list) and len(classes) > 1 and all(map(_is_scalar, classes)), "its classes")
    require(len({type(c) for c in classes}) == 1 and len(set(classes)) == len(classes), "its classes are not distinct")
    require(classes == sorted(classes), "its classes are not in order")
    _check_about(record["about"], len(classes))
    columns = record.get("columns")  # not there in folders of earlier releases
    if columns is not None:
        require(isinstance(columns, list) and all(isinstance(c, str) for c in columns), "the names of its columns")
        require(len(set(columns)) == len(columns), "a column is there twice")
        require(categories is None or len(columns) == len(categories), "its columns and their categories differ")
    if categories is not None:
        require(isinstance(categories, list) and len(categories) > 0, "its categories")
        for column in (c for c in categories if c is not None):
            require(isinstance(column, list) and all(map(_is_scalar, column)), "its categories")
            require(len(set(column)) == len(column), "a category is there twice")


def _check_about(about: Any, n_classes: int) -> None:
    require(isinstance(about, dict) and isinstance(about.get("target", ""), str), "what it says about itself")
    ids, costs = about.get("ids", []), about.get("costs", [1] * n_classes)
    require(isinstance(ids, list) and all(isinstance(i, str) for i in ids), "the columns that name a row")
    require(isinstance(costs, list) and len(costs) == n_classes, "its costs")
    require(all(isinstance(cost, int | float) and 0 < cost < float("inf") for cost in costs), "its costs")


def checked_preparation(record: Any, arrays: dict[str, Array]) -> Preparation:
    """Return the preparation, if its columns and encoders fit each other."""
    require(isinstance(record, dict) and set(record) == {"schema", "encoders"}, "the preparation")
    columns, settings = record["schema"], record["encoders"]
    require(isinstance(columns, list) and all(isinstance(c, dict) for c in columns), "its columns")
    for column in columns:
        require(all(isinstance(column.get(key, ""), str) for key in _TEXTS), "a column")
        require(
            column.get("kind") in KINDS and column.get("decimal", ".") in (".", ",", ":"), f"column {column['name']!r}"
        )
        require(isinstance(column.get("grouped", False), bool), f"the numbers of column {column['name']!r}")
        require(is_date_format(column.get("date_format")), f"the dates of column {column['name']!r}")
    names = [column["name"] for column in columns]
    used = [column["name"] for column in columns if column["kind"] in USED]
    require(len(set(names)) == len(names) and used, "its columns are not distinct, or none is used")
    require(isinstance(settings, dict) and list(settings) == used, "its columns and their encoders differ")
    require({key.partition("/")[0] for key in arrays} <= {str(j) for j in range(len(used))}, "its arrays")
    preparation = Preparation.from_parts(record, arrays)
    kinds = {column["name"]: column["kind"] for column in columns}
    for name, encoder in preparation.encoders.items():
        _check_encoder(kinds[name], encoder.settings, encoder.arrays, f"the encoder of column {name!r}")
    return preparation


def _check_encoder(kind: str, settings: Any, arrays: dict[str, Array], what: str) -> None:
    require(isinstance(settings, dict) and kind in ENCODERS, what)
    has_texts = kind == "text" or "spelling" in settings
    if kind == "date":
        parts = settings["parts"]
        require(isinstance(parts, list) and len(set(parts)) == len(parts) and set(parts) <= _PARTS_OF_DATES, what)
    if kind == "number":
        require(_is_range(settings.get("range", [0.0, 0.0])), what)
    if kind == "pair":
        ranges = settings.get("ranges", [])
        require(isinstance(ranges, list) and len(ranges) in (0, 2) and all(map(_is_range, ranges)), what)
    if kind == "category":
        categories = settings["categories"]
        require(isinstance(categories, list) and all(isinstance(c, str) for c in categories), what)
        require(len(set(categories)) == len(categories), what)
        require(not has_texts or isinstance(settings["spelling"], dict), what)
    if not has_texts:
        require(not arrays, what)
        return
    rarity, directions = arrays["rarity"], arrays["directions"]
    require(rarity.shape == (BUCKETS,) and directions.ndim == 2 and directions.shape[1] == BUCKETS, what)
    require(rarity.dtype.kind == directions.dtype.kind == "f" and directions.shape[0] > 0, what)
    require(bool(np.isfinite(rarity).all() and np.isfinite(directions).all()), what)


def _is_range(ends: Any) -> bool:
    return isinstance(ends, list) and len(ends) == 2 and all(isinstance(end, float) for end in ends)


def check_answers(p: Array, n_classes: int, path: Path) -> None:
    """Refuse a model that does not answer with a probability for each class."""
    if p.shape != (1, n_classes) or not np.isfinite(p).all() or p.min() < 0 or abs(p.sum() - 1) > 1e-3:
        raise ModelError(f"{path} is damaged: it does not answer with {n_classes} probabilities.")


def _is_scalar(value: Any) -> bool:
    return isinstance(value, str | int | float | bool)
