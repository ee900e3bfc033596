from __future__ import annotations

import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import EntryPoint
from importlib.util import find_spec

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

from dips._tools import plugins
from dips.backbones import Backbone, _registry, default_estimator, find_backbone, register_backbone
from dips.backbones._xgboost import XGBoost
from dips.exceptions import UserError


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


HERE = __name__.partition(".")[0]


class Novel(BaseEstimator):
    pass


def test_a_registered_family_is_found(forget_families):
    @register_backbone
    class Mine(Backbone):
        handles = (f"{HERE}.Novel",)

    assert isinstance(find_backbone(Novel()), Mine)
    assert isinstance(find_backbone(make_pipeline(StandardScaler(), Novel())).last, Mine)


def test_a_family_of_a_subclass_goes_before_that_of_its_parent(forget_families):
    class OwnMLP(MLPClassifier):
        pass

    @register_backbone
    class Mine(Backbone):
        handles = (f"{HERE}.OwnMLP",)

    assert isinstance(find_backbone(OwnMLP()), Mine)
    assert type(find_backbone(MLPClassifier())).__name__ == "Epochs"


def test_a_family_that_exists_is_replaced_only_if_asked(forget_families):
    class Mine(Backbone):
        handles = ("sklearn.MLPClassifier",)

    with pytest.raises(ValueError, match=r"sklearn.MLPClassifier already belongs to the backbone family Epochs; to"):
        register_backbone(Mine)
    assert type(find_backbone(MLPClassifier())).__name__ == "Epochs"
    register_backbone(Mine, replace=True)
    assert isinstance(find_backbone(MLPClassifier()), Mine)
    assert type(find_backbone(SGDClassifier())).__name__ == "Epochs"


def test_a_name_that_exists_is_replaced_only_if_asked(forget_families):
    class Mine(Backbone):
        handles, name = (f"{HERE}.Novel",), "xgboost"

    with pytest.raises(ValueError, match=r"The name 'xgboost' already belongs to the backbone family XGBoost"):
        register_backbone(Mine)
    assert register_backbone(replace=True)(Mine) is Mine


def test_a_family_may_subclass_another_for_estimators_of_its_own(forget_families):
    class Mine(XGBoost):
        handles = (Novel,)

    register_backbone(Mine)
    assert isinstance(find_backbone(Novel()), Mine)
    assert _registry.find_family("xgboost") is XGBoost


def test_a_family_may_be_defined_again_as_in_a_notebook(forget_families):
    def cell():
        @register_backbone
        class Mine(Backbone):
            handles, name = (f"{HERE}.Novel",), "mine"

        return Mine

    cell()
    again = cell()
    assert type(find_backbone(Novel())) is again


def test_a_family_for_no_estimator_is_refused():
    with pytest.raises(ValueError, match=r"Backbone.handles is empty, so no estimator would find it"):
        register_backbone(Backbone)


class Plugin(Backbone):
    handles = (f"{HERE}.Novel",)
    name = "novel"

    @staticmethod
    def default(n_labels=0):
        return Novel()


@pytest.fixture
def plug_in(forget_families, monkeypatch):
    """Pretend that another package offers this under the group of backbones."""

    def offer(value):
        points = [EntryPoint("novel", value, _registry.PLUGINS)]
        monkeypatch.setattr(plugins, "entry_points", lambda group: points if group == _registry.PLUGINS else [])
        monkeypatch.setattr(_registry, "load_plugins", plugins.load_plugins.__wrapped__)
        monkeypatch.setattr(_registry, "_plugins_are_loaded", False)

    return offer


def test_a_family_of_another_package_is_found_through_its_entry_point(plug_in):
    plug_in(f"{__name__}:Plugin")
    assert isinstance(find_backbone(Novel()), Plugin)
    assert "novel" in _registry.default_names()
    assert isinstance(default_estimator("novel"), Novel)


def test_a_thread_waits_for_plug_ins_that_another_loads(plug_in, monkeypatch):
    plug_in(f"{__name__}:Plugin")
    load, is_loading = _registry.load_plugins, threading.Event()

    def slowly(*args):
        is_loading.set()
        time.sleep(0.2)
        return load(*args)

    monkeypatch.setattr(_registry, "load_plugins", slowly)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(find_backbone, Novel())
        assert is_loading.wait(10)
        assert isinstance(find_backbone(Novel()), Plugin)
        assert isinstance(first.result(), Plugin)


def test_a_plug_in_that_fails_is_named_and_does_no_harm(plug_in):
    plug_in("no_such_package:Plugin")
    with pytest.warns(UserWarning, match=r"The plug-in 'novel' \(no_such_package:Plugin\) could not be loaded"):
        assert type(find_backbone(Novel())).__name__ == "Plain"


class Greedy(Backbone):
    handles = ("sklearn.MLPClassifier",)


def test_a_plug_in_does_not_take_over_what_belongs_to_another(plug_in):
    plug_in(f"{__name__}:Greedy")
    with pytest.warns(UserWarning, match=r"Greedy of .* is left out: sklearn.MLPClassifier already belongs"):
        find_backbone(Novel())
    assert type(find_backbone(MLPClassifier())).__name__ == "Epochs"


def test_default_estimators_are_those_of_the_families_that_suggest_one():
    assert _registry.default_names() == ["xgboost", "catboost", "lightgbm"]
    for name in _registry.default_names():
        if find_spec(name):
            assert find_backbone(default_estimator(name)).name == name


@pytest.mark.parametrize("name", _registry.default_names())
def test_thousands_of_labels_get_a_larger_model(name):
    pytest.importorskip(name)
    few, many = (default_estimator(name, n_labels=n).get_params() for n in (400, 10_000))
    assert few == default_estimator(name).get_params()
    assert many["learning_rate"] > few["learning_rate"]


@pytest.mark.parametrize("name", ["forest", "torch"])
def test_a_default_that_does_not_exist_is_refused(name):
    with pytest.raises(UserError, match=f"backbone='{name}' is not known; choose one of xgboost, catboost, lightgbm."):
        default_estimator(name)


def test_a_default_whose_library_is_missing_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(UserError, match=r"pip install \"dips-ssl\[lightgbm\]\""):
        default_estimator("lightgbm")


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
