"""SelfTrainingClassifier: scikit-learn's self-training, with a curator in every round."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import semi_supervised
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if

from dips._data.containers import check_columns, take
from dips._data.labels import UNLABELED, Labels
from dips._data.verified import Verified, check_verified
from dips._estimators.curated import CuratedClassifier
from dips._estimators.parameters import BackboneParameters
from dips._estimators.routing import requests_of
from dips._estimators.samples import samples_of_self_training
from dips._estimators.validation import check_groups, check_targets, or_default
from dips._rounds.state import NEVER
from dips._tools.arrays import Array, Rows
from dips._tools.fits import all_or_nothing
from dips._tools.seeds import draw_seed
from dips._tools.sklearn_compat import HasMethods, fit_context, raise_for_params
from dips._tools.warnings import warn
from dips.curators import Curator
from dips.exceptions import InputError

_DELEGATED = ("fit", "predict", "predict_proba", "predict_log_proba", "decision_function", "score")


def _estimator_has(method: str) -> Callable[[Any], bool]:
    """Return a check that the estimator, fitted or not, has a method; a missing one raises AttributeError."""

    def check(model: Any) -> bool:
        getattr(or_default(getattr(model, "estimator_", model.estimator)), method)
        return True

    return check


class SelfTrainingClassifier(BackboneParameters, semi_supervised.SelfTrainingClassifier):
    """scikit-learn's self-training, with labels that are judged anew in every round.

    A drop-in for :class:`sklearn.semi_supervised.SelfTrainingClassifier`: the same parameters, the same loop, the same
    attributes. In addition every model of the loop, the last one included, is a :class:`~dips.CuratedClassifier`: it
    judges all labels that it is given, those that came with the data and pseudo-labels alike.

    Parameters
    ----------
    estimator : classifier, default=None
        The backbone: a classifier with ``predict_proba``, alone or at the end of a Pipeline; curators that watch the
        training need one that is trained step by step. None is that of
        :func:`~dips.backbones.default_estimator`: XGBoost, small for a few hundred labels, larger for thousands.
    threshold : float, default=0.75
        With ``criterion="threshold"``, rows whose most probable class is above this get it as their label.
    criterion : {"threshold", "k_best"}, default="threshold"
        Whether to label every row above a threshold, or a fixed number of rows in each round.
    k_best : int, default=10
        With ``criterion="k_best"``, how many rows are labeled in each round.
    max_iter : int or None, default=10
        The most rounds that label rows. None goes on until no row is left or none can be labeled.
    verbose : bool, default=False
        Print how many rows each round has labeled.
    curator : str, Curator, callable or None, default="auto"
        What judges the labels; see :class:`~dips.PseudoLabelClassifier`. None behaves exactly as scikit-learn's class,
        and ``"none"`` judges nothing but reads all the tables and labels that the other curators read.
    random_state : int, RandomState or None, default=None
        Seeds the curator, and the estimator where it has no seed of its own. Without a curator it has no effect.

    Attributes
    ----------
    estimator_ : the last model; with a curator, fitted on labels 0..C-1 in the order of ``classes_``
    classes_ : the classes
    transduction_ : the label each row ended with; those never labeled keep the input's mark (-1, NaN or None)
    labeled_iter_ : 0 for given labels, the round for pseudo-labels, -1 for rows never labeled
    n_iter_ : rounds in which rows could be labeled
    termination_condition_ : "max_iter", "no_change" or "all_labeled"
    n_features_in_, feature_names_in_ : number of the columns, and their names where they have any
    samples_ : only with a curator: data frame, one row per input row, as in :class:`~dips.PseudoLabelClassifier`
    curated_ : only with a curator: the :class:`~dips.CuratedClassifier` of the last round, around ``estimator_``

    See Also
    --------
    PseudoLabelClassifier : pseudo-labeling with a choice of labelers, multi-label, and tables larger than memory

    Notes
    -----
    With a curator these work, too, which scikit-learn's class refuses: data frames with texts and categories, of pandas
    and polars; labels that are texts, or any integers, with any estimator; NaN and None as the mark of unlabeled rows;
    and a routed ``sample_weight`` with one weight per row of X, unlabeled rows included.

    Examples
    --------
    >>> from xgboost import XGBClassifier
    >>> from dips import SelfTrainingClassifier
    >>> from dips.datasets import flip_labels, make_quadrants
    >>> X, truth = make_quadrants(300, random_state=0)
    >>> y, _ = flip_labels(truth, 0.2, random_state=0)
    >>> y[100:] = -1
    >>> backbone = XGBClassifier(n_estimators=30)
    >>> curated = SelfTrainingClassifier(backbone, random_state=0).fit(X, y)
    >>> plain = SelfTrainingClassifier(backbone, curator=None).fit(X, y)
    >>> curated.score(X, truth) > plain.score(X, truth) + 0.05
    True
    """

    _parameter_constraints = semi_supervised.SelfTrainingClassifier._parameter_constraints | {
        "estimator": [HasMethods(["fit"]), None],
        "curator": [str, Curator, callable, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        threshold: float = 0.75,
        criterion: str = "threshold",
        k_best: int = 10,
        max_iter: int | None = 10,
        verbose: bool = False,
        *,
        curator: str | Curator | Callable[..., Any] | None = "auto",
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.threshold = threshold
        self.criterion = criterion
        self.k_best = k_best
        self.max_iter = max_iter
        self.verbose = verbose
        self.curator = curator
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=False)
    def fit(
        self, X: Any, y: Any, verified: Any = None, y_given: Any = None, groups: Any = None, **params: Any
    ) -> SelfTrainingClassifier:
        """Learn from labeled and unlabeled rows.

        Parameters
        ----------
        X : table (n, p)
            NumPy array, sparse matrix, pandas or polars frame; for a Pipeline, whatever its first step takes.
        y : column (n,)
            Unlabeled rows are marked by a missing value (None, NaN, pd.NA) or by -1, in one way throughout; -1 and 1
            alone are two classes. Without a curator only -1 marks them.
        verified : mask (n,), optional
            Labels that somebody has checked, which no curator doubts; see :meth:`PseudoLabelClassifier.fit`.
        y_given : as y, optional
            The labels before they were checked.
        groups : (n,), optional
            Rows that belong together, which no fold of a curator divides; see :meth:`PseudoLabelClassifier.fit`.
        **params
            What the estimator's ``fit`` takes, if ``sklearn.set_config(enable_metadata_routing=True)`` is set and the
            estimator requests it.
        """
        with all_or_nothing(self):
            if self.curator is None:
                _refuse_verified(verified)
                return self._fit_as_scikit_learn(X, y, params)

            # Validate: whatever can be refused is refused before any training.
            routed = self._routed("fit", params)
            weights = routed.pop("sample_weight", None)
            labels = _one_target(check_targets(self, X, y))
            checked = check_verified(verified, y_given, [labels])[0]
            groups = check_groups(groups, labels.codes.size)
            check_columns(self, X, reset=True)
            self._warn_of_settings(int((~labels.is_labeled).sum()))

            # Self-training: fit on the useful rows, label what the model is sure of, fit again.
            rng = check_random_state(self.random_state)
            final, rounds, self.n_iter_ = labels.codes.copy(), np.where(labels.is_labeled, 0, NEVER), 0
            while True:
                model = self._fit_curated(X, labels, final, checked, weights, groups, routed, rng)
                unlabeled = np.flatnonzero(final == UNLABELED)
                if not unlabeled.size or self.n_iter_ == self.max_iter:
                    break
                self.n_iter_ += 1
                p = model.predict_proba(take(X, unlabeled))
                sure = self._surest(p.max(axis=1))
                if not sure.size:
                    break  # no need to fit again: the model has seen every label there is
                final[unlabeled[sure]] = p[sure].argmax(axis=1)
                rounds[unlabeled[sure]] = self.n_iter_
                if self.verbose:
                    print(f"End of iteration {self.n_iter_}, added {sure.size} new labels.")

            # Account: the model and every row's fate.
            self.curated_, self.estimator_, self.classes_ = model, model.estimator_, labels.classes
            self.transduction_, self.labeled_iter_ = labels.decode(final), rounds
            self.termination_condition_ = self._why_stopped(final)
            self.samples_ = samples_of_self_training(model.samples_, labels, final, rounds)
        return self

    @available_if(_estimator_has("predict"))
    def predict(self, X: Any, **params: Any) -> Array:
        """Most probable class of each row."""
        if not self._is_curated():
            return super().predict(X, **params)
        _refuse_params("predict", self._routed("predict", params))
        check_columns(self, X, reset=False)
        return self.curated_.predict(X)

    @available_if(_estimator_has("predict_proba"))
    def predict_proba(self, X: Any, **params: Any) -> Array:
        """Class probabilities (n, C), in the order of ``classes_``."""
        if not self._is_curated():
            return super().predict_proba(X, **params)
        _refuse_params("predict_proba", self._routed("predict_proba", params))
        check_columns(self, X, reset=False)
        return self.curated_.predict_proba(X)

    @available_if(_estimator_has("predict_log_proba"))
    def predict_log_proba(self, X: Any, **params: Any) -> Array:
        """Logarithms of the class probabilities (n, C)."""
        if not self._is_curated():
            return super().predict_log_proba(X, **params)
        _refuse_params("predict_log_proba", self._routed("predict_log_proba", params))
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    @available_if(_estimator_has("decision_function"))
    def decision_function(self, X: Any, **params: Any) -> Array:
        """Return what the estimator's own ``decision_function`` says."""
        if not self._is_curated():
            return super().decision_function(X, **params)
        routed = self._routed("decision_function", params)
        check_columns(self, X, reset=False)
        estimator: Any = self.estimator_
        return estimator.decision_function(self.curated_._table(X, learn=False), **routed)

    @available_if(_estimator_has("score"))
    def score(self, X: Any, y: Any, **params: Any) -> float:
        """Accuracy; without a curator, what the estimator's own ``score`` says."""
        if not self._is_curated():
            return super().score(X, y, **params)
        routed = self._routed("score", params)
        weights = routed.pop("sample_weight", None)
        _refuse_params("score", routed)
        check_columns(self, X, reset=False)
        return self.curated_.score(X, y, sample_weight=weights)

    def get_metadata_routing(self) -> MetadataRouter:
        """Return what the estimator requests, method by method."""
        if self.curator is None:
            return super().get_metadata_routing()
        mapping = MethodMapping()  # as in scikit-learn, except that what fit is given concerns no score
        for method in _DELEGATED:
            mapping = mapping.add(caller=method, callee=method)
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        return router.add(estimator=requests_of(self.estimator), method_mapping=mapping)

    def _fit_as_scikit_learn(self, X: Any, y: Any, params: dict[str, Any]) -> SelfTrainingClassifier:
        if self.estimator is None:
            raise InputError(
                "curator=None is scikit-learn's own self-training, which needs an estimator; pass one, or choose a "
                "curator."
            )
        return super().fit(X, y, **params)

    def _fit_curated(
        self,
        X: Any,
        labels: Labels,
        final: Array,
        checked: Verified,
        weights: Any,
        groups: Array | None,
        routed: dict[str, Any],
        rng: np.random.RandomState,
    ) -> CuratedClassifier:
        """Return a model trained on the useful ones of the labels so far."""
        curator: Any = self.curator
        model = CuratedClassifier(self.estimator, curator=curator, random_state=draw_seed(rng))
        all_labeled = bool((final != UNLABELED).all())
        y, before = labels.decode_or_none(final), labels.decode_or_none(checked.before)
        more = {"verified": checked.mask, "y_given": before, "groups": groups}
        return model._fit(X, y, weights, all_labeled, routed, **more)

    def _surest(self, confidence: Array) -> Rows:
        """Positions of the rows to be labeled, by the criterion."""
        if self.criterion == "threshold":
            return np.flatnonzero(confidence > self.threshold)
        if self.k_best >= confidence.size:
            return np.arange(confidence.size)
        return np.argpartition(-confidence, self.k_best)[: self.k_best]

    def _why_stopped(self, final: Array) -> str:
        if (final != UNLABELED).all():
            return "all_labeled"
        return "max_iter" if self.n_iter_ == self.max_iter else "no_change"

    def _warn_of_settings(self, n_unlabeled: int) -> None:
        if n_unlabeled == 0:
            warn("y contains no unlabeled samples")
        if self.criterion == "k_best" and self.k_best > n_unlabeled:
            warn(
                f"k_best is larger than the amount of unlabeled samples ({self.k_best} and {n_unlabeled}). All "
                "unlabeled samples will be labeled in the first iteration"
            )

    def _routed(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Return those of the parameters that the estimator requests for a method."""
        raise_for_params(params, self, method)
        return dict(process_routing(self, method, **params).estimator[method])

    def _is_curated(self) -> bool:
        return hasattr(self, "curated_")

    def __sklearn_tags__(self) -> Any:
        # Not the parent's tags: those of no estimator are an error there.
        tags = super(semi_supervised.SelfTrainingClassifier, self).__sklearn_tags__()
        backbone = get_tags(or_default(self.estimator))
        tags.input_tags.sparse = backbone.input_tags.sparse
        if self.curator is not None:
            tags.input_tags.allow_nan = backbone.input_tags.allow_nan
        return tags


def _one_target(targets: list[Labels]) -> Labels:
    if len(targets) > 1:
        raise InputError(
            f"Multi-label y ({len(targets)} columns) is not supported by SelfTrainingClassifier; use "
            "PseudoLabelClassifier, which takes it."
        )
    return targets[0]


def _refuse_verified(verified: Any) -> None:
    if verified is not None:
        raise InputError(
            "curator=None is scikit-learn's own self-training, which knows no verified labels; choose a curator."
        )


def _refuse_params(method: str, routed: dict[str, Any]) -> None:
    if routed:
        raise InputError(f"With a curator, {method} passes on no {', '.join(sorted(routed))}; leave it out.")
