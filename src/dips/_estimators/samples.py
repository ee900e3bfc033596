"""``samples_``: the account of every row, built here and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from dips._data.labels import UNLABELED, Labels
from dips._data.pool import NumberedPool
from dips._rounds.state import RoundsState
from dips._tools.arrays import Array, Rows
from dips.backbones import find_backbone

AUDIT_COLUMNS = (
    "given_label",
    "verified",
    "p_wrong",
    "check_gain",
    "confidence",
    "aleatoric",
    "useful",
    "suggested_label",
)


def samples_frame(
    decode: Callable[[Array], Sequence[Any] | Array],
    *,
    given: Array,
    final: Array,
    rounds: Array,
    confidence: Array,
    aleatoric: Array,
    useful: Array,
    suggested: Array,
    p_wrong: Array | float = np.nan,
    check_gain: Array | float = np.nan,
    verified: Array | bool = False,
    index: pd.Index | None = None,
) -> pd.DataFrame:
    """One row per input row: where its label came from, what became of it, and why.

    Parameters
    ----------
    decode : callable
        Turns codes into labels, -1 into None.
    given, final, suggested : (n,) codes
        The label that came with the row, the one it ended with, and what a suspect might be; -1 where there is none.
    rounds : (n,) 0 for a given label, the round of a pseudo-label, -1 where never labeled
    confidence, aleatoric : (n,) NaN where a row was never judged
    useful : (n,) mask
    p_wrong : (n,) probability that a given label is wrong, NaN without beliefs
    check_gain : (n,) what a look at the label is worth, NaN as above
    verified : (n,) mask of the labels that somebody has checked
    index : names of the rows, where they have any

    Examples
    --------
    >>> codes, none = np.array([0, -1]), np.array([-1, -1])
    >>> nan, names = np.full(2, np.nan), lambda codes: [None if c < 0 else "ab"[c] for c in codes]
    >>> samples_frame(names, given=codes, final=codes, rounds=codes, confidence=nan, aleatoric=nan,
    ...               useful=codes == 0, suggested=none)[["source", "useful"]]
          source  useful
    0      given    True
    1  unlabeled   False
    """
    return pd.DataFrame(
        {
            "source": sources(given, final),
            "given_label": _objects(decode(given), index),
            "verified": verified,
            "final_label": _objects(decode(final), index),
            "round": rounds,
            "p_wrong": p_wrong,
            "check_gain": check_gain,
            "confidence": confidence,
            "aleatoric": aleatoric,
            "useful": useful,
            "suggested_label": _objects(decode(suggested), index),
        },
        index=index,
    )


def samples_of_rounds(state: RoundsState, labels: Labels, pool: NumberedPool, index: pd.Index | None) -> pd.DataFrame:
    """Return ``samples_`` of rounds that have ended."""
    return samples_frame(
        labels.decode_or_none,
        given=state.given,
        final=state.labels,
        rounds=state.round,
        confidence=state.confidence,
        aleatoric=state.aleatoric,
        useful=state.useful,
        suggested=_suggestions(state, pool),
        p_wrong=state.p_wrong,
        check_gain=state.check_gain,
        verified=state.is_verified,
        index=index,
    )


def samples_of_self_training(judged: pd.DataFrame, labels: Labels, final: Array, rounds: Array) -> pd.DataFrame:
    """Return ``samples_`` of self-training.

    Parameters
    ----------
    judged : ``samples_`` of the last model, to which pseudo-labels were labels like any other
    labels : those that came with the data
    final : (n,) codes of the labels that the rows ended with
    rounds : (n,) 0 for a given label, the round of a pseudo-label, -1 where never labeled
    """
    suggested = judged["suggested_label"].to_numpy(dtype=object, copy=True)
    suggested[~labels.is_labeled] = None
    return judged.assign(
        source=sources(labels.codes, final),
        given_label=_objects(labels.decode_or_none(labels.codes), judged.index),
        final_label=_objects(labels.decode_or_none(final), judged.index),
        round=rounds,
        suggested_label=_objects(suggested, judged.index),
    )


def sources(given: Array, final: Array) -> Array:
    """Return "given", "pseudo" or "unlabeled" for each row, as texts that share one copy of each word."""
    words = np.array(["unlabeled", "pseudo", "given"], dtype=object)
    return words[(given != UNLABELED).astype(np.int8) + (final != UNLABELED)]


def _suggestions(state: RoundsState, pool: NumberedPool) -> Array:
    """Return what is believed of the suspects, or else what the last model says of them."""
    if state.by_class:
        return state.suggested
    return suggested_codes(state.estimator, pool, state.given, state.useful)


def suggested_codes(estimator: Any, pool: NumberedPool, given: Array, useful: Array) -> Array:
    """Codes of what the suspects among the given labels might be, -1 elsewhere.

    The model was not trained on the suspects, so it does not just repeat their labels.
    """
    suggested = np.full(given.size, UNLABELED)
    suspects = np.flatnonzero((given != UNLABELED) & ~useful)
    if suspects.size:
        best = find_backbone(estimator).predict_proba(estimator, pool.take(suspects)).argmax(axis=1)
        suggested[suspects] = np.where(best != given[suspects], best, UNLABELED)
    return suggested


def audit_samples(samples: pd.DataFrame) -> pd.DataFrame:
    """Return what an audit shows of ``samples_``; a row without a label is neither useful nor a suspect."""
    columns = [*AUDIT_COLUMNS, "target"] if "target" in samples else list(AUDIT_COLUMNS)
    is_given = samples["source"] == "given"
    masks = {name: samples[name].astype("boolean").where(is_given) for name in ("useful", "verified")}
    return samples.assign(**masks)[columns]


def by_target(frames: list[pd.DataFrame], names: list[Any]) -> pd.DataFrame:
    """Put the frames of a multi-label fit one above the other, with the label each line is about in ``target``."""
    return pd.concat([frame.assign(target=name) for frame, name in zip(frames, names, strict=True)])


def spread(values: Any, rows: Rows, n_rows: int, fill: Any) -> Array:
    """Return values of some rows at their places among all `n_rows`, and `fill` elsewhere.

    Examples
    --------
    >>> spread([1, 2], np.array([0, 3]), 4, fill=-1)
    array([ 1, -1, -1,  2])
    """
    values = np.asarray(values)
    everywhere = np.full(n_rows, fill, dtype=np.result_type(values, np.min_scalar_type(fill)))
    everywhere[rows] = values
    return everywhere


def _objects(labels: Any, index: pd.Index | None) -> pd.Series:
    """Return labels as a column of objects: as texts, None would become NaN under pandas 3."""
    return pd.Series(labels, index, dtype=object)
