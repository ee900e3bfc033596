"""Models that the prior-fitted network is compared with, and their answers to a task.

``answers_of_rivals`` takes their names: supervised models plain and calibrated, other packages' ways with dirty labels,
and the default of this package.
"""

import sys

import numpy as np
from catboost import CatBoostClassifier
from network_report import PACKAGES
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, QuantileTransformer
from sklearn.semi_supervised import SelfTrainingClassifier
from xgboost import XGBClassifier

from dips import PseudoLabelClassifier
from dips.curators import Beliefs

PLAIN = ("xgboost", "catboost", "extra trees", "logistic")
SUPERVISED = (*PLAIN, *(f"{name}, sigmoid" for name in PLAIN))
CURATORS = {"curated": "auto", "curated, network": Beliefs(network=True)}  # the default; with one more teacher
AROUND = "curated: "  # "curated: logistic" is the default around logistic regression


def xgboost():
    return XGBClassifier(n_estimators=200, learning_rate=0.05, max_depth=3, subsample=0.8, n_jobs=1, random_state=0)


def supervised(categorical):
    """The models to compare with, by name; each gets numbers with NaN, levels as codes."""
    numbers, levels = np.flatnonzero(~categorical), np.flatnonzero(categorical)
    one_hot = OneHotEncoder(handle_unknown="ignore", min_frequency=2)
    ranked = make_column_transformer(
        (
            make_pipeline(
                SimpleImputer(strategy="median", keep_empty_features=True),
                QuantileTransformer(n_quantiles=100, output_distribution="normal"),
            ),
            numbers,
        ),
        (one_hot, levels),
    )
    catboost = CatBoostClassifier(
        iterations=200,
        learning_rate=0.05,
        depth=4,
        thread_count=1,
        random_seed=0,
        verbose=False,
        allow_writing_files=False,
    )
    forest = ExtraTreesClassifier(300, min_samples_leaf=3, random_state=0)
    plain = {
        "xgboost": xgboost(),
        "catboost": catboost,
        "extra trees": make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), forest),
        "logistic": make_pipeline(ranked, LogisticRegression(C=0.1, max_iter=1000)),
    }
    others = {
        "hist": HistGradientBoostingClassifier(max_iter=100, learning_rate=0.05, max_leaf_nodes=8, random_state=0),
        "random forest": RandomForestClassifier(300, random_state=0),
        "mlp": make_pipeline(ranked, MLPClassifier((64,), alpha=1e-3, max_iter=200, random_state=0)),
    }
    calibrated = {
        f"{name}, sigmoid": CalibratedClassifierCV(model, method="sigmoid", cv=3) for name, model in plain.items()
    }
    return plain | calibrated | others


def labels_in_folds(model, X, y):
    """Probabilities of the labeled rows from models that have not seen their labels."""
    folds = StratifiedKFold(min(3, max(2, np.bincount(y).min())), shuffle=True, random_state=0)
    return cross_val_predict(model, X, y, cv=folds, method="predict_proba")


def answer_supervised(model, task, folds):
    labeled = len(task.given)
    X, y = task.values[:labeled], task.given
    p = np.full((len(task.true), y.max() + 1), 1 / (y.max() + 1))
    p[task.context :] = model.fit(X, y).predict_proba(task.values[task.context :])
    if folds and (y != task.true[:labeled]).any() and np.bincount(y).min() > 1:
        p[:labeled] = labels_in_folds(model, X, y)
    return p


def answer_curated(task, curator="auto", backbone=None):
    """The default of this package around a model, XGBoost if none is given; it sees the unlabeled rows, too."""
    labeled = len(task.given)
    rows, unlabeled, queries = np.split(task.values, [labeled, task.context])
    model = PseudoLabelClassifier(backbone or xgboost(), curator=curator, random_state=0)
    model.fit(rows, task.given, unlabeled)
    p = np.zeros((len(task.true), len(model.classes_)))
    p[np.arange(labeled), task.given] = 1 - model.samples_["p_wrong"].to_numpy(dtype=float)[:labeled]
    p[task.context :] = model.predict_proba(queries)
    return p


def answer_self_training(task):
    """scikit-learn's self-training around XGBoost, which sees the unlabeled rows too."""
    model = SelfTrainingClassifier(xgboost())
    given = np.full(task.context, -1)
    given[: len(task.given)] = task.given
    return _at_queries(model.fit(task.values[: task.context], given), task)


def answer_clean_learning(task):
    """cleanlab's CleanLearning around XGBoost."""
    from cleanlab.classification import CleanLearning

    return _at_queries(CleanLearning(xgboost(), seed=0).fit(task.values[: len(task.given)], task.given), task)


def _at_queries(model, task):
    """Probabilities of the queries; labels are not judged."""
    n_classes = int(task.given.max()) + 1
    p = np.full((len(task.true), n_classes), 1 / n_classes)
    p[task.context :] = model.predict_proba(task.values[task.context :])
    return p


PEERS = dict(zip(PACKAGES, (answer_self_training, answer_clean_learning), strict=True))


def check_names(names):
    """Refuse models that are not known, before any work."""
    models = supervised(np.zeros(1, dtype=bool))
    known = [*models, *CURATORS, *PEERS, *(AROUND + name for name in models)]
    if unknown := [name for name in names if name not in known]:
        raise SystemExit(f"{unknown[0]!r} is not known; choose among {', '.join(map(repr, known))}.")


def answers_of_rivals(names, task, categorical, folds):
    """Answers of the models of these names, but of those that cannot be fitted; `folds` judges the labels, too."""
    models = supervised(categorical)
    answers = {}
    for name in names:
        try:
            if name in CURATORS:
                answers[name] = answer_curated(task, CURATORS[name])
            elif name.startswith(AROUND):
                answers[name] = answer_curated(task, backbone=models[name.removeprefix(AROUND)])
            elif name in PEERS:
                answers[name] = PEERS[name](task)
            else:
                answers[name] = answer_supervised(models[name], task, folds)
        except ValueError as error:  # too few labels of a class for the folds of calibration
            print(f"{name} left out, {len(task.given)} labels: {error}"[:150], file=sys.stderr)
    return answers
