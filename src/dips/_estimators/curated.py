"""The curator alone: around any backbone, or as an audit of labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from dips._data.labels import Labels
from dips._data.verified import check_verified
from dips._estimators.base import CuratingClassifier, one_or_list
from dips._estimators.learners import check_known, make_curated_learner
from dips._estimators.plots import draw_calibration, draw_curves, draw_map
from dips._estimators.reasons import reason
from dips._estimators.routing import absorbed, routed_to_backbone
from dips._estimators.samples import audit_samples
from dips._estimators.suspicion import check_order, looks_right
from dips._estimators.validation import (
    check_estimator_parameter,
    check_groups,
    check_targets,
    check_weights,
)
from dips._tools.arrays import Array, Rows
from dips._tools.fits import N_JOBS, all_or_nothing
from dips._tools.shares import calibration_of
from dips._tools.sklearn_compat import HasMethods, fit_context
from dips._tools.wording import counted
from dips.curators import Curator
from dips.curators._choose import resolve_curator
from dips.exceptions import InputError

_FIRST = 10  # suspects shown in a notebook


class CuratedClassifier(CuratingClassifier):
    """A classifier that judges its labels first, and lets doubtful ones count less or not at all.

    By default it trains on *beliefs*: a label counts by how likely it is to be right. Other curators fit the backbone,
    judge every label by how it was learned, and fit again on the useful rows. Every row must be labeled. It is an
    ordinary classifier, so any pseudo-labeler can use it as its base.

    Parameters
    ----------
    estimator : classifier, default=None
        The backbone: any classifier with ``predict_proba``, alone or at the end of a Pipeline; curators that watch the
        training need one that is trained step by step. None is that of
        :func:`~dips.backbones.default_estimator`: XGBoost, small for a few hundred labels, larger for thousands.
    curator : str, Curator or callable, default="auto"
        What judges the labels; see :class:`~dips.PseudoLabelClassifier`.
    track : sequence of int, default=()
        Rows, by position, whose probabilities at every checkpoint are kept in ``trajectories_``.
    random_state : int, RandomState or None, default=None
    n_jobs : int or None, default=None
        How many folds are trained at once.

    Attributes
    ----------
    estimator_, classes_, samples_, history_, class_summary_, curator_
        As in :class:`~dips.PseudoLabelClassifier`.
    trajectories_ : array (len(track), E, C); None if no row is tracked
        Class probabilities of the tracked rows at every checkpoint of the training by which they were judged. For
        multi-label, a list of such arrays.

    Examples
    --------
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> from sklearn.semi_supervised import SelfTrainingClassifier
    >>> from dips import CuratedClassifier
    >>> from dips.datasets import make_quadrants
    >>> X, y = make_quadrants(200, random_state=0)
    >>> y[100:] = -1
    >>> curated = CuratedClassifier(HistGradientBoostingClassifier(max_iter=20), random_state=0)
    >>> SelfTrainingClassifier(curated).fit(X, y).score(X[:100], y[:100]) > 0.9
    True
    """

    __metadata_request__fit = {"groups": True}

    _parameter_constraints = {
        "estimator": [HasMethods(["fit"]), None],
        "curator": [str, Curator, callable],
        "track": ["array-like"],
        "random_state": ["random_state"],
        "n_jobs": N_JOBS,
    }

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        curator: str | Curator | Callable[..., Any] = "auto",
        track: Sequence[int] | Array = (),
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.curator = curator
        self.track = track
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        verified: Any = None,
        y_given: Any = None,
        groups: Any = None,
        **fit_params: Any,
    ) -> CuratedClassifier:
        """Judge the labels, and train on what was found; see :meth:`PseudoLabelClassifier.fit`."""
        routed = routed_to_backbone(self, fit_params)
        return self._fit(X, y, sample_weight, True, routed, verified=verified, y_given=y_given, groups=groups)

    @fit_context(prefer_skip_nested_validation=False)
    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        all_labeled: bool,
        fit_params: dict[str, Any],
        verified: Any = None,
        y_given: Any = None,
        groups: Any = None,
    ) -> CuratedClassifier:
        """Fit; rows without a label, where there may be any, are neither judged nor trained on."""
        with all_or_nothing(self):
            # Validate: whatever can be refused is refused before any training.
            targets = check_targets(self, X, y, all_labeled=all_labeled)
            estimator, fit_params = absorbed(check_estimator_parameter(self.estimator, targets), fit_params)
            curators = [resolve_curator(self.curator, "tables") for _ in targets]
            weights, checked = check_weights(sample_weight, targets), check_verified(verified, y_given, targets)
            known = check_known(curators[0], targets, checked, self._told)
            groups = check_groups(groups, targets[0].codes.size)
            pool, index = self._make_pool(estimator, X)

            # Judge the labels, then train again on the useful ones, or on what is believed of them.
            learners = [
                make_curated_learner(
                    self._make_trainer(estimator, pool, labels, weights, fit_params, groups),
                    curator,
                    _tracked(self.track, labels, curator),
                    told,
                )
                for labels, curator, told in zip(targets, curators, known, strict=True)
            ]
            rows = zip(learners, targets, checked, strict=True)
            results = [each.run(labels.codes, of_label) for each, labels, of_label in rows]

            # Account: the model, the history, every row's fate, and the trajectories asked for.
            self._keep(targets, curators, results, pool, index)
            self.trajectories_ = one_or_list([state.trajectories for state in results], self.multilabel_)
        return self


@dataclass(frozen=True, repr=False)
class Audit:
    """The result of :func:`characterize`.

    Attributes
    ----------
    samples : data frame, one row per input row
        Columns: given_label, verified, p_wrong, check_gain, confidence, aleatoric, useful and suggested_label; all
        missing for a row without a label.
    trajectories : array (len(track), E, C); None if no row is tracked
        Class probabilities of the tracked rows at every checkpoint. For multi-label, a list of such arrays.
    model : the fitted :class:`CuratedClassifier`
    """

    samples: pd.DataFrame
    trajectories: Array | list[Array | None] | None
    model: CuratedClassifier

    def __repr__(self) -> str:
        n_labels, n_suspects = int(self.samples["given_label"].notna().sum()), len(self.suspects())
        return f"Audit of {counted(n_labels, 'label')}, {n_suspects:,} suspect; see suspects() and samples"

    @property
    def share_suspect(self) -> float:
        """The share of the labels that are suspects.

        Each is a decision about one label. How many labels are wrong in all is another question, which some curators
        answer, such as ``"auto"`` in ``model.curator_.noise_rate_``.
        """
        return float((~self.samples["useful"]).mean())

    def suspects(self, order: str = "wrong") -> pd.DataFrame:
        """The labels to look at first, in the order of ``dips audit``, and why each is suspect.

        Parameters
        ----------
        order : {"wrong", "useful"}
            "wrong" puts the most probably wrong first. Without beliefs, these are the labels with the least confidence,
            multiplied by the out-of-fold probability if there is one. "useful" puts those first that are most useful to
            check (``check_gain``), and needs beliefs: classes come in turn, the most probably wrong of each, until some
            labels of every class are verified; this shows how labels go wrong.
        """
        check_order(order, self.samples)
        samples = self.samples.assign(out_of_fold=self._out_of_fold())
        listed = ~samples["useful"].fillna(True).astype(bool)
        suspects, right = samples[listed], looks_right(samples, order, listed)[listed]
        suspects = suspects.iloc[np.argsort(right.to_numpy(), kind="stable")]
        columns = ["given_label", "suggested_label", "confidence", "out_of_fold", "p_wrong"]
        reasons = [reason(*values) for values in suspects[columns].astype(object).itertuples(index=False)]
        return suspects.drop(columns="out_of_fold").assign(reason=pd.Series(reasons, suspects.index, dtype=object))

    def plot_map(self, ax: Any = None) -> Any:
        """Draw every label by how it was learned, with matplotlib; return the axes."""
        judged = self.samples[self.samples["confidence"].notna()]
        if judged.empty:
            raise InputError(
                "The map shows how labels were learned, and nobody watched: it needs a backbone that is trained step "
                "by step, and a curator other than 'none'."
            )
        confidence, aleatoric = judged[["confidence", "aleatoric"]].to_numpy(dtype=float).T
        is_suspect = ~judged["useful"].to_numpy(dtype=bool)
        return draw_map(confidence, aleatoric, is_suspect, np.zeros_like(is_suspect), ax)

    def plot_curves(self, ax: Any = None) -> Any:
        """Draw the probability of each tracked row's label along the training; return the axes."""
        self._refuse_several_labels("plot_curves")
        if not isinstance(self.trajectories, np.ndarray):
            raise InputError("No row was tracked; name some with track, such as characterize(…, track=[0, 1]).")
        labels = self.samples["given_label"].iloc[np.asarray(self.model.track)]
        at = [list(self.model.classes_).index(label) for label in labels]
        curves = self.trajectories[np.arange(len(at)), :, at]
        return draw_curves(curves, [f"{row}: {label}" for row, label in labels.items()], ax)

    def plot_calibration(self, positive: Any = None, ax: Any = None) -> Any:
        """Draw the out-of-fold probability of a class against its frequency among the labels; return the axes.

        `positive` is the class, by default the last one.
        """
        self._refuse_several_labels("plot_calibration")
        answers, classes = getattr(self.model.curator_, "answers_", None), list(self.model.classes_)
        if answers is None:
            raise InputError("This curator has no out-of-fold probabilities; use curator='auto'.")
        positive = classes[-1] if positive is None else positive
        if positive not in classes:
            raise InputError(f"positive={positive!r} is not a class; choose one of {', '.join(map(str, classes))}.")
        labels = self.samples["given_label"].dropna().to_numpy()
        lines = {"out of fold": calibration_of(answers[:, classes.index(positive)], labels == positive)}
        return draw_calibration(lines, str(positive), ax)

    def _refuse_several_labels(self, method: str) -> None:
        if self.model.multilabel_:
            raise InputError(f"{method} draws one label column; audit each column of y by itself.")

    def _out_of_fold(self) -> Any:
        """Probability of each given label by models that had not seen it, where there is one and one target."""
        curator = getattr(self.model, "curator_", None)  # there are several where there are several labels
        known = getattr(curator, "out_of_fold_", None)
        is_given = self.samples["given_label"].notna().to_numpy()
        if known is None or len(known) != is_given.sum():
            return np.nan
        unseen = np.full(is_given.size, np.nan)
        unseen[is_given] = known
        return unseen

    def _repr_html_(self) -> str:
        """The first suspects, for notebooks."""
        suspects = self.suspects()
        n = int(self.samples["given_label"].notna().sum())
        words = f"<p>{len(suspects):,} of {n:,} labels {'is' if len(suspects) == 1 else 'are'} suspect.</p>"
        return words + suspects.head(_FIRST).to_html(escape=True, float_format="{:.2f}".format)


