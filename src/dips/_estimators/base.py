"""What the estimators share: tables and labels in, probabilities and an account of every row out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import check_random_state, get_tags
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from dips._data.labels import UNLABELED, Labels, encode_targets, is_multilabel, true_label_table, true_labels
from dips._data.parquet import ParquetPool
from dips._data.pool import Pool, StackedPool, TablePool
from dips._data.tables import TableEncoder, as_rows, check_columns, n_rows, row_names, stack
from dips._rounds.rounds import Rounds, Run
from dips._rounds.training import Trainer
from dips._tools.arrays import Array
from dips._tools.warnings import warn
from dips.backbones import default_estimator, find_backbone
from dips.curators import Curator
from dips.curators._choose import resolve_curator

N_JOBS = [Interval(Integral, 1, None, closed="left"), Interval(Integral, None, -1, closed="right"), None]


class CuratingClassifier(ClassifierMixin, BaseEstimator):
    """Base of the estimators that curate: a subclass's ``fit`` says which rounds are run, and keeps what it wants."""

    estimator: BaseEstimator | None
    curator: str | Curator | Callable[..., Any]
    random_state: Any
    n_jobs: int | None

    def predict_proba(self, X: Any) -> Array:
        """Class probabilities (n, C), in the order of ``classes_``; for multi-label, (n, L) of each label."""
        check_is_fitted(self)
        X = self._table(X, learn=False)
        if not self.multilabel_:
            return _probabilities(self.estimator_, X)
        return np.column_stack([_probabilities(fitted, X)[:, 1] for fitted in self.estimators_])

    def predict(self, X: Any) -> Array:
        """Most probable class; for multi-label, a 0/1 matrix."""
        p = self.predict_proba(X)
        return (p > 0.5).astype(np.int64) if self.multilabel_ else self.classes_[p.argmax(axis=1)]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy (for multi-label, of whole rows); refused where a row has no label to be compared with."""
        check_is_fitted(self)
        truth = true_label_table(y, self.classes_) if self.multilabel_ else true_labels(y, self.classes_)
        return float(accuracy_score(truth, self.predict(X), sample_weight=sample_weight))

    def _fit_targets(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        rounds_of: Callable[[Trainer, Curator, Labels], Rounds],
        *,
        X_unlabeled: Any = None,
        all_labeled: bool = False,
    ) -> list[tuple[Labels, Run]]:
        """Validate everything before any work, then run the rounds of each target and keep the account.

        Multi-label: every label is a binary problem of its own, with its own rounds and curator. A (row, label) pair is
        useful or not by itself, as the paper's selector is defined coordinate by coordinate.
        """
        estimator = self._backbone()
        targets = self._targets(X, y, all_labeled)
        curators = [resolve_curator(self.curator, "tables") for _ in targets]
        weight = None if sample_weight is None else _check_weight(sample_weight, targets)
        if X_unlabeled is not None:
            n_more = X_unlabeled.n_rows if isinstance(X_unlabeled, Pool) else n_rows(X_unlabeled)
            _warn_of_minus_one(targets)
            targets = [labels.followed_by_unlabeled(n_more) for labels in targets]
            weight = None if weight is None else np.append(weight, np.ones(n_more))
        with _all_or_nothing(self):
            pool, index = self._pool(X, X_unlabeled)
            rounds = []
            for labels, curator in zip(targets, curators, strict=True):
                rng = check_random_state(self.random_state)
                backbone = _with_coded_weights(estimator, labels.classes)
                trainer = Trainer(backbone, pool, labels.classes.size, weight, rng, self.n_jobs)
                rounds.append(rounds_of(trainer, curator, labels))
            results = [(labels, each.run(labels.codes)) for labels, each in zip(targets, rounds, strict=True)]
            self._keep(results, curators, is_multilabel(y), pool, index)
            return results

    def _keep(
        self,
        results: list[tuple[Labels, Run]],
        curators: list[Curator],
        multilabel: bool,
        pool: Pool,
        index: pd.Index | None,
    ) -> None:
        """Learned attributes that all these estimators have."""
        self.multilabel_ = multilabel
        histories = [pd.DataFrame(run.history) for _, run in results]
        accounts = [_account(run, labels, pool, index) for labels, run in results]
        if not multilabel:
            (labels, run), (self.curator_,) = results[0], curators
            self.estimator_, self.classes_ = run.estimator, labels.classes
            (self.history_,), (self.samples_,) = histories, accounts
            return
        names = [labels.name for labels, _ in results]
        self.classes_ = np.asarray(names)
        self.estimators_, self.curators_ = [run.estimator for _, run in results], curators
        self.history_, self.samples_ = _by_target(histories, names), _by_target(accounts, names)

    def _targets(self, X: Any, y: Any, all_labeled: bool) -> list[Labels]:
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        targets = encode_targets(y, all_labeled=all_labeled)
        if n_rows(X) != targets[0].codes.size:
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: X has {n_rows(X)} rows, "
                f"y has {targets[0].codes.size}."
            )
        return targets

    def _backbone(self) -> BaseEstimator:
        """Return the estimator to clone and fit, refused where it can give no probabilities."""
        estimator = default_estimator() if self.estimator is None else self.estimator
        if isinstance(estimator, type):
            raise TypeError(
                f"estimator must be an object; got the class {estimator.__name__}. Write {estimator.__name__}()."
            )
        if not hasattr(estimator, "predict_proba"):
            raise ValueError(
                f"{type(estimator).__name__} gives no class probabilities, of which pseudo-labels and curation are "
                'made; choose a classifier with predict_proba, or a setting that has it (loss="log_loss" for '
                "SGDClassifier, probability=True for SVC)."
            )
        return estimator

    def _pool(self, X: Any, X_unlabeled: Any) -> tuple[Pool, pd.Index | None]:
        """Return all rows as the backbone wants them, the unlabeled last, and their names where they have any."""
        if X_unlabeled is None:
            return TablePool(self._table(X, learn=True)), row_names(X)
        if isinstance(X_unlabeled, ParquetPool):
            files = X_unlabeled.like(X)
            self._table(stack(X, files.vocabulary()), learn=True)
            encode = partial(self._table, learn=False)
            for _ in files.transformed(encode).batches():  # refuse what cannot be read before any work is done
                pass
            return StackedPool([TablePool(encode(X)), files.transformed(encode)]), None
        if _are_numbers(X, X_unlabeled):  # no need to copy them into one table
            self._table(X, learn=True)
            parts = [TablePool(self._table(part, learn=False)) for part in (X, X_unlabeled)]
            return StackedPool(parts), None
        both = stack(X, X_unlabeled)
        return TablePool(self._table(both, learn=True)), row_names(both)

    def _table(self, X: Any, learn: bool) -> Any:
        """Return the table as the backbone wants it: as it is for pipelines, as numbers for others."""
        check_columns(self, X, reset=learn)
        if learn:
            estimator = self._backbone()
            is_no_table = getattr(X, "ndim", 2) > 2  # images and the like
            as_it_is = is_no_table or find_backbone(estimator).reads_frames(estimator)
            self.encoder_ = None if as_it_is else TableEncoder()
        if self.encoder_ is not None:
            return self.encoder_.encode(X, learn)
        return as_rows(X)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "samples_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        backbone = get_tags(default_estimator() if self.estimator is None else self.estimator)
        tags.input_tags.sparse = backbone.input_tags.sparse
        tags.input_tags.allow_nan = backbone.input_tags.allow_nan
        tags.classifier_tags.multi_label = True
        return tags


@contextmanager
def _all_or_nothing(model: BaseEstimator) -> Iterator[None]:
    """Around a fit: a success leaves nothing of an earlier one, a failure leaves all of it."""
    before = vars(model).copy()
    for name in before:
        if name.endswith("_"):
            delattr(model, name)
    try:
        yield
    except BaseException:
        vars(model).clear()
        vars(model).update(before)
        raise


def _with_coded_weights(estimator: BaseEstimator, classes: Array) -> BaseEstimator:
    """Return the backbone, which is trained on codes, with the class weights that its user gave by label."""
    names, settings = classes.tolist(), {}
    for parameter, weights in estimator.get_params().items():
        if parameter.rpartition("__")[2] in ("class_weight", "class_weights") and isinstance(weights, Mapping):
            unknown = [c for c in weights if c not in names]
            if unknown:
                raise ValueError(f"{parameter} names {unknown}, and the classes of y are {names}; name these.")
            # All of them and in order, for CatBoost takes the classes from here.
            settings[parameter] = {code: weights.get(c, 1.0) for code, c in enumerate(names)}
    return find_backbone(estimator).clone(estimator).set_params(**settings) if settings else estimator


def _warn_of_minus_one(targets: list[Labels]) -> None:
    labels = targets[0]
    n_unlabeled = (~labels.is_labeled).sum()
    if len(targets) == 1 and n_unlabeled and labels.mark == UNLABELED and labels.classes.dtype.kind in "iu":
        warn(
            f"-1 in y is read as unlabeled ({n_unlabeled} rows), besides the rows of X_unlabeled; if it is a class, "
            "write it another way."
        )


def _are_numbers(X: Any, other: Any) -> bool:
    """Whether both are arrays of numbers with the same columns."""
    arrays = [t for t in (X, other) if isinstance(t, np.ndarray) and t.ndim == 2 and t.dtype.kind in "fiub"]
    return len(arrays) == 2 and X.shape[1] == other.shape[1]


def _by_target(parts: list[pd.DataFrame], names: list[Any]) -> pd.DataFrame:
    return pd.concat([part.assign(target=name) for part, name in zip(parts, names, strict=True)])


def _probabilities(fitted: BaseEstimator | None, X: Any) -> Array:
    assert fitted is not None
    return find_backbone(fitted).predict_proba(fitted, X)


def _check_weight(sample_weight: Any, targets: list[Labels]) -> Array:
    n = targets[0].codes.size
    weight = _check_sample_weight(sample_weight, np.empty((n, 1)), ensure_non_negative=True)
    for labels in targets:
        weighed = np.unique(labels.codes[labels.is_labeled & (weight > 0)])
        if weighed.size < labels.classes.size:
            without = np.delete(labels.classes, weighed).tolist()
            of_label = "" if labels.name is None else f" of label {labels.name!r}"
            raise ValueError(
                f"sample_weight is 0 for every labeled row of class {without[0]!r}{of_label}; give at least one a "
                "positive weight."
            )
    return weight


def _account(run: Run, labels: Labels, pool: Pool, index: pd.Index | None) -> pd.DataFrame:
    """One row a row of the input: where its label came from, what became of it, and why."""
    return pd.DataFrame(
        {
            "source": _sources(run),
            "given_label": labels.decode_or_none(run.given),
            "final_label": labels.decode_or_none(run.labels),
            "round": run.round,
            "confidence": run.confidence,
            "aleatoric": run.aleatoric,
            "useful": run.useful,
            "suggested_label": labels.decode_or_none(_suggestions(run, pool)),
        },
        index=index,
    )


def _sources(run: Run) -> Array:
    """Return "given", "pseudo" or "unlabeled", as texts that share one copy of each word."""
    words = np.array(["unlabeled", "pseudo", "given"], dtype=object)
    return words[run.is_given.astype(np.int8) + (run.labels != UNLABELED)]


def _suggestions(run: Run, pool: Pool) -> Array:
    """Codes of what distrusted labels might be, -1 elsewhere.

    The model was not trained on these rows, so what it says of them is not what it was told.
    """
    suggested = np.full(run.given.size, UNLABELED)
    distrusted = np.flatnonzero(run.is_given & ~run.useful)
    if distrusted.size:
        best = _probabilities(run.estimator, pool.take(distrusted)).argmax(axis=1)
        suggested[distrusted] = np.where(best != run.given[distrusted], best, UNLABELED)
    return suggested
