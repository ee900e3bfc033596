"""A pool on Spark: its rows stay where they are."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from functools import cached_property, partial, reduce
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dips._data.arrow import as_pandas, shape_like, vocabulary_table
from dips._data.containers import take
from dips._data.pool import Pool, Reduced, check_max_train_rows
from dips._spark import worker
from dips._spark.errors import in_one_sentence
from dips._spark.executors import task_cpus
from dips._spark.identity import Identity, identify, quoted
from dips._spark.worker import PART_SCHEMA, ROW, Reader
from dips._tools.arrays import Array, Rows
from dips._tools.checkpoints import output_file
from dips._tools.observer import Observer
from dips.exceptions import DataError, InputError, InputTypeError

_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "boolean")
_TEXTS = ("string", "varchar", "char")
_MANY_TEXTS = 100_000  # distinct values of one column; they must all be known to the driver
_SPARK_TYPES = {"string": "string", "bool": "boolean", "float": "float", "double": "double", "int32": "int"}


class SparkPool(Pool):
    """Rows of a Spark DataFrame, classic or Connect.

    Pass it to ``fit`` as the unlabeled rows. Functions are sent to the rows; the driver only fetches the rows that a
    model is trained on.

    Parameters
    ----------
    df : Spark DataFrame
        A scan of Parquet files or of a Delta table with row tracking needs no key.
    key : str, default=None
        A column with a unique value for every row, whole numbers or texts. It is not used as a feature.
    columns : sequence of str, default=None
        The features, if the table has other columns too.
    snapshot : str, default=None
        A new folder to which the rows are first written as Parquet files, for tables that have neither files nor a key,
        or that others may change during the fit.
    max_train_rows : int, default=200000
        The most rows of the pool that a model is trained on, in one process. If there are more, a sample of each class
        is drawn by a hash of the row.
    checkpoint : path, default=None
        A file on the driver that keeps the models and rules after every round, and no rows. If it exists because a
        driver was killed, the next fit continues after the last finished round, with the same result.

    Examples
    --------
    >>> pool = SparkPool(spark.table("claims"), key="claim_id")  # doctest: +SKIP
    >>> clf = PseudoLabelClassifier().fit(X, y, pool)  # doctest: +SKIP
    """

    stays = True

    def __init__(
        self,
        df: Any,
        key: str | None = None,
        columns: Sequence[str] | None = None,
        snapshot: str | None = None,
        max_train_rows: int = 200_000,
        checkpoint: str | Path | None = None,
    ) -> None:
        if not is_spark_frame(df):
            raise InputTypeError(f"SparkPool takes a Spark DataFrame; got {type(df).__name__}.")
        self.key, self.session, self.max_train_rows = key, df.sparkSession, check_max_train_rows(max_train_rows)
        self.checkpoint = None if checkpoint is None else output_file("checkpoint", checkpoint)
        self.columns = [c for c in df.columns if c != key] if columns is None else list(columns)
        self.n_columns = len(self.columns)
        check_types(dict(df.dtypes), self.columns)
        if snapshot is not None:
            with in_one_sentence("writing the snapshot"):
                df.write.parquet(snapshot)
            df = self.session.read.parquet(snapshot)
        self._df = df
        self._convert: Callable[[pa.Table], Any] = as_pandas
        self._transforms: tuple[Callable[[Any], Any], ...] = ()
        self._observer = Observer()

    @cached_property
    def _identity(self) -> Identity:
        return identify(self._df, self.key)

    @property
    def _numbered(self) -> Any:
        """The features and the row number, for what Spark does by itself."""
        return self._chosen(self._identity.frame)

    def _scan(self, *more: str) -> Any:
        """Return the features and, for the workers' reader, the place of each row; and more columns."""
        return self._chosen(self._identity.scan, *more)

    def _chosen(self, frame: Any, *more: str) -> Any:
        """Leave out what would only be carried along, such as the paths of files."""
        types, names = dict(self._df.dtypes), dict.fromkeys([*self.columns, *more, ROW])
        exprs = [f"CAST({quoted(n)} AS DOUBLE) AS {quoted(n)}" if _is_decimal(types, n) else quoted(n) for n in names]
        return frame.selectExpr(*exprs)

    @cached_property
    def _summary(self) -> dict[str, Any]:
        """Return what one pass inside the JVM tells of all rows: their number, a checksum, and what cannot be used."""
        frame = self._numbered
        types = dict(frame.dtypes)
        floats = [c for c in self.columns if types[c] in ("float", "double")]
        texts = [c for c in self.columns if types[c].startswith(_TEXTS)]
        exprs = [
            "count(1) AS n",
            f"min({ROW}) AS lowest",
            f"max({ROW}) AS highest",
            self._checksum,
            f"count_if({ROW} IS NULL) AS unnamed",
            f"approx_count_distinct({ROW}, 0.01) AS named",
            *(f"count_if(abs({quoted(c)}) = double('infinity')) AS i{k}" for k, c in enumerate(floats)),
            *(f"approx_count_distinct({quoted(c)}) AS t{k}" for k, c in enumerate(texts)),
        ]
        summary = self._rows_of("reading the table once", frame.selectExpr(*exprs))[0].asDict()
        self._check(summary, floats, texts)
        return summary

    @property
    def _checksum(self) -> str:
        return f"bit_xor(xxhash64({', '.join(quoted(c) for c in (ROW, *self.columns))})) AS checksum"

    def _check(self, summary: dict[str, Any], floats: list[str], texts: list[str]) -> None:
        """Refuse a table that cannot be used, before any work."""
        if not summary["n"]:
            raise InputError("The Spark table holds no rows; give one that does.")
        if summary["unnamed"]:
            name = "Delta row id" if self.key is None else repr(self.key)
            raise InputError(f"{summary['unnamed']:,} rows have no {name}; a key must name every row.")
        if summary["named"] < 0.9 * summary["n"]:
            raise InputError(
                f"key={self.key!r} has about {summary['named']:,} values for {summary['n']:,} rows; a key must have a "
                "value of its own for every row."
            )
        infinite = [c for k, c in enumerate(floats) if summary[f"i{k}"]]
        if infinite:
            raise InputError(
                f"Input X contains infinity, or a value too large, in column(s) {infinite}; replace it by a number, or "
                "by a missing value."
            )
        many = [(c, summary[f"t{k}"]) for k, c in enumerate(texts) if summary[f"t{k}"] > _MANY_TEXTS]
        if many:
            raise InputError(
                f"Column {many[0][0]!r} holds about {many[0][1]:,} different texts, too many to be a category; drop "
                "it, or group its values."
            )

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """How many rows there are; they are counted once."""
        return int(self._summary["n"])

    @property
    def row_range(self) -> tuple[int, int]:
        """The lowest and the highest row number."""
        return self._summary["lowest"], self._summary["highest"]

    @property
    def n_threads(self) -> int:  # type: ignore[override]
        """As many as a task has cores."""
        return task_cpus(self.session)

    @property
    def identity_columns(self) -> list[str]:
        """What names a row in the account: the key, or the file and the position in it."""
        return list(self._identity.names.values())

    def like(self, X: Any) -> SparkPool:
        """Return the pool with its tables of the same kind and with the same columns as `X`."""
        pool = copy(self)
        hint = "SparkPool(df, columns=[...]) reads only some."
        pool.columns, pool._convert = shape_like(X, self.columns, "the Spark table", hint)
        vars(pool).pop("_summary", None)  # its checksum follows the order of the columns
        return pool

    def observed(self, observer: Observer) -> SparkPool:
        """Return the pool that tells the observer of every pass."""
        pool = copy(self)
        pool._observer = observer
        return pool

    def transformed(self, transform: Callable[[Any], Any]) -> SparkPool:
        """Apply the function wherever the rows are read."""
        pool = copy(self)
        pool._transforms = (*self._transforms, transform)
        return pool

    def reduce(
        self, function: Callable[[Rows, Any], Reduced], combine: Callable[[Reduced, Reduced], Reduced]
    ) -> Reduced:
        """Reduce each partition where it lies, then the results of the partitions here."""
        run = partial(worker.reduced, self._reader, function, combine)
        parts = self._rows_of("counting over the rows", self._scan().mapInArrow(run, PART_SCHEMA))
        return reduce(combine, (worker.unpacked(bytes(row[0])) for row in parts))

    def select(self, choose: Callable[[Rows, Any], tuple[Array, Reduced]]) -> Iterator[tuple[Rows, Reduced, Any]]:
        """Let every partition choose, and fetch what was chosen."""
        run = partial(worker.selected, self._reader, choose)
        for said, table in self._fetched("fetching the chosen rows", self._scan().mapInArrow(run, PART_SCHEMA)):
            rows, X = self._reader.read(table)
            yield rows, said, X

    def sample(self, n: int, seed: int) -> tuple[Rows, Any]:
        """Let Spark find the lowest hashes, without a Python worker, and fetch these rows."""
        frame = self._numbered
        if n < self.n_rows:
            frame = frame.selectExpr("*", f"xxhash64({ROW}, {int(seed)}L) AS __dips_hash")
            frame = frame.orderBy("__dips_hash", ROW).limit(n)
        parts = self._fetched("drawing a sample", frame.mapInArrow(worker.as_they_are, PART_SCHEMA))
        table = pa.concat_tables([part for _, part in parts])
        rows = table[ROW].to_numpy()
        order = np.argsort(rows, kind="stable")
        return rows[order], take(self._reader.table(table), order)

    def write(self, function: Callable[[Rows, Any], dict[str, Any]], schema: pa.Schema, path: str) -> None:
        """Let Spark write one line a row, with what names the row first; nothing passes through the driver."""
        names = self._identity.names
        frame = self._scan(*names)
        kept = frame.select(*names).schema
        run = partial(worker.described, self._reader, function, tuple(names), schema)
        described = frame.mapInArrow(run, f"{ddl(kept)}, {ddl_of_arrow(schema)}")
        for column, name in names.items():
            described = described.withColumnRenamed(column, name)
        with self._told("writing the account"):
            described.write.parquet(path)

    def vocabulary(self) -> Any:
        """Collect the distinct texts inside the JVM, once it is known that there are few enough."""
        _ = self._summary
        frame = self._numbered
        types = dict(frame.dtypes)
        texts = [c for c in self.columns if types[c].startswith(_TEXTS)]
        parts = self._fetched("reading a row", frame.limit(1).mapInArrow(worker.as_they_are, PART_SCHEMA))
        first, distinct = next(parts)[1].select(self.columns), {}
        if texts:
            sets = frame.selectExpr(*(f"collect_set({quoted(c)}) AS t{k}" for k, c in enumerate(texts)))
            texts_of = self._rows_of("collecting the categories", sets)[0]
            distinct = {c: pa.array(sorted(texts_of[k]), type=first.schema.field(c).type) for k, c in enumerate(texts)}
        return self._convert(vocabulary_table(first, distinct))

    def fingerprint(self) -> str:
        """Return the number of rows and the checksum of all of them."""
        return f"{self.n_rows} rows {self._summary['checksum']} of {self.columns}"

    def refuse_changes(self) -> None:
        """Read the checksum again; refuse rows that changed since the first pass."""
        now = self._rows_of("reading the table again", self._numbered.selectExpr("count(1) AS n", self._checksum))[0]
        if (now["n"], now["checksum"]) != (self._summary["n"], self._summary["checksum"]):
            raise DataError(
                f"The Spark table changed since the fit began (it had {self._summary['n']:,} rows, now {now['n']:,}, "
                "or other values), so the model does not belong to the rows that are there; fit on rows that stay: one "
                "version of a Delta table, spark.read.option('versionAsOf', ...).table(name), or "
                "SparkPool(df, snapshot=path)."
            )

    @property
    def _reader(self) -> Reader:
        return Reader(tuple(self.columns), self._convert, self._transforms, self._identity.numbers)

    def _fetched(self, doing: str, frame: Any) -> Iterator[tuple[Reduced, pa.Table]]:
        return (worker.unpacked_rows(bytes(row[0])) for row in self._rows_of(doing, frame))

    def _rows_of(self, doing: str, frame: Any) -> list[Any]:
        with self._told(doing):
            return frame.collect()

    @contextmanager
    def _told(self, doing: str) -> Iterator[None]:
        """Name the stage, and tell how fast the pass was."""
        with in_one_sentence(doing):
            began = time.perf_counter()
            self._observer.message(f"Spark: {doing}", 0.0)
            yield
        if "_summary" in vars(self):
            elapsed_s = time.perf_counter() - began
            self._observer.on_rows(self.n_rows, self.n_rows)
            self._observer.message(f"Spark: {doing}, {self.n_rows / elapsed_s:,.0f} rows a second", 0.0)
            record = {"event": "pass", "stage": doing, "n_rows": self.n_rows, "elapsed_s": elapsed_s}
            self._observer.on_record(record | {"rows_per_s": self.n_rows / elapsed_s})


