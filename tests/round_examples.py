"""A noisy table, a backbone that notes what it is trained on, and rounds over both."""

import numpy as np
from sklearn.datasets import make_blobs
from xgboost import XGBClassifier

from dips._rounds.plan import RoundPlan
from dips._rounds.rounds import Rounds
from dips._rounds.training import Trainer
from dips.backbones._xgboost import XGBoost
from dips.curators import CURATORS
from dips.datasets import flip_labels
from dips.labelers import LABELERS

N, N_LABELED, T, E, CONF = 150, 60, 4, 60, 0.7


def small_boosting():
    return XGBClassifier(n_estimators=E, random_state=0, n_jobs=1)


def noisy_table(n_classes):
    """Rows in groups that overlap, the first ones labeled, a fifth of the labels wrong."""
    X, y = make_blobs(N, centers=[[0, 0], [3, 0], [0, 3]][:n_classes], cluster_std=1.2, random_state=0)
    given = np.full(N, -1)
    given[:N_LABELED], _ = flip_labels(y[:N_LABELED], 0.2, random_state=0)
    return X, given


class Spy(XGBoost):
    """Notes the rows and labels of every fit and whether it was watched; its ensembles are small."""

    def __init__(self, X):
        self.row_of = {row.tobytes(): i for i, row in enumerate(X)}
        self.fits = []

    def fit(self, estimator, X, y, sample_weight=None, watch=None):
        rows = [self.row_of[row.tobytes()] for row in X]
        self.fits.append((dict(zip(rows, y.tolist(), strict=True)), watch is not None))
        super().fit(estimator, X, y, sample_weight, watch)

    def vary(self, estimator, rng):
        return {"max_depth": 2, "subsample": 0.8}

    @property
    def trained(self):
        return [training for training, _ in self.fits]

    @property
    def watched(self):
        return [watched for _, watched in self.fits]


def run_rounds(X, given, labeler="greedy", curator="dips", n_rounds=T, observer=None, **plan):
    trainer = Trainer(small_boosting(), X, given.max() + 1, None, np.random.RandomState(0), n_jobs=1)
    trainer.backbone = Spy(X)
    labeler = None if labeler is None else LABELERS.resolve(labeler)
    run = Rounds(trainer, labeler, CURATORS.resolve(curator), RoundPlan(n_rounds, **plan), observer=observer).run(given)
    return run, trainer.backbone
