"""A run over rows that stay where they are, killed and started again, ends as if nothing had happened."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal
from sklearn.ensemble import GradientBoostingClassifier
from xgboost import XGBClassifier

import dips
from dips import ParquetPool, PseudoLabelClassifier
from dips._rounds.checkpoint import Checkpoint
from dips._rounds.rule_rounds import RuleRounds
from dips._tools.checkpoints import as_text
from dips._tools.locks import only_writer
from dips._tools.packing import packed, unpacked
from dips.curators import DIPS
from dips.datasets import make_quadrants
from dips.labelers import Greedy

SMALL_XGBOOST = XGBClassifier(n_estimators=12, max_depth=3, learning_rate=0.2, n_jobs=1)
SETTINGS = {"estimator": SMALL_XGBOOST, "curator": "adaptive", "n_rounds": 4, "random_state": 0}


@pytest.fixture(scope="module")
def patients(tmp_path_factory):
    X, y = make_quadrants(500, random_state=1)
    y[:20] = 1 - y[:20]
    frame = pd.DataFrame({"a": X[:, 0].round(1), "b": X[:, 1]})
    folder = tmp_path_factory.mktemp("patients")
    frame[100:].to_parquet(folder / "rows.parquet", index=False, row_group_size=90)
    return frame[:100], np.array(["ill", "well"])[y[:100]], folder


class KilledError(Exception):
    pass


def kill_after(round_, monkeypatch, run):
    """Let the driver die as soon as a round has been kept."""
    save = Checkpoint.save

    def save_and_die(self, rounds, state):
        save(self, rounds, state)
        if state.history[-1]["round"] == round_:
            raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "save", save_and_die)
        with pytest.raises(KilledError):
            run()


def fitted(patients, checkpoint=None, **settings):
    X, y, folder = patients
    pool = ParquetPool(folder, stays=True, checkpoint=checkpoint, max_train_rows=settings.pop("max_train_rows", None))
    groups = settings.pop("groups", None)
    return PseudoLabelClassifier(**SETTINGS | settings).fit(X, y, pool, groups=groups)


def assert_same(one, other, X, tmp_path):
    assert_array_equal(one.predict_proba(X), other.predict_proba(X))
    pd.testing.assert_frame_equal(one.samples_, other.samples_)
    pd.testing.assert_frame_equal(one.history_.drop(columns="elapsed_s"), other.history_.drop(columns="elapsed_s"))
    for name, model in {"one": one, "other": other}.items():
        model.write_samples(tmp_path / name)
    assert pq.read_table(tmp_path / "one").equals(pq.read_table(tmp_path / "other"))


def lightgbm():
    return pytest.importorskip("lightgbm").LGBMClassifier(n_estimators=12, num_leaves=7, verbosity=-1, n_jobs=1)


def catboost():
    return pytest.importorskip("catboost").CatBoostClassifier(iterations=12, depth=3, verbose=False, thread_count=1)


@pytest.mark.filterwarnings("ignore:The curator")
@pytest.mark.parametrize("killed_after", [0, 2])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"labeler": "flexmatch", "curator": "dips"},
        {"curator": "none", "labeler": Greedy(threshold=0.5), "grow": False, "max_train_rows": 60},
        {"curator": DIPS(conf=0.8, aleatoric=0.2)},
        {"estimator": lightgbm},
        {"estimator": catboost},
        {"random_state": np.random.RandomState(3)},
    ],
    ids=["adaptive", "flexmatch", "no curator, capped", "a class lost", "lightgbm", "catboost", "a generator"],
)
def test_a_run_goes_on_to_the_same_result_bit_for_bit(patients, tmp_path, monkeypatch, settings, killed_after):
    def now():
        made = settings.get("estimator", lambda: SMALL_XGBOOST)()
        random_state = np.random.RandomState(3) if "random_state" in settings else 0
        return settings | {"estimator": made, "random_state": random_state}

    through = fitted(patients, **now())
    killed_after = max(killed_after, 1) if settings.get("curator") == "none" else killed_after
    kill_after(killed_after, monkeypatch, lambda: fitted(patients, tmp_path / "run", **now()))
    trained = []
    monkeypatch.setattr(RuleRounds, "_round", counted(trained))
    continued = fitted(patients, tmp_path / "run", **now())
    assert trained[0] == killed_after + 1
    assert_same(through, continued, patients[0], tmp_path)


def counted(trained):
    run = RuleRounds._round

    def counted_round(self, state, t):
        trained.append(t)
        run(self, state, t)

    return counted_round


SCRIPT = """
import os, signal, sys
import pandas as pd
from xgboost import XGBClassifier
from dips import ParquetPool, PseudoLabelClassifier
from dips._rounds.checkpoint import Checkpoint

save = Checkpoint.save
def save_and_die(self, rounds, state):
    save(self, rounds, state)
    if state.history[-1]["round"] == 1:
        os.kill(os.getpid(), signal.SIGKILL)

