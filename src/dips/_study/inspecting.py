"""A look before the work: what the columns hold, what is guessed, what is doubtful, and which options settle it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from dips._files.columns import Schema, notes_on
from dips._files.kinds import MOSTLY_NUMBERS
from dips._files.prepare import Preparation
from dips._files.read import Table, read_table
from dips._files.sample import TableSample, look_at, whole
from dips._files.sources import named_sources
from dips._files.target import Target, read_target
from dips._study.baseline import better_options, imbalance_notes, majority
from dips._study.data import refuse_without_columns, stack_tables, understand_columns
from dips._study.duplicates import Duplicates, find_duplicates
from dips._study.groups import group_notes, groups_in, joined_with_copies, repeated_ids
from dips._study.leaks import Leak, LeakCheck, rows_to_check, single_columns
from dips._study.reviewed import verified_rows
from dips._study.settings import Settings
from dips._tools.arrays import Array
from dips._tools.wording import option
from dips.exceptions import DataError


@dataclass
class Inspection:
    """What was found.

    Attributes
    ----------
    n_rows : of the table; ``look`` holds all of them, or a sample
    schema : the columns besides the target
    target : the labels, or None where there is no target or it cannot be used
    problem : why a study of this table would be refused, if it would be
    duplicates : rows that are the same; None where only a sample was looked at
    repeated_ids, leaks : as in a study
    """

    look: TableSample
    schema: Schema
    target: Target | None = None
    problem: str | None = None
    duplicates: Duplicates | None = None
    repeated_ids: dict[str, int] = field(default_factory=dict)
    leaks: list[Leak] = field(default_factory=list)

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return self.look.n_rows

    @property
    def notes(self) -> list[str]:
        """Sentences on what was understood, guessed and found doubtful."""
        notes = list(self.look.table.notes)
        if not self.look.is_whole:
            notes.append(f"Columns were looked at in {self.look.table.n_rows:,} rows drawn at random, not in all.")
        if self.target is not None:
            notes += [*self.target.notes, *imbalance_notes(self.target, "accuracy")]
        notes += group_notes(self.schema, self.repeated_ids, self.look.table.n_rows)
        notes += [] if self.duplicates is None else self.duplicates.notes()
        notes += [leak.sentence() for leak in self.leaks]
        return notes + notes_on(self.schema.columns)

    @property
    def leaks_alone(self) -> dict[str, float]:
        """Columns that predict the label almost alone."""
        return single_columns(self.leaks)

    @property
    def options(self) -> list[str]:
        """Options that what was found suggests; none is taken without being asked for."""
        options = []
        if self.target is not None:
            words = self.target.words
            options += [option("merge_labels", True)] if words.variants and not words.merged else []
            options += [option("unlabeled_mark", word) for word in words.unlabeled]
            if imbalance_notes(self.target, "accuracy"):
                options += better_options(self.target)
        options += [option("group", name) for name in self.repeated_ids][:1]
        skipping = option("skip_below", 1)
        options += [skipping] if any(f", {skipping} leaves" in note for note in self.look.table.notes) else []
        options += [option("type", (c.name, "number")) for c in self.schema.columns if MOSTLY_NUMBERS in c.note]
        return options + [option("drop", name) for leak in self.leaks for name in leak.columns[:1]]

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        labels = None
        if self.target is not None:
            classes = {str(c): int(n) for c, n in zip(self.target.classes, self.target.counts, strict=True)}
            labels = self.target.words.to_json() | {"classes": classes, "majority": majority(self.target)}
        return {
            "rows": self.n_rows,
            "rows_looked_at": self.look.table.n_rows,
            "problem": self.problem,
            "columns": self.schema.to_json(),
            "labels": labels,
            "leaks": [leak.to_json() for leak in self.leaks],
            "duplicates": None if self.duplicates is None else self.duplicates.to_json(),
            "repeated_ids": self.repeated_ids,
            "notes": self.notes,
            "options": self.options,
        }


def inspect(data: Any, target: str | None = None, **settings: Any) -> Inspection:
    """Look at a table before the work starts.

    Parameters
    ----------
    data : path or table, or several
        Of one large file, a sample is looked at.
    target : str, optional
        The column with the labels.
    **settings
        Those of a study that say how to read the table.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"price": ["$5.10", "$1,200.00"] * 20, "sold": ["yes", "no"] * 20})
    >>> inspection = inspect(table, "sold")
    >>> [(c.name, c.kind, c.note) for c in inspection.schema.columns], inspection.problem
    ([('price', 'number', 'amounts in $')], None)
    """
    checked = Settings(target=target or "", **settings).checked()
    look = _look(named_sources(data), target, checked)
    inspection = Inspection(look, understand_columns(look.table, checked))
    inspection.repeated_ids = {} if checked.group else repeated_ids(look.table, inspection.schema)
    verified = groups = None
    if target is not None:
        try:
            inspection.target = _labels(look, checked)
            refuse_without_columns(inspection.schema)
            if checked.verified is not None and look.is_whole:
                verified = verified_rows(look.table, checked.verified, inspection.target.is_labeled)
        except DataError as error:
            inspection.problem = str(error)
    labels = _in_one_spelling(look, inspection.target, checked)
    if inspection.schema.used and look.is_whole:
        known = inspection.target or labels
        codes = np.full(look.n_rows, -1) if known is None else known.codes
        of_group = None if checked.group is None else groups_in(look.table, checked.group)
        duplicates = find_duplicates(look.table, inspection.schema, codes, verified)
        groups, inspection.duplicates = joined_with_copies(of_group, duplicates)
    if labels is not None and inspection.schema.used:
        inspection.leaks = _leaks(look, inspection.schema, labels, checked, groups)
    return inspection


def _look(sources: list[Any], target: str | None, settings: Settings) -> TableSample:
    """Read a table, or several files under each other; of a large one, a sample of its rows and all labels."""
    where, wanted = (settings.sheet, settings.skip_rows), () if target is None else (target,)
    if len(sources) == 1:
        return look_at(sources[0], target, *where, wanted, settings.seed, settings.skip_below)
    tables = [read_table(source, *where, wanted, settings.skip_below) for source in sources]
    return whole(stack_tables(tables, [], settings.target, settings.verified), target)


def _in_one_spelling(look: TableSample, target: Target | None, settings: Settings) -> Target | None:
    """Labels as they are once their spellings are merged, where nothing was said about these; they may be refused."""
    if not settings.target or settings.merge_labels is not None or (target and not target.words.variants):
        return target
    try:
        return _labels(look, replace(settings, merge_labels=True))
    except DataError:
        return target


def _labels(look: TableSample, settings: Settings) -> Target:
    return read_target(
        look.labels or look.table, settings.target, settings.unlabeled_mark, settings.positive,
        keep=settings.keep_label, merge_labels=settings.merge_labels, map_label=settings.map_label,
    )  # fmt: skip


def _leaks(look: TableSample, schema: Schema, target: Target, settings: Settings, groups: Array | None) -> list[Leak]:
    """Look for leaks as a study does; of a large table, only the rows that are looked at are prepared."""
    codes = target.codes[look.rows]
    labeled = np.flatnonzero(codes != -1)
    rows = rows_to_check(codes, labeled, settings.seed)
    if rows.size < 20:
        return []
    some = Table(look.table.columns.take(pa.array(rows)), look.table.source)
    preparation = Preparation(schema).learn(some)
    check = LeakCheck(
        preparation, preparation.encode(some), codes[rows], np.arange(rows.size), settings.seed,
        None if groups is None else groups[rows], np.bincount(codes[labeled]),
    )  # fmt: skip
    return check.leaks()
