"""Hints that the network starts from: what three ridge regressions and a small forest make of the labels.

One regression is linear in the columns, one adds up curves, and one compares whole rows, by the columns that mattered
to the second. No row is judged by its own label: for a labeled row, the closed form of leaving it out gives the answer
of a fit without it. How strongly to shrink is weighed by the error on the rows left out. The forest is in `_grove.py`.

The same code runs in NumPy, for one table, and in PyTorch, for a batch of them; `xp` is the one or the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import get_lapack_funcs

from dips.network._grove import Grove, fit_grove
from dips.network._settings import ModelSettings

SHRINKAGE = (1.0, 0.1, 0.01, 0.001)  # times the number of labels; each a tenth of the one before
NEWTON_STEPS = (4, 6, 6, 6)  # until the inverse under each of them is exact to single precision
LEAST_WEIGHT = 0.1  # of a column that mattered nothing, where the mean is about one
TINY = 1e-9


@dataclass(frozen=True)
class _Ridge:
    """One regression on (B, n, n) kernels of labeled rows."""

    means: Any  # (B, 1, n) of the kernel
    size: Any  # (B, 1, 1) mean of its diagonal once it is centered
    coefficients: Any  # (B, n, C)
    own: Any  # (B, n, C) answers for the labeled rows, each by a fit without it
    explained: Any  # (B,) share of the variance of the rows left out

    def of_others(self, kernel: Any) -> Any:
        """Answers (B, m, C) for rows with the kernel (B, m, n)."""
        return _centered(kernel, self.means) / self.size @ self.coefficients


@dataclass(frozen=True)
class Hints:
    """Three regressions, and perhaps trees, on the labeled rows of a batch of tables."""

    xp: Any
    settings: ModelSettings
    center: Any  # (B, 1, F, d) mean of the labeled rows
    labeled: Any  # (B, n, F, d) the labeled rows, less that mean
    weight: Any  # (B, 1, F, 1) of the columns where rows are compared
    fits: tuple[_Ridge, _Ridge, _Ridge]
    grove: Grove | None

    def of_labeled(self) -> Any:
        """Hints (B, n, C, hints) for the labeled rows."""
        return self._stacked([fit.own for fit in self.fits], None if self.grove is None else self.grove.own)

    def of_others(self, described: Any) -> Any:
        """Hints (B, m, C, hints) for other rows, of which the cells (B, m, F, numbers of a cell) are given."""
        rows = _features(self.xp, described, self.settings) - self.center
        kernels = (
            _linear(rows, self.labeled, self.settings),
            _curves(rows, self.labeled),
            _alike(self.xp, rows * self.weight, self.labeled * self.weight),
        )
        answers = [fit.of_others(kernel) for fit, kernel in zip(self.fits, kernels, strict=True)]
        return self._stacked(answers, None if self.grove is None else self.grove.of_others(described))

    def _stacked(self, answers: list[Any], of_trees: Any) -> Any:
        """Of each fit its answer for the class, less the class's share, and how much it explains in this table."""
        parts = [2 * answer for answer in answers]
        parts += [fit.explained[:, None, None] + 0 * answers[0] for fit in self.fits]
        if self.grove is not None:
            parts += [2 * of_trees, self.grove.explained[:, None, None] + 0 * of_trees]
        return self.xp.stack(parts, axis=-1)


def fit_hints(xp: Any, described: Any, named: Any, settings: ModelSettings) -> Hints:
    """Fit to labeled rows: their cells (B, n, F, numbers of a cell) and one-hot labels (B, n, C)."""
    rows = _features(xp, described, settings)
    center = rows.mean(axis=1, keepdims=True)
    rows = rows - center
    target = named - named.mean(axis=1, keepdims=True)
    linear = _ridge(xp, _linear(rows, rows, settings), target)
    curves = _ridge(xp, _curves(rows, rows), target)
    weight = _column_weights(xp, rows, curves.coefficients)
    alike = _ridge(xp, _alike(xp, rows * weight, rows * weight), target)
    grove = fit_grove(xp, described, named, settings) if settings.trees else None
    return Hints(xp, settings, center, rows, weight, (linear, curves, alike), grove)


def _features(xp: Any, described: Any, settings: ModelSettings) -> Any:
    """What the regressions read of each cell, (B, N, F, d): waves of the rank come last."""
    code = settings.code_width
    value, rank, missing = described[..., :1].clip(-2, 2), described[..., 1:2], described[..., -code - 2 : -code - 1]
    waves, level = described[..., 2 : -code - 3], described[..., -code:]
    return xp.concatenate([0.7 * value, 1.2 * rank, missing, level / code**0.5, 0.5 * waves], axis=-1)


def _linear(rows: Any, labeled: Any, settings: ModelSettings) -> Any:
    """How alike rows are, column by column, without the waves."""
    n_plain = rows.shape[-1] - 2 * len(settings.waves)
    return _curves(rows[..., :n_plain], labeled[..., :n_plain])


def _curves(rows: Any, labeled: Any) -> Any:
    """How alike rows are, column by column: (B, m, n) products of (B, m, F, d) and (B, n, F, d)."""
    return _flat(rows) @ _flat(labeled).swapaxes(-1, -2)


