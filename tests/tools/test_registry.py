import gc
import sys
from importlib.metadata import EntryPoint

import pytest

from dips._tools.plugins import load_plugins
from dips._tools.registry import Named, Registry
from dips._tools.sklearn_compat import InvalidParameterError
from dips.curators import CURATORS, DIPS, FunctionCurator
from dips.labelers import LABELERS, UPS, FunctionLabeler, Greedy, Labeler


class Part(Named):
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
    class Shape(Named):
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
    class Shape(Named):
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
    discovered = Registry("shape", Shape, Shape).discover("shapes_of_a_test", shapes_of_a_test.__path__)
    assert {cls.__name__ for cls in discovered.values()} == {"Circle"}
    assert discovered["Circle"].name == "circle"
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
        (CURATORS, "dip", r"curator='dip' is not known; did you mean 'dips'\?"),
        (LABELERS, "flexmach", r"labeler='flexmach' is not known; did you mean 'flexmatch'\?"),
        (LABELERS, "xyzzy", r"labeler='xyzzy' is not known\."),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest_and_with_all(registry, spec, message):
    with pytest.raises(ValueError, match=f"^{message} There are {', '.join(registry.by_name())}\\.$"):
        registry.resolve(spec)


@pytest.mark.parametrize("spec", [None, 3, UPS])
def test_anything_else_is_refused(spec):
    with pytest.raises(TypeError, match=r"labeler must be a name \(.*ups.*\), a Labeler object or a function; got "):
        LABELERS.resolve(spec)


@pytest.mark.parametrize(
    ("registry", "spec", "parameter"),
    [(LABELERS, UPS(threshold=2), "threshold"), (LABELERS, UPS(n_models=1), "n_models"), (CURATORS, DIPS(-1), "conf")],
)
def test_settings_are_checked_before_any_work(registry, spec, parameter):
    with pytest.raises(InvalidParameterError, match=f"'{parameter}' parameter of {type(spec).__name__} must be"):
        registry.resolve(spec)


# Two with one name


def test_a_name_that_is_taken_is_refused_and_the_first_keeps_it():
    taken = (
        r"Imposter is called 'greedy', but that name is taken by dips\.labelers\._greedy\.Greedy; choose another name"
    )
    with pytest.raises(ValueError, match=taken):

        class Imposter(Labeler):
            name = "greedy"

    assert type(LABELERS.resolve("greedy")) is Greedy


def test_a_class_that_asks_to_replace_another_does_wherever_it_stands_in_the_family():
    class Shape(Named):
        pass

    class Round(Shape):
        pass

    class Circle(Round):
        name = "circle"

    class Mine(Shape):
        name = "circle"
        replaces = True

    assert Registry("shape", Shape, Shape).by_name() == {"circle": Mine}

    with pytest.raises(ValueError, match=r"Heir is called 'circle', but that name is taken by .*Mine"):

        class Heir(Mine):  # only the class itself may say that it replaces
            name = "circle"


# Plug-ins of other packages


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Pretend that a package with these modules and entry points is installed."""

    def install(group, modules, **entries):
        for name, text in modules.items():
            (tmp_path / f"{name}.py").write_text(text)
        points = [EntryPoint(name, value, group) for name, value in entries.items()]
        monkeypatch.setattr("dips._tools.plugins.entry_points", lambda group: [p for p in points if p.group == group])
        load_plugins.cache_clear()

    monkeypatch.syspath_prepend(tmp_path)
    yield install
    load_plugins.cache_clear()


def test_a_name_not_found_is_looked_for_in_plug_ins(installed):
    module = "from dips.labelers import Greedy\nclass Foreign(Greedy):\n    name = 'foreign_to_a_test'\n"
    installed("dips.labelers", {"labeler_of_a_test": module}, foreign="labeler_of_a_test:Foreign")
    assert type(LABELERS.resolve("foreign_to_a_test")).__module__ == "labeler_of_a_test"
    del sys.modules["labeler_of_a_test"]
    gc.collect()


def test_a_broken_plug_in_is_named_and_the_others_work(installed):
    installed("dips.labelers", {"broken_part_of_a_test": "import nothing_of_the_kind"}, bad="broken_part_of_a_test")
    words = (
        r"plug-in 'bad' \(broken_part_of_a_test\) could not be loaded and is left out: ModuleNotFoundError: .*nothing"
    )
    with pytest.warns(UserWarning, match=words), pytest.raises(ValueError, match="labeler='xyzzy' is not known"):
        LABELERS.resolve("xyzzy")
    assert type(LABELERS.resolve("ups")) is UPS


def test_a_plug_in_of_another_kind_is_named_and_left_out(installed):
    installed("dips.labelers", {"no_labeler_of_a_test": "Thing = int"}, thing="no_labeler_of_a_test:Thing")
    words = r"plug-in 'thing' .* must be a subclass of dips\.labelers\.Labeler"
    with pytest.warns(UserWarning, match=words), pytest.raises(ValueError, match="'xyzzy' is not known"):
        LABELERS.resolve("xyzzy")


def test_a_known_name_loads_no_plug_in(installed):
    installed("dips.labelers", {"never_imported_by_a_test": ""}, mine="never_imported_by_a_test")
    LABELERS.resolve("ups")
    assert "never_imported_by_a_test" not in sys.modules
