"""Private names of scikit-learn are imported in one place."""

import ast
from pathlib import Path

import pytest

import dips

SOURCE = Path(dips.__file__).parent
MODULES = [path for path in sorted(SOURCE.rglob("*.py")) if path.name != "sklearn_compat.py"]


def private_names(path):
    """Imports of scikit-learn that have a leading underscore in any part."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        yield from (n for n in names if n.startswith("sklearn.") and "._" in n)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_other_module_imports_a_private_name_of_scikit_learn(path):
    assert list(private_names(path)) == []


def test_the_check_sees_private_names():
    assert list(private_names(SOURCE / "_tools" / "sklearn_compat.py"))
