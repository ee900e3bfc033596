"""The input of a study: one table of labeled and unlabeled rows, with its columns and labels understood."""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from dips._data.known import Known
from dips._data.spans import Spans
from dips._data.verified import Verified
from dips._files.columns import Schema, notes_on
from dips._files.corrections import read_corrections
from dips._files.kinds import about_first_row, understand
from dips._files.read import SEVERAL_TABLES, Table, read_table
from dips._files.sources import named_sources
from dips._files.sqlite import file_of, is_address
from dips._files.stacking import stack
from dips._files.target import Target, read_target
from dips._files.values import is_bytes
from dips._spark.tables import draw_rows, is_spark_name, open_table
from dips._study.baseline import imbalance_notes, majority
from dips._study.duplicates import Duplicates, find_duplicates
from dips._study.examples import Examples
from dips._study.groups import describe_groups, group_notes, groups_in, joined_with_copies, repeated_ids
from dips._study.leaks import Leak, single_columns
from dips._study.metrics import COST
from dips._study.reviewed import labels_after_review
from dips._study.settings import Settings
from dips._study.told import read_told, told_notes
from dips._tools.arrays import Array
from dips._tools.files import expanded, sha256
from dips._tools.observer import Observer
from dips._tools.wording import option, some_of
from dips.exceptions import DataError

_REPORTED = ("table", "schema", "target", "ids", "sources", "notes", "n_corrected")


@dataclass
class StudyData:
    """The table, what its columns hold, its labels, and which columns name a row."""

    table: Table
    schema: Schema
    target: Target
    ids: list[str]
    sources: list[dict[str, Any]]  # one record per file: path, rows, checksum
    verified: Verified  # labels that somebody has checked
    given: Target  # the labels before that
    known: Known | None  # of the errors
    duplicates: Duplicates
    groups: Array | None  # of all rows; no split divides one
    repeated_ids: dict[str, int]
    n_unlabeled_sources: int = 0  # the last ones
    corrections: dict[str, Any] | None = None  # the file of corrections: path, lines, checksum
    leaks: list[Leak] = field(default_factory=list)  # those known so far

    @property
    def n_corrected(self) -> int | None:
        """How many verified labels were wrong before; None where nobody says what they were."""
        known = self.verified.mask & (self.verified.before >= 0)
        return int((self.verified.before != self.target.codes)[known].sum()) if known.any() else None

    @property
    def notes(self) -> list[str]:
        """Sentences on what was read, and how it was understood."""
        of_rows = [*self.notes_on_groups, *self.duplicates.notes()]
        return [*self.table.notes, *self.target.notes, *of_rows, *notes_on(self.schema.columns)]

    @property
    def notes_on_groups(self) -> list[str]:
        """Sentences on rows that may belong together."""
        return group_notes(self.schema, self.repeated_ids, self.table.n_rows)

    @property
    def leaks_alone(self) -> dict[str, float]:
        """Columns that predict the label almost alone."""
        return single_columns(self.leaks)

    def label_notes(self, metric: str, has_costs: bool = False) -> list[str]:
        """Sentences on what these labels, and costs of missing them, mean for the models that learn them."""
        of_pairs = [leak.sentence() for leak in self.leaks if len(leak.columns) > 1]
        with_costs = option("metric", COST)
        said = f"The costs decide neither which model is kept nor what it predicts; with {with_costs} they do both."
        of_costs = [said] if has_costs and metric != COST else []
        return imbalance_notes(self.target, metric) + of_pairs + of_costs

    def to_json(self) -> dict[str, Any]:
        """Everything that was found out, or guessed, while reading; plain data."""
        labels = self.target.words.to_json()
        return {
            "rows": self.table.n_rows,
            "labeled": int(self.target.is_labeled.sum()),
            "columns": self.schema.to_json(),
            "labels": labels | {"majority": majority(self.target)},
            "leaks": [leak.to_json() for leak in self.leaks],
            "duplicates": self.duplicates.to_json(),
            "groups": None if self.groups is None else describe_groups(self.groups),
            "repeated_ids": self.repeated_ids,
        }

    def examples(self, X: Array, spans: Spans | None = None) -> Examples:
        """All rows, as models learn from them; the prepared table is given, and how its columns belong together."""
        return Examples(X, self.target.codes, self.verified, self.groups, spans, self.known)

    def to_report(self) -> dict[str, Any]:
        """The fields that the report's findings have, too."""
        return {name: getattr(self, name) for name in _REPORTED}


