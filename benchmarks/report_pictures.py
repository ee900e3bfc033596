"""The pictures of docs/report.md, on data that comes with scikit-learn.

The table is breast cancer, with 300 labels; the images are the handwritten digits, with 400. A fifth of the labels is
flipped. Needs selenium, chromium and chromedriver, and PyTorch for the images.

python benchmarks/report_pictures.py         # writes docs/images/report_*.png
python benchmarks/report_pictures.py images  # only that one
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from browser import browser, picture, set_screen
from sklearn.datasets import load_breast_cancer, load_digits

from dips.datasets import flip_labels

IMAGES = Path(__file__).parents[1] / "docs" / "images"
PICTURES = {  # name: page, width and height in pixels, whether dark, where to scroll to
    "light": ("table", 1200, 1300, False, ""),
    "dark": ("table", 1200, 1300, True, "models"),
    "phone": ("table", 390, 1000, False, "map"),
    "images": ("digits", 1200, 1500, False, ""),
}


def table(place: Path) -> Path:
    from dips._study import fit

    data = load_breast_cancer(as_frame=True)
    frame = data.frame.drop(columns="target").sample(frac=1, random_state=0)
    labels = np.asarray(data.target_names, dtype=object)[data.target[frame.index]]
    given, _ = flip_labels(labels[:300], 0.2, random_state=0)
    frame.insert(0, "sample", [f"S{i:03d}" for i in range(len(frame))])
    frame = frame.assign(tumor=[*given, *[None] * (len(frame) - 300)]).reset_index(drop=True)
    return fit(frame, target="tumor", out=place / "run", command="dips fit tumors.csv --target tumor").report


def digits(place: Path) -> Path:
    from PIL import Image

    from dips.vision import Augmentation, ImageClassifier

    data = load_digits()
    small = (255 / 16 * data.images).round().astype(np.uint8)  # (1797, 8, 8)
    X = np.stack([np.asarray(Image.fromarray(image).resize((16, 16), Image.Resampling.BICUBIC)) for image in small])
    given, _ = flip_labels(data.target[:400], 0.2, random_state=0)
    y = pd.Series([*given, *[-1] * 1000], index=[f"digit_{i:04d}.png" for i in range(1400)])
    clf = ImageClassifier(
        "tiny", n_steps=600, n_rounds=6, warm_up_steps=300, batch_size=32, unlabeled_ratio=2,
        augmentation=Augmentation(flip=False), device="cpu", random_state=0,
    )  # fmt: skip
    clf.fit(X[:1400], y, X[1400:], data.target[1400:])
    clf.write_report(place / "digits.html", X[:1400], title="handwritten digits")
    return place / "digits.html"


def main(names: list[str]) -> None:
    with tempfile.TemporaryDirectory() as place:
        wanted = {PICTURES[name][0] for name in names}
        pages = {make.__name__: make(Path(place)) for make in (table, digits) if make.__name__ in wanted}
        driver = browser()
        for name in names:
            page, width, height, dark, section = PICTURES[name]
            set_screen(driver, width, height, dark)
            driver.get(pages[page].as_uri())
            if section:
                unfold = "const s = document.getElementById(arguments[0]), d = s.querySelector('details');"
                driver.execute_script(f"{unfold} if (d) d.open = true; s.scrollIntoView();", section)
            driver.implicitly_wait(1)
            picture(driver, IMAGES / f"report_{name}.png")
        driver.quit()


if __name__ == "__main__":
    main(sys.argv[1:] or list(PICTURES))
