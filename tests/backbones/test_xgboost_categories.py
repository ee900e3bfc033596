from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dips import CuratedClassifier, load_model, save_model
from dips.backbones import find_backbone

from .families import fit_and_watch

pytest.importorskip("xgboost")
from xgboost import XGBClassifier

CODES = np.arange(200) % 4  # also the classes: each category has its own
TEXTS, NUMBERS = list("bdfh"), [1, 3, 5, 7]
AMONG_THEM = {"texts": (TEXTS, ["a", "c", "z"]), "numbers": (NUMBERS, [0, 4, 9])}  # categories, and unseen ones


def pandas_frame(values, categories):
    return pd.DataFrame({"ward": pd.Categorical(values, categories), "x": 0.5})


def polars_frame(values, categories):
    pl = pytest.importorskip("polars")
    return pl.DataFrame({"ward": pl.Series(values, dtype=pl.Categorical), "x": 0.5})


def backbone():
    return XGBClassifier(n_estimators=5, enable_categorical=True)


def fitted(make, categories):
    values = np.array(categories, dtype=object)[CODES].tolist()
    return CuratedClassifier(backbone(), curator="none", random_state=0).fit(make(values, categories), CODES)


@pytest.fixture(params=["fitted", "loaded"])
def stored_or_not(request, tmp_path):
    """A function that gives a model as it is, or saved and loaded."""

    def maybe_stored(model):
        if request.param == "fitted":
            return model
        save_model(model, tmp_path / "model")
        return load_model(tmp_path / "model")

    return maybe_stored


@pytest.mark.parametrize(
    ("make", "kind"), [(pandas_frame, "texts"), (pandas_frame, "numbers"), (polars_frame, "texts")]
)
def test_a_category_that_training_did_not_have_is_missing(make, kind, stored_or_not):
    categories, unseen = AMONG_THEM[kind]
    model = stored_or_not(fitted(make, categories))
    new, known = make([*unseen, *categories], [*unseen, *categories]), make([None, *categories], categories)
    missing, *expected = model.predict_proba(known)
    assert (model.predict_proba(new) == [missing] * len(unseen) + expected).all()


@pytest.mark.parametrize("categories", [TEXTS, NUMBERS], ids=["texts", "numbers"])
def test_categories_in_another_order_are_read_by_their_names(categories, stored_or_not):
    model = stored_or_not(fitted(pandas_frame, categories))
    for order in (categories[::-1], categories[2:] + categories[:2]):
        assert (model.predict(pandas_frame(categories, order)) == CODES[:4]).all()


@pytest.mark.parametrize("make", [pandas_frame, polars_frame])
def test_a_column_of_which_training_knows_no_category_is_named(make):
    model = fitted(make, TEXTS)
    with pytest.warns(UserWarning, match=r"No value of column 'ward' is known .*now it holds 'a', training held 'b'"):
        model.predict_proba(make(["a", "c"], ["a", "c"]))


def test_the_checkpoints_of_a_new_table_read_its_categories_as_its_probabilities_do():
    train = pandas_frame([TEXTS[code] for code in CODES], TEXTS)
    new = pandas_frame([*TEXTS, "c"], [*"cbdfh"])
    model = backbone()
    watched = fit_and_watch(model, train, CODES, new)
    assert np.allclose(watched.probabilities, find_backbone(model).predict_proba(model, new), atol=1e-6)


def test_a_users_table_is_not_changed():
    model, new = fitted(pandas_frame, TEXTS), pandas_frame(["c", "b"], ["c", "b"])
    model.predict_proba(new)
    assert new["ward"].tolist() == ["c", "b"]
