"""Better classifiers when labels are few and dirty.

A name with a leading underscore, in any part of its path, is private. What is public is imported when it is first asked
for, so that ``import dips`` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from dips._version import __version__

if TYPE_CHECKING:
    from dips._data.parquet import ParquetPool
    from dips._estimators.curated import Audit, CuratedClassifier, characterize
    from dips._estimators.model_selection import SemiSupervisedKFold
    from dips._estimators.pseudo_label import PseudoLabelClassifier
    from dips._estimators.self_training import SelfTrainingClassifier
    from dips._files.corrections import Corrections, read_corrections
    from dips._image_study.auditing import ImageAudit, audit_images
    from dips._image_study.fitting import fit_images
    from dips._persistence.model import SavedModel, load_model, save_model
    from dips._spark.pool import SparkPool
    from dips._study.auditing import LabelAudit, audit
    from dips._study.fitting import fit
    from dips._study.run import Run
    from dips._tools.observer import Observer
    from dips.exceptions import DataError, ModelError, OutputError, UserError
    from dips.network._classifier import PriorFittedClassifier

_HOMES = {
    "Audit": "_estimators.curated",
    "Corrections": "_files.corrections",
    "CuratedClassifier": "_estimators.curated",
    "DataError": "exceptions",
    "ImageAudit": "_image_study.auditing",
    "LabelAudit": "_study.auditing",
    "ModelError": "exceptions",
    "Observer": "_tools.observer",
    "OutputError": "exceptions",
    "ParquetPool": "_data.parquet",
    "PriorFittedClassifier": "network._classifier",
    "PseudoLabelClassifier": "_estimators.pseudo_label",
    "Run": "_study.run",
    "SavedModel": "_persistence.model",
    "SelfTrainingClassifier": "_estimators.self_training",
    "SemiSupervisedKFold": "_estimators.model_selection",
    "SparkPool": "_spark.pool",
    "UserError": "exceptions",
    "audit": "_study.auditing",
    "audit_images": "_image_study.auditing",
    "characterize": "_estimators.curated",
    "fit": "_study.fitting",
    "fit_images": "_image_study.fitting",
    "load_model": "_persistence.model",
    "read_corrections": "_files.corrections",
    "save_model": "_persistence.model",
}
_PACKAGES = ("backbones", "curators", "datasets", "exceptions", "labelers", "network", "testing", "vision")

__all__ = [
    "Audit",
    "Corrections",
    "CuratedClassifier",
    "DataError",
    "ImageAudit",
    "LabelAudit",
    "ModelError",
    "Observer",
    "OutputError",
    "ParquetPool",
    "PriorFittedClassifier",
    "PseudoLabelClassifier",
    "Run",
    "SavedModel",
    "SelfTrainingClassifier",
    "SemiSupervisedKFold",
    "SparkPool",
    "UserError",
    "__version__",
    "audit",
    "audit_images",
    "characterize",
    "fit",
    "fit_images",
    "load_model",
    "read_corrections",
    "save_model",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"dips.{_HOMES[name]}"), name)
    if name in _PACKAGES:
        return importlib.import_module(f"dips.{name}")
    raise AttributeError(f"module 'dips' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_PACKAGES])
