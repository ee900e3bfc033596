"""The command ``dips``.

Every module of this package that is not private adds its commands to ``app``; put another one here and it is found.
A group of commands is one ``app.add_typer(group, name="...")`` in such a module.
"""

from __future__ import annotations

import importlib
import pkgutil

from dips.cli._app import app, run

__all__ = ["app", "main"]

for _module in pkgutil.iter_modules(__path__):
    if not _module.name.startswith("_"):
        importlib.import_module(f"{__name__}.{_module.name}")


def main() -> None:
    """Run the command line and exit with its code."""
    raise SystemExit(run())
