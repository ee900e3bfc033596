"""What the network has read, as a model that can be saved: see :func:`dips.save_model`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from dips.backbones import Backbone, register_backbone
from dips.backbones._stored import require
from dips.network._read_table import ReadTable


@register_backbone
class NetworkFamily(Backbone):
    """A table that the network has read; nothing is trained, so that there is nothing to watch."""

    handles = (ReadTable,)
    name = "network"
    file_name = "network.npz"

    def save(self, fitted: Any, path: Path) -> None:
        """Write the weights and the rows that were read."""
        fitted.save(path)

    def check_file(self, path: Path, n_features: int | None, n_classes: int) -> None:
        """Refuse a file of other columns or classes, or whose parts do not fit each other."""
        table = ReadTable.load(path)
        require(n_features in (None, table.n_features), f"it has {table.n_features} columns, not {n_features}")
        n_stored = int(table.codes.max()) + 1
        require(n_stored == n_classes, f"it has {n_stored} classes, not {n_classes}")

    def on_threads(self, fitted: Any, n_threads: int) -> Any:
        """Return a copy that answers on so many threads."""
        return replace(fitted, n_jobs=n_threads)

    def load(self, path: Path, unfitted: Any = None) -> Any:
        """Read it again."""
        return ReadTable.load(path)
