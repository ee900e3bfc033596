"""What the words in a label column may mean besides classes: told by the user, else pointed out or refused."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dips._files.spelling import Variants, find_variants, spelled
from dips._files.unlabeled_words import find_unlabeled_words
from dips._files.values import value_counts
from dips._tools.wording import counted, option, some_of
from dips.exceptions import DataError

_FEW = 10  # rows of a class; where a spelling has fewer, going on would be wrong


@dataclass(frozen=True)
class LabelWords:
    """What was found in a label column.

    Attributes
    ----------
    variants : labels in several spellings
    merged : whether their spellings were merged
    unlabeled : labels that look like a word for "no label", with their rows
    mapped : other names that the user has given to labels
    """

    variants: list[Variants] = field(default_factory=list)
    merged: bool = False
    unlabeled: dict[str, int] = field(default_factory=dict)
    mapped: dict[str, str] = field(default_factory=dict)

    @property
    def renamed(self) -> dict[str, str]:
        """What labels of the file are called now, where that is another name."""
        merged = _one_spelling(self.variants) if self.merged else {}
        return merged | {old: merged.get(new, new) for old, new in self.mapped.items()}

    def notes(self, name: str) -> list[str]:
        """Say what was found, with the options that settle it."""
        notes = []
        if self.variants and self.merged:
            notes.append(f"Spellings of one label in {name!r} are merged: {spelled(self.variants)}.")
        elif self.variants:
            notes.append(
                f"Labels in {name!r} look like spellings of one: {spelled(self.variants)}; "
                f"{option('merge_labels', True)} merges them."
            )
        for word, n in self.unlabeled.items():
            mark = option("unlabeled_mark", word)
            notes.append(
                f"{word!r} ({counted(n, 'row')}) in {name!r} is taken as a class, but looks like a word for 'no label';"
                f" if it is one, use {mark}."
            )
        return notes

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def settle_words(
    cells: pa.ChunkedArray,
    name: str,
    merge_labels: bool | None,
    map_label: Mapping[str, str | None],
    keep: Collection[str] = (),
) -> tuple[pa.ChunkedArray, LabelWords]:
    """Apply what the user said about the labels, and find what nothing was said about.

    Parameters
    ----------
    cells : labels as texts
    name : of the column
    merge_labels : merge the spellings of one label; False keeps every label as it is; None was not said
    map_label : other names for labels; None for a text such as ``<=50K=low``, to be divided where a label ends
    keep : labels that are classes, although they look like a word for "no label"
    """
    map_label = _divided(map_label, cells, name)
    cells = _renamed(cells, map_label, name)
    counts = value_counts(cells)
    if merge_labels is False:
        return cells, LabelWords(mapped=dict(map_label))
    variants = find_variants(counts)
    unlabeled = {word: n for word, n in find_unlabeled_words(counts).items() if word not in keep}
    _refuse_majority_without_label(counts, unlabeled, name)
    words = LabelWords(variants, bool(merge_labels), unlabeled, dict(map_label))
    if not merge_labels:
        _refuse_few(variants, name)
        return cells, words
    return _renamed(cells, _one_spelling(variants), name), words


def _one_spelling(variants: list[Variants]) -> dict[str, str]:
    return {spelling: v.label for v in variants for spelling in v.spellings if spelling != v.label}


def _refuse_few(variants: list[Variants], name: str) -> None:
    rare = [(n, s) for v in variants for s, n in v.spellings.items() if n < _FEW]
    if rare:
        n, spelling = min(rare)
        raise DataError(
            f"Labels in {name!r} look like spellings of one ({spelled(variants)}), and as a class {spelling!r} would "
            f"have {counted(n, 'row')}; use {option('merge_labels', True)} to merge them, "
            f"{option('map_label', (spelling, 'LABEL'))} to name the right one yourself, or "
            f"{keep_labels()} if every spelling is a class."
        )


def _refuse_majority_without_label(counts: Mapping[str, int], unlabeled: Mapping[str, int], name: str) -> None:
    if unlabeled and len(counts) > 1:
        word, n = next(iter(unlabeled.items()))
        if n == max(counts.values()):
            raise DataError(
                f"The most frequent label of {name!r} is {word!r} ({n:,} of {sum(counts.values()):,} rows), which "
                f"looks like a word for 'no label'; use {option('unlabeled_mark', word)}, or "
                f"{option('keep_label', word)} if it is a class."
            )


def keep_labels() -> str:
    """Write the option that takes every label as it is."""
    merge = option("merge_labels", True)
    return merge.replace("--merge", "--no-merge").replace("True", "False")


def ways_to_divide(pair: str) -> list[tuple[str, str]]:
    """What OLD=NEW may mean, since either may have an equals sign of its own.

    Examples
    --------
    >>> ways_to_divide("Y=yes"), ways_to_divide("<=50K=low")
    ([('Y', 'yes')], [('<', '50K=low'), ('<=50K', 'low')])
    """
    ways = [(pair[:at], pair[at + 1 :]) for at, mark in enumerate(pair) if mark == "="]
    return [(old, new) for old, new in ways if old and new]


def _divided(names: Mapping[str, str | None], cells: pa.ChunkedArray, column: str) -> dict[str, str]:
    """Divide the texts of several equals signs where a label ends."""
    labels = value_counts(cells) if None in names.values() else {}
    divided: dict[str, str] = {}
    for text, new in names.items():
        ways = [(text, new)] if new is not None else [way for way in ways_to_divide(text) if way[0] in labels]
        if not ways:
            raise DataError(
                f"{option('map_label')} {text!r} begins with no label of {column!r}; choose one of "
                f"{some_of(sorted(labels))}."
            )
        old, new = ways[0]
        if divided.setdefault(old, new) != new:
            raise DataError(
                f"{option('map_label')} gives {old!r} more than one value: {divided[old]} and {new}; leave all but one "
                "out."
            )
    return divided


def _renamed(cells: pa.ChunkedArray, names: Mapping[str, str], column: str) -> pa.ChunkedArray:
    if not names:
        return cells
    old = pa.array(list(names), pa.string())
    position = pc.index_in(cells, old)
    unknown = set(range(len(names))) - set(position.drop_null().unique().to_pylist())
    if unknown:
        raise DataError(
            f"{option('map_label')} names {old[min(unknown)].as_py()!r}, which is not a label of {column!r}; choose "
            f"one of {some_of(sorted(value_counts(cells)))}."
        )
    return pc.coalesce(pa.array(list(names.values()), pa.string()).take(position.combine_chunks()), cells)
