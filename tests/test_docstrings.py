"""Every public name is in the API reference once, and its docstring tells of the parameters that it has."""

import importlib
import inspect
import re
import sys
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed; dips.vision is part of what is public")
sys.path.insert(0, str(Path(__file__).parents[1] / "docs"))
reference = importlib.import_module("api_reference")
sys.path.pop(0)

NAMES = [(module, name) for module in reference.public_modules() for name in reference.names_of(module)]
CODE = [(m, n) for m, n in NAMES if inspect.isclass(getattr(m, n)) or inspect.isfunction(getattr(m, n))]
_SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n(.*?)(?=^\w[\w ]*\n-{3,}\n|\Z)", re.MULTILINE | re.DOTALL)


def described(doc, sections):
    """Names on the left of the entries of the sections, in order; one entry may have several."""
    texts = dict(_SECTION.findall(doc))
    entries = [line for title in sections for line in texts.get(title, "").splitlines() if re.match(r"[*\w]", line)]
    return [name.strip(" *") for entry in entries for name in entry.partition(" :")[0].split(",")]


def parameters(thing):
    if inspect.isclass(thing) and issubclass(thing, Exception):
        return []
    return [name for name in inspect.signature(thing).parameters if name not in ("self", "args")]


def test_every_public_name_is_listed_once():
    listed = [(m.__name__, n) for m in reference.public_modules() for g in reference.arranged(m).values() for n in g]
    assert Counter(listed) == Counter((m.__name__, n) for m, n in NAMES)
    things = Counter(id(getattr(m, n)) for m, n in CODE)
    assert max(things.values()) == 1


def test_every_name_that_is_given_a_place_exists():
    public = {(m.__name__, n) for m, n in NAMES}
    modules = {m.__name__ for m in reference.public_modules()}
    placed = [(m, n) for m, (_, groups) in reference.PLACES.items() for group in groups.values() for n in group]
    assert [place for place in placed if place[0] in modules and place not in public] == []


@pytest.mark.parametrize(("module", "name"), CODE, ids=[f"{m.__name__}.{n}" for m, n in CODE])
def test_the_docstring_tells_of_the_parameters(module, name):
    thing = getattr(module, name)
    doc = inspect.getdoc(thing)
    assert doc, "no docstring"
    wanted = parameters(thing)
    told = described(doc, ["Parameters", "Attributes"] if hasattr(thing, "__dataclass_fields__") else ["Parameters"])
    if hasattr(thing, "__dataclass_fields__"):
        told = [name for name in told if name in wanted]  # attributes may be more than the fields
    assert sorted(told) == sorted(wanted)


@pytest.mark.parametrize(("module", "name"), CODE, ids=[f"{m.__name__}.{n}" for m, n in CODE])
def test_what_is_below_an_entry_is_a_text_of_its_own(module, name):
    """The site sets the line of an entry as a type and what is below as text: no sentence may go over both."""
    texts = dict(_SECTION.findall(inspect.getdoc(getattr(module, name))))
    entries = "\n".join(texts.get(title, "") for title in ("Parameters", "Attributes"))
    run_on = re.findall(r"^([*\w].*)\n +([a-z(].*)$", entries, re.MULTILINE)
    assert run_on == []
