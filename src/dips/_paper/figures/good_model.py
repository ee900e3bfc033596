"""Does it help a good model? Backbones that do not overfit, from clean to very noisy labels, beside their rivals.

The default with and without unlabeled rows, and the default of version 0.1.0 ("adaptive"), are judged by accuracy and
by what banks and hospitals look at: log loss, area under the curve, balanced accuracy, calibration, recall of the
rarest class. Beside them, around the same backbones: the backbone calibrated, the backbone tuned, scikit-learn's
self-training and cleanlab's CleanLearning. The goal is "All labels known": all rows with their true labels.

Credit, heart and compas are held out: nothing was chosen by them, and they are reported apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from dips._paper.engine import figures
from dips._paper.experiment import Cell, Experiment, Plan, Report
from dips._paper.tables import gains, grids
from dips._paper.tables.backbones import WITH_CHECKPOINTS
from dips._paper.tables.sets import TABLE_SETS

HELD_OUT = ("credit", "heart", "compas")
LABELS = (50, 100, 400, 1600)
NOISE = {
    "symmetric": (0.0, 0.1, 0.2, 0.3, 0.4),
    "by class": (0.2, 0.4),
    "one way": (0.2, 0.4),
    "by instance": (0.2, 0.4),
}
BACKBONES = (
    "xgboost paper",
    "xgboost sensible",
    "histgb",
    "lightgbm",
    "catboost",
    "mlp",
    "logistic regression",
    "random forest",
)
_TOO_SMALL = {"drug": 400, "german": 400, "heart": 400}  # the most labels that leave rows enough for everything else
_MAX_UNLABELED = 1_000
_ADAPTIVE, _BELIEFS = {"name": "adaptive"}, {"name": "beliefs"}
METHODS: dict[str, dict[str, Any]] = {
    gains.SUPERVISED: {"method": "supervised"},
    "Calibrated (sigmoid, 3 folds)": {"method": "calibrated"},
    "Tuned": {"method": "tuned"},
    "Curated, adaptive (default of 0.1.0)": {"method": "curated", "curator": _ADAPTIVE},
    "Pseudo-labeling, adaptive (default of 0.1.0)": {"method": "pl", "curator": _ADAPTIVE},
    gains.WITHOUT_UNLABELED: {"method": "curated", "curator": _BELIEFS},
    gains.WITH_UNLABELED: {"method": "pl", "labeler": {"name": "auto"}, "curator": _BELIEFS},
    "Pseudo-labeling, network among the teachers": {
        "method": "pl",
        "labeler": {"name": "auto"},
        "curator": _BELIEFS | {"network": True},
    },
    "Self-training (scikit-learn)": {"method": "self_training"},
    "CleanLearning (cleanlab)": {"method": "cleanlab"},
    gains.ALL_LABELS: {"method": "all_labels"},
}


def cells(plan: Plan) -> Iterator[Cell]:
    """Every method with every backbone, kind and share of noise, number of labels and table."""
    for seed in grids.seeds(plan):
        for table in plan.data:
            for n_labels in _numbers_of_labels(plan, table):
                for backbone in BACKBONES:
                    for kind, noise in [(kind, noise) for kind, shares in NOISE.items() for noise in shares]:
                        labels = {
                            "set": "held out" if table in HELD_OUT else "development",
                            "table": table,
                            "labels": n_labels,
                            "backbone": backbone,
                            "kind": kind,
                            "noise": noise,
                        }
                        yield from _methods(plan, seed, labels)


def _numbers_of_labels(plan: Plan, table: str) -> list[int]:
    possible = (n for n in LABELS if n <= _TOO_SMALL.get(table, n))
    return list(dict.fromkeys(min(n, plan.max_labeled or n) for n in possible))


def _methods(plan: Plan, seed: int, labels: dict[str, Any]) -> Iterator[Cell]:
    """The methods that the backbone can be used with: adaptive needs one that is trained step by step."""
    for name, settings in METHODS.items():
        if settings.get("curator") == _ADAPTIVE and labels["backbone"] not in WITH_CHECKPOINTS:
            continue
        noise = {} if name == gains.ALL_LABELS else {"noise": labels["noise"], "noise_kind": labels["kind"]}
        trial = grids.trial(
            plan,
            labels["table"],
            seed,
            max_labeled=None,
            max_unlabeled=plan.max_unlabeled or _MAX_UNLABELED,
            labels=labels["labels"],
            backbone=labels["backbone"],
            measure="probabilities",
            **settings,
            **noise,
        )
        yield Cell(trial, {"method": name} | labels)


def report(frame: pd.DataFrame, plan: Plan) -> Report:
    """Gains over supervised training on development and held-out tables, by noise, by backbone, and where it hurts."""
    tables: dict[str, pd.DataFrame] = {}
    for name, part in frame.groupby("set", sort=False):
        suffix = "" if name == "development" else f"_{str(name).replace(' ', '_')}"
        tables[f"gains{suffix}"] = gains.summary(part)
        tables[f"means{suffix}"] = gains.means(part)
    tables["by_noise"] = gains.by(frame, "kind", "noise")
    tables["by_backbone"] = gains.by(frame, "backbone")
    tables["by_labels"] = gains.by(frame, "labels")
    tables["unlabeled_rows"] = gains.of_unlabeled_rows(frame)
    tables["audit"] = gains.audit(frame)
    tables["harmed"] = gains.harmed(frame)
    return Report({name: table for name, table in tables.items() if len(table)}, {"figure": lambda: _draw(frame)})


def _draw(frame: pd.DataFrame) -> Any:
    """Gain in accuracy and change of log loss by symmetric noise."""
    part = frame[frame["kind"] == "symmetric"]
    fig, axes = figures.figure(2, 1, width=4.2)
    titles = {"accuracy": "gain in accuracy, points", "log_loss": "change of log loss"}
    for axis, (value, title) in zip(axes, titles.items(), strict=True):
        change = gains.changes(part, value).reset_index().melt(gains.CELL, var_name="method", value_name="change")
        figures.lines(axis, change.dropna(subset="change"), "noise", value="change", scale=1)
        axis.axhline(0, color="#7f7f7f", lw=1)
        axis.set_ylabel(title)
    figures.legend_below(fig, axes[0], 2)
    return fig


EXPERIMENT = Experiment(
    17, "good-model", "Does it help a good model?", "not in the paper", 5, cells, report, TABLE_SETS
)
