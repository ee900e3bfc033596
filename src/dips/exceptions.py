"""What can go wrong on the user's side, each kind with the exit code that the command line ends with."""

from __future__ import annotations


class UserError(ValueError):
    """Something the user can change; the message says what was found, what was wanted and what to do."""

    exit_code = 3


class DataError(UserError):
    """A table or a column that cannot be used."""


class OutputError(UserError):
    """The output is there already, or cannot be written."""

    exit_code = 4


class ModelError(UserError):
    """A model folder that is damaged, or of another kind than this version reads."""

    exit_code = 5
