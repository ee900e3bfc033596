"""What verified labels teach: how frequent the classes truly are, which dirty labels alone cannot tell."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from dips._data.verified import Verified
from dips._tools.arrays import Array
from dips._tools.threads import one_blas_thread
from dips.network._beliefs import NetworkBeliefs
from dips.network._inference import FrozenNetwork

# Chosen on ten tables with 100 labels, of which 10 to 50 were checked; docs/network_card.md has the figures.
_FACTOR_PRECISION = 5.0  # of the classes' log factors around 0
_TRUST_PRECISION = 1.0  # of the log factor by which a given label is trusted more or less than the network does
_LEAST_PROBABILITY = 1e-4  # a verified label that the network ruled out is one surprise, not proof


def taught_frequencies(
    network: FrozenNetwork, table: tuple[Array, Array], codes: Array, verified: Verified, seed: int, n_threads: int
) -> Array | None:
    """Read the context with its labels as they were given, and learn from those that were checked since.

    Parameters
    ----------
    table : values (n, F) and which columns are categorical, of the context rows
    codes : (n,) their labels after the check, -1 where unlabeled
    verified : which of them were checked, and what they were before; None is returned where nothing can be learned
    """
    values, categorical = table
    checked = verified.mask & (verified.before >= 0)
    given = np.where(checked, verified.before, codes)
    if not checked.any() or np.unique(given[given >= 0]).size <= codes.max():
        return None
    everything = np.arange(len(values))
    beliefs = NetworkBeliefs(network, values, categorical, given, n_draws=1, choose=lambda *_: (everything, seed))
    return frequencies_by_verified(beliefs.of_all(values, n_threads), given, codes, checked)


def frequencies_by_verified(p: Array, given: Array, true: Array, checked: Array) -> Array:
    """Return the class frequencies (C,) of a table of which some labels were checked.

    A factor for each class, and one for the class that was given, are learned from the checked rows. Whoever chose
    these by their columns and labels, the most suspicious first for instance, has not biased the factors: the network's
    beliefs know both.

    Parameters
    ----------
    p : (n, C) what the network believes of every row, having read the labels as they were given
    given : (n,) codes of these labels, -1 where a row had none
    true : (n,) codes of the labels after the check
    checked : (n,) mask of the labels that were checked
    """
    n_classes = p.shape[1]
    log_p = np.log(np.maximum(p, _LEAST_PROBABILITY))
    own = (given[:, None] == np.arange(n_classes)).astype(float)
    factors, trust = _learned(log_p[checked], own[checked], true[checked])
    believed = softmax(log_p + factors + trust * own, axis=1)
    believed[checked] = np.eye(n_classes)[true[checked]]
    return believed.mean(axis=0)


def _learned(log_p: Array, own: Array, true: Array) -> tuple[Array, float]:
    """Log factors (C,) of the classes, and that of the given one, by penalised maximum likelihood."""
    n_classes = log_p.shape[1]
    target = np.eye(n_classes)[true]
    precision = np.append(np.full(n_classes, _FACTOR_PRECISION), _TRUST_PRECISION)

    def loss(parameters: Array) -> tuple[float, Array]:
        log_q = log_softmax(log_p + parameters[:-1] + parameters[-1] * own, axis=1)
        excess = np.exp(log_q) - target
        slope = np.append(excess.sum(0), (excess * own).sum())
        penalty = 0.5 * (precision * parameters**2).sum()
        return penalty - (target * log_q).sum(), slope + precision * parameters

    with one_blas_thread():
        best = minimize(loss, np.zeros(n_classes + 1), jac=True, method="L-BFGS-B").x
    return best[:-1], float(best[-1])
