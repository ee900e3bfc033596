"""What every backbone must do: an estimator and the family that knows how to fit and watch it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.datasets import make_classification
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import has_fit_parameter

from dips._dynamics import STATISTICS, Dynamics, Watch
from dips._tools.arrays import Array
from dips.backbones import find_backbone
from dips.testing._parts import run_checks

_SEED = 3
_ROUNDING = 1e-5


def check_backbone(estimator: BaseEstimator) -> None:
    """Check that an estimator can be a backbone; raise an ``AssertionError`` that says what is wrong.

    The estimator is copied, and trained on small tables of six columns and two classes.

    Parameters
    ----------
    estimator : classifier
        It is not changed.

    Examples
    --------
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> check_backbone(HistGradientBoostingClassifier(max_iter=5))
    """
    run_checks(BACKBONE_CHECKS, estimator)


def small_table(n: int = 90, n_classes: int = 2) -> tuple[Array, Array, Array]:
    """Rows to train on, their labels, and rows to watch."""
    X, y = make_classification(n + 40, 6, n_informative=4, n_classes=n_classes, flip_y=0.1, random_state=n_classes)
    return X[:n], y[:n], X[n:]


def fit_and_watch(
    estimator: BaseEstimator, X: Array, y: Array, X_watch: Array, weight: Array | None = None
) -> Dynamics:
    """Fit in place; return what was seen of every watched row."""
    n = X_watch.shape[0]
    dynamics = Dynamics(n, np.unique(y).size, STATISTICS, track=range(n))
    backbone = find_backbone(estimator)
    with backbone.seeding(_SEED):
        backbone.fit(estimator, X, y, weight, Watch(X_watch, dynamics))
    return dynamics


def check_settings_leave_checkpoints_to_watch(estimator: BaseEstimator) -> None:
    """The family accepts the estimator's settings."""
    try:
        find_backbone(estimator).check(estimator)
    except ValueError as error:
        raise AssertionError(str(error)) from error


def check_statistics_are_those_of_the_checkpoints(estimator: BaseEstimator) -> None:
    """Averages kept along the training equal those over all checkpoints at once."""
    X, y, X_watch = small_table()
    dynamics = fit_and_watch(_copy(estimator), X, y, X_watch)
    p = dynamics.trajectories.astype(np.float64)  # (n, E, C)
    assert p.shape[1] == dynamics.n_checkpoints > 1, f"{p.shape[1]} checkpoints were shown; there must be several"
    for statistic, expected in (("confidence", p.mean(axis=1)), ("aleatoric", (p * (1 - p)).mean(axis=1))):
        _assert_close(dynamics[statistic], expected, f"{statistic} is not that of the checkpoints")


def check_last_checkpoint_is_the_fitted_estimator(estimator: BaseEstimator) -> None:
    """What was seen last is what the fitted estimator predicts."""
    X, y, X_watch = small_table()
    fitted = _copy(estimator)
    dynamics = fit_and_watch(fitted, X, y, X_watch)
    p = find_backbone(fitted).predict_proba(fitted, X_watch)
    assert p.shape == (X_watch.shape[0], 2), f"predict_proba gave shape {p.shape}"
    _assert_close(dynamics.probabilities, p, "the last checkpoint is not the fitted estimator")


def check_end_of_a_pipeline_is_watched_on_transformed_rows(estimator: BaseEstimator) -> None:
    """At the end of a Pipeline the same is seen as on rows transformed beforehand."""
    X, y, X_watch = small_table()
    pipeline = make_pipeline(StandardScaler(), _copy(estimator))
    in_pipeline = fit_and_watch(pipeline, X, y, X_watch)
    scaler = StandardScaler().fit(X)
    alone = fit_and_watch(_copy(estimator), scaler.transform(X), y, scaler.transform(X_watch))
    _assert_close(in_pipeline.trajectories, alone.trajectories, "a Pipeline changes what is seen")
    features = find_backbone(pipeline).features(pipeline, X_watch)
    _assert_close(features, scaler.transform(X_watch), "the features of a Pipeline are not its transformers' output")


def check_sample_weights_reach_the_training_or_are_refused(estimator: BaseEstimator) -> None:
    """Weights change the model; an estimator that has no use for them says so."""
    X, y, X_watch = small_table()
    weight = np.random.RandomState(0).uniform(0.1, 3, size=y.size)
    if has_fit_parameter(estimator, "sample_weight"):
        weighed, plain = (fit_and_watch(_copy(estimator), X, y, X_watch, w).probabilities for w in (weight, None))
        assert abs(weighed - plain).max() > 1e-3, "sample weights have no effect"
        return
    try:
        fit_and_watch(_copy(estimator), X, y, X_watch, weight)
    except ValueError:
        return
    raise AssertionError("sample weights are neither used nor refused")


