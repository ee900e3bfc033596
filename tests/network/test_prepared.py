"""The network on a prepared matrix: levels in columns of their own are put together again, and stay so on disk."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dips._data.spans import Spans, merged
from dips._files import Preparation, read_table, understand
from dips.backbones import find_backbone
from dips.exceptions import DamagedFileError
from dips.network import PriorFittedClassifier
from dips.network._prepared import PreparedTableClassifier
from dips.network._read_table import ReadTable

RNG = np.random.default_rng(3)
# The most frequent level comes first in the alphabet, so that levels have the same ranks in frames and matrices.
FRAME = pd.DataFrame(
    {
        "age": RNG.normal(50, 9, 80).round(),
        "ward": pd.Series(["east"] * 36 + ["north"] * 27 + ["south"] * 15 + [None] * 2),
        "smokes": ["no"] * 50 + ["yes"] * 30,
        "dose": np.where(RNG.random(80) < 0.2, np.nan, RNG.normal(size=80)),
    }
).sample(frac=1, random_state=0, ignore_index=True)
LABELS = np.where(np.arange(80) < 60, (FRAME["age"] > 50).to_numpy(int), -1)


def prepared(frame):
    table = read_table(frame)
    preparation = Preparation(understand(table)).learn(table)
    return preparation.encode(table), preparation.spans


@given(st.lists(st.one_of(st.none(), st.integers(0, 4)), min_size=1, max_size=30))
def test_levels_in_columns_of_their_own_are_one_column_again(levels):
    one_hot = np.array([[level == k for k in range(5)] for level in levels], dtype=np.float32)
    X = np.column_stack([np.arange(len(levels)), one_hot, -np.arange(len(levels))])
    expected = [np.nan if level is None else level for level in levels]
    np.testing.assert_array_equal(merged(X, np.array([0, 1, 6]))[:, 1], expected)
    np.testing.assert_array_equal(merged(X, np.array([0, 1, 6]))[:, [0, 2]], X[:, [0, 6]])


def test_numbers_categories_dates_and_texts_know_what_belongs_together():
    n = 60
    frame = pd.DataFrame(
        {
            "age": RNG.normal(size=n),
            "seen": pd.Timestamp("2024-01-01") + pd.to_timedelta(RNG.integers(0, 700, n), unit="D"),
            "ward": RNG.choice(["a", "b", "c"], n),
            "sex": RNG.choice(["f", "m"], n),
            "town": RNG.choice([f"town {i}" for i in range(20)], n),
        }
    )
    table = read_table(frame)
    preparation = Preparation(understand(table)).learn(table)
    spans, features = preparation.spans, preparation.features
    heads = [features[start] for start in spans.starts]
    is_category = dict(zip(heads, spans.is_category.tolist(), strict=True))
    assert is_category.pop("ward =" + frame["ward"].value_counts().index[0])
    assert is_category.pop("sex =" + frame["sex"].value_counts().index[0])
    assert is_category.pop("town rank")
    assert set(is_category) == {"age", "seen day", "seen month", "seen weekday"}
    assert not any(is_category.values())


def test_the_matrix_is_read_as_the_frame_is():
    X, spans = prepared(FRAME)
    assert X.shape[1] == 6  # age, three wards, whether one smokes, dose
    flipped = FRAME.assign(smokes=FRAME["smokes"].map({"yes": "a", "no": "b"}))  # 1 and 0 for no and yes
    frame = PriorFittedClassifier(random_state=0).fit(flipped, LABELS)
    matrix = PreparedTableClassifier(spans, random_state=0).fit(X, LABELS)
    np.testing.assert_allclose(matrix.predict_proba(X), frame.predict_proba(flipped), atol=1e-5)
    np.testing.assert_allclose(matrix.p_wrong_, frame.p_wrong_, atol=1e-5)


@pytest.mark.parametrize("ward", ["south", "north"])  # the last of the levels, and one between two others
def test_a_level_that_was_not_read_is_missing(tmp_path, ward):
    X, _ = prepared(FRAME)
    is_other = (FRAME["ward"] != ward).to_numpy()
    frame = PriorFittedClassifier(random_state=0).fit(FRAME[["age", "ward", "dose"]][is_other], LABELS[is_other])
    left_out = [0, 1, 2, 3, 5]  # smokes, whose levels have other ranks
    kept = Spans(np.array([0, 1, 4]), np.array([False, True, False]))
    model = PreparedTableClassifier(kept, random_state=0).fit(X[is_other][:, left_out], LABELS[is_other])
    model.table_.save(tmp_path / "network.npz")
    for matrix in (model, ReadTable.load(tmp_path / "network.npz")):
        p = matrix.predict_proba(X[:, left_out])
        missing = X[:, left_out].copy()
        missing[~is_other, 1:4] = 0
        np.testing.assert_allclose(p, matrix.predict_proba(missing), atol=1e-5)
        np.testing.assert_allclose(p, frame.predict_proba(FRAME[["age", "ward", "dose"]]), atol=1e-5)


def test_only_levels_that_were_read_are_counted():
    ranks = np.arange(60) % 3 * 100.0
    model = PreparedTableClassifier(Spans(np.array([0]), np.array([True])), random_state=0)
    assert model.fit(ranks[:, None], np.arange(60) % 2).notes_ == []


def test_on_an_executor_it_takes_the_threads_of_the_task():
    X, spans = prepared(FRAME)
    table = PreparedTableClassifier(spans, random_state=0, n_jobs=-1).fit(X, LABELS).table_
    copied = find_backbone(table).on_threads(table, 2)
    assert (copied.n_jobs, table.n_jobs) == (2, -1)
    np.testing.assert_allclose(copied.predict_proba(X), table.predict_proba(X), atol=1e-5)


def test_what_belongs_together_is_kept_on_disk(tmp_path):
    X, spans = prepared(FRAME)
    model = PreparedTableClassifier(spans, random_state=0).fit(X, LABELS)
    model.table_.save(tmp_path / "network.npz")
    np.testing.assert_array_equal(ReadTable.load(tmp_path / "network.npz").predict_proba(X), model.predict_proba(X))


def test_every_column_stands_alone_in_folders_of_before(tmp_path):
    X, _ = prepared(FRAME)
    model = PreparedTableClassifier(Spans.of_numbers(X.shape[1]), random_state=0).fit(X, LABELS)
    model.table_.save(tmp_path / "network.npz")
    arrays = dict(np.load(tmp_path / "network.npz"))
    del arrays["starts"]
    np.savez(tmp_path / "before.npz", **arrays)
    np.testing.assert_array_equal(ReadTable.load(tmp_path / "before.npz").predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("starts", [[], [1, 4], [0, 4, 4], [0, 99], [0, -1], [[0, 1]], [0.0, 1.0]])
def test_forged_places_are_refused(tmp_path, starts):
    X, spans = prepared(FRAME)
    stream = io.BytesIO()
    model = PreparedTableClassifier(spans, random_state=0).fit(X, LABELS)
    model.table_.save(tmp_path / "network.npz")
    arrays = dict(np.load(tmp_path / "network.npz"))
    np.savez(stream, **arrays | {"starts": np.array(starts)})
    (tmp_path / "forged.npz").write_bytes(stream.getvalue())
    with pytest.raises(DamagedFileError):
        ReadTable.load(tmp_path / "forged.npz")


def test_a_forged_number_of_columns_takes_no_memory(tmp_path):
    X, spans = prepared(FRAME)
    PreparedTableClassifier(spans, random_state=0).fit(X, LABELS).table_.save(tmp_path / "network.npz")
    arrays = dict(np.load(tmp_path / "network.npz"))
    del arrays["starts"]
    about = json.loads(arrays["about"].tobytes()) | {"n_features": 10**12}
    np.savez(tmp_path / "forged.npz", **arrays | {"about": np.frombuffer(json.dumps(about).encode(), np.uint8)})
    with pytest.raises(DamagedFileError):
        ReadTable.load(tmp_path / "forged.npz")
