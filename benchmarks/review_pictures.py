"""The pictures of docs/review.md: the demonstration of dips review, two public tables and a set of images.

Of the latter some labels were made wrong on purpose; the network has learned for a minute only.

Needs selenium, chromium and chromedriver.

DIPS_DATA=... python benchmarks/review_pictures.py  # writes docs/images/review_*.png
python benchmarks/review_pictures.py RUN FOLDER  # of another run, or of a folder of images, all views
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from browser import browser, picture, set_screen
from PIL import Image
from selenium.webdriver import ActionChains

from dips import fit, fit_images
from dips._review_demo import noisy_table
from dips._study.reviewing import server_of_run
from dips._study.run import Run
from dips.datasets import flip_labels, load
from dips.datasets._image_sets import load_images

IMAGES = Path(__file__).parents[1] / "docs" / "images"
VIEWS = {  # name: width and height in pixels, whether dark, whether blinded
    "light": (1280, 840, False, False),
    "dark": (1280, 800, True, False),
    "phone": (390, 844, True, False),
    "blinded": (1280, 800, False, True),
    "agreement": (1280, 860, False, False),
}
DEMO = ("light", "phone", "agreement")
PUBLIC = {"adult": "dark", "agaricus-lepiota": "blinded"}  # and the view that is shown of each
N_IMAGES, N_JUDGED_TWICE = 300, 30


def take(driver: Any, run: Run, view: str, path: Path) -> None:
    width, height, dark, blinded = VIEWS[view]
    set_screen(driver, width, height, dark)
    server = server_of_run(run, blinded=blinded, reviewer="Anna")
    server.start()
    driver.get(server.address())
    for _ in range(100):
        if driver.execute_script("return document.body.dataset.ready"):
            break
        time.sleep(0.05)
    if view == "agreement":
        judge_twice(server.desk)
        ActionChains(driver).send_keys("r").perform()
    else:
        look_at_some(driver, server.desk)
    time.sleep(0.6)
    picture(driver, path)
    server.stop()


def look_at_some(driver: Any, desk: Any) -> None:
    """A few decisions, then a suspect."""
    for row in desk.queue.rows[:3]:
        press(driver, desk, row)
    if desk.queue.rows[3] in desk.queue.checks:
        driver.find_element("css selector", "#next").click()


def judge_twice(desk: Any) -> None:
    """Two people judge the same rows, and are divided on every tenth."""
    material = desk.material
    for k, row in enumerate(desk.queue.rows[:N_JUDGED_TWICE]):
        given = material.given[row]
        suggested = material.classes[material.account["suggested"].iloc[material.position[row]]]
        first = given if row in desk.queue.checks else suggested
        for who, label in (("Anna", first), ("Bob", given if k % 10 == 9 else first)):
            desk.decide(who, f"{who} {row}", row, "label", label)


def press(driver: Any, desk: Any, row: int) -> None:
    """Keep labels that nobody suspects, change the others."""
    material = desk.material
    given = material.account["given"].iloc[material.position[row]]
    is_check = row in desk.queue.checks
    key = next(key for key, code in material.class_keys.items() if (code == given) == is_check)
    ActionChains(driver).send_keys(key).perform()
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
            for view in DEMO:  # each of a copy, in which nothing was decided yet
                copy = shutil.copytree(run.folder, Path(place) / "demo" / view)
                take(driver, Run(copy), view, IMAGES / f"review_{view}.png")
            for name, view in PUBLIC.items():
                run = judged(public_table(name), "label", Path(place) / name)
                take(driver, run, view, IMAGES / f"review_{name}.png")
            take(driver, satellite_images(Path(place) / "eurosat"), "light", IMAGES / "review_images.png")
    driver.quit()


def satellite_images(place: Path) -> Run:
    """Some images of EuroSAT in a folder per class, 15 % of them in the wrong one, and a network that judges them."""
    some = load_images("eurosat").head(N_IMAGES)
    labels = flip_labels(some.y_train, 0.15, random_state=0)[0]
    for k, (pixels, label) in enumerate(zip(some.X_train, labels, strict=True)):
        path = place / "images" / some.class_names[label] / f"{k:03}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(path)
    return fit_images(place / "images", place / "run", network="tiny", steps=60, curator="percentile", holdout=0)


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
