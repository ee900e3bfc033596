"""Loaders on small files of the official layouts; downloads come from this disk."""

import contextlib
import hashlib
import io
import os
import pickle
import random
import tarfile
import zipfile

import numpy as np
import pytest

from dips.datasets._download import Remote, cache_folder
from dips.datasets._image_sets import FILES, LOADERS, find, load_images
from dips.exceptions import DataError

Image = pytest.importorskip("PIL.Image")
torch = pytest.importorskip("torch", reason="CIFAR-N's labels are stored by PyTorch")
RNG = np.random.RandomState(0)


@pytest.fixture(autouse=True)
def _apart_from_the_users_files(tmp_path, monkeypatch):
    monkeypatch.setenv("DIPS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("DIPS_DATA", raising=False)


def write_tar(path, members):
    with tarfile.open(path, "w:gz") as archive:
        for name, content in members.items():
            data = pickle.dumps(content, protocol=2)
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))


def flat(n):
    return RNG.randint(0, 256, (n, 3072)).astype(np.uint8)


def cifar10(folder, clean=None):
    batches = {
        f"cifar-10-batches-py/data_batch_{k}": {"data": flat(2), "labels": [k % 2, (k + 1) % 2]} for k in range(1, 6)
    }
    y = [label for batch in batches.values() for label in batch["labels"]]
    batches["cifar-10-batches-py/test_batch"] = {"data": flat(3), "labels": [0, 1, 0]}
    batches["cifar-10-batches-py/batches.meta"] = {"label_names": ["airplane", "automobile"]}
    write_tar(folder / "cifar-10-python.tar.gz", batches)
    people = {"clean_label": np.array(y if clean is None else clean), "worse_label": 1 - np.array(y)}
    torch.save(people, folder / "CIFAR-10_human.pt")
    return batches, np.array(y)


def test_cifar10n_is_read_with_what_people_said(tmp_path):
    batches, y = cifar10(tmp_path)
    data = load_images("cifar10n", tmp_path)
    assert data.X_train.shape == (10, 32, 32, 3)
    red = batches["cifar-10-batches-py/data_batch_1"]["data"][0, :1024]
    assert (data.X_train[0, :, :, 0].ravel() == red).all()
    assert (data.y_train == y).all()
    assert (data.noisy["worse"] == 1 - y).all()
    assert data.class_names == ("airplane", "automobile")


def test_labels_that_do_not_belong_to_the_images_are_refused(tmp_path):
    cifar10(tmp_path, clean=np.ones(10, dtype=int))
    with pytest.raises(ValueError, match="are not those of the images"):
        load_images("cifar10n", tmp_path)


def test_cifar100n_is_read(tmp_path):
    parts = {"train": {"data": flat(4), "fine_labels": [0, 1, 2, 3]}, "test": {"data": flat(2), "fine_labels": [0, 1]}}
    parts["meta"] = {"fine_label_names": ["apple", "bear", "cup", "dog"]}
    write_tar(tmp_path / "cifar-100-python.tar.gz", {f"cifar-100-python/{k}": v for k, v in parts.items()})
    people = {"clean_label": np.arange(4), "noisy_label": np.zeros(4, dtype=int), "noisy_coarse_label": np.zeros(2)}
    torch.save(people, tmp_path / "CIFAR-100_human.pt")
    data = load_images("cifar100n", tmp_path)
    assert list(data.noisy) == ["noisy"]
    assert data.y_test.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("name", "shape"), [("tissuemnist", (28, 28)), ("organamnist", (28, 28)), ("pathmnist", (28, 28, 3))]
)
def test_medmnist_is_read(tmp_path, name, shape):
    arrays = {}
    for part, n in (("train", 5), ("val", 2), ("test", 3)):
        arrays |= {f"{part}_images": np.zeros((n, *shape), dtype=np.uint8), f"{part}_labels": np.arange(n)[:, None]}
    np.savez(tmp_path / f"{name}.npz", **arrays)
    data = load_images(name, tmp_path)
    assert data.X_train.shape == (5, 28, 28, 3 if len(shape) == 3 else 1)
    assert data.y_test.tolist() == [0, 1, 2]


def test_a_fifth_of_each_class_of_eurosat_is_for_testing(tmp_path):
    with zipfile.ZipFile(tmp_path / "EuroSAT.zip", "w") as archive:
        for c in ("Forest", "River"):
            for k in range(10):
                file = io.BytesIO()
                Image.fromarray(np.full((64, 64, 3), 100, dtype=np.uint8)).save(file, "JPEG")
                archive.writestr(f"2750/{c}/{c}_{k}.jpg", file.getvalue())
    data = load_images("eurosat", tmp_path)
    assert data.X_train.shape == (16, 64, 64, 3)
    assert np.bincount(data.y_test).tolist() == [2, 2]
    assert data.class_names == ("Forest", "River")


def test_mosaics_are_cut_into_their_tiles(tmp_path):
    tiles = np.repeat(RNG.randint(0, 256, (200, 1, 1, 3)), 64, axis=1).reshape(200, 8, 8, 3).astype(np.uint8)
    grid = tiles.reshape(2, 100, 8, 8, 3).swapaxes(1, 2).reshape(16, 800, 3)
    file = io.BytesIO()
    Image.fromarray(grid).save(file, "PNG")
    blob, y = np.frombuffer(file.getvalue(), dtype=np.uint8), np.arange(200) % 10
    labels = {"train_label": y, "test_label": y, "class_names": np.array(list("abcdefghij"))}
    np.savez(tmp_path / "eurosat32.npz", train_mosaic_0=blob, test_mosaic_0=blob, **labels)
    data = load_images("eurosat", tmp_path)
    assert (data.X_train == tiles).all()
    assert data.head(7).X_train.shape == (7, 8, 8, 3)


