"""What the network has read, on disk: it answers as before, and what is damaged is refused."""

import json
import zipfile

import numpy as np
import pandas as pd
import pytest

from dips._persistence import load_model, save_model
from dips.exceptions import DamagedFileError, ModelError, UserError
from dips.network import PriorFittedClassifier
from dips.network._read_table import ReadTable
from dips.network._settings import TINY
from dips.network._weights import Weights

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 3))


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    path = tmp_path_factory.mktemp("network") / "tiny.npz"
    Weights.random(TINY.model, 0).save(path)
    return path


def fitted(tiny, X, y, **settings):
    return PriorFittedClassifier(weights=tiny, random_state=0, **settings).fit(X, y)


def patients():
    frame = pd.DataFrame(
        {
            "age": X[:, 0],
            "ward": RNG.choice(["east", "west", "north"], 90),
            "stage": pd.Categorical(RNG.choice(["low", "high"], 90), categories=["low", "high"], ordered=True),
            "who": [f"p{i}" for i in range(90)],
            "dose": np.where(RNG.random(90) < 0.2, np.nan, X[:, 1]),
        }
    )
    return frame, np.where(np.arange(90) < 60, np.where(X[:, 0] > 0, "ill", "well"), None)


@pytest.mark.parametrize("n_classes", [2, 23, 120])  # 23 are answered in groups, 120 in groups of groups
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_loaded_network_answers_as_before(tiny, tmp_path, n_classes):
    rows = RNG.normal(size=(400, 3))
    y = np.where(np.arange(400) < 360, np.arange(400) % n_classes, -1)
    model = fitted(tiny, rows, y, max_context=130)
    save_model(model, tmp_path / "model")
    tiny_is_not_needed = load_model(tmp_path / "model", untrusted=n_classes == 2)
    np.testing.assert_array_equal(tiny_is_not_needed.predict_proba(rows), model.predict_proba(rows))
    assert tiny_is_not_needed.predict(rows[:9]).tolist() == model.predict(rows[:9]).tolist()


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_frames_are_read_as_before_and_a_saved_one_is_saved_again(tiny, tmp_path):
    frame, y = patients()
    model = fitted(tiny, frame, y)
    save_model(model, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(frame), model.predict_proba(frame))
    save_model(loaded, tmp_path / "again")
    np.testing.assert_array_equal(load_model(tmp_path / "again").predict_proba(frame), model.predict_proba(frame))


def test_only_rows_that_were_read_are_kept(tiny, tmp_path):
    rows = RNG.normal(size=(3000, 3))
    y = np.where(np.arange(3000) < 30, np.arange(3000) % 2, -1)
    table = fitted(tiny, rows, y, max_context=50).table_
    table.save(tmp_path / "network.npz")
    assert len(ReadTable.load(tmp_path / "network.npz").values) == 50


def test_known_class_frequencies_are_kept(tiny, tmp_path):
    model = fitted(tiny, X, np.arange(90) % 2, class_frequencies=[0.8, 0.2])
    save_model(model, tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").predict_proba(X), model.predict_proba(X))


def test_one_that_is_not_fitted_is_refused(tiny, tmp_path):
    with pytest.raises(UserError, match="fit it before saving it"):
        save_model(PriorFittedClassifier(weights=tiny), tmp_path / "model")


def test_a_file_of_other_columns_or_classes_is_refused(tiny, tmp_path):
    from dips.network._family import NetworkFamily

    fitted(tiny, X, np.arange(90) % 3).table_.save(tmp_path / "network.npz")
    NetworkFamily().check_file(tmp_path / "network.npz", 3, 3)
    with pytest.raises(DamagedFileError, match="3 columns, not 4"):
        NetworkFamily().check_file(tmp_path / "network.npz", 4, 3)
    with pytest.raises(DamagedFileError, match="3 classes, not 2"):
        NetworkFamily().check_file(tmp_path / "network.npz", None, 2)


def changed(about, **changes):
    """The JSON head with other numbers, as bytes."""
    return np.frombuffer(json.dumps(json.loads(about.tobytes()) | changes).encode(), np.uint8)


DAMAGES = [
    ("columns", lambda a: a["columns"] + 1),
    ("categorical", lambda a: a["categorical"][:1]),
    ("values", lambda a: a["values"] * np.inf),
    ("codes", lambda a: np.where(a["codes"] == 1, 2, a["codes"])),
    ("seeds", lambda a: a["seeds"] - 2**31),
    ("factors", lambda a: -a["factors"]),
    ("rows/0", lambda a: a["rows/0"] + 1),
    ("rows/0", lambda a: np.tile(a["rows/0"], 2)),
    ("weights/sharpen", lambda a: a["weights/sharpen"][:0]),
    ("weights/answer.bias", lambda a: a["weights/answer.bias"] * np.float16(np.nan)),
    ("about", lambda a: changed(a["about"], n_draws=10**9)),
    ("about", lambda a: changed(a["about"], n_jobs=0)),
]


@pytest.mark.parametrize(("name", "damage"), DAMAGES)
def test_parts_that_do_not_fit_each_other_are_refused(tiny, tmp_path, name, damage):
    path = tmp_path / "network.npz"
    fitted(tiny, X, np.arange(90) % 2).table_.save(path)
    with np.load(path) as file:
        arrays = {key: file[key] for key in file.files}
    np.savez(path, **arrays | {name: damage(arrays)})
    with pytest.raises(DamagedFileError):
        ReadTable.load(path)
    np.savez(path, **{key: array for key, array in arrays.items() if key != name})
    with pytest.raises(DamagedFileError):
        ReadTable.load(path)


def test_a_folder_whose_network_was_changed_is_refused(tiny, tmp_path):
    save_model(fitted(tiny, X, np.arange(90) % 2), tmp_path / "model")
    with zipfile.ZipFile(tmp_path / "model" / "network.npz", "a") as file:
        file.writestr("more.npy", b"")
    with pytest.raises(ModelError, match="changed"):
        load_model(tmp_path / "model")


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_verified_label_is_read_first_and_never_doubted(tiny):
    y, verified = np.arange(90) % 3, np.arange(90) % 7 == 0
    model = PriorFittedClassifier(weights=tiny, random_state=0, max_context=20).fit(X, y, verified=verified)
    assert model.in_context_[verified].all()
    assert (model.p_wrong_[verified] == 0).all()
    assert (model.transduction_[verified] == y[verified]).all()
    assert (model.p_wrong_[~verified] > 0).all()
