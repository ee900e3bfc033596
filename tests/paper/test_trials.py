"""Trials: what their key depends on, and that what is compared sees the same rows."""

from dataclasses import replace

import numpy as np
import pytest

from dips._paper.engine import Store, run
from dips._paper.experiment import Plan
from dips._paper.tables import grids
from dips._paper.tables.backbones import BACKBONES, WITH_CHECKPOINTS
from dips._paper.tables.measures import divergence
from dips._paper.tables.methods import fit
from dips._paper.tables.splits import authors_seeds, make_split
from dips._paper.tables.trial import _MORE_LIBRARIES, Trial
from dips.exceptions import DataError

BASE = Trial("quadrants", 0, noise=0.2)
CHANGES = [
    {"seed": 1},
    {"noise": 0.3},
    {"curator": {"name": "dips"}},
    {"curator": {"name": "dips", "conf": 0.9}},
    {"labeler": {"name": "ups", "n_models": 3}},
    {"backbone": "histgb"},
    {"curate": "start"},
    {"grow": False},
    {"n_labeled": 50},
    {"noise_kind": "by class"},
    {"labels": 50},
]


def test_every_setting_is_part_of_the_key():
    keys = {replace(BASE, **change).key() for change in CHANGES}
    assert len(keys | {BASE.key()}) == len(CHANGES) + 1


def test_the_key_is_the_same_each_time_and_so_is_the_outcome():
    again = Trial("quadrants", 0, noise=0.2)
    assert again.key() == BASE.key()
    small = replace(BASE, curator={"name": "dips"})
    assert small.run() == small.run()


def test_other_rows_under_the_same_name_are_another_key(tables, tmp_path, monkeypatch):
    import pandas as pd

    before = Trial("german", 0).key()
    other = pd.read_parquet(tables / "german_credit_numeric.parquet")
    other.loc[0, "A1"] += 1
    other.to_parquet(tmp_path / "german_credit_numeric.parquet")
    monkeypatch.setenv("DIPS_DATA", str(tmp_path))
    assert Trial("german", 0).key() != before


def test_other_versions_of_libraries_are_another_key(monkeypatch):
    before = BASE.key()
    monkeypatch.setattr("dips._paper.tables.trial.version_of", lambda name: "0.0")
    assert BASE.key() != before


def test_only_trials_that_use_a_library_depend_on_it():
    assert "catboost" not in BASE.libraries()
    assert "catboost" in replace(BASE, backbone="catboost").libraries()
    assert "torch" in replace(BASE, method="vime_semi").libraries()


@pytest.mark.parametrize("data", ["quadrants", "moons", "german", "cross:hungarian"])
def test_methods_that_are_compared_see_the_same_rows_and_noise(tables, data):
    one = make_split(Trial(data, 3, noise=0.2))
    other = make_split(Trial(data, 3, noise=0.2, method="supervised", backbone="mlp"))
    for name in ("X_labeled", "y_labeled", "flipped", "X_unlabeled", "X_test", "y_test"):
        assert np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True)
    assert one.flipped.sum() == int(0.2 * one.y_labeled.size)


def test_rows_of_a_table_are_split_as_the_authors_do(tables):
    split = make_split(Trial("german", 0))
    assert (len(split.X_labeled), len(split.X_unlabeled), len(split.X_test)) == (20, 188, 52)


def test_fewer_labels_are_a_part_of_the_same_labels(tables):
    all_rows, some = make_split(Trial("german", 0)), make_split(Trial("german", 0, share=0.3))
    assert {tuple(r) for r in some.X_labeled} < {tuple(r) for r in all_rows.X_labeled}
    assert set(some.y_labeled) == set(all_rows.y_labeled)
    assert np.array_equal(some.X_test, all_rows.X_test)


def test_so_many_rows_are_labeled_as_asked_for(tables):
    split = make_split(Trial("german", 0, labels=50, max_unlabeled=30))
    assert (len(split.X_labeled), len(split.X_unlabeled), len(split.X_test)) == (50, 30, 104)
    assert np.bincount(split.y_labeled).min() >= 2
    parts = [{tuple(r) for r in X} for X in (split.X_labeled, split.X_unlabeled, split.X_test)]
    assert len(set.union(*parts)) == sum(map(len, parts))


def test_more_labels_than_rows_are_refused_in_words(tables):
    with pytest.raises(DataError, match="german has too few rows for 150 labels"):
        make_split(Trial("german", 0, labels=150))


def test_noise_by_class_hits_the_rarest_class_most(tables):
    split = make_split(Trial("german", 0, labels=100, noise=0.3, noise_kind="by class"))
    rarest = np.bincount(split.y_true).argmin()
    shares = [split.flipped[split.y_true == c].mean() for c in (rarest, 1 - rarest)]
    assert shares == pytest.approx([0.3, 0.1], abs=0.03)


def test_noise_one_way_turns_the_rarest_class_into_the_largest_and_nothing_else(tables):
    split = make_split(Trial("german", 0, labels=100, noise=0.3, noise_kind="one way"))
    counts = np.bincount(split.y_true)
    assert split.flipped[split.y_true == counts.argmin()].mean() == pytest.approx(0.3, abs=0.04)
    assert not split.flipped[split.y_true != counts.argmin()].any()
    assert set(split.y_labeled[split.flipped]) == {counts.argmax()}


