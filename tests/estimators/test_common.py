"""scikit-learn's own checks, over every estimator and several kinds of backbone."""

import warnings

import pytest
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning, SkipTestWarning
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks
from xgboost import XGBClassifier

from dips import CuratedClassifier, PseudoLabelClassifier, SelfTrainingClassifier
from dips._data.encoder import TableEncoder
from dips.backbones._xgboost import XGBoost

# Two rows are not one row of weight 2 where rows are judged by other rows: the twin is one more witness, in another
# fold or in the distribution of losses. Curators with a threshold a row, and none at all, keep the equivalence.
_REASON = "a row is judged by other rows, and a twin is one more of them"
UNEQUAL_TO_REPEATING = {
    "check_sample_weight_equivalence_on_dense_data": _REASON,
    "check_sample_weight_equivalence_on_sparse_data": _REASON,
}
# scikit-learn expects the same of its own class: where every row has a label, there is no round to count.
N_ITER_MAY_BE_0 = {"check_non_transformer_estimators_n_iter": "n_iter_ can be 0"}

ESTIMATORS = [
    PseudoLabelClassifier(HistGradientBoostingClassifier(max_iter=4)),
    PseudoLabelClassifier(
        XGBClassifier(n_estimators=5, n_jobs=1), labeler="flexmatch", curator="dips", grow=False, curate="rounds"
    ),
    PseudoLabelClassifier(make_pipeline(StandardScaler(), SGDClassifier(loss="log_loss", alpha=0.01))),
    PseudoLabelClassifier(LogisticRegression(), curator="none"),
    CuratedClassifier(HistGradientBoostingClassifier(max_iter=4)),
    CuratedClassifier(GradientBoostingClassifier(n_estimators=4), curator="small_loss"),
    SelfTrainingClassifier(HistGradientBoostingClassifier(max_iter=4), max_iter=2),
    SelfTrainingClassifier(
        XGBClassifier(n_estimators=5, n_jobs=1), criterion="k_best", max_iter=None, curator="dips", random_state=0
    ),
    SelfTrainingClassifier(LogisticRegression(), curator="none"),
    SelfTrainingClassifier(LogisticRegression(), curator=None),
    TableEncoder(),
]


def expected_failures(estimator):
    if isinstance(estimator, SelfTrainingClassifier):
        return N_ITER_MAY_BE_0
    return UNEQUAL_TO_REPEATING if getattr(estimator, "curator", "none") in ("auto", "adaptive", "small_loss") else {}


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_the_defaults_pass_check_estimator(monkeypatch):
    monkeypatch.setattr(XGBoost, "default", staticmethod(lambda n_labels=0: XGBClassifier(n_estimators=4, max_depth=2)))
    with warnings.catch_warnings():
        for category in (UserWarning, SkipTestWarning, ConvergenceWarning):
            warnings.simplefilter("ignore", category)
        check_estimator(PseudoLabelClassifier(), expected_failed_checks=UNEQUAL_TO_REPEATING)
