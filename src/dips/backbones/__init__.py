"""Backbones: one module per family of estimators, found by the type of the estimator.

A family is everything about its estimators: how they are fitted, watched, replayed, seeded, varied, saved and loaded,
and the settings that it suggests. Every module of this folder is imported here, and registers its own family.
"""

import importlib
import pkgutil

from dips.backbones._base import Backbone, StagedBackbone
from dips.backbones._registry import default_estimator, find_backbone, register_backbone

__all__ = ["Backbone", "StagedBackbone", "default_estimator", "find_backbone", "register_backbone"]

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")


def __dir__() -> list[str]:
    return sorted(__all__)
