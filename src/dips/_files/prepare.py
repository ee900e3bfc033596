"""From a table to a matrix of floats for a backbone; learned from rows, stored without pickle."""

from __future__ import annotations

from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa

from dips._data.spans import Spans
from dips._files.columns import Schema
from dips._files.encoders import ENCODERS, Encoder
from dips._files.read import Table
from dips._tools.arrays import Array, Rows
from dips._tools.wording import option
from dips.exceptions import DataError


class Preparation:
    """Turns the used columns of a schema into one matrix of floats, without looking at labels.

    Parameters
    ----------
    schema : Schema

    Examples
    --------
    >>> import pandas as pd
    >>> from dips._files.kinds import understand
    >>> from dips._files.read import read_table
    >>> table = read_table(pd.DataFrame({"age": [50, 61, 70], "ward": ["a", "b", "b"]}))
    >>> preparation = Preparation(understand(table)).learn(table)
    >>> preparation.encode(table)
    array([[50.,  0.],
           [61.,  1.],
           [70.,  1.]], dtype=float32)
    >>> preparation.features
    ['age', 'ward =b']
    """

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.encoders: dict[str, Encoder] = {c.name: ENCODERS[c.kind]() for c in schema.used}

    def learn(self, table: Table, rows: Rows | None = None) -> Preparation:
        """Learn categories and texts from the given rows, or from all."""
        positions = None if rows is None else pa.array(rows)
        self.__dict__.pop("_places", None)
        for column in self.schema.used:
            raw = table.columns[column.name]
            self.encoders[column.name].learn(column.values(raw if positions is None else raw.take(positions)))
        return self

    def encode(self, table: Table) -> Array:
        """Return the matrix (n, p) in single precision, which is what boosted trees compute in."""
        X = np.empty((table.n_rows, len(self.features)), dtype=np.float32)
        for column in self.schema.used:
            values = column.values(table.columns[column.name])
            encoded = self.encoders[column.name].encode(values)
            if np.isinf(encoded).any():
                _refuse_too_large(column.name, values)
            X[:, self.columns_of(column.name)] = encoded
        return X

    def check(self, table: Table, target: str | None = None) -> list[str]:
        """Compare a new table with the training table before it is encoded; return notes.

        The target may be there or not.
        """
        notes = self.schema.check(table, target)
        for column in self.schema.used:
            if said := self.encoders[column.name].unfamiliar(column.values(table.columns[column.name])):
                notes.append(f"Column {column.name!r}: {said}.")
        return notes

    @property
    def features(self) -> list[str]:
        """Names of the floats."""
        return [f"{name} {part}".strip() for name, encoder in self.encoders.items() for part in encoder.parts]

    def columns_of(self, name: str) -> slice:
        """Where in the matrix one column of the table went."""
        return self._places[name]

    @property
    def spans(self) -> Spans:
        """Which floats tell one thing together."""
        spans = [span for encoder in self.encoders.values() for span in encoder.spans]
        widths = np.array([width for width, _ in spans])
        return Spans(np.cumsum(widths) - widths, np.array([is_category for _, is_category in spans]))

    @cached_property
    def _places(self) -> dict[str, slice]:
        ends = accumulate(len(encoder.parts) for encoder in self.encoders.values())
        return {
            name: slice(end - len(self.encoders[name].parts), end)
            for name, end in zip(self.encoders, ends, strict=True)
        }

    def to_json(self) -> dict[str, Any]:
        """Everything but the arrays."""
        return {
            "schema": self.schema.to_json(),
            "encoders": {name: encoder.settings for name, encoder in self.encoders.items()},
        }

    def arrays(self) -> dict[str, Array]:
        """Arrays by position of the column and name; column names cannot serve as file names."""
        return {
            f"{j}/{key}": array
            for j, encoder in enumerate(self.encoders.values())
            for key, array in encoder.arrays.items()
        }

    @classmethod
    def from_parts(cls, record: dict[str, Any], arrays: dict[str, Array]) -> Preparation:
        """Return the preparation that :meth:`to_json` and :meth:`arrays` wrote."""
        preparation = cls(Schema.from_json(record["schema"]))
        by_column: dict[str, dict[str, Array]] = {}
        for key, array in arrays.items():
            position, _, part = key.partition("/")
            by_column.setdefault(position, {})[part] = array
        for j, (name, encoder) in enumerate(preparation.encoders.items()):
            encoder.settings = record["encoders"][name]
            encoder.arrays = by_column.get(str(j), {})
        return preparation


def _refuse_too_large(name: str, values: Any) -> None:
    largest = float(np.nanmax(np.abs(values)))
    raise DataError(
        f"Column {name!r} holds {largest:g}, and models compute with numbers up to 3.4e38; scale it, or train "
        f"without it ({option('drop', name)})."
    )
