"""The methods that are compared, each fitted on the same rows and labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dips import CuratedClassifier, PseudoLabelClassifier
from dips._paper.tables.backbones import folds, make_backbone, seeded, tuned
from dips._paper.tables.splits import Split
from dips._tools.arrays import Array
from dips._tools.registry import Registry
from dips.curators import CURATORS, Curator, Evidence
from dips.labelers import LABELERS

if TYPE_CHECKING:
    from dips._paper.tables.trial import Trial


@dataclass(frozen=True)
class Fitted:
    """A fitted model, whose labels are positions among `classes`: those that the labeled rows have."""

    model: Any
    classes: Array

    def predict(self, X: Array) -> Array:
        """Predicted labels."""
        return self.classes[np.asarray(self.model.predict(X)).ravel().astype(np.intp)]

    def predict_proba(self, X: Array, n_classes: int) -> Array:
        """Probabilities of classes 0..n_classes-1; 0 for one that no labeled row has."""
        p = np.zeros((len(X), n_classes))
        p[:, self.classes] = self.model.predict_proba(X)
        return p


def fit(trial: Trial, split: Split) -> Fitted:
    """Fit a trial's method."""
    if trial.method == "all_labels":
        split = split.with_all_labels()
    classes, y = np.unique(split.y_labeled, return_inverse=True)
    if trial.method.startswith("vime"):
        from dips._paper.tables.vime_network import VIME

        vime = VIME(consistency=trial.method == "vime_semi", random_state=trial.seed)
        return Fitted(vime.fit(split.X_labeled, y, split.X_unlabeled), classes)
    backbone = make_backbone(trial.backbone, split.X_labeled, y, trial.seed)
    return Fitted(_FITS[trial.method](trial, backbone, split, y), classes)


def _supervised(trial: Trial, backbone: Any, split: Split, y: Array) -> Any:
    return CuratedClassifier(backbone, curator="none", random_state=trial.seed).fit(split.X_labeled, y)


def _calibrated(trial: Trial, backbone: Any, split: Split, y: Array) -> Any:
    """Sigmoid-calibrated in three folds; where a class is too small for them, not calibrated."""
    from sklearn.calibration import CalibratedClassifierCV

    within = folds(y, trial.seed)
    if within is None:
        return _supervised(trial, backbone, split, y)
    return CalibratedClassifierCV(seeded(backbone, trial.seed), cv=within).fit(split.X_labeled, y)


def _tuned(trial: Trial, backbone: Any, split: Split, y: Array) -> Any:
    return _supervised(trial, tuned(trial.backbone, backbone, split.X_labeled, y, trial.seed), split, y)


def _curated(trial: Trial, backbone: Any, split: Split, y: Array) -> Any:
    curator = _curator(trial.curator)
    return CuratedClassifier(backbone, curator=curator, random_state=trial.seed).fit(split.X_labeled, y)


def _pseudo_labeled(trial: Trial, backbone: Any, split: Split, y: Array) -> Any:
    model = PseudoLabelClassifier(
        backbone,
        labeler="auto" if trial.labeler["name"] == "auto" else _named(LABELERS, trial.labeler),
        curator=_curator(trial.curator),
        n_rounds=trial.rounds,
        grow=trial.grow,
        curate=trial.curate,
        random_state=trial.seed,
    )
    return model.fit(split.X_labeled, y, X_unlabeled=split.X_unlabeled)


def _self_trained(trial: Trial, backbone: Any, split: Split, y: Array) -> Any:
    from sklearn.semi_supervised import SelfTrainingClassifier

    X = np.concatenate([split.X_labeled, split.X_unlabeled])
    labels = np.concatenate([y, np.full(len(split.X_unlabeled), -1)])
    return SelfTrainingClassifier(seeded(backbone, trial.seed)).fit(X, labels)


def _cleaned(trial: Trial, backbone: Any, split: Split, y: Array) -> Any:
    from cleanlab.classification import CleanLearning

    one_process = {"n_jobs": 1}  # its own processes fail inside those that the trials run in
    model = CleanLearning(
        seeded(backbone, trial.seed), seed=trial.seed % 2**32, find_label_issues_kwargs=one_process, verbose=False
    )
    return model.fit(split.X_labeled, y)


_FITS = {
    "supervised": _supervised,
    "calibrated": _calibrated,
    "tuned": _tuned,
    "all_labels": _supervised,
    "curated": _curated,
    "pl": _pseudo_labeled,
    "self_training": _self_trained,
    "cleanlab": _cleaned,
}


class FrozenThreshold(Curator):
    """A threshold on the confidence that makes a share of the labels suspects at the first curation, and stays."""

    def __init__(self, drop: float = 0.2) -> None:
        self.drop = drop

    def curate(self, evidence: Evidence) -> Array:
        """Keep what reaches the threshold."""
        if not hasattr(self, "conf_"):
            self.conf_ = float(np.quantile(evidence.confidence, self.drop))
        return evidence.confidence >= self.conf_


def _curator(named: Mapping[str, Any]) -> Curator:
    return FrozenThreshold(named["drop"]) if named["name"] == "first percentile" else _named(CURATORS, named)


def _named(registry: Registry[Any], named: Mapping[str, Any]) -> Any:
    """An object from its name and settings."""
    settings = {k: tuple(v) if isinstance(v, list) else v for k, v in named.items() if k != "name"}
    return registry.resolve(named["name"]).set_params(**settings)
