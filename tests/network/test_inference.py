"""The network in NumPy: equal to PyTorch's, whatever the chunks and threads, and safe to read from a file."""

import json
import pickle
import warnings
from dataclasses import asdict, replace

import numpy as np
import pytest

from dips.exceptions import ModelError
from dips.network import _inference, _weights, export
from dips.network._beliefs import context_size
from dips.network._inference import FrozenNetwork
from dips.network._reading import Reading
from dips.network._settings import TINY, ModelSettings, NetworkSettings
from dips.network._weights import SHIPPED, Weights

ROWS, CONTEXT, LABELED, CLASSES = 90, 60, 30, 3
CATEGORICAL = np.array([False, False, True, False, True])


@pytest.fixture
def values():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(ROWS, 5))
    values[:, CATEGORICAL] = rng.integers(0, 4, (ROWS, 2))
    values[rng.random(values.shape) < 0.1] = np.nan
    return values


@pytest.fixture
def given():
    return np.append(np.random.default_rng(1).integers(0, CLASSES, LABELED), np.full(CONTEXT - LABELED, -1))


@pytest.fixture(scope="module")
def network():
    return FrozenNetwork(Weights.random(TINY.model, 0))


def read(network, values, given, seed=0):
    return Reading(network, values[:CONTEXT], CATEGORICAL, given, CLASSES, 2, seed)


def both_ways(weights, values, given):
    """Logits of all rows by PyTorch and by NumPy under the same names and order of columns."""
    torch = pytest.importorskip("torch")
    from dips.network._cells import encode
    from dips.network._model import Network
    from dips.network._prior._draws import Draws

    frozen = FrozenNetwork(weights)
    rows = Reading(frozen, values[:CONTEXT], CATEGORICAL, given, CLASSES, 1, 0)._labeled_rows()
    values = np.append(values[rows], values[LABELED:], axis=0)  # in the order in which trees are drawn
    given = np.append(given[rows], given[LABELED:])
    reading = Reading(frozen, values[:CONTEXT], CATEGORICAL, given, CLASSES, 1, 0)
    (view,) = reading._views(1)
    named = [torch.as_tensor(code)[None] for code in (view.codes.levels, view.codes.tokens)]
    draws = Draws("cpu", 7)
    draws.normal = lambda *shape: named.pop(0)
    table = torch.as_tensor(values[:, view.order], dtype=torch.float32)[None]
    flags, labels = torch.as_tensor(CATEGORICAL[view.order])[None], torch.as_tensor(given[:LABELED])[None]
    cells = encode(table, flags, labels, CLASSES, CONTEXT, 4, draws, weights.settings)
    cells.class_code = torch.as_tensor(view.codes.classes)[None]
    model = Network(weights.settings)
    model.load_state_dict({name: torch.as_tensor(array) for name, array in weights.arrays.items()})
    with torch.no_grad():
        theirs = model(cells, CONTEXT)[0].numpy()
    asked = frozen.ask(view.context, reading._tokens(values[CONTEXT:, view.order], view))
    return theirs, np.concatenate([view.context.logits, asked])


@pytest.mark.parametrize(("hints", "trees"), [(True, True), (True, False), (False, False)])
def test_numpy_and_pytorch_agree(values, given, hints, trees):
    theirs, ours = both_ways(Weights.random(replace(TINY.model, hints=hints, trees=trees), 0), values, given)
    assert np.ptp(theirs) > 0.5
    assert np.abs(ours - theirs).max() < 1e-4


@pytest.mark.skipif(not SHIPPED.exists(), reason="no trained weights here")
def test_numpy_and_pytorch_agree_on_the_trained_weights(values, given):
    theirs, ours = both_ways(Weights.load(SHIPPED), values, given)
    assert np.abs(ours - theirs).max() < 1e-3


def test_large_exponents_do_not_overflow(values, given):
    weights = Weights.random(TINY.model, 0)
    weights.arrays["column_qkv"] *= 12
    theirs, ours = both_ways(weights, values, given)
    assert np.abs(ours - theirs).max() < 1e-2
    assert np.isfinite(ours).all()


