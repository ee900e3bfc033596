"""PseudoLabelClassifier: curated pseudo-labeling as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.utils import metadata_routing
from sklearn.utils.validation import check_is_fitted

from dips._data.containers import n_rows
from dips._data.labels import Labels
from dips._data.parquet import ParquetPool
from dips._data.pool import NumberedPool, Pool
from dips._data.verified import check_verified
from dips._estimators.base import CuratingClassifier, one_or_list
from dips._estimators.learners import check_known, make_pseudo_learner, resolve_labeler
from dips._estimators.remote import RemoteFit, is_remote
from dips._estimators.routing import absorbed, routed_to_backbone
from dips._estimators.validation import (
    append_unlabeled,
    check_estimator_parameter,
    check_groups,
    check_targets,
    check_weights,
)
from dips._rounds.plan import RoundPlan
from dips._rounds.state import RoundsState
from dips._spark import SparkPool, is_spark_frame
from dips._tools.arrays import Array
from dips._tools.fits import N_JOBS, all_or_nothing
from dips._tools.observer import Observer
from dips._tools.progress import ProgressBars
from dips._tools.sklearn_compat import HasMethods, Interval, StrOptions, fit_context
from dips._tools.warnings import warn
from dips.curators import Curator
from dips.curators._choose import resolve_curator
from dips.exceptions import InputError
from dips.labelers import Labeler


class PseudoLabelClassifier(CuratingClassifier):
    """A classifier that learns from few, dirty labels and from unlabeled rows.

    By default it trains on *beliefs*: teachers that err differently say how probable it is that each label is wrong and
    what every unlabeled row may be, and the backbone is trained on these distributions.

    With any other curator it is Algorithm 1 of DIPS. In every round the backbone is fitted, watched as it learns, and
    used to propose labels for unlabeled rows; then all labels, given and proposed, are judged by how they were learned,
    and the next model is trained on the useful ones.

    Parameters
    ----------
    estimator : classifier, default=None
        The backbone: any classifier with ``predict_proba``, alone or at the end of a Pipeline; curators that watch the
        training need one that is trained step by step. None is that of
        :func:`~dips.backbones.default_estimator`: XGBoost, small for a few hundred labels, larger for thousands.
    labeler : str, Labeler or callable, default="auto"
        Proposes pseudo-labels: the name of a labeler of :mod:`dips.labelers`, an object with settings, or a function of
        :class:`~dips.labelers.Candidates` that returns positions and labels. "auto" needs none under beliefs, which
        learn from all unlabeled rows or a sample; for other curators it is "greedy".
    curator : str, Curator or callable, default="auto"
        Judges labels: the name of a curator of :mod:`dips.curators`, an object with settings, or a function of
        :class:`~dips.curators.Evidence` that returns a mask. "auto" is :class:`~dips.curators.Beliefs`.
    n_rounds : int, default=5
        How many models are trained after the first curation; T in the paper. Pseudo-labels are proposed after each but
        the last, so 1 makes no use of unlabeled rows. Beliefs with ``labeler="auto"`` need no rounds.
    grow : bool, default=True
        Keep pseudo-labels from one round to the next. False proposes them again each round (Version 2 of the appendix).
    curate : {"both", "start", "rounds", "neither"}, default="both"
        Where to curate: the labels before the first round, all labels in every round, both, or neither
        (the ablations A1, A2 and A3 are "start", "rounds" and "neither").
    random_state : int, RandomState or None, default=None
    n_jobs : int or None, default=None
        How many folds or members of an ensemble are trained at once. The backbone's threads are set on the backbone.
    verbose : int, default=0
        Above 0, a progress bar on a terminal.

    Attributes
    ----------
    estimator_ : the last model, fitted on labels 0..C-1 in the order of ``classes_``
    classes_ : the classes; for multi-label, the names of the labels
    transduction_ : the label each row ended with; those never labeled keep the input's mark (-1, NaN or None)
    labeled_iter_ : 0 for given labels, the round for pseudo-labels, -1 for rows never labeled
    termination_condition_ : "max_iter", "all_labeled" or "no_change"
    n_iter_ : rounds trained
    history_ : data frame, one row per round; round 0 is the curation at the start
    samples_ : data frame, one row per input row, those of `X_unlabeled` last
        Columns: source, given_label, verified, final_label, round, p_wrong, check_gain, confidence, aleatoric, useful
        and suggested_label. p_wrong is the probability that the given label is wrong, under beliefs; it is 0 for a
        verified label. useful means that the last model was trained on the row; under beliefs, that the label is not
        a suspect. suggested_label is given for suspects.
    class_summary_ : data frame, one row per class; None unless the curator believes
        Columns: class, n_labels, n_suspects, expected_wrong, recall (of the teachers, out of fold) and in_danger (its
        labels look wrong more often than the noise explains).
    account_ : the account of unlabeled rows that stay on Spark
        What :meth:`write_samples` writes. ``samples_``, ``transduction_`` and ``labeled_iter_`` then hold only the rows
        of X.
    curator_ : the curator, with what it learned
    encoder_ : turns tables into numbers; None if the backbone takes them as they are

    Notes
    -----
    Multi-label, where y is a table of 0, 1 and missing values (or -1): every label is a binary problem with its own
    rounds. Each (row, label) pair is judged by itself: a row may be useful for one label, a suspect for another and
    unlabeled for a third. ``samples_`` and ``history_`` name the label in ``target``. ``transduction_`` (0, 1, or -1
    if never labeled) and ``labeled_iter_`` have one column per label, ``termination_condition_`` one entry. The models
    are in ``estimators_``, the curators in ``curators_``; ``predict_proba`` gives the probability of each label.

    Examples
    --------
    >>> import numpy as np
    >>> from dips import PseudoLabelClassifier
    >>> from dips.datasets import make_quadrants
    >>> X, y = make_quadrants(400, random_state=0)
    >>> y[100:] = -1
    >>> clf = PseudoLabelClassifier(random_state=0).fit(X, y)
    >>> clf.samples_["source"].value_counts().to_dict()
    {'pseudo': 300, 'given': 100}
    """

    __metadata_request__fit = {"X_unlabeled": metadata_routing.UNUSED, "groups": True}

    _parameter_constraints = {
        "estimator": [HasMethods(["fit"]), None],
        "labeler": [str, Labeler, callable],
        "curator": [str, Curator, callable],
        "n_rounds": [Interval(Integral, 1, None, closed="left")],
        "grow": ["boolean"],
        "curate": [StrOptions({"both", "start", "rounds", "neither"})],
        "random_state": ["random_state"],
        "n_jobs": N_JOBS,
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        labeler: str | Labeler | Callable[..., Any] = "auto",
        curator: str | Curator | Callable[..., Any] = "auto",
        n_rounds: int = 5,
        grow: bool = True,
        curate: str = "both",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.labeler = labeler
        self.curator = curator
        self.n_rounds = n_rounds
        self.grow = grow
        self.curate = curate
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @fit_context(prefer_skip_nested_validation=False)
    def fit(
        self,
        X: Any,
        y: Any,
        X_unlabeled: Any = None,
        sample_weight: Any = None,
        verified: Any = None,
        y_given: Any = None,
        groups: Any = None,
        **fit_params: Any,
    ) -> PseudoLabelClassifier:
        """Learn from labeled and unlabeled rows.

        Parameters
        ----------
        X : table (n, p)
            NumPy array, sparse matrix, pandas or polars frame; for a Pipeline, whatever its first step takes.
        y : column (n,), or 0/1 matrix (n, L) for multi-label
            Unlabeled rows are marked by a missing value (None, NaN, pd.NA) or by -1, in one way throughout; -1 and 1
            alone are two classes. Rows are matched with those of X by position.
        X_unlabeled : table, path, ParquetPool, Spark DataFrame or SparkPool, optional
            More unlabeled rows, with the same columns; a Parquet file or folder may be larger than memory, and the rows
            of a Spark table stay on their cluster.
        sample_weight : (n,), optional
            Weights of the rows of X, the unlabeled included; rows of `X_unlabeled` weigh as much as these do
            on average.
        verified : mask (n,), optional
            Labels that somebody has checked. They are never suspects, and the other labels are judged better because of
            them. For multi-label, one column for all labels, or a mask (n, L).
        y_given : as y, optional
            The labels before they were checked. How often, and where, checked labels turned out to be wrong sharpens
            the estimated noise and the judgment of the other labels.
        groups : (n,), optional
            The group of every row of X, such as the patient whose visit it is. Rows of a group are judged by models
            that were trained on none of them: alike as they are, one would vouch for the wrong label of another.
        **fit_params
            Further arguments of the backbone's ``fit``, such as ``eval_set`` or ``cat_features``, if
            ``sklearn.set_config(enable_metadata_routing=True)`` is set and the backbone requests them. Validation data
            are given in the form of X and y; arguments with one entry per row of X are cut to the rows of a training.
        """
        with self._observer() as observer, all_or_nothing(self):
            # Validate: whatever can be refused is refused before any training.
            routed = routed_to_backbone(self, fit_params)
            targets = check_targets(self, X, y)
            estimator, routed = absorbed(check_estimator_parameter(self.estimator, targets), routed)
            curators = [resolve_curator(self.curator, "tables") for _ in targets]
            labeler = resolve_labeler(self.labeler, curators[0], self.curate)
            plan = RoundPlan.of(self.n_rounds, self.grow, self.curate)
            weights, checked = check_weights(sample_weight, targets), check_verified(verified, y_given, targets)
            known = check_known(curators[0], targets, checked, self._told)
            groups = check_groups(groups, targets[0].codes.size)
            if X_unlabeled is not None:
                X_unlabeled = _opened(X_unlabeled, observer)
            if is_remote(X_unlabeled):
                remote = RemoteFit(self, estimator, labeler, curators[0], plan, observer, known[0], groups)
                labels = remote.check(targets, routed)
                self._warn_of_one_round(targets, labeler)
                remote.run(X, X_unlabeled, labels, weights, checked[0], routed)
                return self

            # Pool: labeled and unlabeled rows together; from here on a row is a number and a label is a code.
            n_more = 0
            if X_unlabeled is not None:
                n_more = _n_unlabeled(X_unlabeled)
                targets, weights, checked = append_unlabeled(targets, weights, checked, n_more)
            pool, index = self._make_pool(estimator, X, X_unlabeled)

            # Rounds: Algorithm 1; or a student of beliefs, which needs none. Multi-label is binary relevance: each
            # label has a learner and a curator of its own, as the paper's selector is defined coordinate by coordinate.
            more = (weights, routed, groups, n_more)
            trainers = [self._make_trainer(estimator, pool, labels, *more) for labels in targets]
            learners = [
                make_pseudo_learner(trainer, labeler, curator, plan, observer, told)
                for trainer, curator, told in zip(trainers, curators, known, strict=True)
            ]
            self._warn_of_one_round(targets, labeler)
            rows = zip(learners, targets, checked, strict=True)
            results = [each.run(labels.codes, of_label) for each, labels, of_label in rows]

            # Account: the model, the history and every row's fate.
            self._keep(targets, curators, results, pool, index)
        return self

    def _keep(
        self,
        targets: list[Labels],
        curators: list[Curator],
        results: list[RoundsState],
        pool: NumberedPool,
        index: pd.Index | None,
    ) -> None:
        """Set the learned attributes, those of pseudo-labeling among them."""
        super()._keep(targets, curators, results, pool, index)
        final_labels = [labels.decode(state.labels) for labels, state in zip(targets, results, strict=True)]
        self.transduction_ = _columns(final_labels)
        self.labeled_iter_ = _columns([state.round for state in results])
        self.n_iter_ = max(state.history[-1]["round"] for state in results)
        self.termination_condition_ = one_or_list([state.termination for state in results], self.multilabel_)

    def write_samples(self, path: str | Path) -> None:
        """Write the account of the unlabeled rows that stay on Spark to a new folder of Parquet files.

        Its columns name the row (the key, or the file and the position in it), then follow those of ``samples_``. Spark
        writes it; nothing is collected. The labeled rows are in ``samples_``.
        """
        check_is_fitted(self)
        if not hasattr(self, "account_"):
            raise InputError("All rows are in samples_ already; write_samples is for pools on Spark.")
        self.account_.write(str(path))

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the account, which holds on to a session."""
        return {name: value for name, value in super().__getstate__().items() if name != "account_"}

    def _observer(self) -> AbstractContextManager[Observer]:
        return ProgressBars() if self.verbose else nullcontext(Observer())

    def _warn_of_one_round(self, targets: list[Labels], labeler: Labeler | None) -> None:
        if labeler is not None and self.n_rounds == 1 and not all(labels.is_labeled.all() for labels in targets):
            warn("n_rounds=1 makes no use of unlabeled rows; choose 2 or more.")


def _opened(X_unlabeled: Any, observer: Observer) -> Any:
    """Open Parquet files by their path, and Spark's tables; the observer is told of every batch read from them."""
    pool = X_unlabeled
    if isinstance(X_unlabeled, str | Path):
        pool = ParquetPool(X_unlabeled)
    elif is_spark_frame(X_unlabeled):
        pool = SparkPool(X_unlabeled)
    return pool.observed(observer) if isinstance(pool, ParquetPool | SparkPool) else pool


def _n_unlabeled(X_unlabeled: Any) -> int:
    n = X_unlabeled.n_rows if isinstance(X_unlabeled, Pool) else n_rows(X_unlabeled)
    if n == 0:
        raise InputError("X_unlabeled has no rows; leave it out where there are none.")
    return n


def _columns(columns: list[Array]) -> Array:
    """One column as it is, several side by side."""
    return np.column_stack(columns) if len(columns) > 1 else columns[0]
