"""Warnings of a study's many trainings: each is shown once, with the models it concerns; known noise is muted."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from dips._tools.observer import Observer
from dips._tools.warnings import warn

_NOISE_KINDS = (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ImportWarning, ResourceWarning)
_NOISE = (
    "X does not have valid feature names",  # LightGBM names the columns of an array by itself
    "lbfgs failed to converge",  # the linear second opinion; an early stop does not hurt it
    "The least populated class in y has only",  # folds of a rare class
)
_CODED = re.compile(r"(?:The \d+ )?labels of class (\d+)\b")  # the count is that of one fold
_NUMBER = re.compile(r"\d+(\.\d+)?(e[+-]?\d+)?")


class WarningLog:
    """Sentences, each with the models that it concerns; two about the same class that differ only in numbers are one.

    Models know classes by their codes; the sentences name them.
    """

    def __init__(self, classes: Sequence[Any] = ()) -> None:
        self._classes = classes
        self._seen: dict[tuple[str, ...], tuple[str, list[str]]] = {}

    def add(self, model: str, messages: list[str]) -> None:
        """Take the warnings of one training."""
        for message in messages:
            alike = (_NUMBER.sub("#", _CODED.sub("", message)), *_CODED.findall(message))
            _, models = self._seen.setdefault(alike, (self._named(message), []))
            if model not in models:
                models.append(model)

    def _named(self, message: str) -> str:
        if not self._classes:
            return message
        named = _CODED.sub(lambda match: f"labels of class {str(self._classes[int(match[1])])!r}", message)
        return named[:1].upper() + named[1:]

    def sentences(self, with_models: bool = True) -> list[str]:
        """Every warning once, the first one first; where there is but one model, it need not be named."""
        if not with_models:
            return [message for message, _ in self._seen.values()]
        return [f"{message} (Models: {', '.join(models)}.)" for message, models in self._seen.values()]


@contextmanager
def caught_warnings() -> Iterator[list[str]]:
    """Yield a list that holds, in the end, the warnings that matter."""
    messages: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield messages
        finally:
            relevant = [str(w.message) for w in caught if not issubclass(w.category, _NOISE_KINDS)]
            messages += dict.fromkeys(m for m in relevant if not m.startswith(_NOISE))


def issue(warnings: Iterable[str], observer: Observer) -> None:
    """Pass the warnings of a study on to its observer."""
    for sentence in warnings:
        observer.on_record({"event": "warning", "message": sentence})


class PythonWarnings(Observer):
    """Issues the warnings of a study as Python's; what watches where no other observer does."""

    def on_record(self, record: dict[str, object]) -> None:
        """Issue a warning."""
        if record["event"] == "warning":
            warn(str(record["message"]))


class TableWarnings(PythonWarnings):
    """The same for studies of tables."""

    def on_data(self, data: Any, leaks: dict[str, float]) -> None:
        """Warn of rows that may belong together: models that have seen one of them cannot judge the others."""
        for note in data.notes_on_groups:
            warn(note)
