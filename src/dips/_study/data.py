"""The input of a study: one table of labeled and unlabeled rows, with its columns and labels understood."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from dips._files.columns import Schema, understand
from dips._files.read import Table, read_table
from dips._files.target import Target, read_target
from dips._spark.tables import draw_rows, is_spark_name, open_table
from dips._study.settings import Settings
from dips.exceptions import DataError


@dataclass
class StudyData:
    """The table, what its columns hold, its labels, and which columns name a row."""

    table: Table
    schema: Schema
    target: Target
    ids: list[str]
    sources: list[dict[str, Any]]  # one record per file: path, rows, checksum
    n_unlabeled_sources: int = 0  # the last ones

    @property
    def notes(self) -> list[str]:
        """Sentences on what was read, and how it was understood."""
        of_columns = [f"Column {c.name!r}: {c.note}." for c in self.schema.columns if c.note]
        return [*self.table.notes, *self.target.notes, *of_columns]

    def to_report(self) -> dict[str, Any]:
        """The fields that the report's findings have, too."""
        return {name: getattr(self, name) for name in ("table", "schema", "target", "ids", "sources", "notes")}


def read_data(data: Any, settings: Settings, unlabeled: Any = ()) -> StudyData:
    """Read and stack the tables, labeled ones first, and find out what they hold."""
    labeled_tables = [read_table(d) for d in _several(data)]
    more_tables = [_read_unlabeled(d, settings) for d in _several(unlabeled)]
    if not labeled_tables:
        raise DataError("No table was given; name at least one file with labels.")
    n_labeled_files = sum(t.n_rows for t in labeled_tables)
    table = _stack(labeled_tables, more_tables, settings.target)
    target = read_target(
        _rows(table, n_labeled_files), settings.target, settings.unlabeled_mark, settings.positive,
        n_more=table.n_rows - n_labeled_files,
    )  # fmt: skip
    for role, names in (("id", settings.id), ("drop", settings.drop)):
        for name in names:
            if name not in table.names or name == settings.target:
                raise DataError(
                    f"--{role} names {name!r}, which is not a column besides the target; there are {_some(table)}."
                )
    schema = understand(table, drop=(*settings.drop, settings.target), ids=settings.id)
    schema.columns = [c for c in schema.columns if c.name != settings.target]
    if not schema.used:
        raise DataError(
            f"No column is left to learn from: {', '.join(f'{c.name} ({c.kind})' for c in schema.columns)}."
        )
    ids = list(settings.id) or [c.name for c in schema.columns if c.kind == "id"][:1]
    sources = [
        _source(d, t)
        for d, t in zip([*_several(data), *_several(unlabeled)], labeled_tables + more_tables, strict=True)
    ]
    return StudyData(table, schema, target, ids, sources, len(more_tables))


def _read_unlabeled(data: Any, settings: Settings) -> Table:
    """Read a table; of one on Spark, as many rows as are used."""
    if not is_spark_name(data):
        return read_table(data)
    key = settings.id[0] if settings.id else None
    columns, n_rows = draw_rows(open_table(data), key, settings.max_unlabeled, settings.seed)
    table = Table(columns, str(data))
    if n_rows > table.n_rows:
        drawn = f"{table.n_rows:,} of {n_rows:,} rows of {data}, drawn by a hash of the row, are used"
        table.notes.append(f"{drawn}; --max-unlabeled changes that.")
    return read_table(table)


def _several(data: Any) -> list[Any]:
    return list(data) if isinstance(data, Sequence) and not isinstance(data, str) else [data]


def _rows(table: Table, n: int) -> Table:
    return Table(table.columns.slice(0, n), table.source)


def _stack(labeled: list[Table], unlabeled: list[Table], target: str) -> Table:
    """One table under the other, columns matched by name; unlabeled files need no target, and theirs is not read."""
    first = labeled[0]
    notes = [note for t in (*labeled, *unlabeled) for note in t.notes]
    parts = [first.columns]
    for other in labeled[1:]:
        _check_names(first, other, set(first.names))
        parts.append(other.columns.select(first.names))
    wanted = [name for name in first.names if name != target]
    for other in unlabeled:
        _check_names(first, other, set(wanted))
        extra = [n for n in other.names if n not in first.names]
        if extra:
            notes.append(f"{other.source} has columns that {first.source} lacks; ignored: {', '.join(extra[:8])}.")
        empty = pa.nulls(other.n_rows, first.columns.schema.field(target).type) if target in first.names else None
        columns = [other.columns[n] if n != target else empty for n in first.names]
        parts.append(pa.table(columns, names=first.names))
    return Table(_concatenated(parts, first.names), first.source if len(parts) == 1 else "the tables", notes)


def _check_names(first: Table, other: Table, wanted: set[str]) -> None:
    missing = sorted(wanted - set(other.names))
    if missing:
        raise DataError(
            f"{other.source} lacks columns that {first.source} has ({', '.join(missing[:5])}); give both the same ones."
        )


def _concatenated(parts: list[pa.Table], names: list[str]) -> pa.Table:
    """Columns that have different types in different files become text."""
    if len(parts) == 1:
        return parts[0]
    columns = []
    for name in names:
        pieces = [part[name] for part in parts]
        if len({p.type for p in pieces if p.type != pa.null()}) > 1:
            pieces = [p.cast(pa.string()) for p in pieces]
        kind = next((p.type for p in pieces if p.type != pa.null()), pa.null())
        columns.append(pa.chunked_array([c for p in pieces for c in p.cast(kind).chunks], type=kind))
    return pa.table(columns, names=names)


def _source(data: Any, table: Table) -> dict[str, Any]:
    """Where rows came from; the checksum shows whether a file has changed."""
    if not isinstance(data, str | Path) or is_spark_name(data):
        digest = hashlib.sha256()
        for column in table.columns.columns:
            for buffer in (b for chunk in column.chunks for b in chunk.buffers() if b is not None):
                digest.update(buffer)
        return {"path": str(data) if is_spark_name(data) else None, "rows": table.n_rows, "sha256": digest.hexdigest()}
    with Path(data).expanduser().open("rb") as stream:
        return {"path": str(data), "rows": table.n_rows, "sha256": hashlib.file_digest(stream, "sha256").hexdigest()}


def _some(table: Table) -> str:
    return ", ".join(table.names[:12]) + ("…" if len(table.names) > 12 else "")
