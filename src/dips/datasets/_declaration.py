"""Describes a table: where it comes from, which rows and columns are used, what the label is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dips.datasets._download import Remote

ANY_OTHER = "*"  # in codes: all values that are not named


@dataclass(frozen=True)
class Source:
    """Where the public copy is.

    Attributes
    ----------
    files : the files, stacked
    read : options of ``pandas.read_csv``
    openml : number of an OpenML data set, instead of files
    names : names of its columns, if OpenML has others
    rows : rows of the files that belong to the table, as a pandas query
    n_rows : how many these are; checks a file whose checksum is not known
    """

    files: tuple[Remote, ...] = ()
    read: Mapping[str, Any] = field(default_factory=dict)
    openml: int | None = None
    names: tuple[str, ...] = ()
    rows: str | None = None
    n_rows: int | None = None


@dataclass(frozen=True)
class Declaration:
    """One table, from the file as published to the features and the label of the paper.

    Attributes
    ----------
    name, title : its name in the package, and what it is
    file : name of the file in a local folder, without its ending
    source : where to download it; None if it may not be redistributed
    label : the column of the label
    classes : code of each value of the label
    above : alternatively, the label is whether the column exceeds this; without both, its values in order
    features : how many features result
    rows : rows to use, as a pandas query
    unknown : rows that hold this text anywhere are left out
    keep : columns to use; if none is named, all that are not left out
    drop : columns to leave out, which must exist
    ignore : columns to leave out if they exist
    zero_is_missing : columns in which 0 means not measured
    flags : columns reduced to whether they exceed 0
    codes : code of each value of a column; ANY_OTHER stands for values not named
    renamed : new names of columns, given after `codes`
    ranks : values of a column in their order
    one_hot : columns that become one column per value
    from_one_hot : columns that are put together from 0/1 columns, by position from 1
    group : a column that says which part a row belongs to; not a feature
    paper_rows : how many rows, or which share of them, the paper draws from the table before anything else
    balanced : how many rows of each class it draws
    columns : columns that a user's own copy must have, and what they hold
    """

    name: str
    title: str
    file: str
    label: str
    features: int
    source: Source | None = None
    classes: Mapping[Any, int] | None = None
    above: float | None = None
    rows: str | None = None
    unknown: str | None = None
    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    zero_is_missing: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    codes: Mapping[str, Mapping[Any, int]] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    ranks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    one_hot: tuple[str, ...] = ()
    from_one_hot: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    group: str | None = None
    paper_rows: int | float | None = None
    balanced: int | None = None
    columns: Mapping[str, str] = field(default_factory=dict)

    def wanted(self) -> list[str]:
        """Names of the columns that the file must have."""
        named = [self.label, *self.keep, *self.drop, *self.zero_is_missing, *self.flags, *self.codes, *self.ranks]
        named += [*self.one_hot, *(c for parts in self.from_one_hot.values() for c in parts), *self.columns]
        return list(dict.fromkeys(named + ([self.group] if self.group else [])))
