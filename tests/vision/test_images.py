import os
import sys

import numpy as np
import pandas as pd
import pytest
import torch

from dips.exceptions import InputError
from dips.vision import read_dataset, read_image_folder
from dips.vision._images import as_images

Image = pytest.importorskip("PIL.Image")


@pytest.fixture
def folder(tmp_path):
    for k, name in enumerate(["a.png", "b.png", "more/c.png"]):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        Image.fromarray(np.full((10, 12, 3), 10 * k, dtype=np.uint8)).save(path)
    (tmp_path / "notes.txt").write_text("not an image")
    return tmp_path


def test_a_folder_and_a_table_become_images_and_labels(folder):
    (folder / "labels.csv").write_text("file,label\nmore/c.png,cat\na.png,dog\n")
    X, y = read_image_folder(folder, folder / "labels.csv")
    assert X.shape == (3, 10, 12, 3)
    assert X[:, 0, 0, 0].tolist() == [0, 10, 20]
    assert y.to_dict() == {"a.png": "dog", "b.png": None, "more/c.png": "cat"}


def test_images_can_be_resized_and_made_gray(folder):
    X, _ = read_image_folder(folder, pd.DataFrame({"file": ["a.png"], "label": [1]}), size=(8, 9), mode="L")
    assert X.shape == (3, 8, 9, 1)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"file": ["z.png"], "label": [1]}, "names 1 file that is not in .*'z.png'; names are relative to that folder"),
        ({"file": ["a.png", "A"], "label": [1, 2]}, "names 'a.png' more than once"),
        ({"file": ["a.png", "a.png"], "label": [1, 2]}, "names 'a.png' more than once"),
        ({"file": ["a.png"]}, "needs two columns, file and label"),
    ],
)
def test_a_table_that_does_not_fit_is_refused(folder, table, words):
    with pytest.raises(ValueError, match=words):
        read_image_folder(folder, pd.DataFrame(table))


def test_images_of_several_sizes_need_a_size(folder):
    Image.fromarray(np.zeros((20, 20, 3), dtype=np.uint8)).save(folder / "d.png")
    with pytest.raises(ValueError, match=r"have 2 different sizes.*choose one with size="):
        read_image_folder(folder, pd.DataFrame({"file": ["a.png"], "label": [1]}))


@pytest.mark.skipif(sys.platform != "linux", reason="file names are text elsewhere")
def test_a_file_name_that_is_no_text_is_refused(folder):
    os.rename(folder / "a.png", os.fsencode(folder) + b"/caf\xe9.png")
    with pytest.raises(ValueError, match=r"file name 'caf\\udce9.png' in .* is not in UTF-8; rename the file"):
        read_image_folder(folder, pd.DataFrame({"file": ["b.png"], "label": [1]}))


def test_a_folder_without_images_is_refused(tmp_path):
    with pytest.raises(ValueError, match="There is no image in"):
        read_image_folder(tmp_path, pd.DataFrame({"file": [], "label": []}))


@pytest.mark.parametrize("kind", ["bytes", "floats", "array", "pillow"])
def test_any_pytorch_data_set_can_be_read(kind):
    pixels = np.random.RandomState(0).randint(0, 256, (4, 9, 8, 3)).astype(np.uint8)

    class Pairs(torch.utils.data.Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, k):
            tensor = torch.from_numpy(pixels[k]).permute(2, 0, 1)
            return {
                "bytes": tensor,
                "floats": tensor.float() / 255,
                "array": pixels[k],
                "pillow": Image.fromarray(pixels[k]),
            }[kind], k - 1

    X, y = read_dataset(Pairs())
    np.testing.assert_array_equal(X, pixels)
    assert y.tolist() == [-1, 0, 1, 2]


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.zeros((2, 8, 8, 3)), "must be bytes from 0 to 255.*got float64"),
        (np.full((2, 8, 8, 3), 0.98), r"got float64 from 0.98 to 0.98; use \(X \* \(255 / 1\)\)"),
        (np.full((2, 8, 8), 16.0), r"from 16 to 16; use \(X \* \(255 / 16\)\)\.round\(\)\.astype\('uint8'\)"),
        (np.full((2, 8, 8), 200.0), r"got float64 from 200 to 200; use X\.round\(\)\.astype\('uint8'\)"),
        (np.zeros((9, 8, 3), dtype=np.uint8), r"at least 8 pixels.*one image alone is X\[None\]"),
        (np.full((2, 8, 8), 200), r"got int64 from 200 to 200; use X\.astype\('uint8'\)"),
        (np.full((2, 8, 8), -1.5), "from -1.5 to -1.5; scale them to 0 to 255"),
        (["scan.png"] * 2, "must be bytes from 0 to 255.*got <U8"),
        ([np.zeros((8, 8), np.uint8), np.zeros((9, 8), np.uint8)], "must be one array, all of the same size"),
        (np.zeros((2, 8), dtype=np.uint8), r"must be of shape \(n, height, width, channels\)"),
        (np.zeros((2, 3, 8, 8), dtype=np.uint8), "channels first.*transpose"),
        (np.zeros((2, 7, 8, 3), dtype=np.uint8), "at least 8 pixels"),
    ],
)
def test_what_is_no_image_is_refused(X, words):
    with pytest.raises(ValueError, match=words):
        as_images(X)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([(np.zeros((8, 8), np.uint8), 0), (np.zeros((8, 9), np.uint8), 1)], r"same size; got \(8, 8\) and \(8, 9\)"),
        ([(np.zeros((8, 8), np.uint8), "cat")], "label must be an integer, -1 if unknown; got 'cat'"),
    ],
)
def test_a_data_set_that_does_not_fit_an_array_is_refused_in_words(pairs, message):
    with pytest.raises(InputError, match=message):
        read_dataset(pairs)