def read_data(data: Any, settings: Settings, unlabeled: Any = (), observer: Observer | None = None) -> StudyData:
    """Read and stack the tables, labeled ones first, and find out what they hold."""
    labeled_sources, more_sources = named_sources(data), named_sources(unlabeled)
    where = (settings.sheet, settings.skip_rows, (settings.target,), settings.skip_below)
    labeled_tables = [read_table(source, *where) for source in labeled_sources]
    wanted = set(labeled_tables[0].names) if labeled_tables else set()
    more_tables = [_read_unlabeled(d, settings, wanted, observer or Observer()) for d in more_sources]
    if not labeled_tables:
        raise DataError("No table was given; name at least one file with labels.")
    n_labeled_files = sum(t.n_rows for t in labeled_tables)
    table = stack_tables(labeled_tables, more_tables, settings.target, settings.verified)
    with table.notes_with_refusal():
        target = read_target(
            _rows(table, n_labeled_files), settings.target, settings.unlabeled_mark, settings.positive,
            n_more=table.n_rows - n_labeled_files, keep=settings.keep_label,
            merge_labels=settings.merge_labels, map_label=settings.map_label,
        )  # fmt: skip
        schema = understand_columns(table, settings)
        refuse_without_columns(schema)
    ids = list(settings.id) or [c.name for kind in ("id", "group") for c in schema.columns if c.kind == kind][:1]
    classes = [str(c) for c in target.classes]
    corrections = None if settings.corrections is None else read_corrections(settings.corrections, classes)
    given = target
    error = settings.reviewer_error or 0.0
    target, verified, notes = labels_after_review(table, given, ids, settings.verified, corrections, error)
    known = read_told(settings, target, verified)
    table.notes.extend(notes + told_notes(known, given.codes, classes))
    settled = verified.mask if known is None else verified.mask | known.trusts(target.codes)
    duplicates = find_duplicates(table, schema, target.codes, settled)
    of_group = None if settings.group is None else groups_in(table, settings.group)
    groups, duplicates = joined_with_copies(of_group, duplicates)
    named = zip(labeled_sources + more_sources, labeled_tables + more_tables, strict=True)
    return StudyData(
        table,
        schema,
        target,
        ids,
        sources=[_source(d, t) for d, t in named],
        verified=verified,
        given=given,
        known=known,
        duplicates=duplicates,
        groups=groups,
        repeated_ids={} if settings.group else repeated_ids(table, schema),
        n_unlabeled_sources=len(more_tables),
        corrections=None if corrections is None else _file(settings.corrections, len(corrections)),
    )


def refuse_without_columns(schema: Schema) -> None:
    """Refuse a table of which nothing can be learned."""
    if not schema.used:
        others = some_of((f"{c.name} ({c.kind})" for c in schema.columns), 8) or "there is none besides the target"
        raise DataError(f"No column is left to learn from: {others}.")


def understand_columns(table: Table, settings: Settings) -> Schema:
    """Find out what the columns besides the target hold, as far as the settings do not say it."""
    group = () if settings.group is None else (settings.group,)
    marks = () if settings.verified is None else (settings.verified,)
    roles = {"id": settings.id, "drop": settings.drop, "type": settings.type, "group": group, "verified": marks}
    for role, names in roles.items():
        for name in names:
            if name not in table.names or name == settings.target:
                several = [part.strip() for part in name.split(",")]
                if len(several) > 1 and set(several) <= set(table.names) - {settings.target}:
                    raise DataError(f"{option(role)} takes one column at a time; write {option(role, several)}.")
                raise DataError(
                    f"{option(role)} names {name!r}, which is not a column besides the target; choose from "
                    f"{some_of(other for other in table.names if other != settings.target)}."
                )
            if role != "drop" and not (role == "type" and settings.type[name] in ("id", "ignore")):
                _refuse_unreadable(role, name, table.columns[name].type)
    schema = understand(table, (*settings.drop, *marks, settings.target), settings.id, settings.type, settings.group)
    schema.columns = [c for c in schema.columns if c.name != settings.target]
    table.notes += about_first_row(table, schema)
    return schema


