"""What a review is about, as plain data: filled in by whoever has a run, an audit or a classifier of images."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd

ROW, KEY, GIVEN, SUGGESTED = "row", "key", "given", "suggested"
CORRECTION = ("row", "given_label", "label", "reviewer", "time")  # columns of corrections


class Showing(Protocol):
    """Shows one row of the account, by its position there, without anything that tells its label."""

    @property
    def columns(self) -> list[dict[str, Any]]:
        """What is the same for all rows: the columns, most important first, with typical values of each class."""

    def of(self, position: int) -> dict[str, Any]:
        """What is shown of one row: values, or pictures."""

    def find(self, words: list[str], positions: list[int]) -> list[int]:
        """Positions of the rows that hold every word."""


@dataclass(frozen=True)
class SourceFile:
    """A file with labels, or a table of a database, and which rows of the review came from it.

    Attributes
    ----------
    path : of the file, or the address of the table
    first, n_rows : its rows are those from the first on, so many
    sheet, skip_rows, skip_below : where in the file the table is, as it was said when the run was made
    """

    path: Path | str
    first: int
    n_rows: int
    sheet: str | int | None = None
    skip_rows: int | None = None
    skip_below: int = 0


@dataclass
class Material:
    """What there is to review.

    Attributes
    ----------
    title, target, unit : what it is about, the column with the labels, "row" or "image"
    classes : the labels, as texts
    account : data frame, one line per labeled row: row (its number), key (its name), given and suggested (codes, -1
        for none), p_wrong, suspicion (1 for the suspect to look at first, NaN for none), reason, height and across
        (its place on the map), is_checkable (False for labels that were verified before)
    key_names : columns that name a row; none if rows are known by number
    keys : for each of those columns, the cell of every row, labeled or not, by the row's number
    earlier : corrections that the run was made with: row, given_label (None where that is not known), label (a class,
        "keep" or "unlabeled"), reviewer, time
    checksum : of the run
    showing : shows rows
    curve : probability of a row's label along the training, by its position; None where it is not known
    map : places of some labels to draw around: height, across, useful, each a list; and what the axes mean
    n_checkpoints : of the training
    n_warm_up : how many points of a curve belong to the warm-up
    sources : what the run was made of, if that is at hand
    raw_labels : cells of the label column as they are in the files, by row
    truth : the true labels by row, where they are known, as in a demonstration
    examples : pictures of each class to compare an image with
    opening : rows to look at before all others, in order, suspects or not
    """

    title: str
    target: str
    unit: str
    classes: list[str]
    account: pd.DataFrame
    checksum: str
    showing: Showing
    key_names: list[str] = field(default_factory=list)
    keys: dict[str, dict[int, Any]] = field(default_factory=dict)
    earlier: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=list(CORRECTION)))
    curve: Callable[[int], list[float] | None] = lambda position: None
    map: dict[str, Any] = field(default_factory=dict)
    n_checkpoints: int = 0
    n_warm_up: int = 0
    sources: list[SourceFile] = field(default_factory=list)
    raw_labels: dict[int, Any] = field(default_factory=dict)
    truth: dict[int, str] | None = None
    examples: list[list[str]] = field(default_factory=list)
    opening: list[int] = field(default_factory=list)

    @cached_property
    def position(self) -> dict[int, int]:
        """Where each row is in the account, by its number."""
        return {int(row): k for k, row in enumerate(self.account[ROW])}

    @cached_property
    def given(self) -> dict[int, str]:
        """The given label of each row."""
        pairs = zip(self.account[ROW].tolist(), self.account[GIVEN].tolist(), strict=True)
        return {row: self.classes[code] for row, code in pairs}

    @cached_property
    def class_keys(self) -> dict[str, int]:
        """The class that each digit on the keyboard stands for.

        Classes that are called by a digit have their own; else 1 to 9 are the most frequent classes, in order.
        """
        if all(len(name) == 1 and name in "0123456789" for name in self.classes):
            return {name: code for code, name in enumerate(self.classes)}
        counts = np.bincount(self.account[GIVEN], minlength=len(self.classes))
        frequent = sorted(np.argsort(-counts, kind="stable")[:9].tolist())
        return {str(key): code for key, code in enumerate(frequent, start=1)}

    def key_of(self, row: int) -> str:
        """The name of a row; empty if it has none."""
        return str(self.account[KEY].iloc[self.position[row]])
