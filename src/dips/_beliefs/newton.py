"""Newton's method for the few parameters of a calibration; for these scipy's minimizers take longer than the sums."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dips._tools.arrays import Array

_MAX_STEPS, _MAX_HALVES = 40, 12
_ENOUGH = 1e-5  # nats that a further step must gain

Expansion = tuple[float, Array, Array]  # at a point: value, gradient (p,), positive definite curvature (p, p)


def minimize_in_box(expand: Callable[[Array], Expansion], start: Array, low: Array, high: Array) -> Array:
    """Return where a smooth function is least between bounds, to within a fraction of a nat.

    A step that does not lower the function is halved; a parameter at a bound that wants to leave stays there.

    Examples
    --------
    >>> def bowl(x):
    ...     return float(((x - 3) ** 2).sum()), 2 * (x - 3), 2 * np.eye(2)
    >>> minimize_in_box(bowl, np.zeros(2), np.array([-9.0, -9.0]), np.array([9.0, 1.0]))
    array([3., 1.])
    """
    x, (value, gradient, curvature) = start, expand(start)
    for _ in range(_MAX_STEPS):
        free = np.flatnonzero(~((x <= low) & (gradient > 0) | (x >= high) & (gradient < 0)))
        step = np.zeros(x.size)
        step[free] = np.linalg.solve(curvature[free[:, None], free], gradient[free])
        before = value
        for _ in range(_MAX_HALVES):
            tried = np.clip(x - step, low, high)
            seen = expand(tried)
            if seen[0] <= value:
                x, (value, gradient, curvature) = tried, seen
                break
            step /= 2
        if before - value < _ENOUGH:
            break
    return x
