"""A driver that is killed after its first round: python -m tests.spark.driver LABELED FOLDER CHECKPOINT."""

from __future__ import annotations

import os
import signal
import sys

import pandas as pd
from xgboost import XGBClassifier

from dips import PseudoLabelClassifier, SparkPool
from dips._rounds.checkpoint import Checkpoint
from tests.spark.sessions import new_session

COLUMNS = ["a", "n"]


def fitted(labeled, pool):
    """Two rounds over the pool; the second knows the rules of the first."""
    X = pd.read_parquet(labeled)
    backbone = XGBClassifier(n_estimators=10, max_depth=3, learning_rate=0.2, n_jobs=1)
    model = PseudoLabelClassifier(backbone, curator="adaptive", n_rounds=2, random_state=0)
    return model.fit(X[COLUMNS], X["y"].to_numpy(), pool)


def pool_of(spark, folder, checkpoint):
    return SparkPool(spark.read.parquet(folder).select(*COLUMNS, "number"), key="number", checkpoint=checkpoint)


def die_after_the_first_round(save):
    def save_and_die(self, rounds, state):
        save(self, rounds, state)
        if state.history[-1]["round"] == 1:
            os.kill(os.getpid(), signal.SIGKILL)

    return save_and_die


if __name__ == "__main__":
    Checkpoint.save = die_after_the_first_round(Checkpoint.save)
    labeled, folder, checkpoint = sys.argv[1:]
    fitted(labeled, pool_of(new_session("local[1,4]"), folder, checkpoint))
