"""How long a reviewer waits in a review of 10,000 suspects in a table of 200 columns: in the browser, key by key.

    python benchmarks/review_size.py

Needs selenium, chromium and chromedriver. The rows and what is believed of them are synthetic; nothing is trained. A
decision is synced to the disk before the page goes on, which is part of the wait. Half a minute.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from browser import browser
from common import show
from selenium.webdriver import ActionChains, Keys

from dips._files.columns import Column, Schema
from dips._review.cells import TableCells
from dips._review.desk import Desk
from dips._review.material import Material
from dips._review.server import ReviewServer
from dips._review.store import EventStore

N_ROWS, N_SUSPECTS, N_COLUMNS, N_KEYS = 50_000, 10_000, 200, 100
ROW = "document.getElementById('row-name').dataset.row"


def material() -> Material:
    """A table of numbers, and labels of which every fifth is suspect."""
    rng = np.random.RandomState(0)
    table = pa.table({f"column_{j}": rng.normal(size=N_ROWS) for j in range(N_COLUMNS)})
    is_suspect, codes = np.arange(N_ROWS) % (N_ROWS // N_SUSPECTS) == 0, rng.randint(0, 2, N_ROWS)
    account = pd.DataFrame(
        {
            "row": np.arange(1, N_ROWS + 1),
            "key": "",
            "given": codes,
            "suggested": 1 - codes,
            "p_wrong": rng.uniform(size=N_ROWS),
            "suspicion": np.where(is_suspect, np.arange(N_ROWS), np.nan),
            "height": rng.uniform(size=N_ROWS),
            "across": rng.uniform(0, 0.25, N_ROWS),
            "useful": ~is_suspect,
            "is_checkable": True,
            "reason": "synthetic",
        }
    )
    schema = Schema([Column(name, "number") for name in table.column_names])
    cells = TableCells(table, schema, np.arange(N_ROWS), codes, ~is_suspect, 2, [], [])
    return Material("large", "label", "row", ["no", "yes"], account, "a" * 64, cells)


def waited(driver: Any, act: Callable[[], Any], script: str) -> float:
    """Seconds until a script answers with something true after an act."""
    began = time.perf_counter()
    act()
    while not driver.execute_script(f"return {script}"):
        if time.perf_counter() - began > 60:
            raise RuntimeError(f"never true: {script}")
    return time.perf_counter() - began


def main() -> None:
    driver = browser()
    with tempfile.TemporaryDirectory() as place:
        desk = Desk(material(), EventStore(Path(place) / "decisions.sqlite", "a" * 64))
        server = ReviewServer(desk, reviewer="anna")
        server.start()
        address = server.address()
        waits = {"open the page": [waited(driver, lambda: driver.get(address), "document.body.dataset.ready")]}
        for key, name in ((Keys.ENTER, "decide, until the next row is there"), ("j", "next"), ("u", "undo")):
            waits[name] = []
            for _ in range(N_KEYS):
                row = driver.execute_script(f"return {ROW}")
                press = ActionChains(driver).send_keys(key).perform
                waits[name].append(waited(driver, press, f"{ROW} !== '{row}'"))
                if key == "u":
                    break  # the row of the last decision comes back
        ActionChains(driver).send_keys("/").perform()
        hits = "document.querySelectorAll('#found button').length"
        waits["find a value in all cells"] = [waited(driver, ActionChains(driver).send_keys("1.2345").perform, hits)]
        ActionChains(driver).send_keys(Keys.ESCAPE).perform()
        exports = "document.querySelectorAll('#exports button').length"
        waits["results"] = [waited(driver, ActionChains(driver).send_keys("r").perform, exports)]
        server.stop()
    driver.quit()
    times = {name: {"n": len(each), "median, ms": _ms(each, 50), "slowest of 20, ms": _ms(each, 95)}
             for name, each in waits.items()}  # fmt: skip
    show(f"{len(desk.queue.rows):,} rows to look at, {N_COLUMNS} columns", pd.DataFrame(times).T)


def _ms(seconds: list[float], percentile: float) -> int:
    return round(1_000 * float(np.percentile(seconds, percentile)))


if __name__ == "__main__":
    main()