Checkpoint.save = save_and_die
X = pd.read_parquet(sys.argv[1])
backbone = XGBClassifier(n_estimators=12, max_depth=3, learning_rate=0.2, n_jobs=1)
model = PseudoLabelClassifier(backbone, curator="adaptive", n_rounds=4, random_state=0)
model.fit(X[["a", "b"]], X["y"].to_numpy(), ParquetPool(sys.argv[2], stays=True, checkpoint=sys.argv[3]))
"""


def test_a_process_that_was_killed_leaves_a_checkpoint_that_can_be_used(patients, tmp_path):
    X, y, folder = patients
    X.assign(y=y).to_parquet(tmp_path / "labeled.parquet")
    command = [sys.executable, "-c", SCRIPT, tmp_path / "labeled.parquet", folder, tmp_path / "run"]
    environment = os.environ | {"PYTHONPATH": str(Path(dips.__file__).parents[1])}
    done = subprocess.run([str(part) for part in command], env=environment, check=False, capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()[-2000:]
    assert (tmp_path / "run").stat().st_size < 100_000
    assert_same(fitted(patients), fitted(patients, tmp_path / "run"), X, tmp_path)


@pytest.fixture
def after_round_1(patients, tmp_path, monkeypatch):
    kill_after(1, monkeypatch, lambda: fitted(patients, tmp_path / "run"))
    return tmp_path / "run"


@pytest.mark.parametrize(
    "other",
    [
        {"n_rounds": 5},
        {"random_state": 1},
        {"labeler": Greedy(0.7)},
        {"curator": "dips"},
        {"estimator": XGBClassifier(n_estimators=13)},
        {"max_train_rows": 9},
        {"groups": np.arange(100) // 2},
    ],
    ids=lambda other: next(iter(other)),
)
def test_a_checkpoint_of_other_settings_is_refused(patients, after_round_1, other):
    with pytest.raises(ValueError, match="other settings or data, so training cannot continue from it; remove it"):
        fitted(patients, after_round_1, **other)


def test_a_checkpoint_of_other_rows_is_refused(patients, after_round_1, tmp_path):
    X, y, folder = patients
    with pytest.raises(ValueError, match="other settings or data"):
        fitted((X + 1, y, folder), after_round_1)
    with pytest.raises(ValueError, match="other settings or data"):
        fitted((X, np.where(np.arange(100) == 3, "ill", y), folder), after_round_1)
    (tmp_path / "others").mkdir()
    (pd.read_parquet(folder) + 1).to_parquet(tmp_path / "others" / "rows.parquet", index=False, row_group_size=90)
    with pytest.raises(ValueError, match="other settings or data"):
        fitted((X, y, tmp_path / "others"), after_round_1)


def test_a_damaged_or_forged_checkpoint_is_refused(patients, after_round_1):
    whole, rng = after_round_1.read_bytes(), random.Random(0)
    for _ in range(10):
        damaged = bytearray(whole)
        damaged[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        after_round_1.write_bytes(damaged if rng.random() < 0.7 else whole[: rng.randrange(len(whole))])
        with pytest.raises(ValueError, match="Training cannot continue from"):
            fitted(patients, after_round_1)
    state = unpacked(whole)
    state["rules"][0]["model"] = state["rules"][0]["model"][:-9]
    after_round_1.write_bytes(packed(state))
    with pytest.raises(ValueError, match="does not hold what this training needs"):
        fitted(patients, after_round_1)


def test_settings_are_described_the_same_in_every_process():
    described = [as_text(value) for value in (SMALL_XGBOOST, len, partial(len), object(), DIPS(), {"a": 1})]
    assert described[1:] == [
        "builtins.len", "functools.partial(<built-in function len>)", "object",
        "DIPS(aleatoric='adaptive', conf=0.8, frozen=True, window=(0.0, 1.0))", "{'a': 1}",
    ]  # fmt: skip
    assert described[0].startswith("XGBClassifier(")
    assert "n_estimators=12" in described[0]


def test_one_run_at_a_time_writes_a_checkpoint(patients, tmp_path):
    with only_writer(tmp_path / "run"), pytest.raises(ValueError, match="run is being written by process"):
        fitted(patients, tmp_path / "run")


def test_a_backbone_that_only_pickle_can_store_is_refused_before_any_work(patients, tmp_path):
    with pytest.raises(ValueError, match=r"GradientBoostingClassifier can only be stored by pickle.* checkpoint= out"):
        fitted(patients, tmp_path / "run", estimator=GradientBoostingClassifier())


def test_beliefs_need_no_checkpoint_and_say_so(patients, tmp_path):
    with pytest.warns(UserWarning, match="checkpoint= is not used: beliefs are learned from one sample"):
        fitted(patients, tmp_path / "run", curator="auto")


def test_a_checkpoint_is_for_rows_that_stay(patients, tmp_path):
    with pytest.raises(ValueError, match="are for rows that stay where they are; add stays=True"):
        ParquetPool(patients[2], checkpoint=tmp_path / "run")
    with pytest.raises(ValueError, match="must be a file in a folder that exists"):
        ParquetPool(patients[2], stays=True, checkpoint=tmp_path / "nowhere" / "run")
