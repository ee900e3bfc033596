"""Pages to test: an ordinary one, one whose data attacks, one of many rows."""

import numpy as np
import pandas as pd
from patients import patients

from dips.study import audit, fit

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


def hostile(place):
    """Column names, values, ids, labels and the target itself are HTML, script and formulas."""
    frame, _ = patients(n=140, n_labeled=140, noise=0.15)
    rng = np.random.RandomState(0)
    attack = pd.DataFrame(
        {
            HOSTILE[0]: frame["age"],
            HOSTILE[2]: rng.choice(HOSTILE, len(frame)),
            HOSTILE[5]: [f"{HOSTILE[i % 10]}{i}" for i in range(len(frame))],
            "{{ config }}": frame["dose"],
            HOSTILE[1]: frame["outcome"].map({"ill": HOSTILE[1], "well": HOSTILE[5]}),
        }
    )
    return fit(attack, target=HOSTILE[1], id=(HOSTILE[5],), out=place / "run", rounds=2)


def many_classes(place):
    """A confusion table wider than a phone, and learned from few rows each."""
    frame, _ = patients(n=240, n_labeled=240)
    decades = (frame["age"] // 10).map(lambda d: f"between {10 * d} and {10 * d + 9}")
    return fit(frame.assign(outcome=decades), target="outcome", out=place / "run", time_limit=1e-6)


def large(place, n=30_000):
    frame, _ = patients(n=n, n_labeled=n)
    path = place / "large.html"
    audit(frame, target="outcome").write_report(path)
    return path
