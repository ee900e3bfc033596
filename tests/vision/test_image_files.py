"""Folders of files: of several sizes, in part damaged, larger than the memory."""

import os

import numpy as np
import pandas as pd
import pytest

from dips.exceptions import InputError
from dips.vision import ImageClassifier, _image_pool, read_image_folder
from dips.vision._image_files import read_images
from dips.vision._image_folder import class_folders, find_images, notes_on_other_files

Image = pytest.importorskip("PIL.Image")


def save(path, level=50, size=(12, 10), mode="RGB"):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new(mode, size, level if mode == "L" else (level,) * 3).save(path)


@pytest.fixture
def folder(tmp_path):
    for k in range(4):
        save(tmp_path / "scans" / f"{k}.png", 10 * k)
    return tmp_path / "scans"


def damage(path):
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])


def read(folder, **how):
    return read_images(folder, find_images(folder), **how)


def test_a_folder_per_class_gives_the_labels(folder):
    for name in ("cat/deep/1.png", "dog/2.PNG", "unlabeled/3.png", "cat/._4.png", ".trash/5.png"):
        save(folder / name)
    assert find_images(folder)[4:] == ["cat/deep/1.png", "dog/2.PNG", "unlabeled/3.png"]
    assert class_folders(find_images(folder)) == [None] * 4 + ["cat", "dog", None]
    X, y = read_image_folder(folder)
    assert len(X) == 7
    assert y.dropna().to_dict() == {"cat/deep/1.png": "cat", "dog/2.PNG": "dog"}


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ValueError, match="There is no folder"):
        find_images(tmp_path / "none")


def test_a_part_of_a_data_set_is_read_with_its_labels(folder):
    table = pd.DataFrame({"file": ["3", "7", "8", "0"], "label": [1, 1, 0, 0]})
    with pytest.warns(UserWarning, match=r"2 files of the table are not in the folder and left out: 7, 8\."):
        X, y = read_image_folder(folder, table, skip_missing=True)
    assert len(X) == 4
    assert y.dropna().to_dict() == {"0.png": 0, "3.png": 1}


def test_files_that_are_not_read_are_counted_by_their_endings(folder):
    for name in ("a.dcm", "cat/b.DCM", "c.heic", "d", "labels.csv", ".hidden"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).touch()
    words = "4 files that dips does not read are left out: 2 .dcm, 1 .heic, 1 without an ending."
    assert notes_on_other_files(folder) == [words]
    with pytest.warns(UserWarning, match="2 .dcm, 1 .heic"):
        read_image_folder(folder)
    for path in folder.glob("*.png"):
        path.unlink()
    with pytest.raises(InputError, match=r"no image in .*; dips reads .bmp, .* left out: 2 \.dcm"):
        find_images(folder)


@pytest.fixture
def linked(folder, tmp_path):
    """A folder per class, one of which is a link to elsewhere; another link leads back."""
    for k in range(3):
        save(folder / "benign" / f"{k}.png")
        save(tmp_path / "elsewhere" / "old" / f"{k}.png")
    try:
        (folder / "malignant").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
        (folder / "benign" / "back").symlink_to(folder, target_is_directory=True)
    except OSError:
        pytest.skip("links cannot be made here")
    return folder


def test_links_to_folders_are_followed_but_not_in_circles(linked):
    names = find_images(linked)
    assert [name for name in names if "/" in name] == [
        *(f"benign/{k}.png" for k in range(3)),
        *(f"malignant/old/{k}.png" for k in range(3)),
    ]


def test_a_link_that_leads_nowhere_is_named(linked):
    (linked / "lost.png").symlink_to(linked / "nowhere.png")
    with pytest.raises(InputError, match=r"1 of 11 image files .* cannot be read: lost\.png \(.*[^:]\)\. Remove"):
        read(linked)


def test_words_for_no_label_and_lines_without_a_file_are_told_of(folder, tmp_path):
    (tmp_path / "labels.csv").write_text("file,label\n0.png,None\n1.png,Fracture\n2.png,\n,Fracture\n")
    with pytest.warns(UserWarning, match="no file|read as missing") as told:
        _, y = read_image_folder(folder, tmp_path / "labels.csv")
    assert y.tolist() == [None, "Fracture", None, None]
    assert [str(w.message) for w in told] == [
        "Labels read as missing: 'None' (1); if one is a class, pass the table as a data frame that holds it.",
        "1 line of the table names no file; left out.",
    ]
    table = pd.DataFrame({"file": ["0.png", None], "label": ["None", "Fracture"]})
    with pytest.warns(UserWarning, match="1 line of the table names no file"):
        assert read_image_folder(folder, table)[1].tolist() == ["None", None, None, None]


def test_a_table_with_other_separators_is_refused_in_words(folder, tmp_path):
    (tmp_path / "labels.csv").write_text("file;label\n0.png;a\n")
    with pytest.raises(InputError, match=r"needs two columns, file and label, set apart by a comma"):
        read_image_folder(folder, tmp_path / "labels.csv")


