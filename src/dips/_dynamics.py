"""Learning dynamics: running statistics of each row's class probabilities over the checkpoints of one training."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import entr

from dips._data.pool import as_pool
from dips._tools.arrays import Array, Rows
from dips._tools.warnings import warn
from dips.exceptions import InputError

STATISTICS = ("confidence", "aleatoric", "variability", "correctness", "loss", "fluctuation", "entropy")

# Some statistics are read off the accumulators of others, so that nothing is counted twice.
_ACCUMULATORS = {
    "confidence": ("confidence",),
    "aleatoric": ("aleatoric",),
    "variability": ("confidence", "variance"),
    "correctness": ("correctness",),
    "loss": ("loss",),
    "fluctuation": ("fluctuation",),
    "entropy": ("entropy",),
}
_MAX_TRACKED = 10_000
_ROUNDING, _ROUNDING_OF_A_SUM = 1e-4, 1e-3  # what single precision may be off
_LEAST = np.float32(np.finfo(np.float64).eps)  # a probability of 0 costs 36, not infinity
_BLOCK = 16_384  # rows
_ALL = slice(None)


class Statistics(dict[str, Array]):
    """Statistics of rows by name. One that is not there is refused in words, for people who write curators."""

    def __missing__(self, name: str) -> Array:
        advice = "list it in the curator's statistics" if name in STATISTICS else f"there are {', '.join(STATISTICS)}"
        raise InputError(f"The statistic {name!r} was not kept; {advice}.")


class Dynamics:
    """Statistics of the class probabilities of `n_rows` rows, kept as running averages: no checkpoint is stored.

    A pseudo-labeled row's label is only known after the training it is judged by, so every statistic is kept for
    every class and read at a label afterwards with :meth:`at`.

    Parameters
    ----------
    n_rows, n_classes : int
    statistics : collection of str
        What to keep, from ``STATISTICS``:

        - ``confidence``: mean of p (Definition 4.1)
        - ``aleatoric``: mean of p(1 - p) (Definition 4.2)
        - ``variability``: standard deviation of p
        - ``correctness``: share of the checkpoints at which it is the most probable class
        - ``loss``: mean of -log p
        - ``fluctuation``: how often p fell from above 1/2 to below it from one checkpoint to the next
        - ``entropy``: mean entropy of the class probabilities (one value per row)
    window : (float, float)
        The part of the training that counts, as fractions of its checkpoints.
    track : sequence of int
        Rows whose whole trajectory is kept (for plots), at a cost of E x C floats each.

    Examples
    --------
    >>> import numpy as np
    >>> d = Dynamics(n_rows=1, n_classes=2)
    >>> d.begin(n_checkpoints=2)
    >>> d.update(np.array([[0.4, 0.6]]))
    >>> d.update(np.array([[0.2, 0.8]]))
    >>> d.at(np.array([1]))["confidence"].round(3)
    array([0.7], dtype=float32)
    """

    def __init__(
        self,
        n_rows: int,
        n_classes: int,
        statistics: Collection[str] = ("confidence", "aleatoric"),
        window: tuple[float, float] = (0.0, 1.0),
        track: Sequence[int] | Array = (),
    ) -> None:
        unknown = set(statistics) - set(STATISTICS)
        if unknown:
            raise InputError(f"Unknown statistics {sorted(unknown)}; choose one of {', '.join(STATISTICS)}.")
        check_window(window)
        if len(track) > _MAX_TRACKED:
            raise InputError(
                f"Whole trajectories were asked for {len(track)} rows; at most {_MAX_TRACKED} are kept, because each "
                "costs one float per class and checkpoint. Name the rows you want to look at."
            )
        self.n_rows, self.n_classes = n_rows, n_classes
        self.statistics = tuple(s for s in STATISTICS if s in statistics)
        self.window = window
        self.track = np.asarray(track, dtype=np.intp)
        self.probabilities: Array = np.empty((n_rows, n_classes), dtype=np.float32)  # those of the last checkpoint
        self.averages: dict[str, Array] = {}  # (n, C), of what was seen so far
        self.n_checkpoints = 0  # seen so far
        self._in_window = range(0)
        self._was_above_half: Array | None = None
        self._trajectories: list[Array] = []
        for name in {a for s in self.statistics for a in _ACCUMULATORS[s]}:
            shape = (n_rows,) if name == "entropy" else (n_rows, n_classes)
            self.averages[name] = np.zeros(shape, dtype=np.float32)
        if "fluctuation" in self.statistics:
            self._was_above_half = np.zeros((n_rows, n_classes), dtype=bool)

    def window_of(self, n_checkpoints: int) -> range:
        """Return the checkpoints that count, out of `n_checkpoints`."""
        start, end = (round(fraction * n_checkpoints, 6) for fraction in self.window)  # 0.07 * 100 is a bit above 7
        first = min(math.floor(start), n_checkpoints - 1)
        return range(first, max(first + 1, math.ceil(end)))

    def begin(self, n_checkpoints: int) -> None:
        """Announce how many checkpoints are planned: the window is a fraction of them."""
        self._in_window = self.window_of(n_checkpoints)

    def update(self, p: Array, checkpoint: int | None = None, rows: slice = _ALL) -> None:
        """Take in the class probabilities (n, C) of all or some rows at the next or the given checkpoint."""
        p = np.asarray(p)
        e = self.n_checkpoints if checkpoint is None else checkpoint
        last = self.probabilities[rows]
        if e == 0 or p.shape != last.shape:
            check_probabilities(p, *last.shape)
        last[:] = p
        if self.track.size:
            self._trajectories.append(np.array(p[self.track]))
        if e in self._in_window:
            self._update_averages(last, e - self._in_window.start + 1, rows)
        self.saw(e + 1)

    def saw(self, n_checkpoints: int) -> None:
        """Note how many checkpoints were seen."""
        self.n_checkpoints = max(self.n_checkpoints, n_checkpoints)

    def record(self, stages: Iterable[Array]) -> None:
        """Note the whole trajectories of the tracked rows, where :meth:`update` was not shown them."""
        self._trajectories = [np.array(p) for p in stages]

    @property
    def n_averaged(self) -> int:
        """How many checkpoints are in the averages: those of the window, or the last one alone."""
        return max(1, min(self.n_checkpoints, self._in_window.stop) - self._in_window.start)

    def finish(self) -> None:
        """End the training; if it stopped before its window began, its last checkpoint counts alone."""
        if self.n_checkpoints == 0:
            raise RuntimeError("The training showed no checkpoint.")
        check_probabilities(self.probabilities, self.n_rows, self.n_classes)
        if self.n_checkpoints <= self._in_window.start:
            warn(
                f"The training stopped after {self.n_checkpoints} checkpoints, before the window {self.window} began; "
                "its last checkpoint alone is used."
            )
            self._update_averages(self.probabilities, 1, _ALL)

    def _update_averages(self, p: Array, k: int, rows: slice) -> None:
        """Update the averages with the k-th checkpoint of the window, a block at a time: a block stays in the cache."""
        averages = {name: average[rows] for name, average in self.averages.items()}
        was_above_half = None if self._was_above_half is None else self._was_above_half[rows]
        for start in range(0, p.shape[0], _BLOCK):
            part = slice(start, start + _BLOCK)
            above = None if was_above_half is None else was_above_half[part]
            _update_means(p[part], k, {name: average[part] for name, average in averages.items()}, above)

    def __getitem__(self, statistic: str) -> Array:
        """One statistic for every class, (n, C); ``entropy`` is (n,)."""
        if statistic not in self.statistics:
            raise KeyError(f"{statistic!r} was not asked for; kept are {', '.join(self.statistics) or 'none'}.")
        if statistic == "variability":
            return np.sqrt(self.averages["variance"])
        return self.averages[statistic]

    def at(self, labels: Array, rows: Array | None = None) -> dict[str, Array]:
        """Every statistic read at one label per row, for all rows or the given ones."""
        rows = np.arange(self.n_rows) if rows is None else rows
        return Statistics({s: self[s][rows] if s == "entropy" else self[s][rows, labels] for s in self.statistics})

    @property
    def trajectories(self) -> Array:
        """Class probabilities of the tracked rows over the checkpoints, (len(track), E, C)."""
        if not self._trajectories:
            return np.empty((self.track.size, 0, self.n_classes))
        return np.stack(self._trajectories, axis=1)


def _update_means(p: Array, k: int, averages: dict[str, Array], was_above_half: Array | None) -> None:
    """Move each running average towards the k-th value: mean += (value - mean) / k."""
    for name, mean in averages.items():
        match name:
            case "confidence":
                step = p - mean
                mean += step / k  # Definition 4.1
                if "variance" in averages:
                    variance = averages["variance"]
                    variance += (step * (p - mean) - variance) / k
            case "aleatoric":
                mean += (p * (1 - p) - mean) / k  # Definition 4.2
            case "correctness":
                mean *= (k - 1) / k
                mean[np.arange(p.shape[0]), p.argmax(axis=1)] += 1 / k
            case "loss":
                mean += (-np.log(np.maximum(p, _LEAST)) - mean) / k
            case "fluctuation":  # a count, not a mean
                assert was_above_half is not None
                mean += was_above_half & (p < 0.5)
                was_above_half[:] = p > 0.5
            case "entropy":
                mean += (entr(p).sum(axis=1) - mean) / k


@dataclass(frozen=True)
class Moments:
    """Mean and standard deviation of the class probabilities over the members of an ensemble.

    Attributes
    ----------
    mean, std : (m, C)
    n_models : how many members
    """

    mean: Array
    std: Array
    n_models: int

    @classmethod
    def of_checkpoints(cls, seen: Dynamics | None, rows: Rows, n_models: int) -> Moments:
        """Moments over the checkpoints of one training: a virtual ensemble (Malinin et al. 2021).

        Neighboring checkpoints are much alike, so they count for at most `n_models` members, however many there are.
        """
        if seen is None:
            raise InputError(
                "The checkpoints were not watched, because the labeler did not ask for them before the training; "
                "give its class a member_window, such as (0.5, 1)."
            )
        n = seen.n_averaged
        variance = seen.averages["variance"][rows]
        variance *= n / max(n - 1, 1)  # of a sample, as for trained members
        return cls(seen["confidence"][rows], np.sqrt(variance, out=variance), min(n_models, max(n, 2)))


class Watch:
    """Rows to predict at every checkpoint of a training; one prediction serves all `dynamics`."""

    def __init__(self, X: Any, *dynamics: Dynamics) -> None:
        self.pool, self.dynamics = as_pool(X), dynamics

    def batches(self) -> Iterator[tuple[slice, Any]]:
        """Yield the rows in parts, each with its place among all of them."""
        return self.pool.batches()

    def transformed(self, transform: Callable[[Any], Any]) -> Watch:
        """Return a watch over the same rows as another step of a pipeline sees them."""
        return Watch(self.pool.transformed(transform), *self.dynamics)

    def begin(self, n_checkpoints: int) -> None:
        """Announce how many checkpoints are planned."""
        for dynamics in self.dynamics:
            dynamics.begin(n_checkpoints)

    def update(self, predict_proba: Callable[[Any], Array]) -> None:
        """Take in the next checkpoint."""
        checkpoint = self.dynamics[0].n_checkpoints
        for rows, X in self.batches():
            p = predict_proba(X)
            for dynamics in self.dynamics:
                dynamics.update(p, checkpoint, rows)

    def revise(self, predict_proba: Callable[[Any], Array]) -> None:
        """Replace the last probabilities, where the final model is not its last checkpoint."""
        for rows, X in self.batches():
            p = predict_proba(X)
            for dynamics in self.dynamics:
                dynamics.probabilities[rows] = p

    def finish(self) -> None:
        """End the training."""
        for dynamics in self.dynamics:
            dynamics.finish()


def check_probabilities(p: Array, n_rows: int, n_classes: int) -> None:
    """Refuse what a backbone gave if it is not one probability for each row and class."""
    if p.shape != (n_rows, n_classes):
        raise InputError(
            f"The backbone gave probabilities of shape {p.shape} for {n_rows} rows and {n_classes} classes; it must "
            "give one for each row and class of the training labels."
        )
    if not np.isfinite(p).all():
        raise InputError(
            "The backbone gave probabilities that are missing or infinite; if the table has missing values, begin a "
            "Pipeline with an imputer, else train more slowly."
        )
    off = np.abs(p.sum(axis=1) - 1.0).max(initial=0.0)
    if p.min(initial=0.0) < -_ROUNDING or p.max(initial=0.0) > 1 + _ROUNDING or off > _ROUNDING_OF_A_SUM:
        raise InputError(
            f"The backbone gave probabilities from {p.min():.3g} to {p.max():.3g} whose sum over the classes is off 1 "
            f"by up to {off:.3g}; a network must end in a softmax (or, for skorch, be trained with CrossEntropyLoss)."
        )


def check_window(window: tuple[float, float]) -> None:
    """Refuse a window that is not two growing fractions."""
    try:
        start, end = window
        valid = 0.0 <= start < end <= 1.0
    except (TypeError, ValueError):
        valid = False
    if not valid:
        raise InputError(
            f"window must be two fractions of the training, 0 <= start < end <= 1, such as (0, 1); got {window!r}."
        )