def _alike(xp: Any, rows: Any, labeled: Any) -> Any:
    """How alike rows are as a whole, from 0 to 1, by their distance next to the mean one among labeled rows."""
    rows, labeled = _flat(rows), _flat(labeled)
    lengths, others = (rows**2).sum(axis=-1), (labeled**2).sum(axis=-1)
    distance = lengths[:, :, None] + others[:, None] - 2 * rows @ labeled.swapaxes(-1, -2)
    return xp.exp(-distance.clip(0) / (2 * others.mean(axis=-1)[:, None, None] + TINY))


def _flat(rows: Any) -> Any:
    tables, count, columns, numbers = rows.shape
    return rows.reshape(tables, count, columns * numbers)


def _centered(kernel: Any, means: Any) -> Any:
    """The kernel (B, m, n) of rows less the mean of the labeled ones, given the means (B, 1, n) of these."""
    return kernel - kernel.mean(axis=-1, keepdims=True) - (means - means.mean(axis=-1, keepdims=True))


def _column_weights(xp: Any, rows: Any, coefficients: Any) -> Any:
    """Weights (B, 1, F, 1) of mean square one: more for columns whose curves move the answer more."""
    curve = xp.einsum("bnfd,bnc->bfdc", rows, coefficients)
    moved = xp.einsum("bnfd,bfdc->bnfc", rows, curve)
    strength = xp.sqrt((moved**2).mean(axis=3).mean(axis=1))  # (B, F)
    weight = strength / (strength.mean(axis=-1, keepdims=True) + TINY) + LEAST_WEIGHT
    return xp.sqrt(weight / weight.mean(axis=-1, keepdims=True))[:, None, :, None]


def _ridge(xp: Any, kernel: Any, target: Any) -> _Ridge:
    """Kernel ridge regression under each shrinkage, weighed by the error on the rows left out.

    The mean is not shrunk. A labeled row's own answer is less the share of its class among the other rows, so that it
    depends on the row's label only through the weights.
    """
    n = kernel.shape[-1]
    means = kernel.mean(axis=1, keepdims=True)
    kernel = _centered(kernel, means)
    size = kernel.diagonal(0, -2, -1).mean(axis=-1)[:, None, None] + TINY
    variance = (target**2).mean(axis=2).mean(axis=1) + TINY
    fits = []
    for share, inverse in zip(SHRINKAGE, _inverses(xp, kernel / size), strict=True):
        coefficients = inverse @ target
        free = n * share * inverse.diagonal(0, -2, -1)[..., None] - 1 / n  # share of a row that the fit leaves free
        residual = n * share * coefficients / (free + TINY)
        fits.append((coefficients, residual, (residual**2).mean(axis=2).mean(axis=1) + TINY * variance))
    coefficients, residuals, errors = (xp.stack(parts, axis=0) for parts in zip(*fits, strict=True))
    least = xp.amin(errors, axis=0)
    weights = xp.exp(-0.5 * n * (errors / least - 1))  # as likely as the errors are under normal noise
    weights = (weights / weights.sum(axis=0))[:, :, None, None]
    own = target * (n / max(n - 1, 1)) - (weights * residuals).sum(axis=0)
    return _Ridge(means, size, (weights * coefficients).sum(axis=0), own, (1 - least / variance).clip(0, 1))


def _inverses(xp: Any, kernel: Any) -> list[Any]:
    """Inverses of the kernel (B, n, n), whose diagonal has mean one, with each shrinkage added to the diagonal."""
    if getattr(kernel, "is_cuda", False):
        return newton_inverses(kernel)
    n = kernel.shape[-1]
    identity = xp.eye(n, dtype=kernel.dtype)
    inverse = symmetric_inverse if xp is np else xp.linalg.inv
    return [inverse(kernel + n * share * identity) for share in SHRINKAGE]


def symmetric_inverse(matrices: Any) -> Any:
    """Inverses of positive definite matrices (B, n, n) in NumPy, by Cholesky: in a third of the time."""
    factor, invert = get_lapack_funcs(("potrf", "potri"), (matrices,))
    inverses = []
    for matrix in matrices:
        triangle, failed = factor(matrix, lower=1)
        if failed:
            raise np.linalg.LinAlgError("A kernel of the hints is not positive definite.")
        lower = np.tril(invert(triangle, lower=1)[0])
        inverses.append(lower + np.tril(lower, -1).T)
    return np.stack(inverses)


def newton_inverses(kernel: Any) -> list[Any]:
    """The same in PyTorch by products of matrices alone, at which a GPU is many times faster than at solving equations.

    Newton's iteration squares what is missing. The kernel's eigenvalues lie between 0 and n, so it starts from a
    multiple of the identity where the shrinkage is strongest, and then from the inverse before; the factors make what
    is missing as small as these bounds allow.
    """
    n = kernel.shape[-1]
    identity = kernel.new_ones(n).diag()
    inverses: list[Any] = []
    for share, steps in zip(SHRINKAGE, NEWTON_STEPS, strict=True):
        matrix = kernel + n * share * identity
        if inverses:
            x = inverses[-1] * (2 / (0.1 + (1 + share) / (1 + 10 * share)))
        else:
            x = identity / (n * (0.5 + share)) + 0 * kernel
        for _ in range(steps):
            x = 2 * x - x @ (matrix @ x)
        inverses.append(x)
    return inverses
