"""What is known of the errors before any label is read: which labels are never wrong, and how often classes occur."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dips._data.labels import UNLABELED
from dips._data.verified import Verified
from dips._tools.arrays import Array
from dips._tools.wording import some_of
from dips.exceptions import InputError

_CLEAR = 3  # standard errors
_ROUGHLY = 1.2  # times as often; nobody knows frequencies exactly


@dataclass(frozen=True)
class Known:
    """What somebody knows of the errors.

    Attributes
    ----------
    trusted : (C,) mask of the classes whose labels are never wrong; rows of them may be labeled otherwise
    frequencies : (C,) how often each class truly occurs among the labeled rows, or None
    """

    trusted: Array
    frequencies: Array | None = None

    @classmethod
    def told(
        cls,
        trusted_labels: Any,
        class_frequencies: Any,
        classes: Array,
        names: tuple[str, str] = ("trusted_labels", "class_frequencies"),
    ) -> Known:
        """Return what a user says, for classes in this order; refuse what these classes do not allow.

        The names are those of the two settings, for messages.

        Examples
        --------
        >>> Known.told(["ill"], {"ill": 0.1}, np.array(["ill", "well"]))
        Known(trusted=array([ True, False]), frequencies=array([0.1, 0.9]))
        """
        trusted = _check_trusted(trusted_labels, classes, names[0])
        if class_frequencies is None:
            return cls(trusted)
        return cls(trusted, check_frequencies(class_frequencies, classes, names[1]))

    def trusts(self, codes: Array) -> Array:
        """Mask of the labels that are never wrong."""
        return (codes != UNLABELED) & self.trusted[codes]

    def refuse_contradictions(self, codes: Array, classes: Array, verified: Verified, first_row: int = 0) -> None:
        """Refuse labels that cannot be if this is known; rows are counted from the first."""
        self._refuse_wrong(codes, classes, verified, first_row)
        self._refuse_too_few(int((codes != UNLABELED).sum()), classes)
        self._refuse_too_many(codes[codes != UNLABELED], classes)

    def _refuse_too_few(self, n_labels: int, classes: Array) -> None:
        """Refuse that a class is said to occur in less than one of the labeled rows, such as in all of the world."""
        if self.frequencies is None or self.frequencies.min() * n_labels >= 0.5:  # it is rounded
            return
        c = int(self.frequencies.argmin())
        raise InputError(
            f"{100 * self.frequencies[c]:.3g} % of {n_labels:,} labeled rows is not one row, and "
            f"{classes.tolist()[c]!r} is a label; say how often its class occurs among the labeled rows, not elsewhere."
        )

    def _refuse_too_many(self, codes: Array, classes: Array) -> None:
        """Refuse that a trusted label was given far more often than its class is said to occur."""
        if self.frequencies is None:
            return
        found = np.bincount(codes, minlength=classes.size) / codes.size
        by_chance = _CLEAR * np.sqrt(self.frequencies * (1 - self.frequencies) / codes.size)
        too_many = self.trusted & (found > self.frequencies * _ROUGHLY) & (found > self.frequencies + by_chance)
        if too_many.any():
            c = int(too_many.argmax())
            raise InputError(
                f"The label {classes.tolist()[c]!r} is trusted, and {100 * found[c]:.3g} % of the labeled rows have "
                f"it, so its class cannot occur in only {100 * self.frequencies[c]:.3g} % of them; say how often it "
                "occurs among the labeled rows, or do not trust it."
            )

    def _refuse_wrong(self, codes: Array, classes: Array, verified: Verified, first_row: int) -> None:
        """Refuse that a trusted label was wrong when somebody checked it."""
        before = verified.before
        checked = np.flatnonzero(verified.mask & (before != UNLABELED) & (before != codes))
        wrong = checked[self.trusted[before[checked]]]
        if wrong.size:
            was, now = (classes.tolist()[of_row[wrong[0]]] for of_row in (before, codes))
            more = f" ({wrong.size - 1:,} more like it)" if wrong.size > 1 else ""
            raise InputError(
                f"The label {was!r} is trusted, but that of row {wrong[0] + first_row} was corrected to {now!r}{more}; "
                f"undo that, or do not trust {was!r}."
            )


def _check_trusted(trusted_labels: Any, classes: Array, setting: str) -> Array:
    """Mask (C,) of the classes that are named; refused if one is not known, or if no label is left to doubt."""
    if isinstance(trusted_labels, np.ndarray) and not trusted_labels.ndim:
        raise InputError(f"{setting} is a list of labels; got one label, so write [{trusted_labels.item()!r}].")
    named, names = list(trusted_labels), classes.tolist()
    unknown = [label for label in named if label not in names]
    if unknown:
        raise _no_label(setting, unknown[0], names)
    trusted = np.array([name in named for name in names])
    if trusted.all():
        raise InputError(f"{setting} names every label, so none can be wrong; leave out those that can.")
    return trusted


def _no_label(setting: str, named: Any, names: list[Any]) -> InputError:
    """What is named is no label; where one only looks the same, such as '1' and 1, they are shown apart."""
    labels = map(repr, names) if str(named) in map(str, names) else names
    return InputError(f"{setting} names {named!r}, which is not a label; choose among {some_of(labels)}.")


def check_frequencies(frequencies: Any, classes: Array, setting: str = "class_frequencies") -> Array:
    """Shares (C,) in the order of the classes, from a mapping or a sequence; refused unless positive with sum one.

    A mapping may leave out one class, which then has the rest.
    """
    if isinstance(frequencies, pd.Series):  # as value_counts gives it, the most frequent class first
        frequencies = frequencies.to_dict()
    names, rest = classes.tolist(), None
    try:
        if isinstance(frequencies, Mapping):
            frequencies, rest = _in_order(frequencies, names, setting)
        shares = np.asarray(frequencies, dtype=np.float64)
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{setting} must be numbers, but are {frequencies!r}.") from error
    except OverflowError:
        raise InputError(f"{setting} must be positive and sum to 1, but one is too large to be a share.") from None
    if shares.shape != classes.shape:
        raise InputError(f"{setting} has {shares.size} shares, and the labels name {classes.size} classes.")
    if not ((shares > 0).all() and abs(shares.sum() - 1) < 0.01):
        each = (f"{c} {share:g}{' (the rest)' if c == rest else ''}" for c, share in zip(names, shares, strict=True))
        raise InputError(f"{setting} must be positive and sum to 1, but are {some_of(each, 5)}.")
    return shares / shares.sum()


def _in_order(frequencies: Mapping[Any, Any], names: list[Any], setting: str) -> tuple[list[Any], Any]:
    """Shares in the order of the classes, and the class that was left out and has the rest, if there is one."""
    strange, missing = [c for c in frequencies if c not in names], [c for c in names if c not in frequencies]
    if strange:
        raise _no_label(setting, strange[0], names)
    if len(missing) > 1:
        raise InputError(
            f"{setting} leaves out {some_of(missing, 5)}; give a share for all classes, or for all but one."
        )
    rest = round(1 - sum(map(float, frequencies.values())), 12)  # what floats leave of nothing is nothing
    return [frequencies.get(name, rest) for name in names], (missing or [None])[0]
