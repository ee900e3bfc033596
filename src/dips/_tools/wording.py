"""Settings by the name the reader can type: ``--drop`` on the command line, ``drop=`` in Python."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_ON_COMMAND_LINE: ContextVar[bool] = ContextVar("on_command_line", default=False)


@contextmanager
def command_line() -> Iterator[None]:
    """Let messages name options as they are typed in a shell; without it they speak Python."""
    token = _ON_COMMAND_LINE.set(True)
    try:
        yield
    finally:
        _ON_COMMAND_LINE.reset(token)


def option(name: str, value: Any = None) -> str:
    """Write a setting as the reader would.

    A pair stands for one entry of a setting that takes several by name, such as a type for a column.

    Examples
    --------
    >>> option("unlabeled_mark", "not seen"), option("merge_labels", True), option("type", ("zip", "category"))
    ("unlabeled_mark='not seen'", 'merge_labels=True', "type={'zip': 'category'}")
    >>> with command_line():
    ...     option("unlabeled_mark", "not seen"), option("merge_labels", True), option("type", ("zip", "category"))
    ("--unlabeled-mark 'not seen'", '--merge-labels', '--type zip=category')
    """
    if not _ON_COMMAND_LINE.get():
        if isinstance(value, tuple):
            return f"{name}={{{value[0]!r}: {value[1]!r}}}"
        return name if value is None else f"{name}={value!r}"
    typed = f"--{name.replace('_', '-')}"
    if value is None or value is True:
        return typed
    text = "=".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return f"{typed}={shlex.quote(text)}" if text.startswith("-") else f"{typed} {shlex.quote(text)}"