def check_same_seed_gives_the_same_model(estimator: BaseEstimator) -> None:
    """Two trainings with one seed are the same."""
    assert (_trained(estimator, 1) == _trained(estimator, 1)).all(), "two trainings with one seed differ"


def check_second_fit_starts_afresh(estimator: BaseEstimator) -> None:
    """Fitting again does not continue from the first fit."""
    X, y, X_watch = small_table()
    fitted = _copy(estimator)
    first, second = (fit_and_watch(fitted, X, y, X_watch).trajectories for _ in range(2))
    assert (first == second).all(), "a second fit goes on from the first"


def check_watching_leaves_the_parameters_as_they_were(estimator: BaseEstimator) -> None:
    """No parameter of the estimator is changed by a watched fit."""
    X, y, X_watch = small_table()
    fitted = _copy(estimator)
    before = fitted.get_params(deep=False)
    fit_and_watch(fitted, X, y, X_watch)
    after = fitted.get_params(deep=False)
    assert before.keys() == after.keys(), "parameters came or went"
    changed = [k for k, v in before.items() if not (after[k] is v or after[k] == v or v != v)]
    assert not changed, f"a watched fit changed {changed}"


def check_nothing_is_warned_about(estimator: BaseEstimator) -> None:
    """A watched fit and a prediction give no warning."""
    X, y, X_watch = small_table()
    fitted = _copy(estimator)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit_and_watch(fitted, X, y, X_watch)
        find_backbone(fitted).predict_proba(fitted, X_watch)
    assert not caught, f"there was a warning: {caught[0].message}"


def check_members_of_an_ensemble_can_be_drawn(estimator: BaseEstimator) -> None:
    """What is varied depends on the seed alone, and can be set."""
    backbone = find_backbone(estimator)
    varied = backbone.vary(estimator, np.random.RandomState(0))
    assert varied == backbone.vary(estimator, np.random.RandomState(0)), "two draws with one seed differ"
    assert varied == {} or varied != backbone.vary(estimator, np.random.RandomState(1)), "all members are alike"
    settings = _copy(estimator).set_params(**varied).get_params()
    assert {k: settings[k] for k in varied} == varied, "what is varied cannot be set"


def check_seeds_and_threads_can_be_set(estimator: BaseEstimator) -> None:
    """The parameters that the family names for seeds and threads exist, also in a Pipeline."""
    pipeline = make_pipeline(StandardScaler(), _copy(estimator))
    backbone = find_backbone(pipeline)
    pipeline.set_params(**dict.fromkeys(backbone.seed_parameters(pipeline), _SEED))
    if backbone.threads is not None:
        assert pipeline.set_params(**{backbone.threads: 1}).get_params()[backbone.threads] == 1


BACKBONE_CHECKS = (
    check_settings_leave_checkpoints_to_watch,
    check_statistics_are_those_of_the_checkpoints,
    check_last_checkpoint_is_the_fitted_estimator,
    check_end_of_a_pipeline_is_watched_on_transformed_rows,
    check_sample_weights_reach_the_training_or_are_refused,
    check_same_seed_gives_the_same_model,
    check_second_fit_starts_afresh,
    check_watching_leaves_the_parameters_as_they_were,
    check_nothing_is_warned_about,
    check_members_of_an_ensemble_can_be_drawn,
    check_seeds_and_threads_can_be_set,
)


def _copy(estimator: BaseEstimator, seed: int = _SEED) -> BaseEstimator:
    """Return an unfitted copy, seeded and quiet."""
    backbone = find_backbone(estimator)
    copy = backbone.clone(estimator)
    seeds: dict[str, Any] = dict.fromkeys(backbone.seed_parameters(copy), seed)
    return copy.set_params(**seeds, **backbone.quiet_parameters(copy))


def _trained(estimator: BaseEstimator, seed: int) -> Array:
    """Class probabilities of a fit with the given seed that is not watched."""
    X, y, X_watch = small_table()
    fitted, backbone = _copy(estimator, seed), find_backbone(estimator)
    with warnings.catch_warnings(), backbone.seeding(seed):
        warnings.simplefilter("ignore")  # few epochs
        backbone.fit(fitted, X, y)
    return backbone.predict_proba(fitted, X_watch)


def _assert_close(actual: Any, expected: Any, message: str) -> None:
    difference = np.abs(np.asarray(actual, dtype=np.float64) - np.asarray(expected, dtype=np.float64)).max()
    assert difference < _ROUNDING, f"{message} (they differ by {difference:.3g})"
