"""Labels and categories that look like one in several spellings: Yes, yes and Y. Labels are merged on demand."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

_YES = {"y", "yes", "true", "ja", "oui", "si"}
_NO = {"n", "no", "false", "nein", "non"}
_YES_IF_ALL, _NO_IF_ALL = _YES | {"1", "t", "j"}, _NO | {"0", "f"}  # alone these may mean anything
MOST_LABELS = 100  # more are no classes
_RARE, _RARE_SHARE = 10, 0.05  # rows of a misspelling, and their share of those of the right spelling
_LONG = 5  # letters of a word that a slip of the pen may be in
_SHORT = 3  # letters of one in which a letter may stand twice
_SHOWN = 6  # labels, and spellings of each


@dataclass(frozen=True)
class Variants:
    """One label in several spellings.

    Attributes
    ----------
    label : the spelling that most rows have
    spellings : rows of each, that one first
    """

    label: str
    spellings: dict[str, int]


def find_variants(counts: Mapping[str, int]) -> list[Variants]:
    """Group labels that differ in case, blanks, marks or accents, in a way to say yes and no, or by a rare slip.

    Examples
    --------
    >>> variants = find_variants({"Yes": 50, "yes": 9, "Y": 4, "No": 80, "N": 2})
    >>> [(v.label, list(v.spellings)) for v in variants]
    [('No', ['No', 'N']), ('Yes', ['Yes', 'yes', 'Y'])]
    >>> find_variants({"grade 1": 50, "grade 2": 3, "male": 40, "female": 40})
    []
    """
    if len(counts) > MOST_LABELS:
        return []
    keys = {label: plain(label) for label in counts}
    groups: dict[str, list[str]] = {}
    for label, key in _with_one_yes(keys).items():
        groups.setdefault(key, []).append(label)
    _join_slips(groups, counts)
    variants = []
    for labels in groups.values():
        if len(labels) > 1:
            ordered = sorted(labels, key=lambda label: (-counts[label], label))
            variants.append(Variants(ordered[0], {label: counts[label] for label in ordered}))
    return sorted(variants, key=lambda v: v.label)


def spelled(variants: list[Variants]) -> str:
    """Write spellings with their rows.

    Examples
    --------
    >>> spelled(find_variants({"male": 50, "Male": 9, "female": 40}))
    "'male' (50), 'Male' (9)"
    """
    return " · ".join(
        ", ".join(f"{s!r} ({n:,})" for s, n in list(v.spellings.items())[:_SHOWN])
        + (", …" if len(v.spellings) > _SHOWN else "")
        for v in variants[:_SHOWN]
    ) + (" · …" if len(variants) > _SHOWN else "")


def plain(label: str) -> str:
    r"""Return a label without case, accents, marks, invisible characters and superfluous blanks.

    Examples
    --------
    >>> plain("  Café_au  LAIT. "), plain("1.0"), plain("-1"), plain("zero\u200bwidth")
    ('cafe au lait', '1', '-1', 'zerowidth')
    """
    if re.fullmatch(r"\s*[+-]?\d+(\.0*)?\s*", label):
        return label.strip().partition(".")[0]
    letters = unicodedata.normalize("NFKD", label.casefold())
    without = "".join(c for c in letters if not unicodedata.combining(c) and unicodedata.category(c) != "Cf")
    return " ".join(re.sub(r"[\s_.\-/]+", " ", without).split()) or label


def _with_one_yes(keys: dict[str, str]) -> dict[str, str]:
    """Let every way to say yes have one key; 1, 0, t and f count where nothing else is said."""
    said = set(keys.values())
    yes, no = (_YES_IF_ALL, _NO_IF_ALL) if said <= _YES_IF_ALL | _NO_IF_ALL and said & _YES_IF_ALL else (_YES, _NO)
    return {label: "yes" if key in yes else "no" if key in no else key for label, key in keys.items()}


def _join_slips(groups: dict[str, list[str]], counts: Mapping[str, int]) -> None:
    """Put a rare spelling to the frequent one that it differs from by one letter."""
    sizes = {key: sum(counts[label] for label in labels) for key, labels in groups.items()}
    for rare in [key for key in groups if sizes[key] < _RARE]:
        near = [k for k in groups if sizes[rare] <= _RARE_SHARE * sizes[k] and is_slip(rare, k)]
        if len(near) == 1:
            groups[near[0]] += groups.pop(rare)


def is_slip(one: str, other: str) -> bool:
    """Whether two labels differ by one letter added, left out, changed, or exchanged with its neighbor in a long word.

    In a word of three letters and more, a letter may stand there twice.

    Examples
    --------
    >>> is_slip("malignent", "malignant"), is_slip("bengin", "benign"), is_slip("stage 1", "stage 2")
    (True, True, False)
    >>> is_slip("yess", "yes"), is_slip("yest", "yes"), is_slip("aa", "a")
    (True, False, False)
    """
    words, others = one.split(), other.split()
    if len(words) != len(others):
        return False
    differing = [(a, b) for a, b in zip(words, others, strict=True) if a != b]
    if len(differing) != 1:
        return False
    a, b = sorted(differing[0], key=len)
    if any(c.isdigit() for c in a + b):
        return False
    if len(a) < _LONG - 1 or len(b) < _LONG:
        return len(a) >= _SHORT and any(b == a[: i + 1] + a[i:] for i in range(len(a)))
    first = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), len(a))
    if len(a) == len(b):
        is_exchanged = a[first : first + 2] == b[first : first + 2][::-1] and a[first + 2 :] == b[first + 2 :]
        return a[first + 1 :] == b[first + 1 :] or is_exchanged
    return len(b) == len(a) + 1 and a[first:] == b[first + 1 :]
