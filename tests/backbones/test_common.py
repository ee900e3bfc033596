"""What holds of every backbone, alone and at the end of a Pipeline, beyond the contract of ``test_contract.py``."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dips.backbones import find_backbone
from dips.backbones._pipeline import PipelineBackbone
from dips.backbones._registry import families

from .families import FAMILIES, SEED, E, fit_and_watch, table


@pytest.fixture(params=FAMILIES)
def family(request):
    family = FAMILIES[request.param]
    if family.needs:
        pytest.importorskip(family.needs)
    return family


@pytest.fixture(params=[2, 3], ids=["binary", "3 classes"])
def n_classes(request):
    return request.param


def naive_statistics(p):
    """Every statistic, from all checkpoints (n, E, C) at once."""
    return {
        "confidence": p.mean(axis=1),  # Definition 4.1
        "aleatoric": (p * (1 - p)).mean(axis=1),  # Definition 4.2
        "variability": p.std(axis=1),
        "correctness": np.eye(p.shape[2])[p.argmax(axis=2)].mean(axis=1),
        "loss": -np.log(p).mean(axis=1),
        "fluctuation": ((p[:, :-1] > 0.5) & (p[:, 1:] < 0.5)).sum(axis=1),
        "entropy": -(p * np.log(p)).sum(axis=2).mean(axis=1),
    }


def test_what_is_seen_equals_every_checkpoint_predicted_in_full(family, n_classes):
    X, y, X_watch = table(n_classes)
    dynamics = fit_and_watch(family.estimator(n_classes), X, y, X_watch)
    checkpoints = family.checkpoints(X, y, X_watch).astype(np.float64)
    assert dynamics.n_checkpoints == E
    assert_allclose(dynamics.trajectories, checkpoints, atol=1e-6)
    for statistic, expected in naive_statistics(checkpoints).items():
        assert_allclose(dynamics[statistic], expected, atol=1e-6, err_msg=statistic)


def test_what_is_seen_at_the_end_of_a_pipeline_equals_every_checkpoint_on_transformed_rows(family, n_classes):
    X, y, X_watch = table(n_classes)
    pipeline = make_pipeline(StandardScaler(), family.estimator(n_classes))
    dynamics = fit_and_watch(pipeline, X, y, X_watch)
    scaler = StandardScaler().fit(X)
    checkpoints = family.checkpoints(scaler.transform(X), y, scaler.transform(X_watch))
    assert_allclose(dynamics.trajectories, checkpoints, atol=1e-6)
    assert_allclose(dynamics.probabilities, find_backbone(pipeline).predict_proba(pipeline, X_watch), atol=1e-6)


def test_the_last_checkpoint_is_the_fitted_estimator(family, n_classes):
    X, y, X_watch = table(n_classes)
    estimator = family.estimator(n_classes)
    dynamics = fit_and_watch(estimator, X, y, X_watch)
    p = find_backbone(estimator).predict_proba(estimator, X_watch)
    assert p.shape == (X_watch.shape[0], n_classes)
    assert_allclose(dynamics.probabilities, p, atol=1e-6)


def test_sample_weights_reach_the_training_or_are_refused(family):
    X, y, X_watch = table(2)
    weight = np.random.RandomState(0).uniform(0.1, 3, size=y.size)
    estimator = family.estimator()
    if not family.takes_weights:
        with pytest.raises(ValueError, match=r"sample_weight was given, but .* has no use for it; leave it out or"):
            fit_and_watch(estimator, X, y, X_watch, weight)
        return
    weighed = fit_and_watch(estimator, X, y, X_watch, weight)
    assert_allclose(weighed.trajectories, family.checkpoints(X, y, X_watch, sample_weight=weight), atol=1e-6)
    assert abs(weighed.probabilities - fit_and_watch(family.estimator(), X, y, X_watch).probabilities).max() > 1e-3


def test_sample_weights_reach_the_end_of_a_pipeline(family):
    X, y, X_watch = table(2)
    weight = np.random.RandomState(0).uniform(0.1, 3, size=y.size)
    pipeline = make_pipeline("passthrough", family.estimator())
    if not family.takes_weights:
        with pytest.raises(ValueError, match="sample_weight was given"):
            fit_and_watch(pipeline, X, y, X_watch, weight)
        return
    alone = fit_and_watch(family.estimator(), X, y, X_watch, weight)
    assert_array_equal(fit_and_watch(pipeline, X, y, X_watch, weight).trajectories, alone.trajectories)


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")  # few epochs
def test_the_same_seed_gives_the_same_dynamics_and_another_gives_others(family):
    X, y, X_watch = table(2)

    def trained(seed):
        estimator = family.estimator()
        backbone = find_backbone(estimator)
        seeds = dict.fromkeys(backbone.seed_parameters(estimator), seed)
        estimator.set_params(**seeds, **backbone.quiet_parameters(estimator))
        with backbone.seeding(seed):
            backbone.fit(estimator, X, y)
        return backbone.predict_proba(estimator, X_watch)

    assert_array_equal(trained(1), trained(1))
    if family.make.__name__ not in ("hist_gradient_boosting", "ada_boost"):  # these draw nothing on a small table
        assert abs(trained(1) - trained(2)).max() > 1e-6


def test_watching_leaves_the_parameters_as_they_were(family):
    X, y, X_watch = table(2)
    estimator = family.estimator()
    estimator.set_params(**find_backbone(estimator).quiet_parameters(estimator))
    before = estimator.get_params(deep=False)
    fit_and_watch(estimator, X, y, X_watch)
    after = estimator.get_params(deep=False)
    assert before.keys() == after.keys()
    assert all(after[name] is value or after[name] == value for name, value in before.items() if value == value)
    assert clone(estimator).get_params(deep=False).keys() == before.keys()


def test_nothing_is_printed_or_written(family, capfd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y, X_watch = table(3)
    fit_and_watch(family.estimator(3), X, y, X_watch)
    fit_and_watch(make_pipeline(StandardScaler(), family.estimator(3)), X, y, X_watch)
    out, err = capfd.readouterr()
    assert out + err == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.filterwarnings("error")
def test_nothing_is_warned_about(family):
    X, y, X_watch = table(3)
    estimator = family.estimator(3)
    fit_and_watch(estimator, X, y, X_watch)
    find_backbone(estimator).predict_proba(estimator, X_watch)


def test_seeds_are_settable_parameters(family):
    pipeline = make_pipeline(StandardScaler(), family.estimator())
    names = find_backbone(pipeline).seed_parameters(pipeline)
    pipeline.set_params(**dict.fromkeys(names, SEED))
    assert bool(names) == (family.make.__name__ != "torch")


@pytest.mark.parametrize("wrap", [lambda e: e, lambda e: make_pipeline(StandardScaler(), e)], ids=["alone", "pipeline"])
def test_whether_weights_are_taken_is_said(family, wrap):
    estimator = wrap(family.estimator())
    assert find_backbone(estimator).takes_weights(estimator) == family.takes_weights


@pytest.mark.parametrize("wrap", [lambda e: e, lambda e: make_pipeline(StandardScaler(), e)], ids=["alone", "pipeline"])
def test_a_training_that_is_over_is_replayed_if_it_can_be(family, n_classes, wrap):
    X, y, X_watch = table(n_classes)
    estimator = wrap(family.estimator(n_classes))
    seen = fit_and_watch(estimator, X, y, X_watch, statistics=("confidence", "aleatoric"))
    backbone, labels = find_backbone(estimator), np.arange(X_watch.shape[0]) % n_classes
    replayed = backbone.replayed(estimator, X_watch, n_classes)
    curves = backbone.curves(estimator, X_watch, labels, 3)
    if backbone.n_checkpoints(estimator, X_watch) == 0:
        assert replayed is None
        assert curves is None
        return
    for statistic in seen.statistics:
        assert_array_equal(replayed[statistic], seen[statistic])
    trajectories = seen.trajectories[np.arange(labels.size), :, labels]
    assert_allclose(curves, trajectories[:, [0, 2, 5]], atol=1e-6)
    assert_allclose(backbone.curves(estimator, X_watch, labels, 100), trajectories, atol=1e-6)


def test_features_are_the_rows_as_the_classifier_sees_them(family):
    X, y, X_watch = table(2)
    estimator = family.estimator()
    fit_and_watch(estimator, X, y, X_watch)
    assert find_backbone(estimator).features(estimator, X_watch) is X_watch
    pipeline = make_pipeline(StandardScaler(), make_pipeline(StandardScaler(with_std=False), family.estimator()))
    fit_and_watch(pipeline, X, y, X_watch)
    expected = pipeline[1][0].transform(pipeline[0].transform(X_watch))
    assert_array_equal(find_backbone(pipeline).features(pipeline, X_watch), expected)


def test_every_family_of_the_package_is_tested_here():
    tested = {type(find_backbone(f.estimator())) for f in FAMILIES.values() if not f.needs or find_spec(f.needs)}
    missing = {f.needs for f in FAMILIES.values() if f.needs and not find_spec(f.needs)}
    built_in = {f for f in families() if f.__module__.startswith("dips.backbones.") and not missing & set(f.libraries)}
    assert built_in <= tested | {PipelineBackbone}  # which every test here puts around the others
