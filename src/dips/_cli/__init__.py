"""The command ``dips``.

Every module of ``commands`` adds its commands to the application; a module put there is found. A group of commands is
one ``app.add_typer(group, name="...")`` in such a module.
"""

from __future__ import annotations

import importlib
import pkgutil

from dips._cli import commands
from dips._cli.app import run

__all__ = ["main"]

for _module in pkgutil.iter_modules(commands.__path__):
    importlib.import_module(f"{commands.__name__}.{_module.name}")


def main() -> None:
    """Run the command line and exit with its code."""
    raise SystemExit(run())