def characterize(
    estimator: BaseEstimator | None,
    X: Any,
    y: Any,
    *,
    curator: str | Curator | Callable[..., Any] = "auto",
    track: Sequence[int] | Array = (),
    sample_weight: Any = None,
    verified: Any = None,
    y_given: Any = None,
    groups: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Audit:
    """Audit labels: which look right, which look wrong, and what they should be. No unlabeled rows are needed.

    Parameters
    ----------
    estimator : classifier or None
        The backbone; None takes the default one.
    X, y : table and labels
        As in :class:`~dips.PseudoLabelClassifier`; rows without a label are left out of the audit.
    curator, random_state, n_jobs
        As in :class:`CuratedClassifier`.
    track : sequence of int
        Positions of labeled rows whose probabilities are kept at every checkpoint, for plots.
    sample_weight : (n,), optional
    verified, y_given
        Labels that somebody has checked, and what they were before; see :meth:`PseudoLabelClassifier.fit`.
    groups : (n,), optional
        Rows that belong together, such as the visits of one patient; see :meth:`PseudoLabelClassifier.fit`.

    Examples
    --------
    >>> from dips import characterize
    >>> from dips.datasets import flip_labels, make_quadrants
    >>> X, y = make_quadrants(300, random_state=0)
    >>> y, flipped = flip_labels(y, 0.1, random_state=0)
    >>> audit = characterize(None, X, y, random_state=0)
    >>> bool(flipped[audit.suspects().index[:20]].mean() > 0.8)
    True
    """
    model = CuratedClassifier(estimator, curator=curator, track=track, random_state=random_state, n_jobs=n_jobs)
    more = {"verified": verified, "y_given": y_given, "groups": groups}
    model._fit(X, y, sample_weight, all_labeled=False, fit_params={}, **more)
    return Audit(audit_samples(model.samples_), model.trajectories_, model)


def _tracked(track: Any, labels: Labels, curator: Curator) -> Rows:
    """Rows to track, as positions among the labeled ones, which alone are watched."""
    rows, n = np.asarray(track), labels.codes.size
    if rows.ndim != 1 or (rows.size and rows.dtype.kind not in "biu") or (rows.dtype == bool and rows.size != n):
        raise InputError(
            f"track must be positions of rows, as a 1d list of integers, or a mask of all {n} rows; got "
            f"{rows.dtype} of shape {rows.shape}."
        )
    rows = np.flatnonzero(rows) if rows.dtype == bool else rows.astype(np.intp)
    if rows.size and not (rows.min() >= 0 and rows.max() < n):
        raise InputError(f"track names rows from {rows.min()} to {rows.max()}; there are rows 0 to {n - 1}.")
    if rows.size and not curator.curates:
        raise InputError(f"track needs a curator that watches the training, and {curator.name!r} does not.")
    unlabeled = rows[~labels.is_labeled[rows]]
    if unlabeled.size:
        raise InputError(f"track names row {unlabeled[0]}, which has no label to be judged; name labeled rows only.")
    return labels.is_labeled.cumsum()[rows] - 1
