"""What a finished study shows of itself: its suspects, its page, a short one in a notebook, and pictures."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dips._estimators.plots import draw_curves, draw_map
from dips._report import render
from dips._report.compact import render_compact
from dips._report.suspects import suspects_of
from dips._tools.files import write_whole
from dips.exceptions import InputError

_FIRST = 10  # suspects whose curves are drawn


class Pictured:
    """Has an account of its rows, and a summary, which is what its page shows."""

    @property
    def samples(self) -> pd.DataFrame:
        """The account of every row."""
        raise NotImplementedError

    @property
    def summary(self) -> dict[str, Any]:
        """What the page shows, as plain data."""
        raise NotImplementedError

    def suspects(self, order: str | None = None) -> pd.DataFrame:
        """Given labels to look at first: the most probably "wrong", or the most "useful" to check.

        Of images where no label is suspect, these are the labels that are most likely to be wrong.
        """
        return suspects_of(self.samples, order)

    def write_report(self, path: Path | str) -> None:
        """Write the page."""
        write_whole(Path(path), render(self.summary).encode())

    def _repr_html_(self) -> str:
        """A short version of the page, for notebooks."""
        return render_compact(self.summary, self.suspects())

    def plot_map(self, ax: Any = None) -> Any:
        """Draw every label by how it was learned, with matplotlib; return the axes.

        Where there are many labels, those that the page shows are drawn: the suspects, and a sample of the others.
        """
        points = self.summary["points"]
        confidence, uncertainty = (np.array(points[k]) / 1000 for k in ("confidence", "aleatoric"))
        is_suspect, is_pseudo = np.array(points["rank"]) > 0, np.array(points["round"]) > 0
        return draw_map(confidence, uncertainty, is_suspect, is_pseudo, ax)

    def plot_curves(self, rows: Sequence[int] | None = None, ax: Any = None) -> Any:
        """Draw the probability of labels along the training; return the axes.

        `rows` are numbers of rows, from 1 as in ``samples``; the first ten suspects unless they are given.
        """
        points = self.summary["points"]
        if not points["curves"]:
            raise InputError("The backbone is not trained step by step, so there are no curves.")
        curves = np.frombuffer(base64.b64decode(points["curves"]), dtype=np.uint8).reshape(-1, points["n_curve"]) / 255
        at = {row: k for k, row in enumerate(points["row"])}
        chosen = list(rows) if rows is not None else self.suspects()["row"].tolist()[:_FIRST]
        missing = [row for row in chosen if row not in at]
        if missing:
            raise InputError(f"Row {missing[0]} is not among the {len(at):,} rows whose curves are kept.")
        positions = [at[row] for row in chosen]
        labels = [self.summary["classes"][points["label"][k]] for k in positions]
        names = [f"row {row}: {label}" for row, label in zip(chosen, labels, strict=True)]
        return draw_curves(curves[positions], names, ax)


class Audited(Pictured):
    """Labels that were judged, and the findings about them."""

    findings: Any

    @property
    def share_wrong(self) -> float | None:
        """Estimated share of wrong labels, where the curator estimates it."""
        return self.findings.noise_rate

    @property
    def interval(self) -> tuple[float, float] | None:
        """Lowest and highest share that explain the labels nearly as well, where the curator gives them."""
        return self.findings.noise_interval
