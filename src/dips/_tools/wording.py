"""Words of messages: settings by the name the reader can type, and lists that say how much of them is left out."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
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


def some_of(values: Iterable[Any], most: int = 12) -> str:
    """Name the first values, and say how many more there are.

    Examples
    --------
    >>> some_of("abc"), some_of(range(30), most=3)
    ('a, b, c', '0, 1, 2 and 27 more')
    """
    texts = [str(value) for value in values]
    n_more = len(texts) - most
    return ", ".join(texts[:most]) + (f" and {n_more:,} more" if n_more > 0 else "")


def cut(text: Any, n: int) -> str:
    """Write a text with at most `n` characters.

    Examples
    --------
    >>> cut("infection", 9), cut("infections", 9)
    ('infection', 'infectio…')
    """
    text = str(text)
    return text if len(text) <= n else f"{text[: n - 1]}…"


def counted(n: int, one: str, many: str | None = None) -> str:
    """Write a number of things; `many` is needed where more than an s is added.

    Examples
    --------
    >>> counted(1, "row"), counted(2_000, "row"), counted(1, "cell is", "cells are")
    ('1 row', '2,000 rows', '1 cell is')
    """
    return f"{n:,} {one if n == 1 else many or f'{one}s'}"


def beside(label: Any, value: str) -> str:
    """Write a value beside its label; a colon sets it apart from a label that ends in a digit.

    Examples
    --------
    >>> beside("well", "90 %"), beside(1, "46 %")
    ('well 90 %', '1: 46 %')
    """
    return f"{label}{':' if str(label)[-1:].isdigit() else ''} {value}"


def count_of(label: Any, n: int) -> str:
    """Write how many there are of a label.

    Examples
    --------
    >>> count_of("well", 1_557), count_of(1, 46)
    ('well 1,557', '1: 46')
    """
    return beside(label, f"{n:,}")


def reason_of(error: BaseException) -> str:
    """Return the first line of what a library says, without a full stop; where it says nothing, what it calls it.

    Examples
    --------
    >>> reason_of(ValueError("the header is odd.\\nSee above.")), reason_of(KeyError())
    ('the header is odd', 'KeyError')
    """
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__


def shortened(path: Path) -> str:
    """Name a file, as far as the name does not fill the message."""
    return str(path) if len(str(path)) < 200 else f"{str(path)[:100]}…"


def duration(seconds: float) -> str:
    """Write roughly how long something takes.

    Examples
    --------
    >>> duration(4), duration(100), duration(5400), duration(40 * 3600), duration(5 * 86400)
    ('4 seconds', '2 minutes', '90 minutes', '40 hours', '5 days')
    """
    for unit, length, most in (("second", 1, 90), ("minute", 60, 100), ("hour", 3600, 48)):
        if seconds < most * length:
            return counted(max(1, round(seconds / length)), unit)
    return counted(round(seconds / 86400), "day")


def option(name: str, value: Any = None) -> str:
    """Write a setting as the reader would.

    A pair stands for one entry of a setting that takes several by name, such as a type for a column; a list stands for
    several values.

    Examples
    --------
    >>> option("unlabeled_mark", "not seen"), option("merge_labels", True), option("type", ("zip", "category"))
    ("unlabeled_mark='not seen'", 'merge_labels=True', "type={'zip': 'category'}")
    >>> with command_line():
    ...     option("unlabeled_mark", "not seen"), option("merge_labels", True), option("type", ("zip", "category"))
    ("--unlabeled-mark 'not seen'", '--merge-labels', '--type zip=category')
    >>> with command_line():
    ...     option("unlabeled_mark", ["a", "b"])
    '--unlabeled-mark a --unlabeled-mark b'
    """
    if not _ON_COMMAND_LINE.get():
        if isinstance(value, tuple):
            return f"{name}={{{value[0]!r}: {value[1]!r}}}"
        return name if value is None else f"{name}={value!r}"
    if isinstance(value, list):
        return " ".join(option(name, each) for each in value)
    typed = f"--{name.replace('_', '-')}"
    if value is None or value is True:
        return typed
    text = "=".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return f"{typed}={shlex.quote(text)}" if text.startswith("-") else f"{typed} {shlex.quote(text)}"
