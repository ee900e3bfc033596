"""Predictions for a Spark table, as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from dips._data.arrow import Convert
from dips._spark import worker
from dips._spark.identity import quoted
from dips._spark.pool import ddl, ddl_of_arrow
from dips._spark.worker import ROW, Reader
from dips._tools.arrays import Array, Rows, decided
from dips.exceptions import InputError


def predicted_frame(
    df: Any,
    kept: Sequence[str] | None,
    columns: Sequence[str],
    convert: Convert,
    encode: Callable[[Any], Any],
    predict: Callable[[Any], Array],
    classes: Array,
    name: str = "predicted_label",
    costs: Array | None = None,
) -> Any:
    """Return a lazy Spark DataFrame of predictions.

    Parameters
    ----------
    df : Spark DataFrame
    kept : columns that stand beside the predictions; None keeps all
    columns : the features
    convert, encode, predict : from an Arrow table of features to a table, to what the model takes, to probabilities
    classes : labels in the order of the probabilities
    name : of the column with the label
    costs : of missing a row of each class; the label is then the one that is expected to cost least
    """
    kept = df.columns if kept is None else list(kept)
    for column in (*kept, *columns):
        if column not in df.columns:
            raise InputError(f"The Spark table has no column {column!r}; it has {', '.join(df.columns[:20])}.")
    schema = schema_of(classes, name)
    taken = [n for n in schema.names if n in kept]
    if taken:
        raise InputError(f"The Spark table has a column {taken[0]!r} already; rename it, or keep only the key.")
    reader = Reader(tuple(columns), convert, (encode,))
    run = partial(worker.described, reader, Predictions(predict, classes, name, costs), tuple(kept), schema)
    numbered = df.selectExpr("*", f"0L AS {ROW}")
    return numbered.mapInArrow(run, f"{ddl(df.select(*map(quoted, kept)).schema)}, {ddl_of_arrow(schema)}")


def schema_of(classes: Array, name: str) -> pa.Schema:
    """Return the columns of the predictions."""
    fields = [(name, pa.array(classes).type), ("probability", pa.float64())]
    return pa.schema([*fields, *((f"probability_{c}", pa.float64()) for c in classes)])


@dataclass(frozen=True)
class Predictions:
    """The predictions for some rows, a column for each field of :func:`schema_of`."""

    predict: Callable[[Any], Array]
    classes: Array
    name: str
    costs: Array | None = None

    def __call__(self, rows: Rows, X: Any) -> dict[str, Any]:
        """Predict."""
        p = self.predict(X)
        codes = decided(p, self.costs)
        of_class = {f"probability_{c}": p[:, k] for k, c in enumerate(self.classes)}
        return {self.name: self.classes[codes], "probability": p[np.arange(len(p)), codes]} | of_class
