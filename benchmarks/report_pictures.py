"""The pictures of docs/report.md: the breast cancer table of scikit-learn, with 300 labels, a fifth of them flipped.

python benchmarks/report_pictures.py        # needs selenium, chromium and chromedriver; writes docs/images/report_*.png
"""

from __future__ import annotations

import base64
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from selenium import webdriver
from sklearn.datasets import load_breast_cancer

from dips.datasets import flip_labels
from dips.study import fit

IMAGES = Path(__file__).parents[1] / "docs" / "images"
PICTURES = {  # name: width and height in pixels, whether dark, where to scroll to
    "light": (1200, 1300, False, ""),
    "dark": (1200, 1300, True, "models"),
    "phone": (390, 1000, False, "map"),
}


def table() -> pd.DataFrame:
    data = load_breast_cancer(as_frame=True)
    frame = data.frame.drop(columns="target").sample(frac=1, random_state=0)
    labels = np.asarray(data.target_names, dtype=object)[data.target[frame.index]]
    given, _ = flip_labels(labels[:300], 0.2, random_state=0)
    frame.insert(0, "sample", [f"S{i:03d}" for i in range(len(frame))])
    return frame.assign(tumor=[*given, *[None] * (len(frame) - 300)]).reset_index(drop=True)


def browser() -> Any:
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(argument)
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        run = fit(table(), target="tumor", out=Path(place, "run"), command="dips fit tumors.csv --target tumor")
        driver = browser()
        for name, (width, height, dark, section) in PICTURES.items():
            size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            wishes = {"prefers-color-scheme": "dark" if dark else "light", "prefers-reduced-motion": "reduce"}
            media = {"features": [{"name": k, "value": v} for k, v in wishes.items()]}
            driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
            driver.get(f"{run.report.as_uri()}#{section}")
            driver.implicitly_wait(1)
            shot = driver.execute_cdp_cmd("Page.captureScreenshot", {})
            (IMAGES / f"report_{name}.png").write_bytes(base64.b64decode(shot["data"]))
        driver.quit()


if __name__ == "__main__":
    main()
