"""All errors that dips raises on purpose, under one root.

Each class has the exit code of the command line. Any other error from inside dips is a bug.
"""

from __future__ import annotations

__all__ = [
    "DamagedFileError",
    "DataError",
    "DipsError",
    "InputError",
    "InputTypeError",
    "ModelError",
    "OutputError",
    "ReviewError",
    "SettingsError",
    "StoppedError",
    "UserError",
]


class DipsError(Exception):
    """Root of all errors that dips raises on purpose.

    The message says what was found, what was wanted and what to do.
    """

    exit_code = 3

    def __str__(self) -> str:
        """One line, whatever names and values of the data are quoted in it."""
        return " ".join(super().__str__().splitlines())


class UserError(DipsError, ValueError):
    """Something the user can change."""


class InputError(UserError):
    """An argument, or an array, that an estimator cannot use; a ``ValueError``, as scikit-learn expects."""


class InputTypeError(DipsError, TypeError):
    """An argument of the wrong type; a ``TypeError``, as scikit-learn expects."""


class DataError(UserError):
    """A table or a column that cannot be used."""


class SettingsError(UserError):
    """A setting of a study that is unknown or out of range."""


class OutputError(UserError):
    """The output exists already, or cannot be written."""

    exit_code = 4


class ReviewError(UserError):
    """Something that a review cannot do, or a record of decisions that was changed."""


class ModelError(UserError):
    """A model folder that is damaged, or was written in a format that this version does not read."""

    exit_code = 5


class DamagedFileError(ModelError):
    """A file whose parts do not fit together; the message gives the reason, and the caller adds the file's name."""


class StoppedError(DipsError):
    """Stopped with Ctrl-C; the message says what happens to the work done so far."""

    exit_code = 130


def __dir__() -> list[str]:
    return sorted(__all__)
