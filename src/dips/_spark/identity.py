"""How a row of a Spark table is known again in the next pass: a number that no split of the table changes.

``monotonically_increasing_id`` is no such number: it follows the partitions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from dips._spark.errors import in_one_sentence
from dips._spark.worker import ROW, FilePlaces, as_numbers
from dips._tools.arrays import Array, Rows
from dips.exceptions import InputError

_FILE, _TAG, _INDEX, _START = "__dips_file", "__dips_tag", "__dips_index", "__dips_start"
_WHOLE_NUMBERS = ("tinyint", "smallint", "int", "bigint")


@dataclass(frozen=True)
class Identity:
    """A table whose rows have numbers.

    Attributes
    ----------
    frame : with the row number beside the columns
    names : what identifies a row in the account: column of the frame -> name there
    scan : the same for Python workers, with places that cost Spark less than the row numbers
    numbers : function from these places to row numbers
    """

    frame: Any
    names: dict[str, str]
    scan: Any
    numbers: Callable[[Array], Rows] = as_numbers

    @classmethod
    def of(cls, frame: Any, names: dict[str, str]) -> Identity:
        """Return the identity of rows whose numbers cost Spark nothing."""
        return cls(frame, names, frame)


def identify(df: Any, key: str | None) -> Identity:
    """Number the rows: by the key, else by Delta's row ids, else by file and position in it."""
    if key is not None:
        return _by_key(df, key)
    hidden = _hidden_columns(df)
    if "row_id" in hidden:
        return Identity.of(df.selectExpr("*", f"_metadata.row_id AS {ROW}"), {ROW: "row_id"})
    if "row_index" in hidden:
        return _by_file(df)
    row_tracking = "ALTER TABLE ... SET TBLPROPERTIES ('delta.enableRowTracking' = true)"
    switch_on = f"switch on row tracking if it is a Delta table ({row_tracking}), " if "file_path" in hidden else ""
    raise InputError(
        "The rows of this Spark DataFrame cannot be told apart: it is neither a plain scan of Parquet files nor one of "
        f"a Delta table with row tracking; {switch_on}name a column with a value of its own for every row, "
        "SparkPool(df, key=...), or let the rows be written once, SparkPool(df, snapshot=path)."
    )


def quoted(name: str) -> str:
    """A column's name in SQL."""
    return "`" + name.replace("`", "``") + "`"


def _by_key(df: Any, key: str) -> Identity:
    types = dict(df.dtypes)
    if key not in types:
        raise InputError(f"key={key!r} is not a column of the Spark DataFrame.")
    if types[key] in _WHOLE_NUMBERS:
        number = f"CAST({quoted(key)} AS BIGINT)"
    elif types[key].startswith(("string", "varchar", "char", "binary", "decimal")):
        number = f"xxhash64({quoted(key)})"
    else:
        raise InputError(f"key={key!r} holds {types[key]} values; a key must be a whole number or a text.")
    return Identity.of(df.selectExpr("*", f"{number} AS {ROW}"), {key: key})


def _by_file(df: Any) -> Identity:
    """Number the rows file after file, in the order of the files' names, as ``ParquetPool`` does."""
    tag = f"xxhash64(_metadata.file_size, _metadata.file_modification_time) AS {_TAG}"
    located = df.selectExpr("*", f"_metadata.file_path AS {_FILE}", f"_metadata.row_index AS {_INDEX}", tag)
    with in_one_sentence("counting the rows of each file"):
        last_rows = located.groupBy(_FILE, _TAG).agg({_INDEX: "max"})
        files = sorted(last_rows.selectExpr("*", f"xxhash64({_FILE})").collect())
    starts, start = {}, 0
    for file, _, last, _ in files:
        starts[file] = start
        start += last + 1
    names = {_FILE: "file", _INDEX: "row_index"}
    if len(starts) <= 1:
        return Identity.of(located.selectExpr("*", f"{_INDEX} AS {ROW}"), names)
    table = df.sparkSession.createDataFrame(list(starts.items()), f"{_FILE} string, {_START} bigint")
    numbered = located.join(table.hint("broadcast"), _FILE).selectExpr("*", f"{_START} + {_INDEX} AS {ROW}")
    n_bits = max(last for _, _, last, _ in files).bit_length()
    for hashed, k in ((_TAG, 1), (f"xxhash64({_FILE})", 3)):  # a hash of two numbers costs less than one of a text
        places = FilePlaces.of({row[k]: starts[row[0]] for row in files}, n_bits)
        if places.tags.size == len(files):
            scan = located.selectExpr("*", f"({hashed} & {-(1 << n_bits)}L) | {_INDEX} AS {ROW}")
            return Identity(numbered, names, scan, places)
    return Identity.of(numbered, names)  # two files with one tag


def _hidden_columns(df: Any) -> list[str]:
    """Return what a scan knows of a row besides its columns; only the plan is looked at."""
    with _without_log():
        try:
            return list(df.selectExpr("_metadata").schema[0].dataType.names)
        except Exception as error:
            if "AnalysisException" not in {cls.__name__ for cls in type(error).__mro__}:
                raise
            return []


@contextmanager
def _without_log() -> Iterator[None]:
    """Silence the log in which Spark 4 prints Java's stack, though the answer "none" is expected."""
    try:
        from pyspark.logger import PySparkLogger  # a logger of this name must be of this class
    except ImportError:  # Spark 3.5 prints nothing
        yield
        return
    log = PySparkLogger.getLogger("SQLQueryContextLogger")
    was_disabled, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = was_disabled