def test_an_unknown_name_is_refused():
    with pytest.raises(ValueError, match="no image set 'mnist'; choose one of cifar10n, cifar100n"):
        load_images("mnist")


def test_a_pickle_that_would_run_something_is_refused(tmp_path):
    cifar10(tmp_path)

    class Evil:
        def __reduce__(self):
            return os.system, ("true",)

    torch.save({"clean_label": Evil()}, tmp_path / "CIFAR-10_human.pt")
    with pytest.raises(DataError, match=r"The files of cifar10n cannot be read .* does not need"):
        load_images("cifar10n", tmp_path)


class Forged:
    """Pickles as an array of the given type, whose bytes are addresses."""

    def __init__(self, dtype, shape=(10,), content=b"\x41" * 80):
        self.dtype, self.shape, self.content = dtype, shape, content

    def __reduce__(self):
        rebuild = np.empty(0).__reduce__()
        return rebuild[0], rebuild[1], (1, self.shape, self.dtype, False, self.content)


@pytest.mark.parametrize(
    "forged",
    [
        Forged(np.dtype("O")),
        Forged(np.dtype("O"), content=[1] * 10),
        Forged(np.dtype([("a", "O")])),
        Forged(np.dtype("i8"), shape=(11,)),
        Forged(np.dtype("i8"), shape=(-10,)),
        Forged(np.dtype("i8"), shape=(2**62, 4)),
        Forged(np.dtype("V8")),
        Forged("i8"),
    ],
)
def test_a_forged_array_is_refused(tmp_path, forged):
    cifar10(tmp_path)
    torch.save({"clean_label": forged}, tmp_path / "CIFAR-10_human.pt")
    with pytest.raises(DataError, match="The files of cifar10n cannot be read"):
        load_images("cifar10n", tmp_path)


def test_flipped_bits_are_refused_or_harmless(tmp_path):
    _, y = cifar10(tmp_path)
    path, rng = tmp_path / "CIFAR-10_human.pt", random.Random(0)
    torch.save({"clean_label": y, "worse_label": 1 - y}, path, _use_new_zipfile_serialization=False)
    assert (load_images("cifar10n", tmp_path).noisy["worse"] == 1 - y).all()
    whole = path.read_bytes()
    for _ in range(150):
        damaged = bytearray(whole)
        damaged[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        with contextlib.suppress(DataError):
            load_images("cifar10n", tmp_path)


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04 cut short"])
@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("cifar10n", "cifar10n.npz"),
        ("cifar10n", "cifar-10-python.tar.gz"),
        ("eurosat", "EuroSAT.zip"),
        ("pathmnist", "pathmnist.npz"),
    ],
)
def test_a_damaged_file_is_refused_in_a_sentence(tmp_path, name, file, content):
    (tmp_path / file).write_bytes(content)
    with pytest.raises(DataError, match=f"The files of {name} cannot be read"):
        load_images(name, tmp_path)


def test_a_file_of_other_arrays_is_refused_in_a_sentence(tmp_path):
    np.savez(tmp_path / "pathmnist.npz", a=np.zeros(3))
    with pytest.raises(DataError, match="The files of pathmnist cannot be read"):
        load_images("pathmnist", tmp_path)


def remote(path, content=b"content", md5=None):
    path.write_bytes(content)
    return Remote(path.as_uri(), md5=md5 or hashlib.md5(content).hexdigest())


def test_a_file_is_downloaded_once_and_kept(tmp_path):
    there = remote(tmp_path / "file.bin")
    kept = find(there)
    assert kept == cache_folder() / "file.bin"
    (tmp_path / "file.bin").unlink()
    assert find(there).read_bytes() == b"content"


def test_a_file_that_came_broken_is_not_kept(tmp_path):
    there = remote(tmp_path / "file.bin", md5="0" * 32)
    with pytest.raises(ValueError, match=r"its checksum is .* instead of"):
        find(there)
    assert list(cache_folder().iterdir()) == []


def test_without_a_connection_it_says_where_to_put_the_file(tmp_path):
    with pytest.raises(
        ValueError, match=r"could not be downloaded from .*; go online, or put the file into .* set DIPS_DATA"
    ):
        find(Remote((tmp_path / "nowhere").as_uri()))


def test_local_folders_come_first(tmp_path, monkeypatch):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file.bin").write_bytes(b"mine")
    monkeypatch.setenv("DIPS_DATA", str(tmp_path / "mine"))
    assert find(Remote("https://nowhere.invalid/file.bin")).read_bytes() == b"mine"


def test_every_set_knows_its_files():
    assert set(LOADERS) <= set(FILES)
    assert all(file.url.startswith("https://") for file in FILES.values())


@pytest.mark.skipif("DIPS_DATA" not in os.environ, reason="DIPS_DATA names no folder with the real files")
def test_the_real_human_labels_are_as_wrong_as_published():
    data = load_images("cifar10n", os.environ["DIPS_DATA"])
    shares = {name: (labels != data.y_train).mean() for name, labels in data.noisy.items()}
    assert shares["worse"] == pytest.approx(0.4021, abs=1e-4)
    assert shares["aggre"] == pytest.approx(0.0901, abs=2e-4)
