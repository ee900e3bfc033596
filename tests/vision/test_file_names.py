"""A table names files as people do."""

import unicodedata
from pathlib import Path

import pandas as pd
import pytest
from PIL import Image

from dips.exceptions import InputError
from dips.vision import read_image_folder
from dips.vision._file_names import files_named, note_on_missing

FOLDER = Path("data/scans")
NAMES = ["Gelände 1.PNG", "a.png", "new/b.png", "old/b.png", "old/c.jpg"]


@pytest.mark.parametrize(
    ("listed", "file"),
    [
        ("a.png", "a.png"),
        ("a", "a.png"),
        ("./A.PNG", "a.png"),
        ("c.jpg", "old/c.jpg"),
        ("c", "old/c.jpg"),
        (r"old\b.png", "old/b.png"),
        ("scans/old/b.png", "old/b.png"),
        ("data/scans/old/b", "old/b.png"),
        (str(FOLDER.resolve() / "new" / "b.png"), "new/b.png"),
        (r"C:\Data\Scans\old\b.png", "old/b.png"),
        ("/home/else/scans/a.png", "a.png"),
        (unicodedata.normalize("NFD", "Gelände 1.PNG"), "Gelände 1.PNG"),
    ],
)
def test_a_file_is_found_by_what_it_is_called(listed, file):
    assert files_named([listed], NAMES, FOLDER) == [file]


def test_a_name_may_begin_with_the_folder_that_one_is_in(tmp_path, monkeypatch):
    (tmp_path / "scans").mkdir()
    monkeypatch.chdir(tmp_path / "scans")
    assert files_named(["scans/old/b.png"], NAMES, Path()) == ["old/b.png"]


def test_an_exact_name_is_never_taken_for_another():
    names = ["a", "A", "scans/a", "x/a.png"]
    assert files_named(names, names, FOLDER) == names


@pytest.mark.parametrize(
    ("listed", "message"),
    [
        (["b.png"], r"names 'b.png', which may be 'new/b.png' or 'old/b.png'; name files with their folders"),
        (["a.jpg", "z"], r"names 2 files that are not in .*, such as 'a.jpg'; names are relative to that folder\.$"),
        (["a", "z"], r"names 1 file that is not in .*, such as 'z'; .* leave them out with skip_missing=True"),
        (["new/c.jpg"], "not in"),
        ([r"C:\elsewhere\a.png"], "not in"),
        (["a", "a.png"], "names 'a.png' more than once"),
    ],
)
def test_what_is_not_clear_is_refused(listed, message):
    with pytest.raises(InputError, match=message):
        files_named(listed, NAMES, FOLDER)


def test_labels_of_files_that_are_not_there_may_be_skipped():
    listed = ["a", "z.png", "y", "c"]
    files = files_named(listed, NAMES, FOLDER, skip_missing=True)
    assert files == ["a.png", None, None, "old/c.jpg"]
    assert note_on_missing(listed, files) == ["2 files of the table are not in the folder and left out: z.png, y."]
    with pytest.raises(InputError, match="names 2 files that are not in"):
        files_named(listed[1:3], NAMES, FOLDER, skip_missing=True)


def test_names_that_look_like_numbers_keep_their_zeros(tmp_path):
    for name in ("0001.png", "0010.png"):
        Image.new("RGB", (8, 8)).save(tmp_path / name)
    pd.DataFrame({"id": ["0010"], "label": ["x"]}).to_csv(tmp_path / "labels.csv", index=False)
    assert read_image_folder(tmp_path, tmp_path / "labels.csv")[1].tolist() == [None, "x"]
