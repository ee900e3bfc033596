"""What a run tells while it is trained: JSON lines in a file, a bar on a terminal."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dips._tools.progress import ProgressBars
from dips.vision import _distributed


def json_lines(path: Path | None) -> Callable[[dict[str, Any]], None]:
    """Return a function that adds a record to the file; with several processes only the first writes."""
    if path is None or _distributed.rank() > 0:
        return lambda record: None

    def write(record: dict[str, Any]) -> None:
        plain = {k: v.tolist() if hasattr(v, "tolist") else v for k, v in record.items()}
        with path.open("a") as file:
            file.write(json.dumps(plain) + "\n")

    return write


@contextmanager
def progress(n_steps: int, images_a_step: int, enabled: bool) -> Iterator[Callable[[int], None]]:
    """Yield a function that is told how many steps are done; it shows images a second and the time left."""
    is_shown = enabled and _distributed.rank() == 0
    with ProgressBars(is_shown, unit="images", units_per_step=images_a_step) as bars:
        yield lambda done: bars.on_step(done, n_steps)
