"""``class_summary_``: what became of the labels of each class, and a warning where a class is in danger."""

from __future__ import annotations

import pandas as pd

from dips._data.labels import Labels
from dips._rounds.state import RoundsState
from dips._tools.warnings import warn


def class_summary(targets: list[Labels], results: list[RoundsState]) -> pd.DataFrame | None:
    """Return one row per class (of each label, where there are several), or None without beliefs."""
    if not results[0].by_class:
        return None
    several = len(targets) > 1
    frames = []
    for labels, state in zip(targets, results, strict=True):
        frame = pd.DataFrame(state.by_class)
        frame.insert(0, "class", labels.classes)
        frames.append(frame.assign(target=labels.name) if several else frame)
    return pd.concat(frames, ignore_index=True)


def warn_of_classes_in_danger(summary: pd.DataFrame | None) -> None:
    """Name the classes whose labels look wrong too often: right ones may be among them, above all in a rare class."""
    if summary is None:
        return
    for row in summary[summary["in_danger"]].to_dict("records"):
        of_target = f" of label {row['target']!r}" if "target" in row else ""
        warn(
            f"The {row['n_labels']} labels of class {row['class']!r}{of_target} look wrong more often than those of "
            "other classes. Either they are, or the class is hard to tell from the others. Check some of them, or "
            "add labels."
        )
