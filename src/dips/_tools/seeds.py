"""Seeds, drawn from a generator: all of one range, so that every library takes them."""

from __future__ import annotations

import numpy as np

MAX_SEED = 2**31 - 1


def draw_seed(rng: np.random.RandomState) -> int:
    """Draw one seed.

    Examples
    --------
    >>> draw_seed(np.random.RandomState(0))
    209652396
    """
    return int(rng.randint(MAX_SEED))
