"""All errors that dips raises on purpose have one root, and stay what scikit-learn expects them to be."""

import ast
import inspect
from pathlib import Path

import pytest

from dips import exceptions

ERRORS = [e for _, e in inspect.getmembers(exceptions, inspect.isclass) if issubclass(e, Exception)]
SOURCE = Path(exceptions.__file__).parent
NOT_FOR_USERS = ("_forest", "network")  # their errors are caught inside, or are bugs


@pytest.mark.parametrize("error", ERRORS)
def test_every_error_has_the_root_and_an_exit_code_that_is_no_bug(error):
    assert issubclass(error, exceptions.DipsError)
    assert error.exit_code > 2


def test_refused_input_is_a_value_error_and_a_wrong_type_a_type_error():
    assert issubclass(exceptions.InputError, ValueError)
    assert issubclass(exceptions.InputTypeError, TypeError)
    assert not issubclass(exceptions.InputTypeError, ValueError)


@pytest.mark.parametrize(
    "path",
    [p for p in sorted(SOURCE.rglob("*.py")) if not set(NOT_FOR_USERS) & set(p.parts)],
    ids=lambda p: str(p.relative_to(SOURCE)),
)
def test_refusals_are_raised_as_our_own_errors(path):
    raised = [
        node.exc.func.id
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and isinstance(node.exc.func, ast.Name)
    ]
    others = {"ValueError", "TypeError", "FileNotFoundError"} & set(raised)
    assert not others, "raise InputError, InputTypeError or DataError, of dips.exceptions"
