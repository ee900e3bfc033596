"""A declaration followed: rows, columns, codes, labels, and what is refused."""

import os

import numpy as np
import pandas as pd
import pytest

from dips.datasets import load
from dips.datasets._declaration import ANY_OTHER, Declaration
from dips.datasets._prepare import prepare
from dips.datasets._tables import PRIVATE, PUBLIC, TABLES
from dips.exceptions import DataError


def table(**columns):
    return pd.DataFrame({"y": [0, 1, 1], "a": [1.0, 2.0, 0.0], "b": ["u", "v", "?"]} | columns)


def declared(**settings):
    return Declaration("toy", "Toy", "toy", **{"label": "y", "features": 2} | settings)


def test_rows_are_chosen_by_query_and_by_the_unknown_mark():
    assert prepare(table(), declared(rows="a > 0")).X["a"].tolist() == [1.0, 2.0]
    assert prepare(table(), declared(unknown="?")).y.tolist() == [0, 1]


def test_labels_are_coded_by_name_by_threshold_or_in_order():
    assert prepare(table(y=["n", "p", "p"]), declared(classes={"p": 0, "n": 1})).y.tolist() == [1, 0, 0]
    assert prepare(table(y=[0, 5, 9]), declared(above=5)).y.tolist() == [0, 0, 1]
    prepared = prepare(table(y=["z", "a", "a"]), declared())
    assert (prepared.y.tolist(), prepared.classes) == ([1, 0, 0], ["a", "z"])


def test_columns_are_recoded_as_declared():
    prepared = prepare(table(), declared(codes={"b": {"u": 7, ANY_OTHER: 0}}, flags=("a",)))
    assert prepared.X.to_dict("list") == {"a": [1, 1, 0], "b": [7, 0, 0]}
    ranked = prepare(table(), declared(ranks={"b": ("?", "u", "v")}, zero_is_missing=("a",)))
    assert ranked.X["b"].tolist() == [1, 2, 0]
    assert np.isnan(ranked.X["a"][2])
    assert ranked.kinds == {"a": "number", "b": "ordered"}


def test_one_hot_goes_both_ways():
    assert list(prepare(table(), declared(one_hot=("b",), features=4)).X) == ["a", "b_?", "b_u", "b_v"]
    three = table(g1=[1, 0, 0], g2=[0, 1, 0], g3=[0, 0, 1])
    parts = declared(keep=("a",), from_one_hot={"g": ("g1", "g2", "g3")})
    assert prepare(three, parts).X["g"].tolist() == [1, 2, 3]


def test_missing_columns_are_named():
    with pytest.raises(DataError, match=r"The table of toy lacks the columns \['c'\]; rename yours"):
        prepare(table(), declared(drop=("c",)))


def test_an_unknown_value_is_named():
    with pytest.raises(DataError, match=r"Column 'b' of toy holds \['\?'\]; it may hold \['u', 'v'\]"):
        prepare(table(), declared(codes={"b": {"u": 0, "v": 1}}))


def test_another_number_of_features_is_refused():
    with pytest.raises(DataError, match="toy has 3 features, but this table has 2"):
        prepare(table(), declared(features=3))


def test_a_missing_label_is_refused():
    with pytest.raises(DataError, match="The label 'y' of toy is missing in 1 rows"):
        prepare(table(y=[0, None, 1]), declared())


def prostate(n=4):
    columns = {c: np.arange(n) % 2 for c in PRIVATE["seer"].columns}
    grades = {f"grade_{g}.0": (np.arange(n) % 5 + 1 == g).astype(int) for g in range(1, 6)}
    return pd.DataFrame(columns | grades | {"age": 60 + np.arange(n), "extra": "ignored"})


def test_a_private_copy_is_read_by_its_schema():
    prepared = prepare(prostate(), PRIVATE["seer"])
    assert prepared.X.shape == (4, 12)
    assert prepared.X["grade"].tolist() == [1, 2, 3, 4]


def test_a_private_copy_is_checked():
    with pytest.raises(DataError, match=r"The label 'mortCancer' of seer must be 0 or 1; found \[2, 0"):
        prepare(prostate().assign(mortCancer=[2, 0, 1, 1]), PRIVATE["seer"])
    with pytest.raises(DataError, match=r"Columns \['psa'\] of cutract must be numbers"):
        prepare(prostate().assign(psa="high"), PRIVATE["cutract"])
    with pytest.raises(DataError, match="maggic has 29 features, but this table has 1"):
        prepare(pd.DataFrame({"death_all": [0, 1], "age": [1, 2]}), PRIVATE["maggic"])


def test_the_fingerprint_tells_any_change_of_what_is_learned_from():
    plain = prepare(table(), declared()).fingerprint
    assert plain == prepare(table(), declared()).fingerprint
    assert plain != prepare(table(a=[1.0, 2.0, 0.5]), declared()).fingerprint
    assert plain != prepare(table(y=[1, 1, 0]), declared()).fingerprint
    assert plain != prepare(table().rename(columns={"a": "c"}), declared()).fingerprint


def test_declarations_do_not_contradict_themselves():
    for name, declaration in TABLES.items():
        assert declaration.name == name
        assert (declaration.source is None) == (name in PRIVATE)
        assert not set(declaration.drop) & set(declaration.keep)


SHAPES = {
    "adult": (30162, 12, 2),
    "agaricus-lepiota": (8124, 22, 7),
    "compas": (5278, 13, 2),
    "covid": (6882, 29, 2),
    "credit": (30000, 23, 2),
    "german": (1000, 24, 2),
    "heart": (920, 13, 2),
}


@pytest.mark.skipif(not os.environ.get("DIPS_DATA"), reason="needs the public tables; name their folder in DIPS_DATA")
@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_table_is_what_the_paper_describes(name):
    loaded = load(name)
    assert loaded.X.shape[1] == TABLES[name].features
    assert np.isfinite(loaded.matrix).any(axis=0).all()
    if name in SHAPES:
        assert (*loaded.X.shape, len(loaded.classes)) == SHAPES[name]
