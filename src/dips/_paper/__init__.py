"""The figures and tables of the paper.

``figures`` has one module per figure or table of the paper; ``tables`` and ``images`` hold the trials that these are
made of; ``engine`` runs trials and keeps their records. Every module of ``figures`` has an ``EXPERIMENT``, named like
the module but with dashes; a new module is found without being registered.
"""

from __future__ import annotations

import importlib
import pkgutil
from difflib import get_close_matches
from typing import TYPE_CHECKING

from dips._paper import figures
from dips.exceptions import UserError

if TYPE_CHECKING:
    from dips._paper.experiment import Experiment


def experiments() -> dict[str, Experiment]:
    """Return all experiments by name, in the order of the paper."""
    every = [_experiment(name) for name in _names()]
    return {e.name: e for e in sorted(every, key=lambda e: e.order)}


def find(name: str) -> Experiment:
    """Return the experiment of this name; no other is imported."""
    known = _names()
    if name not in known:
        close = get_close_matches(name, known, n=1)
        hint = f"did you mean {close[0]!r}?" if close else "see `dips paper list`."
        raise UserError(f"No experiment is called {name!r}; {hint}")
    return _experiment(name)


def _names() -> list[str]:
    return [module.name.replace("_", "-") for module in pkgutil.iter_modules(figures.__path__)]


def _experiment(name: str) -> Experiment:
    return importlib.import_module(f"{figures.__name__}.{name.replace('-', '_')}").EXPERIMENT
