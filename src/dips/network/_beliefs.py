"""Beliefs about any number of classes: up to ten in one reading, more by groups and readings within the groups."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dips._tools.arrays import Array, Rows
from dips.network._inference import FrozenNetwork
from dips.network._limits import MAX_CLASSES, MAX_CONTEXT_TOKENS, class_groups, context_rows
from dips.network._reading import Reading

Choose = Callable[[Array, int], tuple[Rows, int]]
"""From given groups (n,), -1 where unlabeled, and their number: the rows of a reading, and its seed."""


class NetworkBeliefs:
    """A table read by the network, with readings of its own for every group of classes.

    Parameters
    ----------
    values, categorical
        As in :class:`Reading`, all rows.
    codes : (n,) given classes, every one of them at least once; -1 where unlabeled
    choose : gives rows and seed of each reading
    """

    def __init__(
        self,
        network: FrozenNetwork,
        values: Array,
        categorical: Array,
        codes: Array,
        *,
        n_draws: int,
        choose: Choose,
    ) -> None:
        n_classes = int(codes.max()) + 1
        self._groups = class_groups(n_classes, MAX_CLASSES)
        group_of = np.repeat(np.arange(len(self._groups)), [len(group) for group in self._groups])
        given = np.where(codes >= 0, group_of[codes], -1)
        self.rows, self.seed = choose(given, len(self._groups))
        self._reading = Reading(
            network,
            values[self.rows],
            categorical,
            given[self.rows],
            len(self._groups),
            n_draws,
            self.seed,
        )

        def read(group: Rows) -> NetworkBeliefs:
            return NetworkBeliefs(network, values, categorical, _renamed(codes, group), n_draws=n_draws, choose=choose)

        self._within = [read(group) if len(group) > 1 else None for group in self._groups]

    def readings(self) -> list[tuple[Rows, int]]:
        """Rows and seed of this reading and of those within, in the order in which they were chosen."""
        within = [reading for each in self._within if each is not None for reading in each.readings()]
        return [(self.rows, self.seed), *within]

    def ask(self, values: Array, n_threads: int) -> Array:
        """Probabilities (m, C) of rows that were not there."""
        p = self._reading.ask(values, n_threads)
        within = [each.ask(values, n_threads) if each is not None else None for each in self._within]
        return _unfolded(p, within)

    def of_all(self, values: Array, n_threads: int) -> Array:
        """Probabilities (n, C) of the rows that were there; a label in the context is taken into account."""
        p = np.empty((len(values), len(self._groups)))
        outside = np.ones(len(values), dtype=bool)
        outside[self.rows] = False
        p[self.rows] = self._reading.of_context(n_threads)
        p[outside] = self._reading.ask(values[outside], n_threads)
        within = [each.of_all(values, n_threads) if each is not None else None for each in self._within]
        return _unfolded(p, within)


def drawn(
    network: FrozenNetwork, n_columns: int, max_context: int, rng: np.random.Generator, first: Array | None = None
) -> Choose:
    """Rows drawn at random, labeled ones before the others and those of the mask `first` before all."""

    def choose(given: Array, n_groups: int) -> tuple[Rows, int]:
        rows = context_rows(given, context_size(network, n_columns, n_groups, max_context), rng, first)
        return rows, int(rng.integers(2**31))

    return choose


def context_size(network: FrozenNetwork, n_columns: int, n_classes: int, most: int) -> int:
    """How many rows of so many columns and classes a context may have, for the memory to stay bounded."""
    tokens = network.settings.tokens_of(n_columns) + n_classes
    return max(n_classes, min(most, MAX_CONTEXT_TOKENS // tokens))


def _renamed(codes: Array, group: Rows) -> Array:
    """Classes of one group counted from 0; the others' rows are unlabeled."""
    inside = np.isin(codes, group)
    return np.where(inside, codes - group[0], -1)


def _unfolded(p: Array, within: list[Array | None]) -> Array:
    """Probabilities of groups times those within them."""
    parts = [p[:, [g]] if inner is None else p[:, [g]] * inner for g, inner in enumerate(within)]
    return np.hstack(parts)
