"""Rounds by rules give what rounds with an entry per row give."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from xgboost import XGBClassifier

from dips import ParquetPool, PseudoLabelClassifier
from dips._data.pool import StackedPool, TablePool
from dips._estimators.account import schema_of
from dips._rounds.selection import find_cut, score_places, tie_places
from dips.curators import DIPS, Beliefs
from dips.datasets import make_quadrants
from dips.labelers import Greedy
from dips.labelers._base import best_of_each_class

SMALL_XGBOOST = XGBClassifier(n_estimators=15, max_depth=3, learning_rate=0.2, n_jobs=1)


@pytest.fixture(scope="module")
def patients(tmp_path_factory):
    X, y = make_quadrants(500, random_state=1)
    rng = np.random.RandomState(0)
    y[:20] = 1 - y[:20]
    frame = pd.DataFrame({"a": X[:, 0].round(1), "b": X[:, 1].round(1), "ward": rng.choice(["north", "east"], 500)})
    folder = tmp_path_factory.mktemp("patients")
    frame[100:].to_parquet(folder / "rows.parquet", index=False, row_group_size=90)
    return frame[:100], np.array(["ill", "well"])[y[:100]], folder


def both_ways(patients, tmp_path, sample_weight=None, verified=None, groups=None, **settings):
    X, y, folder = patients
    more = {"sample_weight": sample_weight, "verified": verified, "groups": groups}
    kept = PseudoLabelClassifier(**{"estimator": SMALL_XGBOOST, "n_rounds": 4, "random_state": 0} | settings)
    ruled = clone(kept)
    kept.fit(X, y, ParquetPool(folder), **more)
    ruled.fit(X, y, ParquetPool(folder, stays=True), **more)
    ruled.write_samples(tmp_path / "account")
    return kept, ruled, pq.read_table(tmp_path / "account").to_pandas()


def assert_same(kept, ruled, account):
    labeled, rest = kept.samples_[:100], kept.samples_[100:].reset_index(drop=True)
    pd.testing.assert_frame_equal(ruled.samples_.reset_index(drop=True), labeled)
    assert_array_equal(account["final_label"].fillna("").to_numpy(), rest["final_label"].fillna("").to_numpy())
    assert schema_of(kept.classes_).names == list(account) == list(kept.samples_)
    for name in ("source", "verified", "round", "check_gain", "useful", "confidence", "aleatoric"):
        assert_array_equal(account[name].to_numpy(), rest[name].to_numpy())
    columns = [c for c in kept.history_ if c != "elapsed_s"]
    pd.testing.assert_frame_equal(kept.history_[columns], ruled.history_[columns])
    assert kept.termination_condition_ == ruled.termination_condition_
    row = [[0.3, -0.2, 1]]
    assert_array_equal(kept.estimator_.predict_proba(row), ruled.estimator_.predict_proba(row))


@pytest.mark.filterwarnings("ignore:The curator")
@pytest.mark.parametrize("labeler", ["greedy", "flexmatch", Greedy(threshold=0.5)], ids=str)
@pytest.mark.parametrize("curator", ["none", "dips", DIPS(conf=0.55, aleatoric=0.3), "adaptive", "fluctuation"])
def test_every_labeler_and_curator(patients, tmp_path, labeler, curator):
    kept, ruled, account = both_ways(patients, tmp_path, labeler=labeler, curator=curator)
    assert (kept.labeled_iter_ > 0).any()
    assert_same(kept, ruled, account)


@pytest.mark.filterwarnings("ignore:The curator")
@pytest.mark.parametrize(
    "settings",
    [
        {"curator": "dips", "grow": False},
        {"curator": "adaptive", "curate": "rounds"},
        {"curator": "small_loss", "curate": "start"},
        {"curator": "auto", "curate": "neither"},
        {"curator": DIPS(conf=0.99, aleatoric=0.3)},
        {"curator": DIPS(conf=0.8, aleatoric=0.2)},
        {"curator": "auto"},
    ],
    ids=["anew", "in rounds", "at start", "nowhere", "nothing useful", "a class lost", "beliefs"],
)
def test_settings(patients, tmp_path, settings):
    assert_same(*both_ways(patients, tmp_path, **settings))


@pytest.mark.filterwarnings("ignore:The curator")
def test_a_class_keeps_rows_that_weigh_something(patients, tmp_path):
    well = np.flatnonzero(patients[1] == "well")
    weight, verified = np.ones(100), np.zeros(100, dtype=bool)
    weight[well[:-2]], verified[well[0]] = 0, True
    settings = {"curator": DIPS(conf=0.55, aleatoric=0.3), "n_rounds": 2}
    kept, ruled, account = both_ways(patients, tmp_path, weight, verified, **settings)
    assert_same(kept, ruled, account)
    assert weight[well][ruled.samples_["useful"].to_numpy()[well]].any()


def test_no_fold_divides_a_group(patients, tmp_path):
    groups = np.random.RandomState(0).randint(0, 20, 100)
    kept, ruled, account = both_ways(patients, tmp_path, curator="adaptive", groups=groups)
    assert_array_equal(kept.curator_.answers_, ruled.curator_.answers_)
    assert_same(kept, ruled, account)


def test_pipelines_and_portable_checkpoints(patients, tmp_path):
    X, y, folder = patients
    backbone = make_pipeline(StandardScaler(), GradientBoostingClassifier(n_estimators=8, random_state=0))
    settings = {"n_rounds": 3, "curator": "dips", "random_state": 0}
    kept, ruled = (PseudoLabelClassifier(backbone, **settings) for _ in range(2))
    kept.fit(X[["a", "b"]], y, ParquetPool(folder, columns=["a", "b"]))
    ruled.fit(X[["a", "b"]], y, ParquetPool(folder, columns=["a", "b"], stays=True))
    assert_array_equal(kept.predict_proba(X[["a", "b"]]), ruled.predict_proba(X[["a", "b"]]))


def test_the_default_draws_the_same_sample_from_memory_and_from_files(patients, tmp_path):
    X, y, folder = patients
    settings = {"estimator": SMALL_XGBOOST, "curator": Beliefs(max_unlabeled=60), "random_state": 0}
    pools = [pd.read_parquet(folder), ParquetPool(folder), ParquetPool(folder, stays=True)]
    memory, files, stays = (PseudoLabelClassifier(**settings).fit(X, y, pool) for pool in pools)
    drawn = np.flatnonzero(memory.samples_["round"][100:] == 1)
    assert drawn.size == 60
    assert_array_equal(drawn, np.flatnonzero(files.samples_["round"][100:] == 1))
    stays.write_samples(tmp_path / "account")
    assert_array_equal(drawn, np.flatnonzero(pq.read_table(tmp_path / "account")["round"].to_numpy() == 1))
    for other in (files, stays):
        assert_array_equal(memory.predict_proba(X), other.predict_proba(X))


def test_without_a_sample_only_the_labeled_rows_are_learned_from(patients, tmp_path):
    settings = {"estimator": SMALL_XGBOOST, "curator": Beliefs(max_unlabeled=0)}
    kept, ruled, account = both_ways(patients, tmp_path, **settings)
    assert set(account["source"]) == {"unlabeled"}
    assert_same(kept, ruled, account)


def test_no_more_rows_than_allowed_are_trained_on(patients, tmp_path):
    X, y, folder = patients
    model = PseudoLabelClassifier(SMALL_XGBOOST, curator="none", n_rounds=3, random_state=0)
    trained_on = []

    class Recording(XGBClassifier):
        def fit(self, X, y, **params):
            trained_on.append(len(X))
            return super().fit(X, y, **params)

    model.set_params(estimator=Recording(n_estimators=5, n_jobs=1))
    model.fit(X, y, ParquetPool(folder, stays=True, max_train_rows=50))
    assert trained_on[0] == 100
    assert all(150 <= n <= 152 for n in trained_on[1:])  # a class's share is rounded up


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"curator": "none", "labeler": "ups"}, r"UPS cannot be used .* use labeler=.greedy"),
        ({"curator": "none", "labeler": "sla"}, "SLA cannot be used on rows that stay"),
        ({"curator": "small_loss"}, "SmallLoss, as it is set, cannot be used"),
        ({"curator": DIPS(frozen=False)}, "DIPS, as it is set, cannot be used"),
        ({"curator": "dips", "estimator": MLPClassifier()}, "MLPClassifier cannot replay its training"),
    ],
)
def test_what_has_no_rule_is_refused_before_any_work(patients, settings, message):
    X, y, folder = patients
    with pytest.raises(ValueError, match=message):
        PseudoLabelClassifier(**settings).fit(X, y, ParquetPool(folder, stays=True))


def test_labeled_rows_without_a_label_are_refused(patients):
    X, y, folder = patients
    y = y.astype(object)
    y[3] = None
    with pytest.raises(ValueError, match="1 rows of X have no label"):
        PseudoLabelClassifier().fit(X, y, ParquetPool(folder, stays=True))


@pytest.mark.parametrize("seed", range(5))
def test_the_cut_takes_the_best_of_each_class_ties_to_earlier_rows(seed):
    rng = np.random.RandomState(seed)
    labels, eligible = rng.randint(0, 3, 400), rng.uniform(size=400) < 0.8
    scores = rng.choice([0.5, 0.75, 0.7500001, 1.0], 400).astype(np.float32)
    caps = np.array([30, 0, 1000])
    pool = StackedPool([TablePool(np.zeros((n, 1))) for n in (1, 149, 250)])

    def places(rows, X):
        at = rows[eligible[rows]]
        return labels[at], score_places(scores[at]), tie_places(at, 0)

    cut = find_cut([(pool, places)], caps, tie_bits=9)
    taken = eligible & cut.takes(labels, score_places(scores), tie_places(np.arange(400), 0))
    assert_array_equal(np.flatnonzero(taken), best_of_each_class(labels, scores, eligible, caps))
