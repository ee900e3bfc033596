"""Fits whose unlabeled rows stay where they are: on Spark, or in files with an account that is written, not kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from dips._data.containers import row_names
from dips._data.known import Known
from dips._data.labels import Labels
from dips._data.pool import Pool, StackedPool, TablePool, as_pool
from dips._data.verified import Verified
from dips._estimators.account import Account, FatesOfSample
from dips._estimators.learners import make_pseudo_learner
from dips._estimators.validation import append_unlabeled
from dips._rounds.checkpoint import Checkpoint, check_storable, describe
from dips._rounds.plan import RoundPlan
from dips._rounds.rule_rounds import RuleRounds
from dips._rounds.state import RoundsState
from dips._rounds.training import Trainer
from dips._spark import SparkPool
from dips._spark.executors import check_executors
from dips._tools.arrays import Array
from dips._tools.observer import Observer
from dips._tools.seeds import draw_seed
from dips._tools.warnings import warn
from dips.backbones import find_backbone
from dips.backbones._base import StagedBackbone
from dips.curators import Beliefs, Curator
from dips.exceptions import InputError
from dips.labelers import Labeler

_NO_MATTER = ("n_jobs", "verbose")

if TYPE_CHECKING:
    from dips._estimators.pseudo_label import PseudoLabelClassifier


class RemoteFit:
    """One fit of a classifier on labeled rows in memory and a pool of unlabeled rows elsewhere.

    Parameters
    ----------
    model : the classifier, whose settings are followed and whose learned attributes are set
    estimator, labeler, curator, plan : as the model's settings were understood
    observer : told of passes and rounds
    known : what the curator was told of the errors
    groups : (n,) rows of X that belong together, if any do
    """

    def __init__(
        self,
        model: PseudoLabelClassifier,
        estimator: BaseEstimator,
        labeler: Labeler | None,
        curator: Curator,
        plan: RoundPlan,
        observer: Observer,
        known: Known | None,
        groups: Array | None,
    ) -> None:
        self.model, self.estimator, self.labeler, self.curator = model, estimator, labeler, curator
        self.plan, self.observer, self.rng = plan, observer, check_random_state(model.random_state)
        self.known, self.groups = known, groups
        self.believes = isinstance(curator, Beliefs) and plan.curates

    def check(self, targets: list[Labels], fit_params: dict[str, Any]) -> Labels:
        """Refuse, before any work, what cannot be learned from rows that stay elsewhere; return the labels."""
        if len(targets) > 1:
            raise InputError(
                "Unlabeled rows that stay where they are work with one label column; fit one classifier for "
                "each column of y."
            )
        n_unlabeled = int((~targets[0].is_labeled).sum())
        if n_unlabeled:
            raise InputError(
                f"{n_unlabeled} rows of X have no label; where the unlabeled rows stay where they are, X holds labeled "
                "rows only. Leave them out, or put them with the others."
            )
        if not self.believes:
            self._check_rules(fit_params)
        return targets[0]

    def _check_rules(self, fit_params: dict[str, Any]) -> None:
        cannot = "cannot be used on rows that stay where they are: it compares all of them with each other"
        if self.labeler is None or not self.labeler.has_rule:
            raise InputError(
                f'The labeler {type(self.labeler).__name__} {cannot}; use labeler="greedy" or "flexmatch", or leave '
                'curator="auto", which learns from a sample.'
            )
        if self.plan.in_rounds:
            self._check_curator(cannot)
        if fit_params:
            raise InputError(
                f"{', '.join(fit_params)} cannot be passed on to a backbone whose rows stay where they are; leave it "
                'out, or use curator="auto".'
            )

    def _check_curator(self, cannot: str) -> None:
        if not self.curator.has_rule(self.plan.at_start):
            raise InputError(
                f"The curator {type(self.curator).__name__}, as it is set, {cannot}; use "
                '"adaptive", "confidence", "fluctuation" or "none", "dips" with curate="both" or a fixed aleatoric '
                'threshold, or leave curator="auto".'
            )
        backbone = find_backbone(self.estimator)
        is_staged = isinstance(getattr(backbone, "last", backbone), StagedBackbone)
        if self.curator.curates and not is_staged:
            raise InputError(
                f"{type(self.estimator).__name__} cannot replay its training to rows that stay where they are; use "
                'boosted trees, or curator="none" or "auto".'
            )

    def run(
        self,
        X: Any,
        pool: Pool,
        labels: Labels,
        weights: Array | None,
        verified: Verified,
        fit_params: dict[str, Any],
    ) -> None:
        """Learn, and set the learned attributes of the model."""
        if pool.checkpoint is not None:
            self._check_checkpoint()
        if isinstance(pool, SparkPool):
            check_executors(pool.session, find_backbone(self.estimator).libraries)
        pool, encode = self.model._encode_pool(self.estimator, X, pool)
        near = TablePool(encode(X))
        if self.believes:
            state, account = self._learn_from_sample(near, pool, labels, weights, verified, fit_params)
        else:
            state, account = self._learn_by_rules(near, pool, labels, weights, verified)
        pool.refuse_changes()
        self.model._keep([labels], [self.curator], [state], near, row_names(X))
        self.model.account_ = account

    def _learn_from_sample(
        self,
        near: TablePool,
        pool: Pool,
        labels: Labels,
        weights: Array | None,
        verified: Verified,
        fit_params: dict[str, Any],
    ) -> tuple[RoundsState, Account]:
        """Train the student on beliefs about the labeled rows and about a sample of the others."""
        assert isinstance(self.curator, Beliefs)
        n, most = near.n_rows, self.curator.max_unlabeled
        rows, learned_from = np.empty(0, dtype=np.intp), as_pool(near)
        if most:
            rows, sample = pool.sample(most, draw_seed(self.rng) if pool.n_rows > most else 0)
            learned_from = StackedPool([near, TablePool(sample)])
        (both,), weights, (verified,) = append_unlabeled([labels], weights, [verified], rows.size)
        more = (self.groups, rows.size, self.rng)
        trainer = self.model._make_trainer(self.estimator, learned_from, both, weights, fit_params, *more)
        learner = make_pseudo_learner(trainer, self.labeler, self.curator, self.plan, self.observer, self.known)
        state = learner.run(both.codes, verified)
        n_others = pool.n_rows - rows.size
        for record in state.history:
            record["n_left"] += n_others
        if n_others:
            state.termination = "max_iter"
        columns = (state.labels, state.round, state.confidence, state.aleatoric)
        fates = FatesOfSample(rows, *(column[n:].copy() for column in columns))
        return state.first(n), Account(pool, fates, labels.classes)

    def _learn_by_rules(
        self, near: TablePool, pool: Pool, labels: Labels, weights: Array | None, verified: Verified
    ) -> tuple[RoundsState, Account]:
        """Run the rounds with rules in place of entries for every row."""
        trainer: Trainer = self.model._make_trainer(
            self.estimator, near, labels, weights, {}, self.groups, rng=self.rng
        )
        assert self.labeler is not None
        checkpoint = self._checkpoint(near, pool, labels, weights, verified)
        rounds = RuleRounds(trainer, pool, self.labeler, self.curator, self.plan, self.observer, checkpoint)
        state = rounds.run(labels.codes, verified)
        return state, Account(pool, rounds.rules, labels.classes)

    def _check_checkpoint(self) -> None:
        if self.believes:
            warn(
                "checkpoint= is not used: beliefs are learned from one sample, in one step. A run that is started "
                "again draws the same sample."
            )
        else:
            check_storable(self.estimator)

    def _checkpoint(
        self, near: TablePool, pool: Pool, labels: Labels, weights: Array | None, verified: Verified
    ) -> Checkpoint | None:
        if pool.checkpoint is None:
            return None
        settings = {name: value for name, value in self.model.get_params(deep=False).items() if name not in _NO_MATTER}
        settings |= {"estimator": self.estimator, "labeler": self.labeler, "curator": self.curator}
        settings |= {"max_train_rows": pool.max_train_rows, "classes": labels.classes.tolist()}
        tables = (near.X, labels.codes, weights, verified.mask, self.groups)
        libraries = find_backbone(self.estimator).libraries
        return Checkpoint(pool.checkpoint, describe(settings, tables, pool.fingerprint(), libraries))


def is_remote(X_unlabeled: Any) -> bool:
    """Whether these rows stay where they are."""
    return isinstance(X_unlabeled, Pool) and X_unlabeled.stays
