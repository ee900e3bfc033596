"""Plug-ins: what other installed packages offer through entry points."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from typing import Any

from dips._tools.warnings import warn


@cache
def load_plugins(group: str, base: type = object) -> tuple[Any, ...]:
    """Load every entry point of a group, once; each must be a class under `base`.

    A plug-in that is not, or that cannot be loaded, is named in a warning and left out.

    A package offers a labeler of its own with these lines in its ``pyproject.toml``::

        [project.entry-points."dips.labelers"]
        mine = "my_package.my_module:MyLabeler"
    """
    loaded = []
    for entry in entry_points(group=group):
        try:
            plugin = entry.load()
            if not (isinstance(plugin, type) and issubclass(plugin, base)):
                raise TypeError(f"it must be a subclass of {base.__module__.partition('._')[0]}.{base.__name__}")
            loaded.append(plugin)
        except Exception as error:  # whatever somebody else's package does, ours goes on
            package = f" of the package {entry.dist.name}" if entry.dist else ""
            warn(
                f"The plug-in {entry.name!r} ({entry.value}){package} could not be loaded and is left out: "
                f"{type(error).__name__}: {error}"
            )
    return tuple(loaded)