def test_the_order_of_the_rows_does_not_matter(network, values, given):
    plain = read(network, values, given)
    order = np.random.default_rng(2).permutation(CONTEXT)
    moved = read(network, np.append(values[order], values[CONTEXT:], axis=0), given[order])
    assert np.allclose(moved.of_context(), plain.of_context()[order], atol=1e-5)
    assert np.allclose(moved.ask(values[CONTEXT:]), plain.ask(values[CONTEXT:]), atol=1e-5)


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("tokens", [7, 100])
def test_chunks_and_threads_do_not_matter(network, values, given, tokens, n_threads, monkeypatch):
    plain = read(network, values, given)
    whole = plain.ask(values[CONTEXT:])
    monkeypatch.setattr(_inference, "CHUNK_TOKENS", tokens)
    parts = read(network, values, given)
    assert np.allclose(parts.of_context(n_threads), plain.of_context(), atol=1e-5)
    one_by_one = [parts.ask(row[None], n_threads)[0] for row in values[CONTEXT:]]
    assert np.allclose(one_by_one, whole, atol=1e-5)


@pytest.mark.parametrize(("columns", "classes"), [(2, 2), (20, 2), (48, 10)])
def test_what_is_kept_of_a_context_is_bounded(columns, classes):
    settings = NetworkSettings().model
    rows = context_size(FrozenNetwork(Weights(settings, {})), columns, classes, most=10**6)
    tokens = -(-columns // settings.columns_per_token) + classes
    kept = 2 * rows * tokens * settings.width * settings.layers * np.dtype(np.float32).itemsize
    assert classes < rows
    assert kept < 0.25e9


def test_answers_are_probabilities_and_depend_on_the_seed_alone(network, values, given):
    reading = read(network, values, given)
    for p, rows in ((reading.of_context(), CONTEXT), (reading.ask(values[CONTEXT:]), ROWS - CONTEXT)):
        assert p.shape == (rows, CLASSES)
        assert np.allclose(p.sum(1), 1)
    assert np.array_equal(read(network, values, given).of_context(), reading.of_context())
    again = pickle.loads(pickle.dumps(reading))
    assert np.array_equal(again.ask(values), reading.ask(values))
    assert not np.array_equal(read(network, values, given, seed=1).of_context(), reading.of_context())


def test_a_class_without_label_gets_no_probability(network, values, given):
    given[given == 1] = 0
    assert read(network, values, given).of_context()[:, 1].max() < 1e-6


def test_the_scale_of_a_column_does_not_matter(network, values, given):
    plain = read(network, values, given).ask(values[CONTEXT:])
    values[:, 0] = values[:, 0] * 1e-9 + 3e-8
    assert np.allclose(read(network, values, given).ask(values[CONTEXT:]), plain, atol=1e-4)


def test_huge_numbers_are_read_as_others_are(network, values, given):
    plain = read(network, values, given).ask(values[CONTEXT:])
    values[:, 0] *= 1e300
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.allclose(read(network, values, given).ask(values[CONTEXT:]), plain, atol=1e-5)


@pytest.mark.parametrize("known", [0.0, np.nan])
@pytest.mark.parametrize("other", [1.0, 1e300])
def test_numbers_of_a_column_that_had_one_value_tell_nothing(network, values, given, known, other):
    values[:, 0] = known
    plain = read(network, values, given)
    asked = values[CONTEXT:].copy()
    asked[:, 0] = other
    assert np.array_equal(plain.ask(asked), plain.ask(values[CONTEXT:]))


def test_the_largest_numbers_do_not_overflow(network, values, given):
    values[:, 0] = np.where(values[:, 0] > 0, 1.7e308, -1.7e308)
    values[:CONTEXT, 1] /= 100
    values[CONTEXT:, 1] = 1.7e308
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        reading = read(network, values, given)
        assert np.isfinite(reading.of_context()).all()
        assert np.isfinite(reading.ask(values[CONTEXT:])).all()


def test_weights_come_back_from_their_file(tmp_path):
    weights = Weights.random(TINY.model, 0)
    weights.save(tmp_path / "w.npz")
    again = Weights.load(tmp_path / "w.npz")
    assert again.settings == TINY.model
    assert all(np.array_equal(again.arrays[name], array) for name, array in weights.arrays.items())


def test_weights_of_before_there_were_hints_take_none(tmp_path):
    settings = asdict(TINY.model)
    del settings["hints"]
    assert not ModelSettings.from_json(json.loads(json.dumps(settings))).hints
    assert ModelSettings.from_json(json.loads(json.dumps(asdict(TINY.model)))).hints


def test_damaged_weights_are_refused(tmp_path):
    path = tmp_path / "w.npz"
    weights = Weights.random(TINY.model, 0)
    weights.save(path)
    with np.load(path) as file:
        arrays = dict(file)
    arrays["bend_in"][0, 0, 0] += 1
    np.savez(path, **arrays)
    with pytest.raises(ModelError, match="damaged"):
        Weights.load(path)
    whole = path.read_bytes()
    for content in (b"nothing", b"", whole[: len(whole) // 2], whole.replace(b"PK", b"KP", 3)):
        path.write_bytes(content)
        with pytest.raises(ModelError, match="not a file of network weights"):
            Weights.load(path)


def _with_head(path, change, **more):
    """Write a file of weights whose description is changed and whose checksum may be computed anew."""
    with np.load(path) as file:
        arrays = dict(file)
    head = json.loads(arrays.pop("head").tobytes())
    head["settings"] |= change
    head |= more
    if not more:
        head["sha256"] = _weights._checksum(arrays, head["settings"])
    np.savez(path, head=np.frombuffer(json.dumps(head).encode(), np.uint8), **arrays)


def test_a_changed_description_of_weights_is_refused(tmp_path):
    Weights.random(TINY.model, 0).save(tmp_path / "w.npz")
    _with_head(tmp_path / "w.npz", {"waves": [1, 2, 3]}, sha256="0")
    with pytest.raises(ModelError, match="checksum"):
        Weights.load(tmp_path / "w.npz")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"trees": False}, "its weights"),
        ({"layers": 7}, "its weights"),
        ({"row_heads": 0}, "heads"),
        ({"column_heads": 3}, "heads"),
        ({"width": 32.0}, "a number in its description"),
        ({"hints": 1}, "hints"),
        ({"code_width": 4}, "sizes"),
    ],
)
def test_a_description_that_does_not_fit_its_weights_is_refused(tmp_path, change, said):
    Weights.random(TINY.model, 0).save(tmp_path / "w.npz")
    _with_head(tmp_path / "w.npz", change)
    with pytest.raises(ModelError, match=said):
        Weights.load(tmp_path / "w.npz")


