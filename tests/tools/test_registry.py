import sys

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import InvalidParameterError

from dips._tools.registry import Registry
from dips.curators import CURATORS, DIPS, FunctionCurator
from dips.labelers import LABELERS, UPS, FunctionLabeler


class Part(BaseEstimator):
    """A family of its own, so that nothing made here is found by the labelers and curators."""

    _parameter_constraints = {}


class Plain(Part):
    name = "plain"


class Fancy(Plain):
    name = "fancy"


class Nameless(Fancy):
    """Inherits a name and is not registered under it."""


class FromFunction(Part):
    def __init__(self, function):
        self.function = function


@pytest.fixture
def parts():
    return Registry("part", Part, FromFunction)


def test_every_subclass_with_a_name_of_its_own_is_found(parts):
    assert parts.by_name() == {"fancy": Fancy, "plain": Plain}
    assert list(parts.by_name()) == ["fancy", "plain"]


def test_a_class_defined_again_takes_the_place_of_the_first():
    class Shape(BaseEstimator):
        pass

    def define():
        class Circle(Shape):
            name = "circle"

        class Disc(Circle):
            name = "disc"

        return {"circle": Circle, "disc": Disc}

    first, second = define(), define()
    assert Registry("shape", Shape, Shape).by_name() == second != first


def test_a_new_module_is_found_by_itself(tmp_path, monkeypatch):
    class Shape(BaseEstimator):
        pass

    package = tmp_path / "shapes_of_a_test"
    package.mkdir()
    (package / "__init__.py").write_text("class Holder:\n    base = None\n")
    (package / "circle.py").write_text(
        "from shapes_of_a_test import Holder\nclass Circle(Holder.base):\n    name = 'circle'\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import shapes_of_a_test

    shapes_of_a_test.Holder.base = Shape
    found = Registry("shape", Shape, Shape).discover("shapes_of_a_test", shapes_of_a_test.__path__)
    assert {cls.__name__ for cls in found.values()} == {"Circle"}
    assert found["Circle"].name == "circle"
    del sys.modules["shapes_of_a_test"], sys.modules["shapes_of_a_test.circle"]


def test_a_name_gives_an_object_with_the_defaults(parts):
    assert type(parts.resolve("fancy")) is Fancy
    assert parts.resolve("fancy") is not parts.resolve("fancy")
    assert LABELERS.resolve("ups").get_params() == UPS().get_params()


def test_an_object_is_cloned_so_that_a_run_leaves_no_trace_on_it():
    mine = DIPS(conf=0.7)
    mine.aleatoric_ = 0.1
    resolved = CURATORS.resolve(mine)
    assert resolved is not mine
    assert resolved.get_params() == mine.get_params()
    assert not hasattr(resolved, "aleatoric_")


def test_a_function_becomes_an_object():
    def take_all(shown):
        return shown

    for registry, kind in ((LABELERS, FunctionLabeler), (CURATORS, FunctionCurator)):
        resolved = registry.resolve(take_all)
        assert isinstance(resolved, kind)
        assert resolved.function is take_all


@pytest.mark.parametrize(
    ("registry", "spec", "message"),
    [
        (CURATORS, "dip", r"curator='dip' is not known; did you mean 'dips'\? There are auto, confidence, dips, "),
        (LABELERS, "flexmach", r"labeler='flexmach' is not known; did you mean 'flexmatch'\? There are csa, "),
        (LABELERS, "xyzzy", rf"labeler='xyzzy' is not known\. There are {', '.join(LABELERS.by_name())}\.$"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(registry, spec, message):
    with pytest.raises(ValueError, match=message):
        registry.resolve(spec)


@pytest.mark.parametrize("spec", [None, 3, UPS])
def test_anything_else_is_refused(spec):
    with pytest.raises(TypeError, match=r"labeler must be a name \(csa, .*\), a Labeler object or a function; got "):
        LABELERS.resolve(spec)


@pytest.mark.parametrize(
    ("registry", "spec", "parameter"),
    [(LABELERS, UPS(threshold=2), "threshold"), (LABELERS, UPS(n_models=1), "n_models"), (CURATORS, DIPS(-1), "conf")],
)
def test_settings_are_checked_before_any_work(registry, spec, parameter):
    with pytest.raises(InvalidParameterError, match=f"'{parameter}' parameter of {type(spec).__name__} must be"):
        registry.resolve(spec)
