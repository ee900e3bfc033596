"""Checks of a model folder before anything is made of it: which files, which classes, which columns.

Checksums tell damage from what was written. They tell nothing about who wrote it: these checks hold also where somebody
has computed the checksums anew.
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
from dips.exceptions import DamagedFileError, ModelError

PREPARATION = ("preparation.json", "preparation.npz")
_PARTS_OF_DATES = {"day", "month", "weekday", "hour"}
_TEXTS = ("name", "kind", "decimal", "example", "note")


def check_manifest(record: dict[str, Any], file_name: str) -> None:
    """Refuse a manifest with other files than it must have, or with classes that no model has."""
    files = record["files"]
    _require(set(files) in ({file_name}, {file_name, *PREPARATION}), f"it lists the files {sorted(files)[:5]}")
    classes, categories, about = record["classes"], record["categories"], record["about"]
    _require(isinstance(classes, list) and len(classes) > 1 and all(map(_is_scalar, classes)), "its classes")
    _require(len({type(c) for c in classes}) == 1 and len(set(classes)) == len(classes), "its classes are not distinct")
    _require(classes == sorted(classes), "its classes are not in order")
    _require(isinstance(about, dict) and isinstance(about.get("target", ""), str), "what it says about itself")
    ids = about.get("ids", [])
    _require(isinstance(ids, list) and all(isinstance(i, str) for i in ids), "the columns that name a row")
    if categories is not None:
        _require(isinstance(categories, list) and len(categories) > 0, "its categories")
        for column in (c for c in categories if c is not None):
            _require(isinstance(column, list) and all(map(_is_scalar, column)), "its categories")
            _require(len(set(column)) == len(column), "a category is there twice")


def checked_preparation(record: Any, arrays: dict[str, Array]) -> Preparation:
    """Return the preparation, if its columns and encoders fit each other."""
    _require(isinstance(record, dict) and set(record) == {"schema", "encoders"}, "the preparation")
    columns, settings = record["schema"], record["encoders"]
    _require(isinstance(columns, list) and all(isinstance(c, dict) for c in columns), "its columns")
    for column in columns:
        _require(all(isinstance(column.get(key, ""), str) for key in _TEXTS), "a column")
        _require(column.get("kind") in KINDS and column.get("decimal", ".") in (".", ","), f"column {column['name']!r}")
        _require(isinstance(column.get("grouped", False), bool), f"the numbers of column {column['name']!r}")
        _require(is_date_format(column.get("date_format")), f"the dates of column {column['name']!r}")
    names = [column["name"] for column in columns]
    used = [column["name"] for column in columns if column["kind"] in USED]
    _require(len(set(names)) == len(names) and used, "its columns are not distinct, or none is used")
    _require(isinstance(settings, dict) and list(settings) == used, "its columns and their encoders differ")
    _require({key.partition("/")[0] for key in arrays} <= {str(j) for j in range(len(used))}, "its arrays")
    preparation = Preparation.from_parts(record, arrays)
    kinds = {column["name"]: column["kind"] for column in columns}
    for name, encoder in preparation.encoders.items():
        _check_encoder(kinds[name], encoder.settings, encoder.arrays, f"the encoder of column {name!r}")
    return preparation


def _check_encoder(kind: str, settings: Any, arrays: dict[str, Array], what: str) -> None:
    _require(isinstance(settings, dict) and kind in ENCODERS, what)
    has_texts = kind == "text" or "spelling" in settings
    if kind == "date":
        parts = settings["parts"]
        _require(isinstance(parts, list) and len(set(parts)) == len(parts) and set(parts) <= _PARTS_OF_DATES, what)
    if kind == "category":
        categories = settings["categories"]
        _require(isinstance(categories, list) and all(isinstance(c, str) for c in categories), what)
        _require(len(set(categories)) == len(categories) > 0, what)
        _require(not has_texts or isinstance(settings["spelling"], dict), what)
    if not has_texts:
        _require(not arrays, what)
        return
    rarity, directions = arrays["rarity"], arrays["directions"]
    _require(rarity.shape == (BUCKETS,) and directions.ndim == 2 and directions.shape[1] == BUCKETS, what)
    _require(rarity.dtype.kind == directions.dtype.kind == "f" and directions.shape[0] > 0, what)
    _require(bool(np.isfinite(rarity).all() and np.isfinite(directions).all()), what)


def check_answers(p: Array, n_classes: int, path: Path) -> None:
    """Refuse a model that does not answer with a probability for each class."""
    if p.shape != (1, n_classes) or not np.isfinite(p).all() or p.min() < 0 or abs(p.sum() - 1) > 1e-3:
        raise ModelError(f"{path} is damaged: it does not answer with {n_classes} probabilities.")


def _is_scalar(value: Any) -> bool:
    return isinstance(value, str | int | float | bool)


def _require(holds: object, what: str) -> None:
    if not holds:
        raise DamagedFileError(what)