@pytest.mark.parametrize("content", [None, "", "\xe9".encode("latin-1")])
def test_a_table_of_labels_that_cannot_be_read_is_refused_in_words(folder, tmp_path, content):
    table = tmp_path / "labels.csv"
    if content is not None:
        table.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=r"labels.csv.*CSV file with the columns file and label"):
        read_image_folder(folder, table)


def test_the_size_that_most_images_have_can_be_asked_for(folder):
    save(folder / "large.png", size=(40, 40))
    assert read_image_folder(folder, size="auto")[0].shape == (5, 10, 12, 3)
    with pytest.raises(InputError, match=r"size must be \(height, width\), 'auto' or None; got 'large'"):
        read_image_folder(folder, size="large")


@pytest.mark.parametrize("when", ["the header", "the pixels"])
def test_damaged_files_are_refused_by_name_or_left_out(folder, when):
    if when == "the header":
        (folder / "1.png").write_bytes(b"")
    else:
        damage(folder / "1.png")
    for cache in (False, folder / "cache"):
        with pytest.raises(ValueError, match=r"1 of 4 image files in .* cannot be read: 1\.png \(.+\)\..*skip_damaged"):
            read(folder, cache=cache)
        images = read(folder, skip_damaged=True, cache=cache)
        assert images.names == ["0.png", "2.png", "3.png"]
        assert list(images.damaged) == ["1.png"]
        assert images.images[:, 0, 0, 0].tolist() == [0, 20, 30]
        assert "1 file cannot be read and is left out: 1.png" in images.notes[-1]


def test_what_was_left_out_is_told_and_its_label_with_it(folder):
    damage(folder / "1.png")
    labels = pd.DataFrame({"file": [f"{k}.png" for k in range(4)], "label": list("abcd")})
    with pytest.warns(UserWarning, match=r"1 file was left out: 1\.png"):
        X, y = read_image_folder(folder, labels, skip_damaged=True)
    assert (len(X), y.tolist()) == (3, ["a", "c", "d"])


def test_a_folder_of_damaged_files_is_refused_even_if_they_may_be_left_out(folder):
    for path in folder.iterdir():
        damage(path)
    for cache in (False, folder / "cache"):
        with pytest.raises(ValueError, match="None of the 4 image files"):
            read(folder, skip_damaged=True, cache=cache)


def test_sizes_are_kept_or_chosen(folder):
    assert read(folder, size="auto").size == (10, 12)
    save(folder / "wide.png", size=(20, 10))
    images = read(folder, size="auto")
    assert images.size == (10, 12)
    assert images.notes == ["1 of 5 images is resized to 10 by 12 pixels."]
    for k in range(3):
        save(folder / f"tall{k}.png", size=(8, 20))
    images = read(folder, size="auto")
    assert images.size == (96, 96)  # no size is that of most
    assert images.notes == ["8 of 8 images are resized to 96 by 96 pixels."]


def test_images_that_are_too_small_are_refused_before_they_are_decoded(tmp_path):
    save(tmp_path / "a.png", size=(20, 6))
    for size in (None, "auto"):
        with pytest.raises(InputError, match=r"are 6 by 20 pixels, .* at least 8 by 8; enlarge them with size"):
            read(tmp_path, size=size)
    assert read(tmp_path, size=(8, 8)).images.shape == (1, 8, 8, 3)


def test_large_images_become_smaller_even_if_most_have_one_size(tmp_path):
    for k, width in enumerate((200, 200, 150)):
        save(tmp_path / f"{k}.png", size=(width, 140))
    assert read(tmp_path, size="auto").size == (96, 96)


def test_a_folder_is_gray_where_all_of_it_is(folder, tmp_path):
    for k in range(2):
        save(tmp_path / "gray" / f"{k}.png", mode="L")
    assert (read(tmp_path / "gray").mode, read(folder).mode) == ("L", "RGB")
    save(folder / "gray.png", mode="L")
    assert read(folder).mode == "RGB"


def test_deep_images_are_told_of(tmp_path):
    Image.fromarray(np.arange(120, dtype=np.uint16).reshape(10, 12) * 9).save(tmp_path / "scan.png")
    assert read(tmp_path).notes == ["1 image has more than eight bits and is windowed to its own range."]


def test_a_cache_is_made_once_and_again_when_a_file_changes(folder, tmp_path):
    place = tmp_path / "cache"
    first = read(folder, cache=place)
    np.testing.assert_array_equal(first.images, read(folder, cache=False).images)
    (made,) = place.glob("*.bytes")
    before = made.stat().st_mtime_ns
    read(folder, cache=place)
    assert made.stat().st_mtime_ns == before
    save(folder / "0.png", 99)
    os.utime(folder / "0.png", ns=(1, 1))
    assert read(folder, cache=place).images[0, 0, 0, 0] == 99


def test_a_folder_larger_than_the_memory_is_cached_and_streamed(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("DIPS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(_image_pool, "_SHARE_OF_MEMORY", 0.0)
    X, _ = read_image_folder(folder)
    assert len(list((tmp_path / "cache" / "images").glob("*.bytes"))) == 1
    clf = ImageClassifier("tiny", curator="none", n_steps=2, n_rounds=1, batch_size=2, unlabeled_ratio=1)
    assert clf.fit(X, ["a", "b", "a", None]).predict(X).shape == (4,)
