"""Models on disk: they answer as before, run nothing when loaded, and are refused when changed."""

import json
import pickletools
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from xgboost import XGBClassifier

from dips import CuratedClassifier, PseudoLabelClassifier
from dips._files import DataError, ModelError, OutputError, Preparation, UserError, read_table, understand
from dips._persistence import SavedModel, load_model, save_model
from dips.backbones import Backbone, find_backbone, register_backbone
from dips.datasets import make_quadrants

X, Y = make_quadrants(120, random_state=0)
OLD = Path(__file__).parent / "written_by_0_1_0"


def backbones():
    yield XGBClassifier(n_estimators=10)
    lightgbm = pytest.importorskip("lightgbm")
    yield lightgbm.LGBMClassifier(n_estimators=10, verbosity=-1)
    catboost = pytest.importorskip("catboost")
    yield catboost.CatBoostClassifier(iterations=10, verbose=False, allow_writing_files=False)


@pytest.fixture(params=backbones(), ids=lambda b: type(b).__name__)
def backbone(request):
    return request.param


@pytest.fixture
def saved(tmp_path):
    model = CuratedClassifier(XGBClassifier(n_estimators=10), random_state=0).fit(X, Y)
    save_model(model, tmp_path / "model")
    return tmp_path / "model"


def rewrite(folder, **changes):
    """Change the manifest as somebody would who computes its checksum anew."""
    from dips._persistence.model import _checksum

    record = json.loads((folder / "manifest.json").read_text()) | changes
    record.pop("sha256")
    (folder / "manifest.json").write_text(json.dumps(record | {"sha256": _checksum(record)}))


@pytest.mark.parametrize("y", [Y, np.where(Y == 1, "ill", "well"), Y + np.arange(Y.size) % 2 * 2])
def test_a_loaded_model_answers_as_before(tmp_path, backbone, y):
    model = CuratedClassifier(backbone, random_state=0).fit(X, y)
    save_model(model, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    np.testing.assert_allclose(loaded.predict_proba(X), model.predict_proba(X), atol=1e-7)
    assert loaded.predict(X).tolist() == model.predict(X).tolist()


def test_frames_with_categories_are_read_as_in_training(tmp_path):
    frame = pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 1] > 0, "high", "low")})
    model = PseudoLabelClassifier(XGBClassifier(n_estimators=10), random_state=0).fit(frame, Y)
    save_model(model, tmp_path / "model")
    assert (load_model(tmp_path / "model").predict_proba(frame) == model.predict_proba(frame)).all()
    with pytest.raises(ModelError, match="has 1 columns, but the model was trained on 2"):
        load_model(tmp_path / "model").predict(frame[["a"]])


def test_columns_of_a_frame_are_told_by_their_names(tmp_path):
    frame = pd.DataFrame({"a": X[:, 0], "b": 5 * X[:, 1], "c": np.arange(len(X))})
    model = CuratedClassifier(XGBClassifier(n_estimators=10), random_state=0).fit(frame, Y)
    save_model(model, tmp_path / "first")
    save_model(load_model(tmp_path / "first"), tmp_path / "second")
    loaded = load_model(tmp_path / "second")
    assert (loaded.predict_proba(frame[["c", "b", "a"]]) == model.predict_proba(frame)).all()
    assert (loaded.predict_proba(frame.to_numpy()) == model.predict_proba(frame)).all()
    with pytest.raises(ModelError, match=r"differ in \['c', 'd'\]"):
        loaded.predict(frame.rename(columns={"c": "d"}))


def test_columns_of_native_categories_are_told_by_their_names(tmp_path):
    frame = pd.DataFrame({"a": X[:, 0], "side": pd.Categorical(np.where(X[:, 1] > 0, "up", "down"))})
    model = CuratedClassifier(XGBClassifier(n_estimators=10, enable_categorical=True), random_state=0).fit(frame, Y)
    save_model(model, tmp_path / "model")
    answers = load_model(tmp_path / "model").predict_proba(frame[["side", "a"]])
    assert (answers == model.predict_proba(frame)).all()


@pytest.mark.parametrize("columns", [["a", "a"], ["a"], "ab", [1, 2]])
def test_names_of_columns_that_do_not_fit_are_refused(saved, columns):
    rewrite(saved, columns=columns)
    with pytest.raises(ModelError, match="damaged"):
        load_model(saved)


