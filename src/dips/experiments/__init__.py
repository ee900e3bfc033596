"""The figures and tables of the paper, one module each, on one small engine.

Every module of this package that has an ``EXPERIMENT`` is one; put another one here and it is found. Those on images
are in ``images``.
"""

from __future__ import annotations

import importlib
import pkgutil
from difflib import get_close_matches
from typing import TYPE_CHECKING

from dips.tabular.errors import UserError

if TYPE_CHECKING:
    from dips.experiments.experiment import Experiment


def experiments() -> dict[str, Experiment]:
    """All experiments by name, in the order of the paper."""
    modules = [importlib.import_module(m.name) for m in pkgutil.walk_packages(__path__, f"{__name__}.")]
    found = [m.EXPERIMENT for m in modules if hasattr(m, "EXPERIMENT")]
    return {e.name: e for e in sorted(found, key=lambda e: e.order)}


def find(name: str) -> Experiment:
    """Return the experiment of this name."""
    known = experiments()
    if name not in known:
        close = get_close_matches(name, known, n=1)
        hint = f"did you mean {close[0]!r}?" if close else "see `dips paper list`."
        raise UserError(f"No experiment is called {name!r}; {hint}")
    return known[name]
