"""The label column of a file: its cells to values, which :mod:`dips._data.labels` reads as classes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any
from unicodedata import normalize

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dips._data.labels import Labels, encode_values
from dips._files.label_words import LabelWords, settle_words
from dips._files.read import Table
from dips._files.values import MISSING, is_number, is_text, texts, value_counts
from dips._tools.arrays import Array
from dips._tools.wording import count_of, counted, option, some_of
from dips.exceptions import DataError

MIN_PER_CLASS = 5
_DECIMAL = re.compile(r"[+-]?\d*\.\d+")  # hardly the name of a column
_MAX_CLASSES = 100
_MANY_NUMBERS = 20  # as labels; so many are seldom classes
_CUT = "cut it into classes first, for instance above and below a limit"
_LARGEST = 2**63 - 1  # a larger number stays a text
_LARGEST_EXACT_FLOAT = 2**53  # above it, neighboring whole numbers are the same float


@dataclass(frozen=True)
class LabelOrigin:
    """What labels are of and where they come from, in words for messages.

    Attributes
    ----------
    unit : what has a label
    holder, of : what has them, and whose they are, each with the place of the column's name, if there is a column
    remedy : what to do where classes are too many
    """

    unit: str = "row"
    holder: str = "The target {!r} has"
    of: str = " of {!r}"
    remedy: str = "name the column that holds the classes"


IN_TABLE = LabelOrigin()


@dataclass(frozen=True)
class Target:
    """The labels of all rows, and what a study needs to know about them.

    Attributes
    ----------
    name : of the column
    labels : codes and classes
    positive : position of the class that F1, average precision and the report's curves are about
    notes : sentences on what was taken for what
    words : spellings of one label, and words for "no label", that were found
    origin : what labels are of and where they come from, in words
    """

    name: str
    labels: Labels
    positive: int
    notes: list[str]
    words: LabelWords = field(default_factory=LabelWords)
    origin: LabelOrigin = IN_TABLE

    @property
    def codes(self) -> Array:
        """Code of each row (n,), -1 where it has no label."""
        return self.labels.codes

    @property
    def classes(self) -> list[Any]:
        """The classes in ascending order; whole numbers where all of them are."""
        return self.labels.classes.tolist()

    @property
    def is_labeled(self) -> Array:
        """Mask of the labeled rows."""
        return self.labels.is_labeled

    @property
    def counts(self) -> Array:
        """How many labels each class has, (C,)."""
        return self.labels.counts

    def names(self, codes: Array) -> list[Any]:
        """Labels of the given codes, None for -1."""
        return self.labels.decode_or_none(np.asarray(codes)).tolist()


def read_target(
    table: Table,
    name: str,
    unlabeled_marks: tuple[str, ...] = (),
    positive: str | None = None,
    n_more: int = 0,
    keep: tuple[str, ...] = (),
    merge_labels: bool | None = None,
    map_label: Mapping[str, str | None] | None = None,
    origin: LabelOrigin = IN_TABLE,
) -> Target:
    """Read labels and classes of a column; `n_more` rows without a label follow.

    Labels in `keep`, such as NA, are classes, although they usually mean "no label". Spellings of one label are merged
    where the user says so, and kept apart where the user says that; where nothing is said, they are pointed out.
    """
    if name not in table.names:
        hint = _nearest(name, table.names)
        header = " If its first line is not a header, add one." if any(map(_DECIMAL.fullmatch, table.names)) else ""
        if len(table.names) == 1:
            header += " In a text file, cells are set apart by commas, semicolons, tabs or bars."
        raise DataError(f"{table.subject} has no column {name!r}{hint} It has {some_of(table.names)}.{header}")
    raw = table.columns[name]
    cells = _cells(raw, name, keep)
    marks = [m for m in unlabeled_marks if m not in ("", None)]
    unused = [m for m in marks if m not in value_counts(cells)]
    if marks:
        is_mark = pc.is_in(cells, pa.array(marks, pa.string()))
        cells = pc.if_else(is_mark, pa.scalar(None, pa.string()), cells)
    cells, words = settle_words(cells, name, merge_labels, map_label or {}, keep)
    labels = encode_values(np.asarray(cells.to_pandas(), dtype=object))
    said = [*_note_missing_words(raw, name, keep), *words.notes(name)]
    try:
        refuse_unusable(labels, name, origin)
    except DataError as error:  # a class may be missing because its name was read as "no label"
        raise DataError(" ".join([str(error), *said])) from None
    labels = _as_booleans(labels) if pa.types.is_boolean(raw.type) else _as_whole_numbers(labels)
    labels = labels.followed_by_unlabeled(n_more)
    classes, notes = labels.classes.tolist(), said
    if unused:
        notes.append(f"{option('unlabeled_mark', unused)} matches no label of {name!r}.")
    if _may_be_quantity(labels.classes):
        notes.append(f"{name!r} holds {len(classes)} numbers, each taken as a class; if they are a quantity, {_CUT}.")
    if -1 in classes:
        mark = option("unlabeled_mark", "-1")
        notes.append(f"-1 in {name!r} is taken as a class; if it marks unlabeled {origin.unit}s, use {mark}.")
    return Target(name, labels, _position(positive, labels, name), notes, words, origin)


def _nearest(name: str, names: list[str]) -> str:
    """Point to a name that is nearly the one that was given, or looks the same."""
    same = [n for n in names if normalize("NFC", n) == normalize("NFC", name)]
    if same:
        return f"; {same[0]!r} looks the same, but its letters are encoded differently: copy the name from the table."
    near = get_close_matches(name.lower(), [n.lower() for n in names], n=1)
    return next((f"; did you mean {n!r}?" for n in names if near and n.lower() == near[0]), ".")


def _cells(raw: pa.ChunkedArray, name: str, keep: tuple[str, ...]) -> pa.ChunkedArray:
    """Labels as texts, each whole number exactly as it was stored: 1.0 in a column with gaps is 1."""
    if pa.types.is_dictionary(raw.type):
        raw = raw.cast(raw.type.value_type)
    if pa.types.is_integer(raw.type):
        return raw.cast(pa.string())
    if pa.types.is_floating(raw.type):
        return _from_floats(raw.cast(pa.float64()), name)
    if not (is_text(raw.type) or is_number(raw.type) or pa.types.is_boolean(raw.type) or raw.type == pa.null()):
        raise DataError(f"The target {name!r} holds {raw.type} values; labels are texts, whole numbers or booleans.")
    cells = texts(raw, keep) if raw.type != pa.null() else raw.cast(pa.string())
    without_zeros = pc.replace_substring_regex(cells, r"^([+-]?\d+)\.0+$", r"\1")
    if pc.all(pc.match_substring_regex(without_zeros, r"^[+-]?\d+$")).as_py():
        return without_zeros
    if pa.types.is_decimal(raw.type):
        _refuse_continuous(np.array(raw.drop_null().to_pylist(), dtype=float), name)
    return cells


def _from_floats(values: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    known = values.drop_null().to_numpy()
    known = known[~np.isnan(known)]
    too_large = known[np.abs(known) > _LARGEST_EXACT_FLOAT]
    if too_large.size:
        raise DataError(
            f"The target {name!r} holds {too_large[0]:.17g} as a float, which cannot tell it from its neighbors; store "
            "labels as whole numbers or as text."
        )
    if (known != np.round(known)).any():
        _refuse_continuous(known, name)
    return pc.if_else(pc.is_nan(values), None, values).cast(pa.int64()).cast(pa.string())


def _note_missing_words(raw: pa.ChunkedArray, name: str, keep: tuple[str, ...]) -> list[str]:
    """Say which labels were read as "no label" although they are not empty, and how to have them as classes."""
    if not is_text(raw.type):
        return []
    words = pc.utf8_trim_whitespace(raw.cast(pa.string()))
    n_by_word = value_counts(words.filter(pc.is_in(words, pa.array([m for m in MISSING if m and m not in keep]))))
    if not n_by_word:
        return []
    listed = ", ".join(f"{word!r} ({n:,})" for word, n in sorted(n_by_word.items()))
    keep_it = option("keep_label", next(iter(n_by_word)))
    return [f"Labels of {name!r} read as missing: {listed}; if one is a class, use {keep_it}."]


def _refuse_continuous(known: Array, name: str) -> None:
    fraction = known[known != np.round(known)][0]
    quantity = f"holds fractions such as {fraction:g}: a quantity, and dips learns classes"
    raise DataError(f"The target {name!r} {quantity}; {_CUT}.")


def _may_be_quantity(classes: Array) -> bool:
    return classes.size > _MANY_NUMBERS and bool(np.isfinite(pd.to_numeric(pd.Series(classes), errors="coerce")).all())


def refuse_unusable(labels: Labels, name: str, origin: LabelOrigin = IN_TABLE, when: str = "") -> None:
    """Refuse labels that no model can be trained and tested on; `when` is put into the message."""
    classes, counts = labels.classes, labels.counts
    n_labeled, unit, of = int(counts.sum()), origin.unit, origin.of.format(name)
    if n_labeled == 0:
        raise DataError(
            f"All {labels.codes.size} labels in {name!r} are missing; at least two classes need labeled {unit}s."
        )
    if classes.size == 1:
        raise DataError(
            f"Every labeled {unit}{of} has the label {classes[0]!r} ({counted(n_labeled, unit)}); a classifier "
            "needs at least two classes."
        )
    by_class = some_of(map(count_of, map(repr, classes.tolist()), counts), 5)
    if n_labeled < 2 * MIN_PER_CLASS:
        raise DataError(
            f"Only {n_labeled} {unit}s{of} are labeled ({by_class}); label at least {MIN_PER_CLASS} of each class."
        )
    if classes.size > _MAX_CLASSES or classes.size > n_labeled / 2:
        cut = f"; if they are a quantity, {_CUT}; otherwise " if _may_be_quantity(classes) else "; "
        raise DataError(
            f"{origin.holder.format(name)} {classes.size} different labels in {n_labeled} labeled {unit}s, such as "
            f"{classes[0]!r} and {classes[1]!r}{cut}{origin.remedy} (at most {_MAX_CLASSES})."
        )
    rare = {c: int(n) for c, n in zip(classes.tolist(), counts, strict=True) if n < MIN_PER_CLASS}
    if rare:
        few, it = _too_few(rare, unit, of, when)
        quantity = f" If labels are a quantity, {_CUT}." if _may_be_quantity(classes) else ""
        marks = [str(c) for c in rare]
        mark = option("unlabeled_mark", marks[0] if len(marks) == 1 else marks)
        leave_out = f", or treat them as unlabeled with {mark}" if classes.size - len(rare) >= 2 else ""
        raise DataError(
            f"{few}, and at least {MIN_PER_CLASS} are needed to learn from some and judge the others; label more "
            f"{unit}s of {it}{leave_out}.{quantity}"
        )


def _too_few(rare: dict[Any, int], unit: str, of: str, when: str) -> tuple[str, str]:
    """Say which classes have too few labels, and with which word to speak of them."""
    if len(rare) == 1:
        ((c, n),) = rare.items()
        return f"The class {c!r}{of} {when}has {counted(n, f'labeled {unit}')}", "it"
    named = some_of(count_of(repr(c), n) for c, n in rare.items())
    return f"{len(rare)} classes{of} {when}have few labeled {unit}s ({named})", "them"


def _as_whole_numbers(labels: Labels) -> Labels:
    """Return labels that are texts as whole numbers, if every one of them is written as such."""
    texts = labels.classes.tolist()
    try:
        numbers = [int(text) for text in texts]
    except ValueError:
        return labels
    is_plain = all(str(n) == text and abs(n) <= _LARGEST for n, text in zip(numbers, texts, strict=True))
    return labels.renamed(numbers) if is_plain else labels


def _as_booleans(labels: Labels) -> Labels:
    """Return labels that are texts as booleans, unless the user has given them other names."""
    texts = labels.classes.tolist()
    return labels.renamed([text == "True" for text in texts]) if set(texts) <= {"True", "False"} else labels


def _position(positive: str | None, labels: Labels, name: str) -> int:
    """Position of the positive class; if none is named, the rarer of two words, or the last (1, True)."""
    classes = labels.classes.tolist()
    if positive is None:
        counts = labels.counts
        are_two_words = len(classes) == 2 and all(isinstance(c, str) for c in classes)
        return 0 if are_two_words and counts[0] < counts[1] else len(classes) - 1
    for code, c in enumerate(classes):
        if str(c) == str(positive):
            return code
    raise DataError(f"The positive class {positive!r} is not among the labels of {name!r}: {some_of(classes)}.")
