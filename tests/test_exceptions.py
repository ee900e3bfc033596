"""All errors that dips raises on purpose have one root, and stay what scikit-learn expects them to be."""

import inspect

import pytest

from dips import exceptions

ERRORS = [e for _, e in inspect.getmembers(exceptions, inspect.isclass) if issubclass(e, Exception)]


@pytest.mark.parametrize("error", ERRORS)
def test_every_error_has_the_root_and_an_exit_code_that_is_no_bug(error):
    assert issubclass(error, exceptions.DipsError)
    assert error.exit_code > 2


def test_refused_input_is_a_value_error_and_a_wrong_type_a_type_error():
    assert issubclass(exceptions.InputError, ValueError)
    assert issubclass(exceptions.InputTypeError, TypeError)
    assert not issubclass(exceptions.InputTypeError, ValueError)
