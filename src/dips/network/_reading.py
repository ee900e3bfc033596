"""A table that the network has read under several random names of its columns, levels and classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dips._tools.arrays import Array, Rows
from dips.network._encoding import Codes, Columns, marks_of
from dips.network._hints import Hints, fit_hints
from dips.network._inference import Context, FrozenNetwork, chunk_rows, threads
from dips.network._settings import NEVER


@dataclass(frozen=True)
class _View:
    """One draw of the names: the order of the columns, the codes, and the context read under them."""

    order: Array
    codes: Codes
    columns: Columns
    hints: Hints | None
    context: Context


class Reading:
    """The context of a table; answers are means over the draws, so that names and orders matter little.

    Parameters
    ----------
    values : (n, F) numbers or levels of categories, NaN where missing; labeled and unlabeled rows
    categorical : (F,) which columns hold levels 0, 1, ...
    given : (n,) classes 0..n_classes-1, some of them wrong; -1 where unlabeled
    n_draws : how many random names and orders to average over
    seed : of these names and orders
    """

    def __init__(
        self,
        network: FrozenNetwork,
        values: Array,
        categorical: Array,
        given: Array,
        n_classes: int,
        n_draws: int,
        seed: int,
    ) -> None:
        self._network = network
        self._values, self._categorical, self._given = values, categorical, given
        self._n_classes, self._n_draws, self._seed = n_classes, n_draws, seed
        self._never = ~(given[:, None] == np.arange(n_classes)).any(0)
        self._kept: list[_View] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_kept": None}  # large, and the same when it is made again

    def _views(self, n_threads: int) -> list[_View]:
        """The context under each draw of the names, made when it is first needed."""
        if self._kept is None:
            rng = np.random.default_rng(self._seed)
            self._kept = [self._view(rng, n_threads) for _ in range(self._n_draws)]
        return self._kept

    def _view(self, rng: np.random.Generator, n_threads: int) -> _View:
        order = rng.permutation(self._values.shape[1])
        values, categorical = self._values[:, order], self._categorical[order]
        levels = int(np.nanmax(values[:, categorical], initial=0)) + 1
        codes = Codes.draw(rng, len(order), levels, self._n_classes, self._network.settings)
        columns = Columns.of(values, categorical)
        cells = columns.cells(values, codes, self._network.settings)
        marks = marks_of(self._given, self._n_classes)
        with threads(n_threads) as run:
            hints = None
            if self._network.settings.hints:
                rows = self._labeled_rows()
                hints = self._hints(cells, rows)
                marks = np.concatenate([marks, self._hints_of_context(hints, cells, rows)], -1)
            x = self._network.tokens(cells, codes.tokens, marks, codes.classes)
            return _View(order, codes, columns, hints, self._network.read(x, self._n_classes, run))

    def _labeled_rows(self) -> Rows:
        """The labeled rows, in an order that depends on nothing but what is in them: trees are drawn by it."""
        rows = np.flatnonzero(self._given >= 0)
        return rows[np.lexsort([self._given[rows], *self._values[rows].T])]

    def _hints(self, cells: Array, rows: Rows) -> Hints:
        """What simple models make of the labels of these rows."""
        named = marks_of(self._given[rows], self._n_classes)[..., 1]
        return fit_hints(np, self._columns_of(cells[rows]), named[None], self._network.settings)

    def _hints_of_context(self, hints: Hints, cells: Array, rows: Rows) -> Array:
        own, unlabeled = hints.of_labeled()[0], self._given < 0
        out = np.empty((len(cells), *own.shape[1:]), np.float32)
        out[rows], out[unlabeled] = own, hints.of_others(self._columns_of(cells[unlabeled]))[0]
        return out

    def _columns_of(self, cells: Array) -> Array:
        """The cells of a batch of one table, without those that only fill a token."""
        return cells[None, :, : self._values.shape[1]]

    def _tokens(self, values: Array, view: _View) -> Array:
        """Tokens of rows that the context does not know."""
        cells = view.columns.cells(values, view.codes, self._network.settings)
        marks = marks_of(np.full(len(values), -1), self._n_classes)
        if view.hints is not None:
            marks = np.concatenate([marks, view.hints.of_others(self._columns_of(cells))[0]], -1)
        return self._network.tokens(cells, view.codes.tokens, marks, view.codes.classes)

    def of_context(self, n_threads: int = 1) -> Array:
        """Probabilities (n, C) of the context rows' true classes, given their doubtful labels where they have one."""
        labeled = self._given[:, None] >= 0
        logits = [view.context.logits for view in self._views(n_threads)]
        return np.mean([self._softmax(np.where(labeled, each[..., 1], each[..., 0])) for each in logits], axis=0)

    def ask(self, values: Array, n_threads: int = 1) -> Array:
        """Probabilities (m, C) of the true classes of other rows."""
        p = np.zeros((len(values), self._n_classes))
        views = self._views(n_threads)

        def work(part: slice) -> None:
            for view in views:
                x = self._tokens(values[part][:, view.order], view)
                p[part] += self._softmax(self._network.ask(view.context, x)[..., 0])

        with threads(n_threads) as run:
            run.over(len(values), chunk_rows(views[0].context.n_tokens), work)
        return p / len(views)

    def _softmax(self, logits: Array) -> Array:
        logits = np.where(self._never, NEVER, logits.astype(np.float64))
        odds = np.exp(logits - logits.max(-1, keepdims=True))
        return odds / odds.sum(-1, keepdims=True)
