"""Checkpoint files: complete or absent, without pickle, and continued only with the same settings and data."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator

from dips._tools.packing import unpacked
from dips.exceptions import InputError

_DAMAGE = (OSError, EOFError, ValueError, LookupError, TypeError, RecursionError, zipfile.BadZipFile)


def output_file(name: str, given: str | Path) -> Path:
    """Return where to write; refuse, before any work, a place that cannot be written to."""
    path = Path(given)
    if os.path.isdir(path) or not os.path.isdir(path.parent):
        raise InputError(f"{name}={str(given)!r} must be a file in a folder that exists; make the folder first.")
    if not os.access(path.parent, os.W_OK):
        raise InputError(f"{name}={str(given)!r} is in a folder that you may not write to; choose another.")
    return path


def read_checkpoint(path: Path, described: str, unpack: Callable[[bytes], Any] = unpacked) -> dict[str, Any] | None:
    """Return the state in a file, None if there is none; refuse that of other settings or data.

    Reading it runs no code. A state is a dictionary, in which "described" tells what must be the same to go on.
    """
    if not path.exists():
        return None
    try:
        state: dict[str, Any] = unpack(path.read_bytes())
        stored = state["described"]
    except _DAMAGE as error:
        raise InputError(
            f"Training cannot continue from {path}: {error}; remove it, or choose another file."
        ) from error
    if stored != described:
        raise InputError(
            f"{path} was written with other settings or data, so training cannot continue from it; remove it, or "
            f"choose another file. It has: {stored}. This training has: {described}."
        )
    return state


@contextmanager
def restoring(path: Path) -> Iterator[None]:
    """Say in one sentence that a file, although whole, holds something other than a training needs."""
    try:
        yield
    except (*_DAMAGE, AttributeError, RuntimeError) as error:
        raise InputError(
            f"Training cannot continue from {path}: it does not hold what this training needs ({error}); remove it."
        ) from error


def as_text(value: Any) -> str:
    """Like repr, but the same in every process: functions by name, objects by their settings."""
    if is_dataclass(value) and not isinstance(value, type):
        settings = {field.name: getattr(value, field.name) for field in fields(value)}
    elif isinstance(value, BaseEstimator):
        settings = value.get_params()
    elif hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    else:
        text = repr(value)
        return text if " at 0x" not in text else type(value).__qualname__
    return f"{type(value).__name__}({', '.join(f'{k}={as_text(v)}' for k, v in sorted(settings.items()))})"


def learned(part: BaseEstimator) -> dict[str, Any]:
    """Return what a curator keeps from round to round, besides its settings."""
    return {name: value for name, value in vars(part).items() if name not in part.get_params()}


def relearn(part: BaseEstimator, values: dict[str, Any]) -> None:
    """Give a curator what it had learned; its settings stay."""
    for name in set(values) - set(part.get_params()):
        setattr(part, name, values[name])
