"""Tables to study: patients with two things wrong with them, labels that are missing or wrong."""

import numpy as np
import pandas as pd

from dips.datasets import flip_labels


def patients(n=160, n_labeled=110, noise=0.1, seed=0):
    """Return a table with an outcome, and which of its labels are wrong."""
    rng = np.random.RandomState(seed)
    age, dose = rng.randint(20, 90, n), rng.normal(size=n).round(3)
    ill = (age > 55) ^ (dose > 1.2)
    label, wrong = flip_labels(np.where(ill, "ill", "well"), noise, random_state=seed)
    frame = pd.DataFrame(
        {
            "patient": [f"P{i:04d}" for i in range(n)],
            "age": age,
            "dose": dose,
            "ward": rng.choice(["north", "south", "east"], n),
            "seen": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.randint(0, 700, n), unit="D"),
            "outcome": pd.Series(label, dtype=object),
        }
    )
    frame.loc[n_labeled:, "outcome"] = None
    wrong[n_labeled:] = False
    return frame, wrong