@pytest.mark.parametrize("costs", [[1, 2, 3], [1], "12", [1, "2"], [1, 0], [1, float("nan")], {"a": 1, "b": 2}])
def test_costs_that_no_class_has_are_refused(saved, costs):
    rewrite(saved, about={"costs": costs})
    with pytest.raises(ModelError, match="damaged"):
        load_model(saved)


@pytest.mark.parametrize("name", ["xgboost", "lightgbm", "catboost", "torch"])
def test_a_folder_written_by_the_first_release_is_still_read(name):
    pytest.importorskip(name)
    expected = json.loads((OLD / "expected.json").read_text())
    loaded = load_model(OLD / name, backbone=net() if name == "torch" else None)
    np.testing.assert_allclose(loaded.predict_proba(np.array(expected["rows"])), expected[name], atol=1e-6)


def test_files_are_named_as_in_the_first_release(tmp_path, backbone):
    model = CuratedClassifier(backbone, curator="none", random_state=0).fit(X, Y)
    save_model(model, tmp_path / "model")
    old = OLD / json.loads((tmp_path / "model" / "manifest.json").read_text())["backbone"]
    assert {p.name for p in (tmp_path / "model").iterdir()} == {p.name for p in old.iterdir()}


def test_a_loaded_model_can_be_saved_again(tmp_path, backbone):
    model = CuratedClassifier(backbone, curator="none", random_state=0).fit(X, Y)
    save_model(model, tmp_path / "first")
    save_model(load_model(tmp_path / "first"), tmp_path / "second")
    np.testing.assert_allclose(load_model(tmp_path / "second").predict_proba(X), model.predict_proba(X), atol=1e-7)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_model_that_split_nothing_is_saved(tmp_path, backbone, n_classes):
    few, y = X[:12], np.arange(12) % n_classes  # too few rows for a split of LightGBM
    model = CuratedClassifier(backbone, curator="none", random_state=0).fit(few, y)
    save_model(model, tmp_path / "model")
    np.testing.assert_allclose(load_model(tmp_path / "model").predict_proba(few), model.predict_proba(few), atol=1e-7)


def test_one_against_the_rest_adds_up_to_one_after_loading(tmp_path):
    lightgbm = pytest.importorskip("lightgbm")
    y = Y + np.arange(Y.size) % 2 * 2
    backbone = lightgbm.LGBMClassifier(n_estimators=10, objective="multiclassova", verbosity=-1)
    model = CuratedClassifier(backbone, curator="none", random_state=0).fit(X, y)
    save_model(model, tmp_path / "model")
    np.testing.assert_allclose(load_model(tmp_path / "model").predict_proba(X), model.predict_proba(X), atol=1e-7)


def test_a_family_of_ones_own_is_saved_by_its_own_methods(tmp_path, forget_families):
    class Constant(HistGradientBoostingClassifier):
        def fit(self, X, y):
            self.classes_, self.p_ = np.unique(y), float(np.mean(y))
            return self

        def predict_proba(self, X):
            return np.tile([1 - self.p_, self.p_], (len(X), 1))

    @register_backbone
    class Constants(Backbone):
        handles = (f"{__name__.partition('.')[0]}.Constant",)
        name, file_name = "constants", "share.txt"

        def save(self, fitted, path):
            path.write_text(repr(fitted.p_))

        def load(self, path, unfitted=None):
            loaded = Constant()
            loaded.p_ = float(path.read_text())
            return loaded

    model = CuratedClassifier(Constant(), curator="none").fit(X, Y)
    save_model(model, tmp_path / "model")
    assert (tmp_path / "model" / "share.txt").exists()
    np.testing.assert_array_equal(load_model(tmp_path / "model").predict_proba(X), model.predict_proba(X))
    forget_families()
    with pytest.raises(ModelError, match=r"family 'constants', which is not known here; install the package"):
        load_model(tmp_path / "model")


def net():
    import torch
    from skorch import NeuralNetClassifier

    layers = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Linear(4, 2), torch.nn.Softmax(dim=1))
    return NeuralNetClassifier(layers, max_epochs=3, train_split=None, verbose=0)


