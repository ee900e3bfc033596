"""How much is trained in tests: little, except where it is tested how good that is."""

from contextlib import contextmanager

import pytest
from xgboost import XGBClassifier

from dips._beliefs import teachers
from dips._beliefs.effort import Effort
from dips.backbones._xgboost import XGBoost

LITTLE_EFFORT = Effort(n_folds=3, helpers=("linear",), again=(), max_rows=2_000, max_rows_helper=2_000)
_N_TREES, _FOR_LABELS = teachers._N_TREES, Effort.for_labels


@contextmanager
def little_effort():
    """Two teachers with few trees and folds: thousands of fits need no better ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(teachers, "_N_TREES", 5)
        patch.setattr(Effort, "for_labels", lambda n, n_folds=None, network=False: LITTLE_EFFORT)
        yield


@contextmanager
def whole_effort():
    """All teachers, as users have them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(teachers, "_N_TREES", _N_TREES)
        patch.setattr(Effort, "for_labels", _FOR_LABELS)
        yield


@contextmanager
def quick_studies():
    """Studies with small models, few folds and resamples: most tests of them need no better ones."""
    with little_effort(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(XGBoost, "default", staticmethod(lambda n_labels=0: XGBClassifier(n_estimators=12, max_depth=3)))
        patch.setattr("dips._study.splits._FEW", 0)  # three folds
        patch.setattr("dips._study.metrics._N_RESAMPLES", 60)
        patch.setattr("dips._study.compare._N_RESAMPLES", 60)
        patch.setattr("dips._study.importance._N_RESAMPLES", 20)
        patch.setattr("dips._study.importance._SHUFFLES", 2)
        patch.setattr("dips._study.reading._UNLABELED", 40)
        for check in ("leaks", "drift"):
            patch.setattr(f"dips._study.{check}._N_TREES", 12)
        yield


def small_backbone():
    """XGBoost with few trees."""
    return XGBClassifier(n_estimators=5, max_depth=2, n_jobs=1)
