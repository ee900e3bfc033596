"""The pictures of docs/review.md: the demonstration of dips review, and two public tables with wrong labels of our own.

Needs selenium, chromium and chromedriver.

DIPS_DATA=... python benchmarks/review_pictures.py  # writes docs/images/review_*.png
python benchmarks/review_pictures.py RUN FOLDER  # of another run, or of a folder of images, all views
"""

from __future__ import annotations

import base64
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from selenium import webdriver

from dips import fit
from dips._review_demo import noisy_table
from dips._study.reviewing import server_of_run
from dips._study.run import Run
from dips.datasets import flip_labels, load

IMAGES = Path(__file__).parents[1] / "docs" / "images"
VIEWS = {  # name: width and height in pixels, whether dark, whether blinded
    "light": (1280, 840, False, False),
    "dark": (1280, 800, True, False),
    "phone": (390, 844, True, False),
    "blinded": (1280, 800, False, True),
}
DEMO = ("light", "phone")
PUBLIC = {"adult": "dark", "agaricus-lepiota": "blinded"}  # and the view that is shown of each


def browser() -> Any:
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(argument)
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))


def take(driver: Any, run: Run, view: str, path: Path) -> None:
    width, height, dark, blinded = VIEWS[view]
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    server = server_of_run(run, blinded=blinded, reviewer=view)
    server.start()
    driver.get(server.address())
    for _ in range(100):
        if driver.execute_script("return document.body.dataset.ready"):
            break
        time.sleep(0.05)
    rows, desk = server.desk.queue.rows, server.desk
    for row in rows[:3]:  # a few decisions, then a suspect
        press(driver, desk, row)
    if desk.queue.rows[3] in desk.queue.checks:
        driver.find_element("css selector", "#next").click()
    time.sleep(0.4)
    shot = driver.execute_cdp_cmd("Page.captureScreenshot", {})
    path.write_bytes(base64.b64decode(shot["data"]))
    server.stop()


def press(driver: Any, desk: Any, row: int) -> None:
    """Keep labels that nobody suspects, change the others."""
    material = desk.material
    given = material.account["given"].iloc[material.position[row]]
    is_check = row in desk.queue.checks
    key = next(key for key, code in material.class_keys.items() if (code == given) == is_check)
    webdriver.ActionChains(driver).send_keys(key).perform()
    time.sleep(0.3)


def main(arguments: list[str]) -> None:
    driver = browser()
    if arguments:
        folder = Path(arguments[1])
        folder.mkdir(parents=True, exist_ok=True)
        for view in VIEWS:
            take(driver, Run(arguments[0]), view, folder / f"review_{view}.png")
    else:
        with tempfile.TemporaryDirectory() as place:
            run = judged(noisy_table()[0], "tumor", Path(place) / "demo", id=("sample",))
            for view in DEMO:
                take(driver, run, view, IMAGES / f"review_{view}.png")
            for name, view in PUBLIC.items():
                run = judged(public_table(name), "label", Path(place) / name)
                take(driver, run, view, IMAGES / f"review_{name}.png")
    driver.quit()


def judged(table: pd.DataFrame, target: str, place: Path, **settings: Any) -> Run:
    """A run of the table, without the comparison of models."""
    place.mkdir()
    table.to_csv(place / "table.csv", index=False)
    return fit(place / "table.csv", target, place / "run", time_limit=1e-6, **settings)


def public_table(name: str) -> pd.DataFrame:
    """500 rows of a public table, 15 % of the labels wrong."""
    loaded = load(name)
    rows = np.random.RandomState(0).permutation(loaded.y.size)[:500]
    classes = np.array([f"class {c}" for c in loaded.y[rows]], dtype=object)
    return loaded.X.iloc[rows].assign(label=flip_labels(classes, 0.15, random_state=0)[0])


if __name__ == "__main__":
    main(sys.argv[1:])