def test_a_binary_net_is_saved_too(tmp_path):
    torch, skorch = pytest.importorskip("torch"), pytest.importorskip("skorch")

    def binary_net():
        return skorch.NeuralNetBinaryClassifier(torch.nn.Linear(2, 1), max_epochs=3, train_split=None, verbose=0)

    model = CuratedClassifier(binary_net(), curator="none", random_state=0).fit(X, Y)
    save_model(model, tmp_path / "model")
    loaded = load_model(tmp_path / "model", backbone=binary_net())
    np.testing.assert_allclose(loaded.predict_proba(X), model.predict_proba(X), atol=1e-6)


def test_a_torch_net_needs_its_code_and_gets_its_weights(tmp_path):
    pytest.importorskip("skorch")
    model = CuratedClassifier(net(), curator="none", random_state=0).fit(X, Y)
    save_model(model, tmp_path / "model")
    with pytest.raises(ModelError, match="pass the net, unfitted"):
        load_model(tmp_path / "model")
    loaded = load_model(tmp_path / "model", backbone=net())
    np.testing.assert_allclose(loaded.predict_proba(X), model.predict_proba(X), atol=1e-6)


def test_what_only_pickle_could_hold_is_refused_before_anything_is_written(tmp_path):
    model = CuratedClassifier(HistGradientBoostingClassifier(max_iter=5), random_state=0).fit(X, Y)
    with pytest.raises(UserError, match="can only be stored by pickle, which runs code when it is loaded") as refused:
        save_model(model, tmp_path / "model")
    assert "use one of CatBoostClassifier, LGBMClassifier, NeuralNetBinaryClassifier" in str(refused.value)
    assert not (tmp_path / "model").exists()


def test_a_model_that_is_not_fitted_is_refused(tmp_path):
    with pytest.raises(UserError, match="is not fitted"):
        save_model(CuratedClassifier(), tmp_path / "model")


@pytest.mark.parametrize("make", [lambda m: m.estimator_, lambda m: make_pipeline("passthrough", m), lambda m: None])
def test_a_model_of_another_library_is_refused_as_such(tmp_path, make):
    model = make(CuratedClassifier(XGBClassifier(n_estimators=2), random_state=0).fit(X, Y))
    with pytest.raises(UserError, match=f"stores classifiers of dips, and this is a {type(model).__name__}"):
        save_model(model, tmp_path / "model")


def test_a_multilabel_model_is_refused_with_a_way_out(tmp_path):
    model = CuratedClassifier(XGBClassifier(n_estimators=2), random_state=0).fit(X, np.column_stack([Y, 1 - Y]))
    with pytest.raises(UserError, match="fit and save one classifier for each column of y"):
        save_model(model, tmp_path / "model")


@pytest.mark.parametrize("place", [".", "manifest.json"])
def test_what_is_there_is_not_overwritten(saved, place):
    with pytest.raises(UserError, match="already exists and is not an empty folder"):
        save_model(CuratedClassifier(XGBClassifier(n_estimators=2)).fit(X, Y), saved / place)


@pytest.mark.parametrize("row", [X[0], None])
def test_what_is_no_table_is_refused_in_words(saved, row):
    with pytest.raises(ModelError, match="A table of rows and columns is wanted"):
        load_model(saved).predict(row)


def test_no_file_of_a_model_is_a_pickle(saved):
    for path in saved.iterdir():
        if zipfile.is_zipfile(path):
            assert all(n.endswith(".npy") for n in zipfile.ZipFile(path).namelist())
        else:
            with pytest.raises(ValueError, match=r"."):  # a pickle could be taken apart
                list(pickletools.genops(path.read_bytes()))


def test_loading_never_unpickles(saved, monkeypatch):
    import pickle

    def forbidden(*args, **kwargs):
        pytest.fail("something was unpickled")

    for name in ("load", "loads", "Unpickler"):
        monkeypatch.setattr(pickle, name, forbidden)
    load_model(saved).predict(X)


@pytest.mark.parametrize("name", ["backbone.ubj", "manifest.json"])
@pytest.mark.parametrize("damage", ["cut", "changed"])
def test_a_file_that_was_cut_or_changed_is_refused(saved, name, damage):
    content = (saved / name).read_bytes()
    middle = len(content) // 2
    flipped = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
    (saved / name).write_bytes(content[:-7] if damage == "cut" else flipped)
    with pytest.raises(ModelError, match=r"cut off or changed|checksum differs|cannot be read"):
        load_model(saved)


