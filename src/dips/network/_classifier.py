"""The network as a scikit-learn classifier that takes dirty labels and unlabeled rows."""

from __future__ import annotations

from functools import lru_cache
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from dips._data.columns import category_order
from dips._data.containers import as_narwhals, check_columns, is_frame
from dips._data.encoder import TableEncoder
from dips._data.known import check_frequencies
from dips._data.labels import UNLABELED, labels_of_rows, true_labels
from dips._data.verified import check_verified
from dips._tools.arrays import Array
from dips._tools.fits import N_JOBS, all_or_nothing
from dips._tools.seeds import draw_seed
from dips._tools.sklearn_compat import Interval, fit_context
from dips._tools.warnings import warn
from dips._tools.wording import counted
from dips.exceptions import InputTypeError
from dips.network._beliefs import NetworkBeliefs, context_size, drawn
from dips.network._frequencies import factors_for, reweighed
from dips.network._inference import FrozenNetwork
from dips.network._limits import MAX_CLASSES, MAX_COLUMNS, MAX_LEVELS, common_levels, most_telling, varying
from dips.network._read_table import ReadTable, cut
from dips.network._verified import taught_frequencies
from dips.network._weights import SHIPPED, Weights


class PriorFittedClassifier(ClassifierMixin, BaseEstimator):
    """A network that was trained on synthetic tables with dirty labels, and reads yours without any training.

    It reads the table, with its doubtful labels and its unlabeled rows, as a context, and predicts the true class of
    every row: rows without a label, rows whose label may be wrong, and new rows. Made for 20 to 1,000 labels.
    Experimental: its answers will change when a later version ships new weights.

    Parameters
    ----------
    n_draws : int, default=1
        How many random orders of columns and names of classes and levels to average over. More are a little better
        and steadier; the cost grows in proportion.
    max_context : int, default=1000
        How many rows the network reads at once, labeled ones first. The cost of a prediction grows with it.
    class_frequencies : mapping of class to share, sequence (C,) or None, default=None
        How frequent each class truly is, if you know it; a mapping may be a pandas Series and leave out one class,
        and a sequence is in the order of ``classes_``. Otherwise the network relies on the frequencies of the dirty
        labels, which are far off where errors go one way.
    weights : path or None, default=None
        File of trained weights; None takes those that ship with the package.
    random_state : int, RandomState or None, default=None
    n_jobs : int or None, default=None
        Threads; -1 takes all processors.

    Attributes
    ----------
    classes_ : (C,) the classes
    belief_ : (n, C) probability of each class for every row of the training table, given its own label
    p_wrong_ : (n,) probability that the row's label is wrong; NaN where it has none
    transduction_ : (n,) most probable class of every row of the training table
    in_context_ : (n,) which rows the network read; other labels are judged as if they were not there
    columns_ : positions of the columns that were used
    notes_ : list of str, what was left out because the table is larger than the network was made for

    Notes
    -----
    A larger table is reduced: rows are sampled, the columns that say most about the labels are kept (at most 48), rare
    levels of a category are merged (at most 48 are left), and classes are put into groups (at most 10, then the classes
    within a group). A warning and ``notes_`` say so.

    Examples
    --------
    >>> from dips.network import PriorFittedClassifier
    >>> from dips.datasets import flip_labels, make_quadrants
    >>> X, y = make_quadrants(200, random_state=0)
    >>> given, wrong = flip_labels(y, 0.1, random_state=0)
    >>> given[100:] = -1
    >>> model = PriorFittedClassifier(random_state=0).fit(X, given)  # doctest: +SKIP
    >>> model.p_wrong_[:100][wrong[:100]].mean() > 0.5  # doctest: +SKIP
    True
    """

    _parameter_constraints = {
        "n_draws": [Interval(Integral, 1, None, closed="left")],
        "max_context": [Interval(Integral, 16, None, closed="left")],
        "class_frequencies": [dict, "array-like", None],
        "weights": [str, Path, None],
        "random_state": ["random_state"],
        "n_jobs": N_JOBS,
    }

    def __init__(
        self,
        *,
        n_draws: int = 1,
        max_context: int = 1000,
        class_frequencies: Any = None,
        weights: str | Path | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_draws = n_draws
        self.max_context = max_context
        self.class_frequencies = class_frequencies
        self.weights = weights
        self.random_state = random_state
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, verified: Any = None, y_given: Any = None) -> PriorFittedClassifier:
        """Read the table.

        Parameters
        ----------
        X : table (n, p)
        y : (n,)
            Labels; rows whose label is -1, None or NaN are unlabeled.
        verified : mask (n,), optional
            Labels that somebody has checked. If not all labels can be read, these are read first, and they are the
            answer for their rows. While it judges the others, the network cannot tell them from doubtful ones.
        y_given : (n,), optional
            The labels before any was checked. The network learns the true class frequencies from what changed, unless
            ``class_frequencies`` is given.
        """
        with all_or_nothing(self):
            return self._fit(X, y, verified, y_given)

    def _fit(self, X: Any, y: Any, verified: Any, y_given: Any) -> PriorFittedClassifier:
        # Validate: labels as codes, the table as numbers, levels of categories as 0, 1, ...
        network = _network(str(SHIPPED if self.weights is None else self.weights))
        table = self._numbers(X, learn=True)
        labels = labels_of_rows(self, y, len(table))

        checked = check_verified(verified, y_given, [labels])[0]
        frequencies = self.class_frequencies
        if frequencies is not None:
            frequencies = check_frequencies(frequencies, labels.classes)

        # Cut what is larger than the network was made for, and say so.
        self.notes_: list[str] = []
        self._select_columns(table, labels.codes)
        self._note_sizes(network, labels.codes, labels.classes.size)
        for note in self.notes_:
            warn(note)

        # Read the table once; a model file keeps the context's rows and reads them again.
        self.classes_ = labels.classes
        values, codes, categorical = self._cut(table), labels.codes, self._categorical[self.columns_]
        rng = np.random.default_rng(draw_seed(check_random_state(self.random_state)))
        choose = drawn(network, self.columns_.size, self.max_context, rng, first=checked.mask)
        beliefs = NetworkBeliefs(network, values, categorical, codes, n_draws=self.n_draws, choose=choose)
        rows, n_threads = beliefs.rows, effective_n_jobs(self.n_jobs)
        if frequencies is None:
            context = (values[rows], categorical)
            frequencies = taught_frequencies(network, context, codes[rows], checked.at(rows), beliefs.seed, n_threads)
        p = beliefs.of_all(values, n_threads)
        factors = np.ones(labels.classes.size) if frequencies is None else factors_for(frequencies, p)
        self.table_ = ReadTable(
            weights=network.weights,
            n_features=table.shape[1],
            starts=np.arange(table.shape[1]),
            columns=self.columns_,
            categorical=categorical,
            levels=self._levels,
            values=values,
            codes=codes,
            n_draws=self.n_draws,
            factors=factors,
            beliefs=beliefs,
            n_jobs=self.n_jobs,
        )
        self.belief_ = reweighed(p, factors)
        self.belief_[checked.mask] = np.eye(self.classes_.size)[codes[checked.mask]]
        self.in_context_ = np.isin(np.arange(len(table)), rows)
        of_label = self.belief_[np.arange(len(table)), labels.codes]
        self.p_wrong_ = np.where(labels.is_labeled, 1 - of_label, np.nan)
        self.transduction_ = self.classes_[self.belief_.argmax(1)]
        return self

    def predict_proba(self, X: Any) -> Array:
        """Class probabilities (n, C), in the order of ``classes_``."""
        check_is_fitted(self)
        return self.table_.predict_proba(self._numbers(X, learn=False))

    def predict(self, X: Any) -> Array:
        """Most probable class."""
        p = self.predict_proba(X)
        return self.classes_[p.argmax(axis=1)]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy; refused where a row has no label to compare with."""
        check_is_fitted(self)
        return float(accuracy_score(true_labels(y, self.classes_), self.predict(X), sample_weight=sample_weight))

    def _numbers(self, X: Any, learn: bool) -> Array:
        """The table as numbers, levels of categories as ranks, NaN where missing."""
        if sp.issparse(X):
            raise InputTypeError("Sparse data is not supported, dense data is required: pass X.toarray().")
        check_columns(self, X, reset=learn)
        if learn:
            self.encoder_ = TableEncoder()
        table = self.encoder_.encode(X, learn)
        if learn:
            ordered = _ordered_columns(X)
            self._categorical = np.array([c is not None for c in self.encoder_.categories_]) & ~ordered
        return np.asarray(table, dtype=np.float64)

    def _select_columns(self, table: Array, codes: Array) -> None:
        """Choose columns and levels by the rows at hand."""
        varied = np.flatnonzero(varying(table))
        self.columns_ = varied if varied.size else np.array([0])
        if self.columns_.size > MAX_COLUMNS:
            labeled = codes != UNLABELED
            kept = most_telling(
                table[labeled][:, self.columns_], self._categorical[self.columns_], codes[labeled], MAX_COLUMNS
            )
            self.notes_.append(
                f"The table has {self.columns_.size} columns that vary, and the network was made for {MAX_COLUMNS}: "
                "those that tell most about the given labels are used; drop columns yourself for another choice."
            )
            self.columns_ = self.columns_[kept]
        self._levels = {j: common_levels(table[:, j]) for j in self.columns_ if self._categorical[j]}
        many = [j for j, places in self._levels.items() if (~np.isnan(places)).sum() > MAX_LEVELS]
        if many:
            have = counted(len(many), "categorical column has", "categorical columns have")
            names = getattr(self, "feature_names_in_", None)
            first = f"at position {many[0]}" if names is None else repr(str(names[many[0]]))
            self.notes_.append(
                f"{have} more than {MAX_LEVELS} levels (the first is {first}): the rarer levels are taken as one."
            )

    def _note_sizes(self, network: FrozenNetwork, codes: Array, n_classes: int) -> None:
        """Say what becomes of many classes and many labels."""
        if n_classes > MAX_CLASSES:
            self.notes_.append(
                f"The labels name {n_classes} classes, and the network was made for {MAX_CLASSES}: it answers for "
                "groups of neighboring classes first, then within each group."
            )
        room = context_size(network, self.columns_.size, min(n_classes, MAX_CLASSES), self.max_context)
        n_labeled = int((codes != UNLABELED).sum())
        if n_labeled > room:
            self.notes_.append(
                f"{n_labeled} rows are labeled, and the network reads {room} of this table at once (max_context="
                f"{self.max_context}): a random sample is read, and the other labels are judged by it."
            )

    def _cut(self, table: Array) -> Array:
        return cut(table, self.columns_, self._levels)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = tags.input_tags.string = True
        return tags


def _network(path: str) -> FrozenNetwork:
    """The network of a file of weights, kept until the file is written anew."""
    file = Path(path)
    return _kept(file, file.stat().st_mtime_ns if file.exists() else 0)


@lru_cache(maxsize=4)
def _kept(file: Path, written: int) -> FrozenNetwork:
    return FrozenNetwork(Weights.load(file))


def _ordered_columns(X: Any) -> Array:
    """Which columns have categories in an order of their own: these are read as numbers."""
    if not is_frame(X):
        return np.array([False])
    return np.array([category_order(s.to_native()) is not None for s in as_narwhals(X).iter_columns()])
