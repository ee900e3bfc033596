"""Tables of results: means over seeds, paired differences, published values beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dips._paper.engine.statistics import PairedComparison, compare, holm, standard_error
from dips._tools.files import make_folder, write_whole

_LEVEL = 0.05


def with_error(values: pd.Series, scale: float = 100.0, digits: int = 2) -> str:
    """Mean and standard error over seeds, in percent.

    Examples
    --------
    >>> with_error(pd.Series([0.8, 0.82]))
    '81.00 ± 1.00'
    """
    values = values.dropna() * scale
    if not values.size:
        return ""
    error = f" ± {standard_error(values):.{digits}f}" if values.size > 1 else ""
    return f"{values.mean():.{digits}f}{error}"


def means(
    frame: pd.DataFrame,
    rows: str,
    columns: str,
    value: str = "accuracy",
    published: Callable[[Any, Any], Any] = lambda row, column: None,
    scale: float = 100.0,
    digits: int = 2,
    source: str = "paper",
) -> pd.DataFrame:
    """Means with standard errors; after each column, the published values, if there are any.

    The order is that of the first appearance.
    """
    row_names, column_names = frame[rows].drop_duplicates(), frame[columns].drop_duplicates()
    table = pd.DataFrame(index=pd.Index(row_names, name=rows))
    for column in column_names:
        part = frame[frame[columns] == column]
        cells = part.groupby(rows, sort=False)[value].apply(lambda values: with_error(values, scale, digits))
        title = str(column) if isinstance(column, str) else f"{columns} {column}"
        table[title] = cells.reindex(table.index).fillna("")
        said = [published(row, column) for row in row_names]
        if any(s is not None for s in said):
            table[f"{title}, {source}"] = ["" if s is None else str(s) for s in said]
    return table


def over_tables(frame: pd.DataFrame, *keys: str) -> pd.DataFrame:
    """Accuracy averaged over tables, seed by seed."""
    by_seed = frame.groupby([*(keys or ("method",)), "seed"], sort=False)[["accuracy", "test_over_train"]].mean()
    return by_seed.reset_index()


def paired(frame: pd.DataFrame, pairs: Iterable[tuple[str, str]], by: str | None = None) -> pd.DataFrame:
    """Differences in accuracy between methods on the same seeds, with standard errors and p-values by Holm's rule.

    The p-values account for rows that the splits of one table share; Holm's rule for the number of lines.
    """
    parts = [("", frame)] if by is None else [(str(k), part) for k, part in frame.groupby(by, sort=False)]
    lines: list[tuple[dict[str, str], PairedComparison]] = []
    for part_name, part in parts:
        wide = part.pivot_table(index="seed", columns="method", values="accuracy", observed=True)
        ratio = float(part["test_over_train"].mean())
        for first, second in pairs:
            if first in wide and second in wide:
                both = wide[[first, second]].dropna()
                comparison = compare(100 * both[first], 100 * both[second], ratio)
                lines.append(({by or "": part_name, "comparison": f"{first} − {second}"}, comparison))
    corrected = holm([comparison.p for _, comparison in lines])
    records = [names | _line(comparison, p) for (names, comparison), p in zip(lines, corrected, strict=True)]
    table = pd.DataFrame(records)
    return (
        table.drop(columns="", errors="ignore").set_index("comparison" if by is None else by) if len(table) else table
    )


def _line(comparison: PairedComparison, corrected: float) -> dict[str, Any]:
    sign = "" if np.isnan(corrected) else ("yes" if corrected < _LEVEL else "no")
    error = "" if np.isnan(comparison.error) else f" ± {comparison.error:.2f}"
    return {
        "difference": f"{comparison.difference:+.2f}{error}",
        "seeds": comparison.n,
        "p, corrected": "" if np.isnan(corrected) else ("< 0.001" if corrected < 0.001 else f"{corrected:.3f}"),
        "significant": sign,
    }


def markdown(table: pd.DataFrame) -> str:
    """A table in Markdown, its index as the first column.

    Examples
    --------
    >>> print(markdown(pd.DataFrame({"a": [1.234]}, index=pd.Index(["x"], name="n"))))
    | n | a |
    | --- | --- |
    | x | 1.23 |
    """
    flat = table.reset_index()
    lines = [list(map(str, flat.columns)), ["---"] * flat.shape[1]]
    lines += [[_cell(value) for value in row] for row in flat.itertuples(index=False, name=None)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _cell(value: Any) -> str:
    text = f"{value:.2f}" if isinstance(value, float) else str(value)
    return text.replace("|", "\\|").replace("\n", " ")


def write(table: pd.DataFrame, folder: Path, name: str) -> None:
    """Write a table as Markdown and as CSV."""
    make_folder(folder)
    write_whole(folder / f"{name}.md", (markdown(table) + "\n").encode())
    write_whole(folder / f"{name}.csv", table.to_csv().encode())