def test_a_file_that_is_gone_is_named(saved):
    (saved / "backbone.ubj").unlink()
    with pytest.raises(ModelError, match=r"backbone.ubj is missing"):
        load_model(saved)


def test_a_folder_without_a_model_is_said(tmp_path):
    with pytest.raises(ModelError, match=r"holds no model: it has no manifest.json\.$"):
        load_model(tmp_path)


def test_of_a_run_the_model_in_it_is_named(saved):
    with pytest.raises(ModelError, match=r"it has no manifest.json; name the model of the run, .*model\.$"):
        load_model(saved.parent)


def test_names_of_files_cannot_lead_out_of_the_folder(saved):
    files = json.loads((saved / "manifest.json").read_text())["files"]
    rewrite(saved, files=files | {"../outside.json": files["backbone.ubj"]})
    with pytest.raises(ModelError, match="is missing"):
        load_model(saved)


def test_a_model_with_a_schema_checks_a_table_first(tmp_path):
    frame = pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 1] > 0, "high", "low")})
    table = read_table(frame)
    preparation = Preparation(understand(table)).learn(table)
    fitted = CuratedClassifier(XGBClassifier(n_estimators=10), random_state=0).fit(preparation.encode(table), Y)
    save_model(SavedModel(fitted.estimator_, ["no", "yes"], preparation), tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert (loaded.predict_proba(frame) == fitted.predict_proba(preparation.encode(table))).all()
    assert set(loaded.predict(frame)) == {"no", "yes"}
    with pytest.raises(DataError, match="lacks 1 of the 2 columns"):
        loaded.predict(frame[["a"]])


def test_a_column_of_categories_may_hold_none(tmp_path):
    table = read_table(pd.DataFrame({"a": X[:, 0], "b": ["NA"] * len(X)}))
    preparation = Preparation(understand(table, types={"b": "category"})).learn(table)
    model = XGBClassifier(n_estimators=10).fit(preparation.encode(table), Y)
    save_model(SavedModel(model, [0, 1], preparation), tmp_path / "model")
    assert load_model(tmp_path / "model").predict_proba(table).shape == (len(X), 2)


def test_a_student_of_beliefs_is_kept_without_pickle(tmp_path):
    X, y = make_quadrants(120, random_state=0)
    model = PseudoLabelClassifier(XGBClassifier(n_estimators=10), random_state=0).fit(X[:60], y[:60], X[60:])
    assert model.curator_.name == "beliefs"
    save_model(model, tmp_path / "model")
    assert (load_model(tmp_path / "model").predict_proba(X) == model.predict_proba(X)).all()


def test_an_untrusted_model_is_tried_in_a_child_process(saved):
    assert (load_model(saved, untrusted=True).predict(X) == load_model(saved).predict(X)).all()
    (saved / "backbone.ubj").write_bytes(b"")
    with pytest.raises(ModelError, match="has 0 bytes but was written with"):
        load_model(saved, untrusted=True)


def test_a_crash_of_the_child_is_a_sentence(saved, monkeypatch):
    monkeypatch.setattr("sys.executable", shutil.which("false"))
    with pytest.raises(ModelError, match="crashed the process that tried to load it"):
        load_model(saved, untrusted=True)


def test_a_file_that_a_library_did_not_finish_is_said(tmp_path, backbone, monkeypatch):
    model = CuratedClassifier(backbone, curator="none", random_state=0).fit(X, Y)
    family = type(find_backbone(model.estimator_))
    whole = family.save

    def save_most(self, fitted, path):
        whole(self, fitted, path)
        path.write_bytes(path.read_bytes()[:-200])

    monkeypatch.setattr(family, "save", save_most)
    with pytest.raises(OutputError, match=r"was not written in full .* is the disk full"):
        save_model(model, tmp_path / "model")


def test_a_loaded_model_says_in_a_line_what_it_is():
    model = SavedModel(XGBClassifier(), ["ill", "well"], about={"target": "outcome"})
    assert repr(model) == "SavedModel(XGBClassifier, target='outcome', classes=['ill', 'well'])"
    assert repr(SavedModel(XGBClassifier(), [0, 1])) == "SavedModel(XGBClassifier, classes=[0, 1])"
