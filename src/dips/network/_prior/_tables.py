"""Whole tables: hidden numbers, scores, classes, columns and labels put together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

import torch
from torch import Tensor
from torch.nn import functional

from dips.network._prior._causal import causal
from dips.network._prior._classes import Classes, by_interval, by_score, certain, either
from dips.network._prior._columns import categorical_columns, effects, levels, missing, relevant_columns, warped
from dips.network._prior._draws import Draws, ranks, standardized
from dips.network._prior._functions import additive, linear, products, prototypes, waves
from dips.network._prior._latent import clustered, correlated, shifted, sources, with_copies
from dips.network._prior._noise import dirty
from dips.network._prior._rules import rules
from dips.network._prior._trees import trees
from dips.network._settings import PriorSettings

Function = Callable[[Draws, Tensor, int], Tensor]
FUNCTIONS: tuple[tuple[Function | None, float], ...] = (
    (trees, 0.30),
    (None, 0.26),
    (waves, 0.10),
    (additive, 0.08),
    (linear, 0.08),
    (products, 0.10),
    (prototypes, 0.08),
)  # share of the tables that each function scores; None: rules over categories
SIMPLE: tuple[tuple[Function | None, float], ...] = ((linear, 0.5), (additive, 0.5))


@dataclass(frozen=True)
class Shape:
    """What all tables of a batch share: labeled, unlabeled and query rows, in this order, columns and classes."""

    labeled: int
    unlabeled: int
    queries: int
    columns: int
    classes: int

    @property
    def context(self) -> int:
        """Rows that others may look at."""
        return self.labeled + self.unlabeled

    @property
    def rows(self) -> int:
        """All rows of a table."""
        return self.context + self.queries


@dataclass
class Tables:
    """A batch of synthetic tables."""

    values: Tensor  # (B, N, F) numbers, or levels of categories; NaN where missing
    categorical: Tensor  # (B, F)
    true: Tensor  # (B, N)
    chances: Tensor  # (B, N, C) of the true class for one who knows how the table was made, given its label if any
    given: Tensor  # (B, L) labels of the labeled rows, some wrong
    noise: Tensor  # (B,) share of wrong labels

    def __getitem__(self, which: slice | Tensor) -> Tables:
        return Tables(*(getattr(self, name.name)[which] for name in fields(self)))


def _latent(draws: Draws, tables: int, shape: Shape) -> tuple[Tensor, Tensor, Tensor]:
    """Hidden numbers (B, N, F), the scores that belong to them (B, N, C), and whether to use these scores (B, 1)."""
    sizes = shape.rows, shape.columns
    of_causes, of_clusters = round(0.45 * tables), round(0.25 * tables)
    plain = tables - of_causes - of_clusters
    x_causes, score_causes = causal(draws, of_causes, *sizes, shape.classes)
    clusters = 2 * shape.classes
    x_clusters, cluster = clustered(draws, of_clusters, *sizes, clusters)
    owner = draws.order(of_clusters, clusters) % shape.classes
    score_clusters = functional.one_hot(owner.gather(1, cluster), shape.classes).to(x_clusters.dtype)
    x_plain, hidden = correlated(draws, plain, *sizes)
    score_plain = linear(draws, hidden, shape.classes)  # every column then tells a little
    x = torch.cat([x_causes, x_clusters, x_plain])
    scores = torch.cat([score_causes, 4 * score_clusters, score_plain])
    own = torch.cat(
        [draws.chance(of_causes, 1, p=0.55), draws.chance(of_clusters, 1, p=0.6), draws.chance(plain, 1, p=0.2)]
    )
    return x, scores, own


def _functions(simple: float) -> list[tuple[Function | None, float]]:
    """All functions with their shares; plain sums get `simple` of the tables on top of their own."""
    return [(f, (1 - simple) * share) for f, share in FUNCTIONS] + [(f, simple * share) for f, share in SIMPLE]


def _scores(draws: Draws, x: Tensor, level: Tensor, shape: Shape, settings: PriorSettings) -> Tensor:
    """Scores of the classes by functions of many kinds, each on its share of the tables."""
    tables, classes = len(x), shape.classes
    parts, start, share_done = [], 0, 0.0
    for function, share in _functions(settings.simple):
        share_done += share
        stop = round(share_done * tables)
        if stop > start:
            parts.append(
                rules(draws, level[start:stop], classes, settings.max_levels)
                if function is None
                else function(draws, x[start:stop], classes)
            )
        start = stop
    return torch.cat(parts)


def _mixed(draws: Draws, tables: int) -> tuple[Tensor, Tensor]:
    """A random order of the tables, and the order that undoes it."""
    order = draws.order(tables)
    return order, order.argsort()


def make_tables(draws: Draws, tables: int, shape: Shape, settings: PriorSettings) -> Tables:
    """Draw a batch of tables of one shape; nothing waits for the device."""
    most = settings.max_levels
    latent, own_scores, own = _latent(draws, tables, shape)
    source = sources(draws, tables, shape.rows)
    bias = draws.chance(tables, 1, p=0.3) * draws.uniform(tables, 1, high=2.0)  # labeled rows from some sources first
    source = source.gather(1, (draws.uniform(tables, shape.rows) + bias * source).argsort(1))
    latent = standardized(with_copies(draws, shifted(draws, standardized(latent), source)))
    alone = draws.chance(tables, 1, shape.columns, p=0.15)  # a column that has to do with no other
    latent = torch.where(alone, draws.normal(*latent.shape), latent)

    rank = ranks(latent)
    level = levels(draws, rank, most)
    categorical = categorical_columns(draws, tables, shape.columns)
    meant = categorical & draws.chance(tables, shape.columns, p=0.6)  # a level's meaning has no order
    x = torch.where(meant.unsqueeze(1), effects(draws, level, most), latent)
    relevant = relevant_columns(draws, tables, shape.columns, settings.dense).unsqueeze(1)
    order, back = _mixed(draws, tables)
    scores = _scores(draws, (x * relevant)[order], (level * (relevant > 0))[order], shape, settings)[back]
    scores = torch.where(own.unsqueeze(-1), own_scores, scores)

    whole = torch.arange(tables, device=draws.device).unsqueeze(1) >= round(0.45 * tables)  # clusters have no order
    ordered = draws.chance(tables, 1, p=0.35) & ~(own & whole)
    labels = either(
        ordered, by_interval(draws, scores, settings.interval_noise), by_score(draws, scores, settings.sharpness)
    )
    telling = draws.chance(tables, 1, p=0.4)
    gone = missing(draws, rank, labels.true, shape.classes, telling)
    hinted = (telling & gone.flatten(1).any(1, keepdim=True)).unsqueeze(-1)
    labels.chances = torch.where(hinted, certain(labels.true, shape.classes), labels.chances)
    dirt = dirty(draws, _first(labels, shape.labeled), rank[:, : shape.labeled], shape.classes, settings)

    shown = torch.where(categorical.unsqueeze(1), level.to(latent.dtype), warped(draws, latent, rank))
    values = shown.masked_fill(gone, torch.nan)
    chances = torch.cat([dirt.chances, labels.chances[:, shape.labeled :]], 1)
    order, _ = _mixed(draws, tables)
    return Tables(values, categorical, labels.true, chances, dirt.given, dirt.noise)[order]


def _first(labels: Classes, count: int) -> Classes:
    return Classes(*(getattr(labels, part.name)[:, :count] for part in fields(labels)))
