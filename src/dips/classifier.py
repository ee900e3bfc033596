"""PseudoLabelClassifier: curated pseudo-labeling as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, _fit_context
from sklearn.utils import check_random_state, metadata_routing
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from dips._typing import Array
from dips.curators import CURATORS, Curator
from dips.facade import CuratingClassifier, is_label_table
from dips.labelers import LABELERS, Labeler
from dips.labels import UNLABELED
from dips.progress import bar
from dips.rounds import Rounds
from dips.tables import n_rows, stack
from dips.training import Trainer


class PseudoLabelClassifier(CuratingClassifier):
    """Pseudo-labeling that trains only on useful rows, labeled and pseudo-labeled alike (Algorithm 1 of DIPS).

    In every round the backbone is fitted, watched as it learns, and used to propose labels for unlabeled rows; then all
    labels, given and proposed, are judged by how they were learned, and the next model is trained on the useful ones.

    Parameters
    ----------
    estimator : classifier, default=None
        The backbone: any classifier trained step by step, alone or at the end of a Pipeline. None is XGBoost with slow,
        shallow trees.
    labeler : str, Labeler or callable, default="greedy"
        Who proposes: "greedy", "ups", "flexmatch", "sla", "csa", an object with settings, or a function of
        :class:`~dips.labelers.Candidates` that returns positions and labels.
    curator : str, Curator or callable, default="auto"
        Who judges: "auto", "dips", "confidence", "small_loss", "fluctuation", "fine", "none", an object with settings,
        or a function of :class:`~dips.curators.Evidence` that returns a mask.
    n_rounds : int, default=5
        How many models are trained after the first; T in the paper.
    grow : bool, default=True
        Keep pseudo-labels from one round to the next. False proposes anew each round (Version 2 of the appendix).
    curate : {"both", "start", "rounds", "neither"}, default="both"
        Where to curate: the labels before the first round, all labels in every round, both, or neither
        (the ablations A1, A2 and A3 are "start", "rounds" and "neither").
    random_state : int, RandomState or None, default=None
    n_jobs : int or None, default=None
        How many folds or members of an ensemble are trained at once. The backbone's own threads are its own setting.
    verbose : int, default=0
        Above 0, a progress bar on a terminal.

    Attributes
    ----------
    estimator_ : the last model, fitted on labels 0..C-1 in the order of ``classes_``
    classes_ : the classes
    transduction_ : the label each row ended with; those never labeled keep the input's mark (-1 or None)
    labeled_iter_ : 0 for given labels, the round for pseudo-labels, -1 for rows never labeled
    termination_condition_ : "max_iter", "all_labeled" or "no_change"
    n_iter_ : rounds trained
    history_ : data frame, a row a round
    samples_ : data frame, a row a row of the input: source, given_label, final_label, round, confidence, aleatoric,
        useful (trained on by the last model), suggested_label (for a given label that is distrusted)
    curator_ : the curator, with what it learned

    Notes
    -----
    Multi-label: where y is a table of 0, 1 and missing values, every label is a binary problem of its own, with its own
    rounds; ``samples_`` and ``history_`` then say in ``target`` which label a line is about.

    Examples
    --------
    >>> import numpy as np
    >>> from dips import PseudoLabelClassifier
    >>> from dips.datasets import make_quadrants
    >>> X, y = make_quadrants(400, random_state=0)
    >>> y[100:] = -1
    >>> clf = PseudoLabelClassifier(random_state=0).fit(X, y)
    >>> clf.samples_["source"].value_counts().to_dict()
    {'pseudo': ..., 'given': 100, 'unlabeled': ...}
    """

    __metadata_request__fit = {"X_unlabeled": metadata_routing.UNUSED}

    _parameter_constraints = {
        "estimator": [HasMethods(["fit"]), None],
        "labeler": [str, Labeler, callable],
        "curator": [str, Curator, callable],
        "n_rounds": [Interval(Integral, 1, None, closed="left")],
        "grow": ["boolean"],
        "curate": [StrOptions({"both", "start", "rounds", "neither"})],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        labeler: str | Labeler | Callable[..., Any] = "greedy",
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

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, X_unlabeled: Any = None, sample_weight: Any = None) -> PseudoLabelClassifier:
        """Learn from labeled and unlabeled rows.

        Parameters
        ----------
        X : table (n, p)
            NumPy array, sparse matrix, pandas or polars frame; for a Pipeline, whatever its first step takes.
        y : column (n,), or 0/1 matrix (n, L) for multi-label
            Unlabeled rows are marked by a missing value (None, NaN, pd.NA), or by -1 where no label is missing.
        X_unlabeled : table, optional
            More unlabeled rows, with the same columns.
        sample_weight : (n,), optional
            Weights of the rows of X, the unlabeled included; rows of `X_unlabeled` weigh 1.
        """
        labeler, curator = LABELERS.resolve(self.labeler), CURATORS.resolve(self.curator)
        if is_label_table(y):
            self._fit_each_label(X, y, X_unlabeled=X_unlabeled, sample_weight=sample_weight)
            return self
        labels, sample_weight = self._check_xy(X, y, sample_weight, all_labeled=False)
        codes = labels.codes
        if X_unlabeled is not None:
            codes, sample_weight = _with_unlabeled(codes, sample_weight, n_rows(X_unlabeled))
            X = stack(X, X_unlabeled)
        encoded = self._features_in(X, reset=True)
        trainer = Trainer(
            self._backbone_estimator(),
            encoded,
            labels.classes.size,
            sample_weight,
            check_random_state(self.random_state),
            self.n_jobs,
        )
        with bar("rounds", self.n_rounds, bool(self.verbose)) as advance:
            rounds = Rounds(
                trainer,
                labeler,
                curator,
                self.n_rounds,
                self.grow,
                at_start=self.curate in ("both", "start"),
                in_rounds=self.curate in ("both", "rounds"),
                on_round=advance,
            )
            run = rounds.run(codes)
        self.estimator_, self.classes_, self.curator_ = run.estimator, labels.classes, curator
        self.transduction_ = labels.decode(run.labels)
        self.labeled_iter_ = run.round
        self.termination_condition_ = run.termination
        self.n_iter_ = len(run.history)
        self.history_ = pd.DataFrame(run.history)
        self.samples_ = self._account(run, labels, X, encoded)
        return self


def _with_unlabeled(codes: Array, sample_weight: Array | None, n: int) -> tuple[Array, Array | None]:
    if sample_weight is not None:
        sample_weight = np.concatenate([sample_weight, np.ones(n)])
    return np.concatenate([codes, np.full(n, UNLABELED, dtype=codes.dtype)]), sample_weight