def is_spark_frame(X: Any) -> bool:
    """Whether this is a DataFrame of Spark, classic or Connect; Spark is not imported to find out."""
    return any(c.__module__.startswith("pyspark.sql") and c.__name__ == "DataFrame" for c in type(X).__mro__)


def _is_decimal(types: dict[str, str], name: str) -> bool:
    return types.get(name, "").startswith("decimal")


def check_types(types: dict[str, str], columns: list[str]) -> None:
    """Refuse features that are missing, or neither numbers nor texts."""
    missing = [c for c in columns if c not in types]
    if missing:
        raise InputError(f"The Spark table has no column {missing[0]!r}; it has {', '.join(list(types)[:20])}.")
    for name in columns:
        if types[name] not in _NUMBERS and not types[name].startswith((*_TEXTS, "decimal")):
            raise InputError(
                f"Column {name!r} of the Spark table holds {types[name]} values; a feature must be a number or a text. "
                "Turn it into one, or leave it out: SparkPool(df, columns=[...])."
            )


def ddl(schema: Any) -> str:
    """Return a Spark schema as text."""
    return ", ".join(f"{quoted(field.name)} {field.dataType.simpleString()}" for field in schema.fields)


def ddl_of_arrow(schema: pa.Schema) -> str:
    """Return the Spark schema of Arrow columns as text."""
    return ", ".join(f"{quoted(field.name)} {_SPARK_TYPES.get(str(field.type), 'bigint')}" for field in schema)
