"""Plug-ins: what other installed packages offer through entry points."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from typing import Any

from dips._tools.warnings import warn


@cache
def load_plugins(group: str) -> tuple[Any, ...]:
    """Load every entry point of a group, once; a plug-in that cannot be loaded is named in a warning and left out.

    A package offers a labeler of its own with these lines in its ``pyproject.toml``::

        [project.entry-points."dips.labelers"]
        mine = "my_package.my_module:MyLabeler"
    """
    loaded = []
    for entry in entry_points(group=group):
        try:
            loaded.append(entry.load())
        except Exception as error:  # whatever somebody else's package does, ours goes on
            package = f" of the package {entry.dist.name}" if entry.dist else ""
            warn(
                f"The plug-in {entry.name!r} ({entry.value}){package} could not be loaded and is left out: "
                f"{type(error).__name__}: {error}"
            )
    return tuple(loaded)
