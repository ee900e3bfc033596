"""Curation, the same for tables and images: what a curator is shown of a training, and the mask it answers with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dips._dynamics import Dynamics
from dips._tools.arrays import Array, Rows
from dips.curators._base import Curator, Evidence, checked_mask, keep_every_class


def dynamics_for(curator: Curator, n_rows: int, n_classes: int, track: Rows | None = None) -> Dynamics:
    """Return empty dynamics with the statistics that the curator reads, and the two that the account shows."""
    statistics = {*curator.statistics, "confidence", "aleatoric"}
    return Dynamics(n_rows, n_classes, statistics, curator.window, () if track is None else track)


def gather_evidence(
    dynamics: Dynamics,
    labels: Array,
    is_given: Array,
    round: int,
    *,
    features: Callable[[], Any],
    out_of_fold: Callable[[int], Array],
    at: Rows | None = None,
    groups: Array | None = None,
    weights: Array | None = None,
) -> Evidence:
    """Put together what is known of the rows to be judged.

    Parameters
    ----------
    dynamics : of a finished training
    labels, is_given : (m,) label of each row to be judged, and whether it came with the data
    round : 0 at the start, else the round just trained
    features : gives the rows as the backbone is given them
    out_of_fold : gives (n_given, C) probabilities of the rows with given labels, from models that did not see them
    at : (m,) where the rows stand in the dynamics; None if the dynamics hold these rows and no others
    groups : (m,) rows that belong together, if any do
    weights : (m,) sample weights, if there are any
    """
    shown: Rows | slice = slice(None) if at is None else at  # a slice copies nothing

    def spread_out_of_fold(n_folds: int) -> Array:
        p = np.full((labels.size, dynamics.n_classes), np.nan)
        p[is_given] = out_of_fold(n_folds)
        return p

    return Evidence(
        labels=labels,
        is_given=is_given,
        n_classes=dynamics.n_classes,
        round=round,
        statistics=dynamics.at(labels, at),
        mean_probabilities=dynamics["confidence"][shown],
        probabilities=dynamics.probabilities[shown],
        features=features,
        out_of_fold=spread_out_of_fold,
        groups=groups,
        weights=weights,
    )


def judge(curator: Curator, evidence: Evidence, is_verified: Array | None = None, weighs: Array | None = None) -> Array:
    """Return the mask (m,) of useful rows: what the curator says, and every verified label.

    Every class keeps some; of the rows that weigh something, where the mask (m,) `weighs` tells them apart.
    """
    useful = checked_mask(curator, evidence)
    return keep_every_class(useful if is_verified is None else useful | is_verified, evidence, weighs)
