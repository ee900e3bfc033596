from __future__ import annotations

import subprocess
import sys

import pytest
from sklearn.base import BaseEstimator
from sklearn.ensemble import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import SGDClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import dips.backbones
from dips.backbones import Backbone, default_estimator, find_backbone, register_backbone


@pytest.mark.parametrize(
    ("estimator", "family"),
    [
        (HistGradientBoostingClassifier(), "Staged"),
        (GradientBoostingClassifier(), "Staged"),
        (AdaBoostClassifier(), "Staged"),
        (MLPClassifier(), "Epochs"),
        (SGDClassifier(loss="log_loss"), "Epochs"),
        (RandomForestClassifier(), "Plain"),
        (make_pipeline(StandardScaler(), MLPClassifier()), "PipelineBackbone"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_a_family_is_found_by_the_type_of_the_estimator(estimator, family):
    assert type(find_backbone(estimator)).__name__ == family


def test_a_subclass_belongs_to_the_family_of_its_parent():
    class MyMLP(MLPClassifier):
        pass

    assert type(find_backbone(MyMLP())).__name__ == "Epochs"


def test_the_default_estimator_can_be_watched():
    backbone = find_backbone(default_estimator())
    assert type(backbone).__name__ == "XGBoost"
    backbone.check(default_estimator())


def test_a_registered_family_is_found_ahead_of_the_others(monkeypatch):
    monkeypatch.setattr(dips.backbones, "_FAMILIES", list(dips.backbones._FAMILIES))

    @register_backbone
    class Mine(Backbone):
        handles = ("sklearn.MLPClassifier", f"{__name__.partition('.')[0]}.Novel")

    class Novel(BaseEstimator):
        pass

    assert isinstance(find_backbone(Novel()), Mine)
    assert isinstance(find_backbone(MLPClassifier()), Mine)
    assert isinstance(find_backbone(make_pipeline(StandardScaler(), Novel())).last, Mine)


def test_no_optional_library_is_imported_to_find_a_family():
    program = """
import sys
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier
from dips.backbones import find_backbone
for module, name in [("xgboost.sklearn", "XGBClassifier"), ("lightgbm.sklearn", "LGBMClassifier"),
                     ("catboost.core", "CatBoostClassifier"), ("skorch.classifier", "NeuralNetClassifier")]:
    lookalike = type(name, (BaseEstimator,), {"__module__": module})
    assert type(find_backbone(lookalike())).__name__ != "Plain", name
find_backbone(RandomForestClassifier())
print(sorted({"xgboost", "lightgbm", "catboost", "torch", "skorch"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"
