"""The backbones that can be named: boosted trees with slow, shallow trees, each savable in its own format."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dips.backbones import default_estimator
from dips.exceptions import UserError


def _xgboost() -> Any:
    return default_estimator()


def _lightgbm() -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(
        n_estimators=200, learning_rate=0.05, num_leaves=15, subsample=0.8, subsample_freq=1, verbosity=-1
    )


def _catboost() -> Any:
    from catboost import CatBoostClassifier

    return CatBoostClassifier(iterations=200, learning_rate=0.05, depth=4, allow_writing_files=False, verbose=False)


BACKBONES: dict[str, Callable[[], Any]] = {"xgboost": _xgboost, "lightgbm": _lightgbm, "catboost": _catboost}


def make_backbone(name: str) -> Any:
    """Return the backbone of this name, unfitted."""
    try:
        return BACKBONES[name]()
    except ModuleNotFoundError:
        raise UserError(f'The backbone {name!r} is not installed: pip install "dips-ssl[{name}]".') from None
