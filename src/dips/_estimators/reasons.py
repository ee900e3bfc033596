"""Why a label is suspect, in words: the same in Python, on the command line and on the page."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dips._tools.arrays import Array

ROW, IMAGE = "row", "image"  # what labels are of
MORE_LIKELY = 0.5  # p_wrong from which another label is more probable than the given one

# The page fills in the same phrases for the rows that it shows.
LEARNED = (
    "hardly learned (confidence {} %)",
    "learned with doubt (confidence {} %)",
    "learned only by heart (confidence {} %)",
)
WRONG = "wrong with a probability of {} %"
UNSEEN = {
    ROW: "models that had not seen the row gave '{label}' {} %",
    IMAGE: "networks not trained on the label, or not recently, gave '{label}' {} %",
}
OTHER, NO_OTHER = "'{label}' fits better", "no other label fits clearly better"
IF_WRONG = "if it is wrong, '{label}' is likely"


def phrases(unit: str) -> dict[str, Any]:
    """Return the phrases that the page fills in."""
    return {
        "learned": LEARNED,
        "wrong": WRONG,
        "unseen": UNSEEN[unit],
        "other": OTHER,
        "no_other": NO_OTHER,
        "if_wrong": IF_WRONG,
    }


def whole_percent(share: float) -> str:
    """A probability in whole percent; none is written as if it were certain.

    Examples
    --------
    >>> whole_percent(0.45), whole_percent(0.9996), whole_percent(0.002)
    ('45', 'over 99', 'under 1')
    """
    percent = round(100 * share)
    return "over 99" if percent >= 100 else "under 1" if percent <= 0 else str(percent)


def how_learned(confidence: Array | float) -> Any:
    """Which of ``LEARNED`` says how a label was learned."""
    import numpy as np  # here, so that the help of the command line does not wait for it

    return np.digitize(confidence, [0.25, 0.5])


def _how_believed(confidence: float, p_wrong: float) -> str:
    if math.isfinite(p_wrong):
        return WRONG.format(whole_percent(p_wrong))
    return LEARNED[int(how_learned(confidence))].format(whole_percent(confidence)) if math.isfinite(confidence) else ""


def said_first(why: str, confidence: float, p_wrong: float = math.nan) -> str:
    """Return what a reason says before it comes to what models found: that an identical row has another label.

    Examples
    --------
    >>> said_first("row 7 is identical and has the label 'ill'; wrong with a probability of 50 %; …", 0.3, 0.5)
    "row 7 is identical and has the label 'ill'"
    """
    of_models = _how_believed(confidence, p_wrong)
    return why.partition(f"; {of_models}")[0] if of_models and f"; {of_models}" in why else ""


def reason(
    given: Any, suggested: Any, confidence: float, out_of_fold: float, p_wrong: float = math.nan, unit: str = ROW
) -> str:
    """Say why a label is suspect: how probable it is that it is wrong, or else how it was learned.

    Examples
    --------
    >>> reason("no", "yes", 0.1, 0.05)
    "hardly learned (confidence 10 %); models that had not seen the row gave 'no' 5 %; 'yes' fits better"
    >>> reason("no", "yes", 0.4, 0.3, p_wrong=0.45)
    "wrong with a probability of 45 %; models that had not seen the row gave 'no' 30 %; if it is wrong, 'yes' is likely"
    """
    parts = list(filter(None, [_how_believed(confidence, p_wrong)]))
    if math.isfinite(out_of_fold):
        parts.append(UNSEEN[unit].format(whole_percent(out_of_fold), label=given))
    has_other = suggested is not None and suggested == suggested
    other = IF_WRONG if p_wrong < MORE_LIKELY else OTHER
    return "; ".join([*parts, other.format(label=suggested) if has_other else NO_OTHER])
