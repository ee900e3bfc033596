"""What methods gain over supervised training, by several measures at once, and where they do harm."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from dips._paper.engine.statistics import standard_error

SUPERVISED = "Supervised"
WITHOUT_UNLABELED = "Curated, default"
WITH_UNLABELED = "Pseudo-labeling, default"
ALL_LABELS = "All labels known"
CELL = ["set", "table", "labels", "backbone", "kind", "noise", "seed"]  # with the method, names one trial
_HARM = -0.5  # a cell is harmed if it loses more than this, in points of accuracy
_WORSE_LOG_LOSS = 0.01
_LOSES = -0.3  # what unlabeled rows may cost, in points of accuracy
_SHARES = {  # measures between 0 and 1, shown in points
    "accuracy": "accuracy",
    "auc": "AUC",
    "balanced_accuracy": "balanced accuracy",
    "calibration_error": "calibration error",
    "rarest_recall": "recall of the rarest class",
}
_AUDIT = {
    "wrong_share": "wrong labels, %",
    "noise_estimate": "estimate, %",
    "noise_low": "lowest, %",
    "noise_high": "highest, %",
    "noise_covered": "interval has the truth, %",
    "p_wrong_error": "calibration error of p_wrong, %",
    "wrong_auc": "AUC of finding wrong labels, %",
}


def changes(frame: pd.DataFrame, value: str) -> pd.DataFrame:
    """Difference to supervised training in the same cell and seed, one column per method; shares are in points."""
    wide = _wide(frame, value)
    if SUPERVISED not in wide:
        return wide.iloc[:, :0]
    change = wide.sub(wide[SUPERVISED], axis=0).drop(columns=SUPERVISED)
    return 100 * change if value in _SHARES else change


def summary(frame: pd.DataFrame) -> pd.DataFrame:
    """Mean gain over supervised training ± standard error over seeds, cells harmed, and the gap closed.

    Log loss is relative to the mean of supervised training. A cell is harmed if it loses more than half a point of
    accuracy, mean over seeds. The gap is that between supervised training and all labels known.
    """
    change = {value: changes(frame, value) for value in [*_SHARES, "log_loss"]}
    base = _wide(frame, "log_loss").get(SUPERVISED)
    lines = []
    for method in change["accuracy"]:
        line: dict[str, Any] = {"against supervised": method}
        for value, title in _SHARES.items():
            line[title] = _over_seeds(change[value][method])
            if value == "accuracy":
                line["log loss, %"] = _relative(change["log_loss"][method], base)
        lines.append(line | _harm(change["accuracy"][method], change["log_loss"][method]) | _gap_closed(change, method))
    return pd.DataFrame(lines).set_index("against supervised") if lines else pd.DataFrame()


def means(frame: pd.DataFrame) -> pd.DataFrame:
    """Means of all measures over the cells that every method has."""
    wide = {value: _wide(frame, value).dropna() for value in [*_SHARES, "log_loss"]}
    if wide["accuracy"].empty:
        return pd.DataFrame()
    by_method = pd.DataFrame({title: 100 * wide[value].mean() for value, title in _SHARES.items()})
    by_method.insert(1, "log loss", [f"{v:.3f}" for v in wide["log_loss"].mean().reindex(by_method.index)])
    return by_method.assign(cells=len(wide["accuracy"])).rename_axis("method")


def by(frame: pd.DataFrame, *keys: str) -> pd.DataFrame:
    """The main columns of the summary for each value of the keys."""
    parts = []
    for names, part in frame.groupby(list(keys), sort=False):
        gains = summary(part).reset_index()
        for place, (key, name) in enumerate(zip(keys, names, strict=True)):
            gains.insert(place, key, [name] * len(gains))
        parts.append(gains.drop(columns=["balanced accuracy", "calibration error"], errors="ignore"))
    return pd.concat(parts).set_index(keys[0]) if parts else pd.DataFrame()


def of_unlabeled_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """What unlabeled rows add by themselves: the default with them against the same without."""
    rows = []
    for key, name, part in _parts(frame):
        added = {value: _added(part, value) for value in ("accuracy", "log_loss", "auc", "balanced_accuracy")}
        if added["accuracy"].empty:
            continue
        cells = _over_cells(added["accuracy"])
        rows.append(
            {
                "by": key,
                "where": name,
                "accuracy": _over_seeds(added["accuracy"]),
                "log loss": _over_seeds(added["log_loss"], digits=3),
                "AUC": _over_seeds(added["auc"]),
                "balanced accuracy": _over_seeds(added["balanced_accuracy"]),
                "worst cell": cells.min(),
                f"cells under {_LOSES}": f"{int((cells < _LOSES).sum())} of {cells.size}",
            }
        )
    return pd.DataFrame(rows).set_index("by") if rows else pd.DataFrame()


def audit(frame: pd.DataFrame) -> pd.DataFrame:
    """How well the default knows the noise and finds wrong labels, in percent, by noise and number of labels."""
    part = frame[frame["method"] == WITHOUT_UNLABELED]
    if part.empty or "p_wrong_error" not in part:
        return pd.DataFrame()
    keys = ["kind", "noise", "labels"]
    quality = 100 * part.groupby(keys, sort=False)[[name for name in _AUDIT if name in part]].mean()
    quality.loc[("all", "", ""), :] = 100 * part[list(quality)].mean()
    return quality.rename(columns=_AUDIT).reset_index().set_index("kind")


def harmed(frame: pd.DataFrame) -> pd.DataFrame:
    """The cells that the default harms, the worst first."""
    change, loss = changes(frame, "accuracy"), changes(frame, "log_loss")
    defaults = [method for method in (WITHOUT_UNLABELED, WITH_UNLABELED) if method in change]
    lines = []
    for method in defaults:
        cells = pd.DataFrame(
            {"accuracy": _over_cells(change[method]), "log loss": _over_cells(loss[method])}
        ).reset_index()
        is_harmed = (cells["accuracy"] < _HARM) | ((cells["noise"] == 0) & (cells["log loss"] > _WORSE_LOG_LOSS))
        lines.append(cells[is_harmed].assign(method=method))
    if not lines:
        return pd.DataFrame()
    harmed_cells = pd.concat(lines).sort_values("accuracy").set_index("table")
    return harmed_cells.assign(**{"log loss": [f"{v:+.3f}" for v in harmed_cells["log loss"]]})


def _wide(frame: pd.DataFrame, value: str) -> pd.DataFrame:
    """One row per cell and seed, one column per method."""
    return frame.pivot_table(index=CELL, columns="method", values=value, sort=False)


def _over_cells(change: pd.Series) -> pd.Series:
    """Mean over seeds, cell by cell."""
    return change.dropna().groupby(level=[name for name in CELL if name != "seed"], sort=False).mean()


def _over_seeds(change: pd.Series, digits: int = 2) -> str:
    """Mean over cells with its standard error over seeds; a seed that lacks cells of others is no draw of the mean."""
    known = change.dropna()
    by_seed = known.groupby(level="seed").agg(["mean", "size"])
    whole = by_seed[by_seed["size"] == by_seed["size"].max()]["mean"]
    error = standard_error(whole)
    return f"{known.mean():+.{digits}f}" + ("" if np.isnan(error) else f" ± {error:.{digits}f}")


def _relative(change: pd.Series, base: pd.Series | None) -> str:
    """Change of the mean, in percent of the mean that it is compared with."""
    known = change.dropna()
    scale = np.nan if base is None else base.reindex(known.index).mean()
    return _over_seeds(100 * known / scale, digits=1)


def _harm(accuracy: pd.Series, log_loss: pd.Series) -> dict[str, str]:
    cells, loss = _over_cells(accuracy), _over_cells(log_loss)
    clean = loss[loss.index.get_level_values("noise") == 0]
    return {
        "cells harmed": f"{int((cells < _HARM).sum())} of {cells.size}",
        "clean cells, log loss higher": f"{int((clean > _WORSE_LOG_LOSS).sum())} of {clean.size}",
    }


def _gap_closed(change: dict[str, pd.DataFrame], method: Any) -> dict[str, str]:
    """Share of the gap in accuracy between supervised training and all labels known that a method closes."""
    accuracy = change["accuracy"]
    if ALL_LABELS not in accuracy:
        return {}
    both = accuracy[[method, ALL_LABELS]].dropna() if method != ALL_LABELS else accuracy[[ALL_LABELS]].dropna()
    whole = both[ALL_LABELS].mean()
    return {"gap closed, %": f"{100 * both[method].mean() / whole:.0f}" if whole > 0 else ""}


def _parts(frame: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """The whole, and its parts by set, noise, backbone and number of labels."""
    yield "all", "", frame
    for key in ("set", "backbone", "labels"):
        for name, part in frame.groupby(key, sort=False):
            yield key, str(name), part
    for (kind, noise), part in frame.groupby(["kind", "noise"], sort=False):
        yield "noise", f"{kind} {noise:.0%}", part


def _added(frame: pd.DataFrame, value: str) -> pd.Series:
    wide = _wide(frame, value)
    if not {WITH_UNLABELED, WITHOUT_UNLABELED} <= set(wide):
        return pd.Series(dtype=float)
    added = (wide[WITH_UNLABELED] - wide[WITHOUT_UNLABELED]).dropna()
    return 100 * added if value in _SHARES else added
