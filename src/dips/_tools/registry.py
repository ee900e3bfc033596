"""Parts by name: a registry fills itself from the modules of a package."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Any, Generic, TypeVar

from sklearn.base import BaseEstimator, clone

from dips.exceptions import InputError, InputTypeError

T = TypeVar("T", bound=BaseEstimator)


class Registry(Generic[T]):
    """The labelers, or the curators, that a string can name.

    Parameters
    ----------
    kind : str
        What they are called in messages.
    base : type
        Their base class; each subclass with a ``name`` of its own is one of them.
    from_function : callable
        Makes one from a plain function.
    """

    def __init__(self, kind: str, base: type[T], from_function: Callable[[Any], T]) -> None:
        self.kind, self.base, self.from_function = kind, base, from_function

    def discover(self, package: str, path: Iterable[str]) -> dict[str, type[T]]:
        """Import every module of the package; return the named classes found there, by class name."""
        for module in pkgutil.iter_modules(path):
            importlib.import_module(f"{package}.{module.name}")
        return {c.__name__: c for c in self.by_name().values()}

    def by_name(self) -> dict[str, type[T]]:
        """All that have a name, in alphabetical order; of two with one name, the class defined later."""
        found: dict[str, type[T]] = {}
        pending = list(self.base.__subclasses__())
        while pending:
            cls = pending.pop(0)
            pending.extend(cls.__subclasses__())
            if "name" in vars(cls):
                found[cls.name] = cls
        return dict(sorted(found.items()))

    def resolve(self, spec: Any) -> T:
        """Return an instance of its own for a name, an object with settings, or a plain function."""
        if isinstance(spec, self.base):
            resolved = clone(spec)
        elif isinstance(spec, str):
            known = self.by_name()
            if spec not in known:
                near = get_close_matches(spec.lower(), known, n=1, cutoff=0.4)
                hint = f"; did you mean {near[0]!r}?" if near else "."
                raise InputError(f"{self.kind}={spec!r} is not known{hint} There are {', '.join(known)}.")
            resolved = known[spec]()
        elif callable(spec) and not isinstance(spec, type):
            resolved = self.from_function(spec)
        else:
            wanted = f"a name ({', '.join(self.by_name())}), a {self.base.__name__} object or a function"
            raise InputTypeError(f"{self.kind} must be {wanted}; got {spec!r}.")
        resolved._validate_params()
        return resolved
