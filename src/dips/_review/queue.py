"""In which order rows are looked at: suspects, and now and then a row that nobody suspects.

Those in between are drawn at random, so what is found among them tells how many wrong labels the suspects miss. Before
them all come those that the order "useful" opens with, suspects and others. The order follows from the run alone: every
reviewer has the same, and their answers can be compared.
"""

from __future__ import annotations

import numpy as np

from dips._review.decisions import Decisions
from dips._review.material import ROW, Material
from dips._tools.arrays import Array

_BLOCK = 8  # one row in so many is not suspected


class Queue:
    """The plan of a review.

    Attributes
    ----------
    rows : numbers of the rows, in order
    checks : those of them that nobody suspects, drawn at random
    openers : those that nobody suspects either, but that the order opens with
    n_suspects : how many suspects there are
    n_unsuspected : how many labels there are that nobody suspects, looked at or not
    """

    def __init__(self, material: Material) -> None:
        account = material.account
        is_suspect = account["suspicion"].notna().to_numpy()
        open_to_review = account["is_checkable"].to_numpy(dtype=bool)
        numbers = account[ROW].to_numpy(dtype=int)
        suspects = numbers[is_suspect & open_to_review]
        suspects = suspects[np.argsort(account["suspicion"].to_numpy(dtype=float)[is_suspect & open_to_review])]
        rest = numbers[~is_suspect & open_to_review]
        self.n_suspects, self.n_unsuspected = int(suspects.size), int(rest.size)
        rng = np.random.default_rng(int(material.checksum[:16], 16))
        can_be_looked_at = set(numbers[open_to_review].tolist())
        opening = [row for row in material.opening if row in can_be_looked_at]
        self.openers = {*rest[np.isin(rest, opening)].tolist()}
        suspects, rest = (rows[~np.isin(rows, opening)] for rows in (suspects, rest))
        n_checks = min(rest.size, max(1, -(-suspects.size // (_BLOCK - 1))))
        drawn = rng.permutation(rest)[:n_checks]
        self.rows = [*opening, *_interleaved(suspects, drawn, rng)]
        self.checks = {*drawn.tolist()}

    def disagreements(self, reviewer: str, decisions: Decisions) -> list[int]:
        """Rows on which others are divided, for somebody who has not said anything about them."""
        by_row = decisions.by_row()
        return [row for row in decisions.disagreements() if reviewer not in by_row[row]]


def _interleaved(suspects: Array, drawn: Array, rng: np.random.Generator) -> list[int]:
    """In every block of suspects one of the drawn rows, at a place that cannot be guessed."""
    rows: list[int] = []
    for k, start in enumerate(range(0, max(suspects.size, 1), _BLOCK - 1)):
        block = suspects[start : start + _BLOCK - 1].tolist()
        if k < drawn.size:
            block.insert(int(rng.integers(len(block) + 1)), int(drawn[k]))
        rows += block
    return rows