def _refuse_unreadable(role: str, name: str, kind: pa.DataType) -> None:
    if pa.types.is_nested(kind) or (role == "verified" and is_bytes(kind)):
        raise DataError(
            f"{option(role)} names {name!r}, which holds {kind} values; name a column of numbers, texts or dates."
        )


def _read_unlabeled(data: Any, settings: Settings, wanted: set[str], observer: Observer) -> Table:
    """Read a table; of one on Spark, as many rows as are used."""
    if not is_spark_name(data):
        return read_table(data, wanted=wanted)
    key = settings.id[0] if settings.id else None
    columns, n_rows = draw_rows(open_table(data), key, settings.max_unlabeled, settings.seed, observer)
    table = Table(columns, str(data))
    if n_rows > table.n_rows:
        drawn = f"{table.n_rows:,} of {n_rows:,} rows of {data}, drawn by a hash of the row, are used"
        table.notes.append(f"{drawn}; {option('max_unlabeled')} changes that.")
    return read_table(table)


def _rows(table: Table, n: int) -> Table:
    return Table(table.columns.slice(0, n), table.source)


def stack_tables(labeled: list[Table], unlabeled: list[Table], target: str, verified: str | None) -> Table:
    """One table under the other, columns matched by name; unlabeled files need no columns about labels."""
    first = labeled[0]
    notes = [note for t in (*labeled, *unlabeled) for note in t.notes]
    parts = [first.columns]
    for other in labeled[1:]:
        _check_names(first, other, set(first.names))
        parts.append(other.columns.select(first.names))
    of_labels = {target, verified}
    wanted = [name for name in first.names if name not in of_labels]
    for other in unlabeled:
        _check_names(first, other, set(wanted))
        extra = [n for n in other.names if n not in first.names]
        if extra:
            notes.append(f"{other.subject} has columns that {first.source} lacks; ignored: {', '.join(extra[:8])}.")
        kinds = first.columns.schema
        columns = [
            pa.nulls(other.n_rows, kinds.field(n).type) if n in of_labels else other.columns[n] for n in first.names
        ]
        parts.append(pa.table(columns, names=first.names))
    if len(parts) == 1:
        return Table(parts[0], first.source, notes)
    columns, more_notes = _concatenated(parts, target)
    return Table(columns, SEVERAL_TABLES, notes + more_notes)


def _check_names(first: Table, other: Table, wanted: set[str]) -> None:
    missing = sorted(wanted - set(other.names))
    if missing:
        has = "the first" if first.source == other.source else first.source
        raise DataError(
            f"{other.subject} lacks columns that {has} has ({', '.join(missing[:5])}); give both the same ones."
        )


def _concatenated(parts: list[pa.Table], target: str) -> tuple[pa.Table, list[str]]:
    """Return the rows of all parts, and notes on columns of which each part was read in its own way."""
    columns, own = stack(parts, as_written=target)
    said = f"Decimal points in one file and decimal commas in another are read as such: {some_of(own)}."
    return columns, [said] if own else []


def _source(data: Any, table: Table) -> dict[str, Any]:
    """Where rows came from; the checksum shows whether a file has changed."""
    if isinstance(data, str | Path) and not is_spark_name(data):
        return _file(data, table.n_rows)
    path = str(data) if is_spark_name(data) else None
    return {"path": path, "rows": table.n_rows, "sha256": _checksum(table.columns)}


def _checksum(columns: pa.Table) -> str:
    """Checksum of names, types and cells: of the rows that are here, not of others that lie beside them in memory."""
    sink = _Digest()
    for j in range(columns.num_columns):
        column = columns.select([j]).combine_chunks().replace_schema_metadata(None)
        with pa.ipc.new_stream(pa.PythonFile(sink, "w"), column.schema) as writer:
            writer.write_table(column)
    return sink.sha256.hexdigest()


class _Digest(io.RawIOBase):
    """A file that keeps only the checksum of what is written to it."""

    def __init__(self) -> None:
        self.sha256 = hashlib.sha256()

    def writable(self) -> bool:
        """It can be written to."""
        return True

    def write(self, content: Any) -> int:
        """Take in the content."""
        self.sha256.update(content)
        return len(content)


def _file(data: Any, n_rows: int) -> dict[str, Any]:
    path = file_of(str(data)) if is_address(data) else expanded(data)
    return {"path": str(data), "rows": n_rows, "sha256": sha256(path)}
