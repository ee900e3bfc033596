"""Parts by name: a registry fills itself from the modules of a package, and from plug-ins."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from itertools import count
from typing import Any, ClassVar, Generic, TypeVar

from sklearn.base import BaseEstimator, clone

from dips._tools.plugins import load_plugins
from dips._tools.wording import option
from dips.exceptions import InputError, InputTypeError

_definitions = count()


class Named(BaseEstimator):
    """Base of the families whose members a string can name.

    A subclass with a ``name`` of its own can be asked for by that name as soon as it is defined. Two classes of a
    family cannot have the same name, unless the second says ``replaces = True``. Running the same definition again, as
    in a notebook, simply replaces the first.
    """

    name: ClassVar[str]
    replaces: ClassVar[bool] = False
    _definition: ClassVar[int]  # the later of two with one name counts

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._definition = next(_definitions)
        if "name" in vars(cls):
            _refuse_taken_name(cls)


T = TypeVar("T", bound=Named)


class Registry(Generic[T]):
    """The labelers, or the curators, that can be chosen by name.

    Parameters
    ----------
    kind : str
        What one of them is called in messages; plug-ins come from the entry points ``dips.<kind>s``.
    base : type
        Their base class; each subclass with a ``name`` of its own is one of them.
    from_function : callable
        Makes one from a plain function.
    """

    def __init__(self, kind: str, base: type[T], from_function: Callable[[Any], T]) -> None:
        self.kind, self.base, self.from_function = kind, base, from_function

    def discover(self, package: str, path: Iterable[str]) -> dict[str, type[T]]:
        """Import every module of the package; return the named classes of the family, by class name."""
        for module in pkgutil.iter_modules(path):
            importlib.import_module(f"{package}.{module.name}")
        return {cls.__name__: cls for cls in self.by_name().values()}

    def by_name(self) -> dict[str, type[T]]:
        """All classes that have a name, in alphabetical order."""
        return dict(sorted(_named_classes(self.base).items()))

    def resolve(self, spec: Any, offered: Callable[[], Iterable[str]] | None = None) -> T:
        """Return an instance of its own for a name, an object with settings, or a plain function.

        An unknown name is answered with those that are offered, or with all.
        """
        if isinstance(spec, self.base):
            resolved = clone(spec)
        elif isinstance(spec, str):
            resolved = self._class_named(spec, offered or self.by_name)()
        elif callable(spec) and not isinstance(spec, type):
            resolved = self.from_function(spec)
        else:
            wanted = f"a name ({', '.join(self.by_name())}), a {self.base.__name__} object or a function"
            raise InputTypeError(f"{self.kind} must be {wanted}; got {spec!r}.")
        resolved._validate_params()
        return resolved

    def _class_named(self, name: str, offered: Callable[[], Iterable[str]]) -> type[T]:
        if name not in self.by_name():
            base: type = self.base
            load_plugins(f"dips.{self.kind}s", base)
        known = self.by_name()
        if name not in known:
            names = list(offered())
            near = get_close_matches(name.lower(), names, n=1, cutoff=0.4)
            hint = f"; did you mean {near[0]!r}?" if near else "."
            raise InputError(f"{option(self.kind, name)} is not known{hint} There are {', '.join(names)}.")
        return known[name]


def _named_classes(base: type[T], besides: type[Named] | None = None) -> dict[str, type[T]]:
    """Classes under `base` that have a name of their own; of two with one name, the one defined later."""
    pending, named = list(base.__subclasses__()), []
    while pending:
        cls = pending.pop()
        pending.extend(cls.__subclasses__())
        if "name" in vars(cls) and cls is not besides:
            named.append(cls)
    return {cls.name: cls for cls in sorted(named, key=lambda cls: cls._definition)}


def _refuse_taken_name(cls: type[Named]) -> None:
    family = next(c for c in reversed(cls.__mro__) if issubclass(c, Named) and c is not Named)
    name, other = cls.name, _named_classes(family, besides=cls).get(cls.name)
    if other is None or vars(cls).get("replaces", False) or _location(other) == _location(cls):
        return
    del cls.name  # the refused class is not gone yet, and must not be found
    raise InputError(
        f"{cls.__name__} is called {name!r}, but that name is taken by {other.__module__}.{other.__qualname__}; "
        "choose another name, or set replaces = True in the class to take its place."
    )


def _location(cls: type) -> tuple[str, str]:
    return cls.__module__, cls.__qualname__
