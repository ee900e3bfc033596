"""Models whose categories somebody changed, with new checksums: each is refused before its library follows it."""

import struct

import numpy as np
import pandas as pd
import pytest
from xgboost import XGBClassifier

from dips import CuratedClassifier, load_model, save_model
from dips.backbones._flatbuffer import Buffer
from dips.backbones._stored_catboost import check_catboost
from dips.backbones._stored_lightgbm import check_lightgbm
from dips.backbones._stored_xgboost_categories import check_categories
from dips.exceptions import DamagedFileError, InputError, ModelError

RNG = np.random.RandomState(0)
TABLE = pd.DataFrame(
    {"age": RNG.normal(size=150), "ward": RNG.choice(["n", "s"], 150), "street": RNG.choice(list("abcdefghij"), 150)}
)
FRAME = TABLE.astype({"ward": "category", "street": "category"})
Y = ((TABLE["age"] > 0) ^ (TABLE["street"] < "e")).astype(int)


@pytest.fixture(scope="module")
def counting(tmp_path_factory):
    """Return the bytes of a CatBoost model that counts its categories, and where to write a changed one."""
    catboost = pytest.importorskip("catboost")
    settings = {"iterations": 10, "cat_features": ["ward", "street"], "verbose": False, "allow_writing_files": False}
    path = tmp_path_factory.mktemp("model") / "backbone.cbm"
    catboost.CatBoostClassifier(**settings).fit(TABLE, Y).save_model(str(path))
    check_catboost(path, 3, 2)
    return path.read_bytes(), path


def first_table(content):
    """Return where the first table of categories begins, and the table."""
    start = 8 + struct.unpack_from("<I", content, 4)[0] + 4
    size = struct.unpack_from("<I", content, start)[0]
    return start + 4, Buffer(content[start + 4 : start + 4 + size]).root()


def place_of(table, number):
    """Return where the entries of a list begin."""
    return table.buffer.at(table._field(number)) + 4


def changed(content, at, new):
    return content[:at] + new + content[at + len(new) :]


def refused(counting, at, new, words):
    content, path = counting
    path.write_bytes(changed(content, at, new))
    with pytest.raises(DamagedFileError, match=words):
        check_catboost(path, 3, 2)


def test_a_bucket_that_leads_out_of_its_table_is_refused(counting):
    start, table = first_table(counting[0])
    buckets = table.array(1, "u1").view([("hash", "<u8"), ("row", "<u4")])
    taken = int(np.flatnonzero(buckets["hash"] != 2**64 - 1)[0])
    at = start + place_of(table, 1) + 12 * taken + 8
    refused(counting, at, struct.pack("<I", 2**28), "a table leads out of itself")


def test_a_table_without_an_empty_bucket_is_refused_since_a_search_would_not_end(counting):
    start, table = first_table(counting[0])
    full = struct.pack("<QI", 7, 0) * (table.length(1) // 12)
    refused(counting, start + place_of(table, 1), full, "a search in it does not end")


def test_a_number_of_buckets_that_is_no_power_of_two_is_refused(counting):
    start, table = first_table(counting[0])
    refused(counting, start + place_of(table, 1) - 4, struct.pack("<I", 12 * 3), "number of buckets")


def test_a_list_longer_than_the_file_is_refused(counting):
    start, table = first_table(counting[0])
    refused(counting, start + place_of(table, 2) - 4, struct.pack("<I", 2**31), "points outside of itself")


def test_a_table_that_points_behind_the_file_is_refused(counting):
    start, _ = first_table(counting[0])
    refused(counting, start, struct.pack("<I", 2**30), "points outside of itself")


def test_tables_that_are_cut_off_are_refused(counting):
    content, path = counting
    path.write_bytes(content[:-30])
    with pytest.raises(DamagedFileError, match="longer than the file"):
        check_catboost(path, 3, 2)


def test_a_counter_without_a_table_is_refused(counting):
    content, path = counting
    start, _ = first_table(content)
    path.write_bytes(content[: start - 8] + struct.pack("<I", 0))
    with pytest.raises(DamagedFileError, match="a counter has no table"):
        check_catboost(path, 3, 2)


def test_models_of_texts_are_not_saved_since_their_tables_cannot_be_checked(tmp_path):
    catboost = pytest.importorskip("catboost")
    texts = TABLE[["age"]].assign(note=["a cough and a cold" if y else "well and at home" for y in Y])
    net = catboost.CatBoostClassifier(iterations=5, text_features=["note"], verbose=False, allow_writing_files=False)
    model = CuratedClassifier(net, curator="none", random_state=0).fit(texts, Y)
    with pytest.raises(InputError, match="texts and embeddings in tables that dips cannot check"):
        save_model(model, tmp_path / "model")


def recorded(*columns, segments, order):
    return {"enc": list(columns), "feature_segments": np.array(segments), "sorted_idx": np.array(order)}


def texts(*offsets, values):
    return {"offsets": np.array(offsets), "values": np.frombuffer(values, np.int8)}


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (recorded(texts(0, 1, 99, values=b"ab"), segments=[0, 2], order=[0, 1]), "lies outside of its list"),
        (recorded(texts(0, 1, 2, values=b"ab"), segments=[0, 9], order=[0, 1]), "do not add up"),
        (recorded(texts(0, 1, 2, values=b"ab"), segments=[0, 2], order=[0, 7]), "leads out of them"),
        (recorded(texts(0, 1, 2, values=b"ab"), segments=[0, 2], order=[1, 0]), "not in order"),
        (recorded({"type": 7, "values": np.array([1, 2])}, segments=[0, 2], order=[0, 1]), "unknown type"),
    ],
)
def test_categories_of_xgboost_that_lead_out_of_their_lists_are_refused(record, words):
    with pytest.raises(DamagedFileError, match=words):
        check_categories(record, 1)


def test_categories_of_xgboost_as_it_writes_them_are_fine():
    numbers = {"type": 15, "values": np.array([3, 5, 9])}
    names = texts(0, 2, 3, values="éz".encode())  # as signed bytes é comes first
    check_categories(recorded(numbers, names, segments=[0, 3, 5], order=[0, 1, 2, 0, 1]), 2)


def test_what_the_library_says_of_a_table_that_it_cannot_read_is_one_sentence(tmp_path):
    backbone = XGBClassifier(n_estimators=5, enable_categorical=True)
    save_model(CuratedClassifier(backbone, curator="none").fit(FRAME, Y), tmp_path / "model")
    other = FRAME.assign(ward=pd.Series(["west"] * len(FRAME), dtype=object))
    with pytest.raises(ModelError, match=r"^The model cannot answer for this table: DataFrame.dtypes .*\.$"):
        load_model(tmp_path / "model").predict(other)


@pytest.mark.parametrize(
    ("said", "words"),
    [("[1, 2]", "are not lists"), ('[["a", "a"]]', "occurs twice"), ("[[{}]]", "is not a value")],
)
def test_categories_of_pandas_that_are_no_lists_of_values_are_refused(tmp_path, said, words):
    lightgbm = pytest.importorskip("lightgbm")
    path = tmp_path / "backbone.txt"
    model = lightgbm.LGBMClassifier(n_estimators=3, verbosity=-1).fit(TABLE[["age"]], Y)
    model.booster_.save_model(path)
    text = path.read_text()
    assert text.rstrip().endswith("pandas_categorical:[]")
    check_lightgbm(path, 1, 2)
    path.write_text(text.replace("pandas_categorical:[]", f"pandas_categorical:{said}"))
    with pytest.raises(DamagedFileError, match=words):
        check_lightgbm(path, 1, 2)
