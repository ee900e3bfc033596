"""What a user of a study tells of the errors, checked against its labels, and in words."""

from __future__ import annotations

import numpy as np

from dips._data.known import Known
from dips._data.labels import UNLABELED
from dips._data.verified import Verified
from dips._files.target import Target
from dips._study.settings import Settings
from dips._tools.arrays import Array
from dips._tools.wording import option, some_of


def read_told(settings: Settings, target: Target, verified: Verified) -> Known | None:
    """Return what is known of the errors, or None; refuse what the labels, or their corrections, do not allow."""
    if not (settings.trust_label or settings.class_frequency):
        return None
    classes, frequencies = np.array([str(c) for c in target.classes]), settings.class_frequency or None
    names = (option("trust_label"), option("class_frequency"))
    known = Known.told(settings.trust_label, frequencies, classes, names)
    known.refuse_contradictions(target.codes, classes, verified, first_row=1)
    return known


def told_notes(known: Known | None, given: Array, classes: list[str]) -> list[str]:
    """Sentences on what was told, beside the labels (n,) as they were given."""
    if known is None:
        return []
    notes = []
    if known.trusted.any():
        trusted = some_of(c for c, is_trusted in zip(classes, known.trusted, strict=True) if is_trusted)
        notes.append(f"Taken to be never wrong: the label {trusted} ({option('trust_label')}).")
    if known.frequencies is not None:
        found = np.bincount(given[given != UNLABELED], minlength=len(classes)) / (given != UNLABELED).sum()
        each = zip(classes, known.frequencies, found, strict=True)
        said = some_of(f"{c} {100 * true:.3g} % ({100 * labeled:.3g} % are labeled so)" for c, true, labeled in each)
        notes.append(f"Shares of the classes, as told: {said} ({option('class_frequency')}).")
    return notes
