"""What goes wrong on a cluster, in one sentence instead of a Java stack."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from dips._version import __version__
from dips.exceptions import DataError, InputError

_OURS = re.compile(r"dips\.exceptions\.\w+: (.+)")
_KNOWN = (
    (
        r"No module named '([\w.]+)'",
        "The executors have no module {0}; install dips-ssl=={version} and the backbone's library on every node, in "
        "the Python that PYSPARK_PYTHON names there.",
    ),
    (
        r"PYTHON_VERSION_MISMATCH",
        "The executors run another Python than the driver; set PYSPARK_PYTHON to the same minor version on all nodes.",
    ),
    (
        r"No space left on device",
        "A disk of the cluster is full (No space left on device) while {doing}; make room there, write to another "
        "place, or set spark.local.dir to a larger disk.",
    ),
    (
        r"FileNotFoundException|FAILED_READ_FILE|underlying files have been updated|is not a Parquet file",
        "A file of the table is gone or was changed while it was read; freeze the rows first: "
        "SparkPool(df, snapshot=path).",
    ),
    (
        r"PATH_ALREADY_EXISTS",
        "The folder to write to exists already; choose another name, or remove it.",
    ),
    (
        r"UNRESOLVED_COLUMN[\w.]*\][^`]*`([^`]+)`",
        "The Spark table has no column {0!r}.",
    ),
    (
        r"OutOfMemoryError|MemoryError|exit code 137|exitCode 137",
        "An executor ran out of memory; give the Python workers more (spark.executor.memoryOverhead), or lower "
        "spark.sql.execution.arrow.maxRecordsPerBatch.",
    ),
)
_IN_A_WORKER = re.compile(r"RuntimeError: (\w+ at \S+; its message is left out)")


@contextmanager
def in_one_sentence(doing: str) -> Iterator[None]:
    """Turn what Spark raises into an error of one sentence, `doing` being what was tried; others pass."""
    try:
        yield
    except Exception as error:
        if not _is_sparks(error):
            raise
        text = str(error)
        if ours := _OURS.search(text):
            raise InputError(ours[1].strip()) from None
        raise DataError(_sentence(text, doing)) from None


def _is_sparks(error: Exception) -> bool:
    return any(cls.__module__.partition(".")[0] in ("pyspark", "py4j", "grpc") for cls in type(error).__mro__)


def _sentence(text: str, doing: str) -> str:
    for pattern, sentence in _KNOWN:
        if match := re.search(pattern, text):
            return sentence.format(*match.groups(), doing=doing, version=__version__)
    if match := _IN_A_WORKER.search(text):
        return f"Spark failed while {doing}: {match[1]}."
    causes = re.findall(r"^Caused by: ([^\n]+)", text, flags=re.MULTILINE)
    reason = (causes[-1] if causes else text.strip().partition("\n")[0])[:200]
    return f"Spark failed while {doing}: {reason.rstrip('.')}."
