"""Predictions scored by a table that holds the truth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dips._data.labels import UNLABELED
from dips._files.read import Table
from dips._files.values import texts
from dips._persistence import SavedModel
from dips._report.metric_words import amount_with_range, title_of
from dips._study.metrics import intervals, metrics_for
from dips._tools.arrays import Array
from dips._tools.wording import beside, counted, some_of

_KEPT = ("value", "low", "high")
_TOLD = ("accuracy", "balanced_accuracy", "f1", "roc_auc", "log_loss", "cost")


@dataclass(frozen=True)
class Scores:
    """How good predictions are, by the labels that came with the rows.

    Attributes
    ----------
    n : rows with a label
    metrics : value, low and high of each metric
    baseline : the most frequent label, and the accuracy of always answering it
    recall : share of the rows of each class that were found
    unknown : labels that the model does not know; their rows are not scored
    metric : the one that decided in the run
    """

    n: int
    metrics: dict[str, dict[str, float]]
    baseline: dict[str, Any]
    recall: dict[str, float]
    unknown: list[str]
    metric: str = ""

    def sentences(self) -> list[str]:
        """Say it."""
        if not self.n:
            return [f"The model does not know the labels in the file ({', '.join(self.unknown[:5])}): no score."]
        listed = (*_TOLD, self.metric)
        told = [f"{title_of(k)} {amount_with_range(k, v)}" for k, v in self.metrics.items() if k in listed]
        recalls = some_of(beside(name, f"{100 * share:.0f} %") for name, share in self.recall.items())
        always = f"always '{self.baseline['label']}' would have an accuracy of {100 * self.baseline['accuracy']:.1f} %"
        said = [
            f"On the {counted(self.n, 'row that has', 'rows that have')} a label: {'; '.join(told)}; {always}.",
            f"Recall by class: {recalls}.",
        ]
        if self.unknown:
            said.append(f"Not scored, because the model does not know their labels: {', '.join(self.unknown[:5])}.")
        return said

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def score_predictions(
    model: SavedModel,
    table: Table,
    p: Array,
    settings: dict[str, Any],
    spellings: Mapping[str, str],
    positive: Any = None,
) -> Scores | None:
    """Score class probabilities of a table's rows; None where the target is not in it or is empty.

    Labels are read as in the training: words for "no label" are none, and labels that were renamed, or are another
    spelling of one, are that one. The positive class is the last one where none is given.
    """
    target = settings["target"]
    if target not in table.names:
        return None
    renamed = {**spellings, **(settings.get("map_label") or {})}
    marks = set(settings.get("unlabeled_mark") or ())
    cells = texts(table.columns[target], tuple(settings.get("keep_label") or ()))
    codes, unknown = _codes(cells.to_pylist(), model.classes, marks, renamed)
    is_known = codes != UNLABELED
    if not is_known.any():
        return Scores(0, {}, {}, {}, unknown) if unknown else None
    codes, p = codes[is_known], p[is_known]
    names = [str(c) for c in model.classes]
    of_interest = len(names) - 1 if positive is None else names.index(str(positive))
    costs = (model.about or {}).get("costs")
    metrics = metrics_for(None if costs is None else np.array(costs), decide=True)
    scores = intervals(codes, {"model": p}, of_interest, "model", metrics=metrics)["model"]
    counts = np.bincount(codes, minlength=len(model.classes))
    decided = model.decide(p)
    return Scores(
        n=int(codes.size),
        metrics={k: {each: v[each] for each in _KEPT} for k, v in scores.items() if np.isfinite(v["value"])},
        baseline={"label": model.classes[int(counts.argmax())], "accuracy": float(counts.max() / codes.size)},
        recall={str(c): float((decided == k)[codes == k].mean()) for k, c in enumerate(model.classes) if counts[k]},
        unknown=unknown,
        metric=settings.get("metric", ""),
    )


def _codes(
    cells: list[str | None], classes: list[Any], marks: set[str], renamed: Mapping[str, str]
) -> tuple[Array, list[str]]:
    positions = {_plain(c): k for k, c in enumerate(classes)}
    positions |= {str(c).strip(): k for k, c in enumerate(classes)}  # 01 and 1 may be two labels
    codes, unknown = np.full(len(cells), UNLABELED), dict[str, None]()
    for i, cell in enumerate(cells):
        if cell is None or not cell.strip() or cell.strip() in marks:
            continue
        name = renamed.get(cell.strip(), cell).strip()
        codes[i] = positions.get(name, positions.get(_plain(name), UNLABELED))
        if codes[i] == UNLABELED:
            unknown[cell.strip()] = None
    return codes, list(unknown)


def _plain(label: Any) -> str:
    """Write a label as a text; a whole number has no decimals."""
    text = str(label).strip()
    if "_" in text:  # Python takes 1_0 for 10
        return text
    try:
        number = float(text)
    except ValueError:
        return text
    return str(int(number)) if number.is_integer() else text
