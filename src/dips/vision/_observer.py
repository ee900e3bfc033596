"""What a fit shows while it runs: bars on a terminal, and a log of JSON lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dips._tools.progress import ProgressBars
from dips.vision import _distributed


class FitObserver(ProgressBars):
    """Bars with the images per second, and one line in the log for each checkpoint and each curation.

    Of several processes, only the first shows and writes anything.

    Parameters
    ----------
    enabled : bool
        Whether to show bars.
    images_per_step : int
        For the speed.
    log : Path, optional
        The file to which lines are added.
    """

    def __init__(self, enabled: bool, images_per_step: int, log: Path | None = None) -> None:
        is_first = _distributed.rank() == 0
        super().__init__(enabled and is_first, unit="images", units_per_step=images_per_step)
        self._log = log if is_first else None

    def on_record(self, record: dict[str, Any]) -> None:
        """Add a line to the log."""
        if self._log is not None:
            plain = {k: v.tolist() if hasattr(v, "tolist") else v for k, v in record.items()}
            with self._log.open("a") as file:
                file.write(json.dumps(plain) + "\n")
