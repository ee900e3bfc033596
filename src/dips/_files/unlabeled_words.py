"""Words in a label column that mean "nobody has labeled this row"."""

from __future__ import annotations

from collections.abc import Mapping

from dips._files.spelling import plain

_WORDS = {
    "unknown", "unk", "unclear", "undetermined", "undecided", "undefined", "unspecified", "unassigned", "unsure",
    "unlabeled", "unlabelled", "unreviewed", "unclassified", "not labeled", "not labelled", "no label", "not reviewed",
    "not available", "not assessed", "not known", "not yet", "not yet labeled", "n a", "na", "nan", "none", "null",
    "missing", "blank", "empty", "pending", "open", "todo", "to do", "tbd", "to be determined", "to be labeled",
    "awaiting review", "in review", "?", "??", "???", "-", "--", "---", ".", "*", "x", "xx", "xxx", "#n a",
    "prefer not to say", "prefer not to answer", "no answer", "don't know", "dont know", "not applicable",
    "unbekannt", "unklar", "keine angabe", "weiss nicht", "offen", "ausstehend", "inconnu", "desconocido",
    "-1",
}  # fmt: skip
_DOUBTFUL = {"x", "open", "none", "*", "."}  # may well be a class


def find_unlabeled_words(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the labels that look like a word for "no label", with their rows, the most frequent first.

    Examples
    --------
    >>> find_unlabeled_words({"churned": 40, "stayed": 90, "pending": 700, "N/a": 3})
    {'pending': 700, 'N/a': 3}
    """
    likely = {label: n for label, n in counts.items() if plain(label) in _WORDS and not _is_doubtful(label, counts)}
    return dict(sorted(likely.items(), key=lambda item: -item[1]))


def _is_doubtful(label: str, counts: Mapping[str, int]) -> bool:
    """A short word is a class unless at least two others are left without it, and -1 is one beside other numbers."""
    if plain(label) == "-1":
        return any(plain(other).lstrip("+").isdecimal() for other in counts)
    return plain(label) in _DOUBTFUL and len(counts) < 3