def test_noise_by_instance_is_of_about_the_share_asked_for(tables):
    split = make_split(Trial("german", 0, labels=100, noise=0.3, noise_kind="by instance"))
    assert split.flipped.mean() == pytest.approx(0.3, abs=0.1)
    assert np.array_equal(split.flipped, split.y_true != split.y_labeled)


def test_all_labels_are_the_true_ones_of_labeled_and_unlabeled_rows():
    split = make_split(BASE)
    everything = split.with_all_labels()
    assert len(everything.y_labeled) == len(split.y_labeled) + len(split.y_unlabeled)
    unflipped = np.where(split.flipped, 1 - split.y_labeled, split.y_labeled)
    assert np.array_equal(everything.y_labeled[: unflipped.size], unflipped)
    assert not everything.flipped.any()


def test_across_countries_no_unlabeled_row_is_from_home(tables):
    from dips._paper.tables.splits import table

    heart = table("heart")
    split = make_split(Trial("cross:cleveland", 0))
    american = {tuple(r) for r in heart.matrix[np.isin(heart.groups, ["cleveland", "va_long_beach"])]}
    assert not american & {tuple(r) for r in split.X_unlabeled}
    assert {tuple(r) for r in split.X_test} <= american


def test_moons_have_as_many_labels_of_each_class():
    split = make_split(Trial("moons", 0, n_labeled=200, n_unlabeled=800))
    assert np.bincount(split.y_labeled).tolist() == [100, 100]
    assert len(split.X_unlabeled) == 800


def test_seeds_are_the_authors_and_distinct():
    assert authors_seeds(4) == [0, 10, 120, 1230]
    assert len(set(authors_seeds(30))) == 30


@pytest.mark.parametrize(
    "method",
    [
        "supervised",
        "calibrated",
        "tuned",
        "all_labels",
        "curated",
        "pl",
        "self_training",
        "cleanlab",
        "vime_self",
        "vime_semi",
    ],
)
def test_every_method_learns_two_quadrants(method):
    pytest.importorskip("cleanlab" if method == "cleanlab" else "torch" if "vime" in method else "numpy")
    assert replace(BASE, noise=0.0, method=method).run()["accuracy"] > 0.9


def test_cleanlab_works_in_the_processes_of_a_run(tmp_path):
    pytest.importorskip("cleanlab")
    trials = [replace(BASE, method="cleanlab", seed=seed) for seed in (0, 1)]
    assert run(trials, Store(tmp_path), n_jobs=2).failed == 0


@pytest.mark.parametrize("backbone", BACKBONES)
def test_every_backbone_can_be_curated(backbone):
    if backbone in ("catboost", "lightgbm"):
        pytest.importorskip(backbone)
    names = ["beliefs", "adaptive"] if backbone in WITH_CHECKPOINTS else ["beliefs"]
    for name in names:
        trial = replace(BASE, method="curated", backbone=backbone, curator={"name": name})
        assert trial.run()["accuracy"] > 0.8


def test_labels_that_are_no_codes_from_zero_come_back_as_they_were(tables):
    split = make_split(BASE)
    shifted = replace(split, y_labeled=np.where(split.y_labeled == 1, 5, 2))
    assert set(fit(replace(BASE, method="supervised"), shifted).predict(split.X_test[:100])) <= {2, 5}


def test_the_percentile_curator_drops_its_share():
    outcome = replace(BASE, method="curated", curator={"name": "first percentile", "drop": 0.25}).run()
    assert outcome["kept"] == pytest.approx(0.75, abs=0.02)


def test_wrong_labels_found_and_pseudo_labels_right_are_counted():
    outcome = replace(BASE, curator={"name": "dips"}).run()
    assert outcome["wrong_found"] > 0.7
    assert outcome["right_dropped"] < 0.3
    assert 0.9 < outcome["pseudo_accuracy"] <= 1


def test_probabilities_and_the_audit_are_measured():
    default = replace(BASE, labeler={"name": "auto"}, curator={"name": "beliefs"}, measure="probabilities")
    outcome = default.run()
    assert 0 < outcome["log_loss"] < 0.4
    assert outcome["auc"] > 0.95
    assert outcome["wrong_share"] == 0.2
    assert outcome["p_wrong_error"] < 0.25
    assert outcome["wrong_auc"] > 0.9
    assert outcome["noise_low"] <= outcome["noise_estimate"] <= outcome["noise_high"]
    supervised = replace(BASE, method="supervised", measure="probabilities").run()
    assert "p_wrong_error" not in supervised
    assert supervised["auc"] < outcome["auc"]


def test_divergence_sees_a_difference_in_what_is_missing():
    full, half = np.arange(10.0), np.r_[np.arange(5.0), np.full(5, np.nan)]
    assert divergence(full, full) == pytest.approx(0)
    assert divergence(full, half) > 0.1


def test_the_plan_gives_labelers_the_settings_of_the_authors_code():
    plan = Plan(1, members=5)
    assert grids.labeler(plan, "csa") == {"name": "csa", "n_models": 5, "threshold": 0.5}
    assert grids.labeler(replace(plan, members="checkpoints"), "ups") == {"name": "ups", "members": "checkpoints"}


def test_a_library_that_is_not_there_has_no_version(monkeypatch):
    monkeypatch.setitem(_MORE_LIBRARIES, "cleanlab", "a-library-that-nobody-has")
    versions = Trial("quadrants", 0, method="cleanlab").libraries()
    assert versions["a-library-that-nobody-has"] == "not installed"
