"""Pages to test: an ordinary one, one whose data attacks, one of many rows, one of images."""

import numpy as np
import pandas as pd

from dips._study import audit, fit
from tests.patients import patients

HOSTILE = [
    "<script>window.attacked = 1</script>",
    "</script><script>window.attacked = 1</script>",
    '"><img src=x onerror="window.attacked=1">',
    "<!--<script>",
    "{{ 7 * 7 }}",
    '=HYPERLINK("http://example.com")',
    "'; alert(1); //",
    "\u2028\u2029",
    "[red]markup[/red]",
    "javascript:window.attacked=1",
]


def ordinary(place):
    return fit(patients()[0], target="outcome", out=place / "run", rounds=2)


def hostile_table():
    """A table whose column names, values, names of rows, labels and target are HTML, script and formulas."""
    frame, _ = patients(n=140, n_labeled=140, noise=0.15)
    rng = np.random.RandomState(0)
    return pd.DataFrame(
        {
            HOSTILE[0]: frame["age"],
            HOSTILE[2]: rng.choice(HOSTILE, len(frame)),
            HOSTILE[5]: [f"{HOSTILE[i % 10]}{i}" for i in range(len(frame))],
            "{{ config }}": frame["dose"],
            HOSTILE[1]: frame["outcome"].map({"ill": HOSTILE[1], "well": HOSTILE[5]}),
        }
    )


def hostile(place):
    """A study of that table."""
    return fit(hostile_table(), target=HOSTILE[1], id=(HOSTILE[5],), out=place / "run", rounds=2)


def many_classes(place):
    """A confusion table wider than a phone, and learned from few rows each."""
    frame, _ = patients(n=240, n_labeled=240)
    decades = (frame["age"] // 10).map(lambda d: f"between {10 * d} and {10 * d + 9}")
    return fit(frame.assign(outcome=decades), target="outcome", out=place / "run", time_limit=1e-6)


def long_names(place):
    """Names of columns and classes without a place to break them, from right to left, and with pictures."""
    frame, _ = patients(n=140, n_labeled=140, noise=0.15)
    named = frame.rename(columns={"age": "AgeOfThePatientInYearsAtTheTimeOfTheFirstVisit" * 2, "dose": "عمر المريض 💊"})
    classes = {"ill": "i" * 120, "well": "a class whose name is a whole sentence, with commas, that goes on and on"}
    return fit(named.assign(outcome=frame["outcome"].map(classes)), target="outcome", out=place / "run", rounds=2)


def faultless(place):
    """A table without a suspect."""
    frame, _ = patients(n=140, n_labeled=140, noise=0)
    clear = frame.assign(dose=(frame["outcome"] == "ill").astype(float) + frame["dose"] / 100)
    return fit(clear, target="outcome", out=place / "run", time_limit=1e-6)


def large(place, n=30_000):
    frame, _ = patients(n=n, n_labeled=n)
    path = place / "large.html"
    audit(frame, target="outcome").write_report(path)
    return path


def colors(n=90, size=16):
    """Noise in which one of three channels is brighter; of the first 45 labels 9 are wrong, the others are hidden."""
    rng = np.random.RandomState(0)
    truth = np.arange(n) % 3
    X = rng.randint(0, 120, (n, size, size, 3)).astype(np.uint8)
    X[np.arange(n), :, :, truth] += 90
    given = np.where(np.arange(n) < 9, (truth + 1) % 3, truth)
    return X, np.where(np.arange(n) < 45, given, -1)


def fitted_to_images(names=("red", "green", "blue"), files="{}.png", **settings):
    """A classifier of images in files, and the images."""
    from dips.vision import ImageClassifier, Percentile

    quick = {"n_steps": 20, "n_rounds": 3, "warm_up_steps": 20, "batch_size": 8, "unlabeled_ratio": 2, "device": "cpu"}
    X, codes = colors()
    y = pd.Series([names[c] if c >= 0 else None for c in codes], [files.format(k) for k in range(len(X))], dtype=object)
    clf = ImageClassifier("tiny", **{"curator": Percentile(), "random_state": 0} | quick | settings)
    return clf.fit(X, y, X[45:], np.asarray(names, dtype=object)[np.arange(45, 90) % 3]), X


def images(place):
    clf, X = fitted_to_images()
    clf.write_report(place / "images.html", X, title="colors")
    return place / "images.html"


def hostile_images(place):
    """File names, labels and the title are HTML and script."""
    clf, X = fitted_to_images(HOSTILE[:3], "{}" + HOSTILE[2])
    clf.write_report(place / "hostile.html", X, title=HOSTILE[1])
    return place / "hostile.html"
