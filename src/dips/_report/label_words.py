"""What is said about the labels: how many are wrong, how sure that is, and which class is in danger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from dips._tools.wording import counted, option

_NEAR_0 = 0.005  # rounds to 0 %
_ANYTHING = 0.45  # wrong labels; where 0 and this share explain the labels equally well, nothing is known of them
_WIDE = 0.1  # a range from 0 to here leaves the number of suspects open
_LOOKS = (10, 20, 50, 100, 200, 500)  # suspects that a person may look at
_DANGER = 0.5  # of a class's labels
_FAR_ABOVE = 2.0  # times the share among the other classes
_LEAST_SHARE, _FEW_SUSPECTS = 0.2, 3  # below, a class is not called in danger


def share_in_words(rate: float, interval: Sequence[float] | None = None, labels: str = "labels") -> str:
    """Say what share of the labels looks wrong; where that may be none, only the range is said.

    `labels` names those that the share is about.

    Examples
    --------
    >>> share_in_words(0.18, (0.121, 0.25))
    'About 18 % of the labels look wrong (between 12 and 25 %)'
    >>> share_in_words(0.02, (0, 0.06))
    'Between 0 and 6 % of the labels look wrong'
    >>> share_in_words(0.3, (0, 0.46))
    'Models can hardly predict the labels, so anything from 0 to 46 % of them may be wrong'
    >>> share_in_words(0.004), share_in_words(0.001, (0, 0.003))
    ('Under 1 % of the labels look wrong', 'Under 1 % of the labels look wrong')
    """
    if interval is None:
        return f"{'Under 1' if rate < 0.01 else f'About {100 * rate:.0f}'} % of the {labels} look wrong"
    low, high = interval
    if high < _NEAR_0:
        return f"Under 1 % of the {labels} look wrong"
    if tells_nothing(interval):
        return f"Models can hardly predict the {labels}, so anything from 0 to {100 * high:.0f} % of them may be wrong"
    if low < _NEAR_0:
        return f"Between 0 and {100 * high:.0f} % of the {labels} look wrong"
    if round(100 * low) == round(100 * high):
        return f"About {100 * rate:.0f} % of the {labels} look wrong"
    return f"About {100 * rate:.0f} % of the {labels} look wrong (between {100 * low:.0f} and {100 * high:.0f} %)"


def tells_nothing(interval: Sequence[float] | None) -> bool:
    """Whether no label and nearly half of them may be wrong, so that suspects are hardly more than guesses."""
    return interval is not None and interval[0] < _NEAR_0 and interval[1] > _ANYTHING


def guessed(interval: Sequence[float] | None) -> str:
    """What to add where suspects are named although nothing is known of the labels."""
    return ", hardly more than guesses until some are checked" if tells_nothing(interval) else ""


def first_looks(interval: Sequence[float] | None) -> str:
    """Say how to learn something of labels that models hardly predict; empty where they do.

    Labels most of which are wrong and labels that no column explains look the same, until somebody has checked some.
    """
    if not tells_nothing(interval):
        return ""
    return (
        f"Check the first 20 with {option('order', 'useful')}, and run again with your corrections: only that shows "
        "whether labels are wrong or the columns say nothing about them."
    )


def left_to_chance(interval: Sequence[float] | None, n_suspects: int) -> str:
    """Say that the number of suspects is hardly known; empty where labels show it, or nothing at all.

    Where one class is mistaken far more often than the other, some seeds name most of the wrong labels and others few,
    but they rank labels alike.
    """
    if not n_suspects or interval is None or tells_nothing(interval):
        return ""
    if interval[0] >= _NEAR_0 or interval[1] < _WIDE:
        return ""
    return (
        "These labels hardly show how many are wrong, so the number of suspects is partly chance: another seed may "
        "name far fewer or more. Check the first ones, and run again with your corrections; these will show it."
    )


def what_to_tell(interval: Sequence[float] | None, settings: Mapping[str, Any]) -> str:
    """Say what users may know of the errors, where labels may be right and nothing was told.

    Examples
    --------
    >>> what_to_tell((0.0, 0.03), {})[:27], what_to_tell((0.1, 0.2), {}), what_to_tell((0, 0.2), {"trust_label": ["a"]})
    ('More labels may be wrong if', '', '')
    """
    was_told = settings.get("trust_label") or settings.get("class_frequency")
    if was_told or interval is None or interval[0] >= _NEAR_0:
        return ""
    return (
        "More labels may be wrong if one class is mistaken for another, which labels alone hardly show. If a label is "
        f"never wrong, or you know how often each class truly occurs, say so ({option('trust_label')}, "
        f"{option('class_frequency')})."
    )


def checked_in_words(checked: Mapping[str, Any] | None, n_labeled: int) -> str:
    """Say how many labels somebody has checked; empty where nobody did.

    Examples
    --------
    >>> checked_in_words({"n": 30, "corrected": 12}, n_labeled=500)
    '30 labels were checked, and 12 corrected.'
    >>> checked_in_words({"n": 30, "corrected": None}, n_labeled=30)  # nobody says what they were before
    'All 30 labels were checked.'
    """
    if checked is None:
        return ""
    n, corrected = checked["n"], checked["corrected"]
    who = f"All {n:,} labels were" if n == n_labeled > 1 else counted(n, "label was", "labels were")
    return f"{who} checked." if corrected is None else f"{who} checked, and {corrected or 'none'} corrected."


def unchecked(checked: Mapping[str, Any] | None, n_labeled: int) -> str:
    """Name the labels that may be wrong: those that nobody has checked.

    Examples
    --------
    >>> unchecked({"n": 30, "corrected": 12}, n_labeled=500), unchecked(None, n_labeled=500)
    ('470 unchecked labels', 'labels')
    """
    return "labels" if checked is None else f"{n_labeled - checked['n']:,} unchecked labels"


def label_summary(
    share_wrong: float | None,
    interval: Sequence[float] | None,
    n_suspects: int,
    n_labeled: int,
    checked: Mapping[str, Any] | None = None,
) -> str:
    """Say how many labels were checked, how many others look wrong and how sure that is, and how many are suspects."""
    n_open = n_labeled - (checked["n"] if checked else 0)
    before = checked_in_words(checked, n_labeled)
    if n_open == 0:
        return before
    suspects = f"{n_suspects:,} of {n_open:,} {'is' if n_suspects == 1 else 'are'} suspect{guessed(interval)}."
    if n_suspects == 0 and interval is None:
        suspects = f"None of {n_open:,} labels is suspect."
    elif n_suspects == 0:
        suspects = f"none of {n_open:,} is suspect."
    if share_wrong is not None and (n_suspects or interval is not None):
        suspects = f"{share_in_words(share_wrong, interval, unchecked(checked, n_labeled))}; {suspects}"
    return f"{before} {suspects}".lstrip()


def ranking_in_words(n: int) -> str:
    """Say what a list is of which no label is a suspect.

    Examples
    --------
    >>> ranking_in_words(40)
    'Listed are the 40 most likely to be wrong: a ranking, not a verdict.'
    """
    which = "is the one" if n == 1 else f"are the {n:,}"
    return f"Listed {which} most likely to be wrong: a ranking, not a verdict."


def share_in_short(rate: float, interval: Sequence[float] | None = None) -> str:
    """Write the share for a card.

    Examples
    --------
    >>> share_in_short(0.18, (0.12, 0.25)), share_in_short(0.02, (0, 0.06)), share_in_short(0.18)
    ('12 to 25 %', '0 to 6 %', '18 %')
    """
    if interval is None:
        return "under 1 %" if rate < 0.01 else f"{100 * rate:.0f} %"
    low, high = (round(100 * limit) for limit in interval)
    if high == 0:
        return "under 1 %"
    return f"{low} %" if low == high else f"{low} to {high} %"


def worth_of_suspects(p_wrong: pd.Series, interval: Sequence[float] | None = None) -> list[dict[str, int]]:
    """How many of the first suspects are expected to be wrong; empty if that is not known.

    Examples
    --------
    >>> worth_of_suspects(pd.Series([0.9] * 10 + [0.6] * 10))
    [{'n': 10, 'wrong': 9}, {'n': 20, 'wrong': 15}]
    """
    if p_wrong.isna().any() or p_wrong.empty or tells_nothing(interval):
        return []
    total = np.cumsum(p_wrong.to_numpy(dtype=float))
    looks = [*(n for n in _LOOKS if n < total.size), total.size]
    return [{"n": n, "wrong": round(float(total[n - 1]))} for n in looks]


def worth_in_words(worth: Sequence[dict[str, int]]) -> str:
    """Say what a look at the first suspects is worth.

    Examples
    --------
    >>> worth_in_words([{"n": 10, "wrong": 9}, {"n": 20, "wrong": 15}])
    'Of the first 10, about 9 are estimated to be wrong; of the next 10, about 6'
    >>> worth_in_words([{"n": 10, "wrong": 9}, {"n": 20, "wrong": 19}])  # 9.4 and 18.6: the next are no worse
    'Of the first 10, about 9 are estimated to be wrong; of the next 10, about 9'
    >>> worth_in_words([{"n": 4, "wrong": 1}])
    'Of all 4, about 1 is estimated to be wrong'
    """
    if not worth:
        return ""
    first = worth[0]
    named = f"the first {first['n']}" if len(worth) > 1 else f"all {first['n']}"
    if first["wrong"] == 0:
        return f"Of {named}, hardly any is estimated to be wrong"
    words = f"Of {named}, about {first['wrong']} {'is' if first['wrong'] == 1 else 'are'} estimated to be wrong"
    if len(worth) > 1 and worth[1]["n"] == 2 * first["n"]:
        words += f"; of the next {first['n']}, about {min(worth[1]['wrong'] - first['wrong'], first['wrong'])}"
    return words


def classes_in_danger(by_class: Sequence[dict[str, Any]]) -> list[str]:
    """Warn by name of classes whose labels are suspects far more often than others'.

    Examples
    --------
    >>> rare, usual = {"label": "rare", "n": 20, "k": 12, "low": 0.4}, {"label": "usual", "n": 180, "k": 9, "low": 0.0}
    >>> classes_in_danger([rare, usual])
    ["60 % of the labels 'rare' are suspects (12 of 20), against 5 % of all others. ..."]
    """
    sentences, total_n, total_k = [], sum(r["n"] for r in by_class), sum(r["k"] for r in by_class)
    for r in by_class:
        n_rest, k_rest = total_n - r["n"], total_k - r["k"]
        if r["k"] < _FEW_SUSPECTS or not n_rest:
            continue
        share, elsewhere = r["k"] / r["n"], k_rest / n_rest
        if share > _DANGER or (share > _LEAST_SHARE and r["low"] > _FAR_ABOVE * elsewhere):
            sentences.append(
                f"{100 * share:.0f} % of the labels '{r['label']}' are suspects ({r['k']:,} of {r['n']:,}), "
                f"against {100 * elsewhere:.0f} % of all others. Rows of a rare or hard class are easily mistaken for "
                "errors: look at them before you correct or drop any."
            )
    return sentences
