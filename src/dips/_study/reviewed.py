"""Verified labels of a study: from a column of the table, and from a file of corrections."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dips._data.labels import UNLABELED
from dips._data.verified import Verified
from dips._files.corrections import Corrections
from dips._files.read import Table
from dips._files.row_keys import key_columns
from dips._files.target import Target, refuse_unusable
from dips._tools.arrays import Array
from dips._tools.wording import counted, option
from dips.exceptions import DataError

_YES, _NO = ("yes", "true", "1"), ("no", "false", "0")


def labels_after_review(
    table: Table,
    target: Target,
    ids: list[str],
    column: str | None,
    corrections: Corrections | None,
    error: float = 0.0,
) -> tuple[Target, Verified, list[str]]:
    """Return the labels after the corrections, which of them are verified, and notes on that.

    Parameters
    ----------
    table, target : the rows, and their labels as given
    ids : columns that name a row
    column : holds yes where a label is verified
    corrections : what reviewers say of labels
    error : how often they are wrong
    """
    verified = replace(Verified.nothing(table.n_rows), error=error)
    if column is not None:
        verified = replace(verified, mask=verified_rows(table, column, target.is_labeled))
    if corrections is None:
        note = f"Verified labels: {verified.mask.sum():,}{_in_doubt(error)}."
        return target, verified, [note] if column is not None else []
    corrections = corrections.renamed(target.words.renamed, target.classes)
    keys = Table(table.columns.select(ids), table.source) if ids else None
    after = corrections.apply(target.names(target.codes), keys)
    codes = {c: code for code, c in enumerate(target.classes)}
    labels = replace(target.labels, codes=np.array([codes.get(label, UNLABELED) for label in after.y]))
    refuse_unusable(labels, target.name, target.origin, "after the corrections ")
    before = np.where(after.verified, target.codes, UNLABELED)
    verified = Verified((verified.mask | after.verified) & labels.is_labeled, before, error)
    notes = [_note(target.codes, labels.codes, verified)]
    if corrections.go_by_number(ids):
        notes.append(_by_number(corrections.source, target.origin.unit))
    return replace(target, labels=labels), verified, notes


def verified_rows(table: Table, column: str, is_labeled: Array) -> Array:
    """Mask of the rows whose cell says yes; refuses other words than yes and no, and yes where there is no label."""
    cells = [None if c is None else c.lower().removesuffix(".0") for c in key_columns(table, [column])[column]]
    for row, cell in enumerate(cells):
        if cell is not None and cell not in _YES + _NO:
            raise DataError(
                f"{option('verified')} names {column!r}, which holds {cell!r} in row {row + 1}; its cells are "
                "yes or no (true or false, 1 or 0, empty for no)."
            )
    mask = np.array([cell in _YES for cell in cells])
    unlabeled = np.flatnonzero(mask & ~is_labeled)
    if unlabeled.size:
        more = f" ({unlabeled.size - 1:,} more like it)" if unlabeled.size > 1 else ""
        raise DataError(
            f"Row {unlabeled[0] + 1} is marked as verified in {column!r}, but has no label{more}; write the label that "
            "was checked, or no where none was."
        )
    return mask


def _note(before: Array, after: Array, verified: Verified) -> str:
    n_changed = int((verified.mask & (before != UNLABELED) & (before != after)).sum())
    n_new = int((verified.mask & (before == UNLABELED)).sum())
    n_unlabeled = int(((before != UNLABELED) & (after == UNLABELED)).sum())
    parts = [f"Verified labels: {verified.mask.sum():,}, of which {n_changed:,} corrected"]
    parts += [counted(n_new, "is new", "are new")] if n_new else []
    parts += [f"{counted(n_unlabeled, 'row counts', 'rows count')} as unlabeled"] if n_unlabeled else []
    return f"{', '.join(parts)}{_in_doubt(verified.error)}."


def _by_number(source: str, unit: str) -> str:
    return (
        f"{source} tells its {unit}s by their number alone, so they must be those that were checked, in that order; "
        f"an id in both files is safer ({option('id')})."
    )


def _in_doubt(error: float) -> str:
    return f"; about {100 * error:.2g} % of them are assumed to be wrong ({option('reviewer_error')})" if error else ""
