"""The layers of the package: imports only point down, and no two modules import each other.

``LAYERS`` is the one list, from top to bottom. Names on one line are siblings, which do not import each other. Imports
inside functions and under ``TYPE_CHECKING`` count too; two modules of one layer may know each other's types.
"""

import ast
import importlib
import pkgutil
import re
from functools import cache
from pathlib import Path

import pytest

import dips

LAYERS = (
    ("__main__",),
    ("_cli",),
    ("_paper", "_demo", "_demo_tables", "_review_demo"),
    ("testing", "_image_study"),
    ("_study", "vision"),
    ("_review",),
    ("_report",),
    ("_persistence",),
    ("_estimators",),
    ("_beliefs",),
    ("network",),
    ("_spark",),
    ("_rounds",),
    ("labelers", "curators", "backbones"),
    ("_forest",),
    ("_dynamics",),
    ("datasets", "_files"),
    ("_data",),
    ("_tools",),
    ("exceptions", "_version"),
)
TOP = "__init__"  # names the public parts and imports them when they are asked for; only the layers above may use it
MAY_USE_TOP = ("__main__", "_cli", "_paper", "_demo", "_review_demo")

OPTIONAL = ("torch", "skorch", "PIL", "lightgbm", "catboost", "triton")  # modules that need them may fail without

SOURCE = Path(dips.__file__).parent
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}


def module_name(path):
    parts = ("dips", *path.relative_to(SOURCE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(SOURCE.rglob("*.py"))}


def part_of(module):
    """The layer's name: the first part below dips."""
    return module.split(".")[1] if "." in module else TOP


@cache
def imports_of(module, with_types=True):
    """Modules of the package that a module imports, at the top or inside a function."""
    imported = set()
    for node in _nodes(ast.parse(MODULES[module].read_text(encoding="utf-8")), with_types):
        if isinstance(node, ast.Import):
            imported.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(module, node)
            imported.update(whole if (whole := f"{base}.{alias.name}") in MODULES else base for alias in node.names)
    return sorted(name for name in imported if name.split(".")[0] == "dips")


def _nodes(tree, with_types):
    """Every node, or every one that is not under ``if TYPE_CHECKING``."""
    yield tree
    if with_types or not (isinstance(tree, ast.If) and ast.unparse(tree.test) == "TYPE_CHECKING"):
        for child in ast.iter_child_nodes(tree):
            yield from _nodes(child, with_types)


def _absolute(module, node):
    """Name of the module that is imported from, also where it is given relative to the importer."""
    if node.level == 0:
        return node.module
    is_package = MODULES[module].name == "__init__.py"
    parents = module.split(".")[: (1 if is_package else 0) - node.level or None]
    return ".".join([*parents, *([node.module] if node.module else [])])


def is_allowed(importer, imported):
    if imported == TOP:
        return importer in MAY_USE_TOP
    return importer == imported or LEVEL[importer] < LEVEL[imported]


def test_every_module_has_a_layer():
    assert {part_of(module) for module in MODULES} - {TOP} <= set(LEVEL)


@pytest.mark.parametrize("module", [m for m in MODULES if part_of(m) != TOP])
def test_imports_point_down(module):
    wrong = [name for name in imports_of(module) if not is_allowed(part_of(module), part_of(name))]
    assert wrong == [], f"{module} imports what lies above it, or beside it"


def test_no_modules_import_each_other():
    graph = {module: [m for m in imports_of(module, with_types=False) if m in MODULES] for module in MODULES}
    graph["dips"] = []  # imports nothing until it is asked for
    done, path = set(), []

    def visit(module):
        assert module not in path, " → ".join([*path[path.index(module) :], module])
        if module in done:
            return
        path.append(module)
        for imported in graph[module]:
            visit(imported)
        path.pop()
        done.add(module)

    for module in graph:
        visit(module)


def test_no_module_is_shadowed_by_something_of_its_name():
    """``import dips.x.y`` must give the module y, not a function that x re-exports under the same name."""
    shadowed = []
    for info in pkgutil.walk_packages([str(SOURCE)], "dips."):
        parent, _, name = info.name.rpartition(".")
        if info.name.endswith("__main__"):
            continue
        try:
            module = importlib.import_module(info.name)
        except ImportError as error:
            missing = error.name or error.__cause__.name
            if missing not in OPTIONAL or importlib.util.find_spec(missing):
                raise
            continue
        if getattr(importlib.import_module(parent), name) is not module:
            shadowed.append(info.name)
    assert shadowed == []


@pytest.mark.parametrize(("importer", "imported"), [("_report", "_study"), ("_study", "vision"), ("_rounds", TOP)])
def test_imports_up_or_sideways_are_caught(importer, imported):
    assert not is_allowed(importer, imported)


def test_every_type_has_a_name_of_its_own():
    """Who reads a name must not have to look which of two things it is; ``_Private`` ones may share one."""
    homes = {}
    for module, path in MODULES.items():
        for name in types_of(ast.parse(path.read_text(encoding="utf-8"))):
            homes.setdefault(name, []).append(module)
    assert {name: modules for name, modules in homes.items() if len(modules) > 1} == {}


def types_of(tree):
    """Classes, and aliases of types by their spelling, that a module defines for others."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (t.id for t in targets if isinstance(t, ast.Name) and re.match(r"[A-Z]+[a-z]", t.id))