def test_weights_whose_checksum_is_of_the_arrays_alone_are_read(tmp_path):
    weights = Weights.random(TINY.model, 0)
    weights.save(tmp_path / "w.npz")
    with np.load(tmp_path / "w.npz") as file:
        arrays = {name: file[name] for name in file.files if name != "head"}
    head = {"settings": asdict(TINY.model), "sha256": _weights._checksum(arrays, None)}
    np.savez(tmp_path / "old.npz", head=np.frombuffer(json.dumps(head).encode(), np.uint8), **arrays)
    assert Weights.load(tmp_path / "old.npz").settings == weights.settings


def test_a_checkpoint_becomes_a_file_of_weights(tmp_path, capsys):
    weights = Weights.random(TINY.model, 0)
    TINY.save(tmp_path / "settings.json")
    np.savez(tmp_path / "mean.npz", **weights.arrays)
    export.main([str(tmp_path), str(tmp_path / "w.npz")])
    assert "weights" in capsys.readouterr().out
    assert np.array_equal(Weights.load(tmp_path / "w.npz").arrays["bend_in"], weights.arrays["bend_in"])
    NetworkSettings().save(tmp_path / "settings.json")
    with pytest.raises(ModelError, match="not those of a network"):
        export.main([str(tmp_path), str(tmp_path / "w.npz")])


def test_exported_weights_can_be_the_mean_of_two_trainings(tmp_path):
    one, other = Weights.random(TINY.model, 0), Weights.random(TINY.model, 1)
    TINY.save(tmp_path / "settings.json")
    np.savez(tmp_path / "mean.npz", **one.arrays)
    other.save(tmp_path / "other.npz")
    export.main([str(tmp_path), str(tmp_path / "w.npz"), "--average", str(tmp_path / "other.npz")])
    for name, array in Weights.load(tmp_path / "w.npz").arrays.items():
        assert np.allclose(array, (one.arrays[name] + other.arrays[name]) / 2, atol=1e-3), name
    Weights.random(NetworkSettings().model, 0).save(tmp_path / "large.npz")
    with pytest.raises(ModelError, match="same sizes"):
        export.main([str(tmp_path), str(tmp_path / "w.npz"), "--average", str(tmp_path / "large.npz")])


def test_a_package_without_weights_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr("dips.network._weights.SHIPPED", tmp_path / "weights.npz")
    with pytest.raises(ModelError, match="comes without trained weights"):
        Weights.load(tmp_path / "weights.npz")
