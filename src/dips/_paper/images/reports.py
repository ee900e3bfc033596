"""Tables and figures that the image experiments share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd

from dips._paper.engine import figures
from dips._paper.engine.tables import means, paired, with_error
from dips._paper.experiment import Report

_ROUNDS = (0, 1, 2, 5, 10)  # of the table, and the last one
_COLORS = {  # by what is added to the method
    "": "#7f7f7f",
    "percentile": "#d6337f",
    "default": "#2f6fde",
    "pretraining": "#444444",
    "pretraining+default": "#12337f",
    "DIPS thresholds": "#2a9d6f",
    "small loss": "#e08a1e",
    "fluctuation": "#8a63d2",
    "confidence": "#9c6b4a",
}
Published = Callable[[Any, Any], Any]


def compared(frame: pd.DataFrame, published: Published = lambda method, data: None) -> Report:
    """Accuracies beside the paper's, what each curator adds, accuracy along the training, and how good curation is."""
    plain = frame["method"].str.partition("+")[0].iloc[0]
    pairs = [(method, plain) for method in frame["method"].unique() if method != plain]
    tables = {
        "accuracy": means(frame, "method", "data", published=published),
        "differences": paired(frame, pairs, by="data"),
        "along_the_training": along_the_training(frame),
        "seeds": by_seed(frame),
        "curation": curation(frame),
        "minutes": minutes(frame),
    }
    return Report({k: table for k, table in tables.items() if len(table)}, {"curves": lambda: draw_curves(frame)})


def unrolled(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    """A row for each record of a column of lists of records, with the names of its trial."""
    names = ["method", "data", "seed"]
    return pd.DataFrame(
        [
            dict(zip(names, key, strict=True)) | r
            for *key, records in frame[[*names, column]].to_numpy()
            for r in records
        ]
    )


def along_the_training(frame: pd.DataFrame) -> pd.DataFrame:
    """Accuracy after a third, two thirds and all of the steps."""
    parts = []
    for share, title in ((1 / 3, "a third"), (2 / 3, "two thirds"), (1, "all steps")):
        reached = [_at(curve, share) for curve in frame["curve"]]
        parts.append(frame[["method", "data"]].assign(accuracy=reached, after=title))
    by_stage = pd.concat(parts)
    return _by_data(by_stage, lambda part: means(part, "method", "after"))


def _at(curve: list[dict[str, Any]], share: float) -> float:
    """The accuracy at the checkpoint nearest to a share of the steps."""
    n_steps = curve[-1]["step"]
    return min(curve, key=lambda point: abs(point["step"] - share * n_steps))["accuracy"]


def by_seed(frame: pd.DataFrame) -> pd.DataFrame:
    """The accuracy of every trial."""
    return _by_data(frame, lambda part: means(part, "method", "seed"))


def minutes(frame: pd.DataFrame) -> pd.DataFrame:
    """Device, steps and minutes of a training, with warm-ups, curation and the looks at the test images."""
    trainings = frame.assign(steps=[curve[-1]["step"] for curve in frame["curve"]], minutes=frame["training_s"] / 60)
    mean = trainings.groupby(["data", "method", "device", "steps"], sort=False)["minutes"].mean()
    return mean.reset_index().set_index("data")


def curation(frame: pd.DataFrame) -> pd.DataFrame:
    """Useful labels after some of the rounds, and how many of them and of the suspects are wrong, in percent."""
    judged = unrolled(frame, "curation")
    if judged.empty:
        return judged
    some = judged[judged["round"].isin([*_ROUNDS, judged["round"].max()])]
    records = [
        {
            "data": data,
            "method": method,
            "after round": after,
            "useful": round(part["n_kept"].mean()),
            "wrong among useful": with_error(part["wrong_kept"].astype(float), digits=1),
            "wrong among suspects": with_error(part["wrong_dropped"].astype(float), digits=1),
            "useful again": round(part["n_returned"].mean()),
        }
        for (data, method, after), part in some.groupby(["data", "method", "round"], sort=False)
    ]
    return pd.DataFrame(records).set_index("data")


def _by_data(frame: pd.DataFrame, make: Callable[[pd.DataFrame], pd.DataFrame]) -> pd.DataFrame:
    """One table per set, one below the other."""
    parts = [make(part).reset_index().assign(data=data) for data, part in frame.groupby("data", sort=False)]
    return pd.concat(parts).set_index("data")


def draw_curves(frame: pd.DataFrame) -> Any:
    """Accuracy over the minutes of training, and wrong labels among the useful ones, one row of axes per set."""
    sets = frame["data"].unique().tolist()
    fig, axes = figures.figure(2, len(sets), width=5)
    for k, data in enumerate(sets):
        part = frame[frame["data"] == data]
        left, right = axes[2 * k : 2 * k + 2]
        curve = unrolled(part, "curve")
        _lines(left, curve.assign(minutes=curve["elapsed_s"] / 60), "minutes", "accuracy")
        left.set(xlabel="minutes of training, warm-up included", ylabel="test accuracy, %", title=data)
        judged = unrolled(part, "curation")
        if len(judged):
            _lines(right, judged, "round", "wrong_kept")
        right.axhline(100 * part["share_wrong"].mean(), color="black", lw=1, ls=":", label="all labels")
        right.set(xlabel="curation after round", ylabel="wrong labels among the useful, %", ylim=(0, None))
        right.xaxis.get_major_locator().set_params(integer=True)
        for axis in (left, right):
            axis.legend(fontsize=7)
    return fig


def _lines(axis: Any, frame: pd.DataFrame, x: str, y: str) -> None:
    """A thin line for each seed and a thick one for their mean, by method."""
    color = colors(frame["method"].unique())
    for method, part in frame.groupby("method", sort=False):
        style = {"color": color[str(method)]}
        percent = part.assign(**{y: 100 * part[y].astype(float)})
        lines = [one[[x, y]].to_numpy() for _, one in percent.groupby("seed", sort=False)]
        for line in lines:
            axis.plot(*line.T, lw=0.6, alpha=0.6, **style)
        axis.plot(*np.mean(lines, axis=0).T, lw=2, label=str(method), **style)


def colors(methods: Iterable[str]) -> dict[str, str]:
    """A color for each method: its curator's own, the same in every figure, or one that no other has."""
    return figures.palette(methods, {method: _COLORS.get(method.partition("+")[2]) for method in methods})


def minutes_to(frame: pd.DataFrame, accuracies: Iterable[int]) -> pd.DataFrame:
    """Minutes of training until an accuracy is first reached; in brackets how many seeds reached it, if not all."""
    table = pd.DataFrame(index=pd.Index([f"{a} %" for a in accuracies], name="accuracy"))
    for method, part in frame.groupby("method", sort=False):
        table[f"{method}, minutes"] = [_minutes(part["curve"], a / 100) for a in accuracies]
    return table


def _minutes(curves: Iterable[list[dict[str, Any]]], accuracy: float) -> str:
    first = [min((p["elapsed_s"] / 60 for p in c if p["accuracy"] >= accuracy), default=np.nan) for c in curves]
    reached = pd.Series(first, dtype=float).dropna()
    if reached.empty:
        return "not reached"
    few = "" if reached.size == len(first) else f" ({reached.size} of {len(first)} seeds)"
    return with_error(reached, scale=1) + few
