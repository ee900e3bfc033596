"""Inputs that must simply work: every container, every way to write labels, and small or odd tables."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from xgboost import XGBClassifier

from dips import CuratedClassifier, PseudoLabelClassifier, characterize

N = 160
RNG = np.random.RandomState(0)
AGE, DOSE = RNG.randint(20, 80, N), RNG.uniform(0, 5, N)
WARD, SMOKES = RNG.choice(["east", "north", "west"], N), RNG.uniform(size=N) < 0.5
TRUTH = ((AGE > 50) ^ (WARD == "west")).astype(int)
UNLABELED = np.arange(N) % 2 == 1
Y = np.where(UNLABELED, -1, TRUTH)
WITH_GAPS = {"age": AGE % 11 == 0, "dose": AGE % 13 == 0, "ward": AGE % 17 == 0, "smokes": AGE % 19 == 0}


def columns():
    """The table as plain Python lists with None in the gaps."""
    values = {"age": AGE.tolist(), "dose": DOSE.tolist(), "ward": WARD.tolist(), "smokes": SMOKES.tolist()}
    return {name: [None if gap else v for v, gap in zip(values[name], WITH_GAPS[name], strict=True)] for name in values}


PANDAS_TYPES = {"age": "Int64", "dose": "Float64", "ward": "string", "smokes": "boolean"}
TABLES = {
    "numpy objects": np.array(list(zip(*columns().values(), strict=True)), dtype=object),
    "pandas": pd.DataFrame(columns()),
    "pandas objects": pd.DataFrame(columns(), dtype=object),
    "pandas nullable": pd.DataFrame(columns()).astype(PANDAS_TYPES),
    "pandas category": pd.DataFrame(columns()).astype({"ward": "category", "smokes": "category"}),
    "polars": pl.DataFrame(columns()),
    "polars categorical": pl.DataFrame(columns(), schema_overrides={"ward": pl.Categorical}),
    "polars enum": pl.DataFrame(columns(), schema_overrides={"ward": pl.Enum(["east", "north", "west"])}),
}
NUMBERS = np.column_stack([AGE, DOSE, SMOKES]).astype(float)


def xgboost():
    return XGBClassifier(n_estimators=8, max_depth=3, n_jobs=1)


def quick(estimator=None, **settings):
    estimator = xgboost() if estimator is None else estimator
    return PseudoLabelClassifier(estimator, n_rounds=3, random_state=0, **settings)


def take(X, rows):
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


# Tables


@pytest.mark.parametrize("X", TABLES.values(), ids=TABLES.keys())
def test_every_table_gives_the_same_probabilities(X):
    expected = quick().fit(TABLES["pandas"], Y).predict_proba(TABLES["pandas"])
    model = quick().fit(X, Y)
    assert_allclose(model.predict_proba(X), expected, atol=1e-6)
    assert model.score(X, TRUTH) > 0.8


@pytest.mark.parametrize("X", TABLES.values(), ids=TABLES.keys())
@pytest.mark.parametrize("library", ["sklearn", "lightgbm"])
def test_other_trees_read_every_table(library, X):
    estimator = HistGradientBoostingClassifier(max_iter=5)
    if library == "lightgbm":
        estimator = pytest.importorskip("lightgbm").LGBMClassifier(n_estimators=5, min_child_samples=5, n_jobs=1)
    model = quick(estimator, curator="dips").fit(X, Y)
    assert model.predict_proba(take(X, slice(0, 1))).shape == (1, 2)


@pytest.mark.parametrize("X", TABLES.values(), ids=TABLES.keys())
def test_one_row_is_predicted_as_among_others(X):
    model = quick().fit(X, Y)
    together = model.predict_proba(X)
    for i in (0, 7):
        assert_allclose(model.predict_proba(take(X, slice(i, i + 1))), together[[i]], atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.int16, bool, object])
def test_arrays_of_any_type_of_number(dtype):
    X = (NUMBERS - NUMBERS.mean(axis=0) > 0).astype(dtype)
    model = quick().fit(X, Y)
    assert_allclose(model.predict_proba(X), quick().fit(X.astype(float), Y).predict_proba(X.astype(float)), atol=1e-6)


@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csc_matrix, sp.coo_matrix, sp.csr_array, sp.coo_array])
def test_sparse_tables_of_any_format(container):
    X = container(NUMBERS * (NUMBERS > 1))
    model = quick().fit(X, Y)
    assert_allclose(model.predict_proba(X), quick().fit(X.tocsr(), Y).predict_proba(X.tocsr()))
    assert len(model.samples_) == N


def test_lists_of_lists():
    assert_allclose(
        quick().fit(NUMBERS.tolist(), Y.tolist()).predict_proba(NUMBERS.tolist()),
        quick().fit(NUMBERS, Y).predict_proba(NUMBERS),
    )


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_category_never_seen_is_predicted_as_a_missing_one(frame):
    model = quick().fit(frame(columns()), Y)
    unseen, missing = (frame({"age": [40], "dose": [1.0], "ward": [w], "smokes": [True]}) for w in ("south", None))
    assert_array_equal(model.predict_proba(unseen), model.predict_proba(missing))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_must_come_back_with_their_columns(frame):
    X = frame(columns())
    model = quick().fit(X, Y)
    assert model.feature_names_in_.tolist() == ["age", "dose", "ward", "smokes"]
    assert model.n_features_in_ == 4
    with pytest.raises(ValueError, match="must be in the same order"):
        model.predict(X[["dose", "age", "ward", "smokes"]])
    with pytest.raises(ValueError, match=r"seen at fit time, yet now missing:\n- ward"):
        model.predict(X[["age", "dose", "smokes"]])


def test_arrays_must_come_back_with_as_many_columns():
    model = quick().fit(NUMBERS, Y)
    with pytest.raises(ValueError, match="X has 2 features, but PseudoLabelClassifier is expecting 3"):
        model.predict(NUMBERS[:, :2])


def test_duplicates_and_constant_columns():
    X = np.column_stack([np.repeat(NUMBERS[:40], 4, axis=0), np.ones(N), np.full(N, np.nan)])
    y = np.repeat(TRUTH[:40], 4)
    y[::3] = -1
    model = quick().fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    assert len(model.samples_) == N


def test_a_table_of_constants_gives_one_answer():
    p = quick().fit(np.ones((N, 2)), Y).predict_proba(np.ones((3, 2)))
    assert_allclose(p, p[[0, 0, 0]])


# Labels


def as_labels(zero, one, mark):
    return [mark if u else (one if t else zero) for u, t in zip(UNLABELED, TRUTH, strict=True)]


LABELS = {
    "strings and None": as_labels("ill", "well", None),
    "strings and -1": np.array(as_labels("ill", "well", -1), dtype=object),
    "strings and NaN": np.array(as_labels("ill", "well", np.nan), dtype=object),
    "pandas strings": pd.Series(as_labels("ill", "well", None)),
    "pandas categorical": pd.Series(as_labels("ill", "well", None), dtype="category"),
    "polars strings": pl.Series(as_labels("ill", "well", None)),
    "booleans and None": as_labels(False, True, None),
    "pandas booleans": pd.Series(as_labels(False, True, pd.NA), dtype="boolean"),
    "one and two": as_labels(1, 2, -1),
    "signs and None": as_labels(-1, 1, None),
    "signs and NaN": np.array(as_labels(-1, 1, np.nan)),
    "floats and NaN": np.array(as_labels(0.0, 1.0, np.nan)),
    "pandas nullable": pd.Series(as_labels(0, 1, pd.NA), dtype="Int64"),
    "polars integers": pl.Series(as_labels(0, 1, None)),
    "list and -1": as_labels(0, 1, -1),
    "integers and -1": np.array(as_labels(0, 1, -1)),
}


@pytest.mark.parametrize("y", LABELS.values(), ids=LABELS.keys())
def test_however_labels_are_written_the_probabilities_are_the_same(y):
    model = quick().fit(NUMBERS, y)
    assert_array_equal(model.predict_proba(NUMBERS), quick().fit(NUMBERS, Y).predict_proba(NUMBERS))
    written = np.asarray(y, dtype=object)
    assert set(model.predict(NUMBERS)) <= set(model.classes_.tolist()) <= set(written.tolist())
    assert_array_equal(model.transduction_[~UNLABELED].astype(object), written[~UNLABELED])
    assert model.score(NUMBERS[~UNLABELED], written[~UNLABELED]) > 0.6


def test_signs_alone_are_two_classes():
    y = np.where(TRUTH == 1, 1, -1)
    with pytest.warns(UserWarning, match="two classes"):
        model = quick().fit(NUMBERS, y)
    assert model.classes_.tolist() == [-1, 1]
    assert set(model.samples_["source"]) == {"given"}


def test_three_classes():
    y = np.where(UNLABELED, None, WARD.astype(object))
    X = TABLES["pandas"].drop(columns="ward").assign(code=(WARD == "west") + 2 * (WARD == "north"))
    model = quick().fit(X, y)
    assert model.classes_.tolist() == ["east", "north", "west"]
    assert_allclose(model.predict_proba(X).sum(axis=1), 1, atol=1e-5)
    assert model.score(X, WARD) > 0.9


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("curator", ["auto", "dips", "confidence", "small_loss", "fluctuation", "fine", "none"])
@pytest.mark.parametrize("estimator", [xgboost(), HistGradientBoostingClassifier(max_iter=5)])
def test_a_class_with_a_single_labeled_row(curator, estimator):
    y = np.where(UNLABELED, -1, TRUTH)
    y[np.flatnonzero(~UNLABELED)[10]] = 2
    model = quick(estimator, curator=curator).fit(NUMBERS, y)
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.predict_proba(NUMBERS[:1]).shape == (1, 3)


def test_two_labeled_rows_are_enough():
    y = np.full(N, -1)
    y[[np.flatnonzero(TRUTH == 0)[0], np.flatnonzero(TRUTH == 1)[0]]] = 0, 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert quick().fit(NUMBERS, y).predict(NUMBERS).shape == (N,)


def test_no_unlabeled_rows_make_a_curated_supervised_fit():
    model = quick().fit(NUMBERS, TRUTH)
    curated = CuratedClassifier(xgboost(), random_state=0).fit(NUMBERS, TRUTH)
    assert_array_equal(model.predict_proba(NUMBERS), curated.predict_proba(NUMBERS))
    assert model.termination_condition_ == "all_labeled"
    assert set(model.samples_["source"]) == {"given"}


# Labeled and unlabeled rows apart


@pytest.mark.parametrize("name", ["numpy objects", "pandas", "pandas category", "polars", "polars categorical"])
def test_unlabeled_rows_may_be_passed_apart(name):
    X = TABLES[name]
    first = np.argsort(UNLABELED, kind="stable")
    n_labeled = (~UNLABELED).sum()
    labeled, unlabeled = take(X, first[:n_labeled]), take(X, first[n_labeled:])
    apart = quick().fit(labeled, TRUTH[~UNLABELED], X_unlabeled=unlabeled)
    together = quick().fit(take(X, first), Y[first])
    assert_array_equal(apart.predict_proba(X), together.predict_proba(X))
    assert_array_equal(apart.transduction_, together.transduction_)
    assert_array_equal(apart.labeled_iter_, together.labeled_iter_)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array, sp.coo_array])
def test_arrays_may_be_passed_apart(container):
    model = quick().fit(container(NUMBERS[:80]), TRUTH[:80], X_unlabeled=container(NUMBERS[80:]))
    assert len(model.samples_) == N
    assert (model.samples_["source"][80:] != "given").all()


def test_minus_one_besides_unlabeled_rows_passed_apart_is_warned_of():
    three = np.where(DOSE < 2, TRUTH, -1)
    with pytest.warns(UserWarning, match=rf"-1 in y is read as unlabeled \({(three == -1).sum()} rows\), besides"):
        quick().fit(NUMBERS, three, X_unlabeled=NUMBERS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quick(curator="none").fit(NUMBERS, TRUTH, X_unlabeled=NUMBERS)
        quick(curator="none").fit(NUMBERS, np.where(three == -1, None, "a" + WARD.astype(object)), X_unlabeled=NUMBERS)


def test_columns_passed_apart_are_put_in_order():
    X = TABLES["pandas"]
    apart = quick().fit(X[:80], TRUTH[:80], X_unlabeled=X[80:][["smokes", "ward", "age", "dose"]])
    assert_array_equal(apart.predict_proba(X), quick().fit(X, np.where(np.arange(N) < 80, TRUTH, -1)).predict_proba(X))


def test_rows_passed_apart_weigh_as_much_as_the_others_on_average():
    weight = np.linspace(1.0, 3.0, 80)
    apart = quick().fit(NUMBERS[:80], TRUTH[:80], X_unlabeled=NUMBERS[80:], sample_weight=weight)
    y = np.where(np.arange(N) < 80, TRUTH, -1)
    together = quick().fit(NUMBERS, y, sample_weight=np.append(weight, np.full(80, 2.0)))
    assert_array_equal(apart.predict_proba(NUMBERS), together.predict_proba(NUMBERS))


# Pipelines as backbones


def mixed_pipeline():
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    texts = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    transformer = ColumnTransformer([("numbers", numbers, ["age", "dose"]), ("texts", texts, ["ward", "smokes"])])
    return make_pipeline(transformer, SGDClassifier(loss="log_loss", max_iter=20, tol=None))


@pytest.mark.parametrize("curator", ["auto", "dips", "fine", "none"])
@pytest.mark.parametrize("name", ["pandas", "pandas category", "polars"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_pipeline_chooses_columns_by_name(name, curator):
    X = TABLES[name]
    model = quick(mixed_pipeline(), curator=curator).fit(X, Y)
    assert model.encoder_ is None
    assert model.predict(take(X, slice(0, 1))).shape == (1,)


def test_a_pipeline_chooses_columns_by_type():
    chooser = ColumnTransformer(
        [
            ("numbers", SimpleImputer(), make_column_selector(dtype_include="number")),
            ("others", OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
        ]
    )
    X = pd.DataFrame({"age": AGE, "dose": DOSE, "ward": WARD})
    model = quick(make_pipeline(chooser, xgboost())).fit(X, Y)
    assert model.score(X, TRUTH) > 0.8


DOCUMENTS = [f"{'good fine great' if t else 'bad poor awful'} word{i % 7} word{i % 5}" for i, t in enumerate(TRUTH)]


@pytest.mark.parametrize("container", [list, np.array, pd.Series, pl.Series])
def test_documents(container):
    texts = container(DOCUMENTS)
    backbone = make_pipeline(TfidfVectorizer(), SGDClassifier(loss="log_loss", max_iter=20, tol=None))
    model = quick(backbone).fit(texts, as_labels("bad", "good", None))
    assert model.score(texts, np.where(TRUTH == 1, "good", "bad")) > 0.95
    assert model.predict(texts[:1]).shape == (1,)
    apart = quick(backbone).fit(texts[:80], TRUTH[:80], X_unlabeled=texts[80:])
    assert len(apart.samples_) == N


def test_images_keep_their_shape():
    torch, skorch = pytest.importorskip("torch"), pytest.importorskip("skorch")
    images = (np.random.RandomState(0).normal(size=(N, 4, 4)) / 4 + TRUTH[:, None, None]).astype(np.float32)
    module = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(16, 2), torch.nn.Softmax(dim=1))
    net = skorch.NeuralNetClassifier(module, max_epochs=5, lr=0.5, train_split=None, verbose=0)
    assert quick(net).fit(images, Y).score(images, TRUTH) > 0.9


def test_a_forest_is_a_backbone_where_nothing_is_watched():
    model = quick(RandomForestClassifier(10), curator="none").fit(TABLES["polars"], Y)
    assert model.score(TABLES["polars"], TRUTH) > 0.8


# The audit


@pytest.mark.parametrize("name", ["pandas", "polars", "numpy objects"])
def test_every_table_may_be_audited(name):
    audit = characterize(xgboost(), TABLES[name], np.where(TRUTH == 1, "well", "ill"), random_state=0)
    assert len(audit.samples) == N
    assert set(audit.samples["given_label"]) == {"well", "ill"}
