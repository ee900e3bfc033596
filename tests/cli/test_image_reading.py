"""Before anything is trained on images: how a folder and its labels are read, what is refused, how long it takes."""

import json
import re
import sys

import pandas as pd
import pytest

pytest.importorskip("torch", reason="PyTorch is not installed, and images need it")

import torch

from dips import audit_images, fit, fit_images
from dips._cli.app import run as dips
from dips._image_study.album import read_album
from dips._image_study.settings import ImageSettings
from dips._image_study.waiting import tell_how_long
from dips._study.run import Run
from dips._tools.observer import Observer
from dips.curators import ImageAuto
from dips.exceptions import DataError, SettingsError

from .colors import QUICK, N, labeled, make_colors
from .words import said

pytestmark = pytest.mark.usefixtures("cache", "one_torch_thread")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return make_colors(tmp_path_factory.mktemp("images"))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"curator": ImageAuto()}, "curator takes a name here; got an object of type ImageAuto"),
        ({"network": lambda n_classes, n_channels: None}, "network takes a name here"),
        ({"verified": [True]}, "verified takes a name here"),
        ({"steps": 4.5}, "steps must be a whole number of at least 1; got 4.5"),
        ({"steps": "4"}, "steps must be a whole number of at least 1; got '4'"),
        ({"size": 7}, "size must be a whole number of at least 8; got 7"),
        ({"seed": -1}, "seed must be a whole number of at least 0; got -1"),
        ({"holdout": None}, "from 0 to 0.5; got None"),
    ],
)
def test_settings_of_the_wrong_type_are_refused_before_anything_is_read(tmp_path, settings, words):
    with pytest.raises(SettingsError, match=words):
        fit_images(tmp_path, tmp_path / "run", **settings)


def test_python_is_told_what_to_write(place, tmp_path):
    with pytest.raises(DataError, match=r"is a folder; .* images in it with dips.fit_images"):
        fit(place / "colors", "color", tmp_path / "run")
    with pytest.raises(SettingsError, match=r"labels takes a file, .*; save the DataFrame first"):
        audit_images(place / "colors", labels=pd.read_csv(place / "labels.csv"))


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--drop", "a"], 3, "--drop is for tables, and .*colors is a folder of images"),
        (["--backbone", "lightgbm"], 3, "--backbone is for tables"),
        (["--network", "huge"], 3, "network='huge' is not known"),
        (["--network", "timm:resnet18"], 3, "needs timm, which is not installed"),
        (["--labels", "nothing.csv"], 3, "labels names nothing.csv, which is not a file"),
        (["--id", "name"], 3, "--id names the one column with the file names; got path, name"),
        (["-t", "colour"], 3, "has no column 'colour'"),
        (["--curator", "none"], 3, "judges no label"),
        (["--holdout", "0.02"], 3, "too few to hold out"),
        (["--holdout", "0.99"], 3, "from 0 to 0.5; got 0.99"),
    ],
)
def test_what_cannot_work_is_refused_before_anything_is_trained(place, tmp_path, capsys, options, code, words):
    arguments = ["fit", *labeled(place, *QUICK[:4]), *options, "-o", str(tmp_path / "run")]
    assert dips(arguments) == code
    err = " ".join(said(capsys)[1].split())
    assert re.search(words, err), err
    assert not (tmp_path / "run").exists()


def test_damaged_files_are_named_or_left_out(place, tmp_path, capsys):
    copy = tmp_path / "colors"
    for path in (place / "colors").rglob("*.png"):
        target = copy / path.relative_to(place / "colors")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    (copy / "00.png").write_bytes((copy / "00.png").read_bytes()[:200])
    arguments = ["fit", str(copy), *labeled(place)[1:], *QUICK[:4], "--holdout", "0", "-o", str(tmp_path / "run")]
    assert dips(arguments) == 3
    assert "1 of 48 image files" in (err := said(capsys)[1])
    assert "00.png" in err
    assert "--skip-damaged" in err
    assert dips([*arguments, "--skip-damaged"]) == 0
    assert len(Run(tmp_path / "run").samples) == N - 1
    assert list(Run(tmp_path / "run").config["damaged"]) == ["00.png"]


def test_labels_of_a_whole_data_set_fit_a_part_of_it(place, tmp_path, capsys):
    table = pd.read_csv(place / "labels.csv")
    more = pd.DataFrame({"path": [f"elsewhere/{k}.png" for k in range(7)], "color": "red", "checked": "no"})
    pd.concat([more, table]).to_csv(tmp_path / "labels.csv", index=False)
    arguments = ["inspect", str(place / "colors"), "--labels", str(tmp_path / "labels.csv"), *labeled(place)[3:],
                 "--network", "tiny", "--steps", "4"]  # fmt: skip
    assert dips(arguments) == 3
    assert "names 7 files that are not in" in (err := said(capsys)[1])
    assert "leave them out with --skip-missing" in err
    assert dips([*arguments, "--skip-missing"]) == 0
    out = said(capsys)[0]
    assert "30 labeled (blue 10, green 10, red 10), 18 not." in out
    assert "Note: 7 files of the table are not in the folder and left out: elsewhere/0.png, " in out


class Listener(Observer):
    def __init__(self):
        self.records = []

    def on_record(self, record):
        self.records.append(record)


SHORT = "This takes about 2 minutes on this CPU."
LONG = (
    "This takes about 2 days on this CPU. Use a GPU, or take a first look, by a network that sees much less, with "
    "network='tiny' steps=300 holdout=0: about 50 minutes."
)
NO_SHORTER = "This takes about 40 minutes on this CPU. Use a GPU, or fewer steps."


@pytest.mark.parametrize(
    ("seconds_per_step", "steps", "told"),
    [
        (0.01, 20, []),
        (6, 20, [{"event": "note", "message": SHORT}]),
        (10, 20_000, [{"event": "warning", "message": LONG}]),
        (20, 120, [{"event": "warning", "message": NO_SHORTER}]),
    ],
)
def test_how_long_it_takes_on_a_cpu_is_told_before_the_work(place, monkeypatch, seconds_per_step, steps, told):
    def expected(run):
        return {"pretraining": seconds_per_step * run.recipe.schedule.n_steps, "training": 0.0}

    monkeypatch.setattr("dips._image_study.waiting.expected_seconds", expected)
    settings, listener = ImageSettings(str(place / "labels.csv"), "color", "path", steps=steps), Listener()
    tell_how_long(read_album(place / "colors", settings, Observer()), settings, listener)
    assert listener.records == told


def test_without_pytorch_it_says_what_to_install(place, tmp_path, capsys, monkeypatch):
    for name in [n for n in sys.modules if n.startswith(("dips.vision", "dips._image_study"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    assert dips(["fit", *labeled(place), "-o", str(tmp_path / "run")]) == 3
    assert "dips.vision needs PyTorch; install it with pip install 'dips-ssl[torch]'" in said(capsys)[1]


def test_files_that_the_table_names_in_another_way_are_told_of(place, tmp_path):
    table = pd.read_csv(place / "labels.csv")
    table["path"] = [name.rpartition("/")[2].removesuffix(".png") for name in table["path"]]
    table.to_csv(tmp_path / "labels.csv", index=False)
    album, exact = (
        read_album(place / "colors", ImageSettings(str(path / "labels.csv"), "color", "path"), Observer())
        for path in (tmp_path, place)
    )
    assert album.labels.equals(exact.labels)
    assert "30 files are named in another way by the table, such as '00.png' as '00'." in album.notes


def test_lines_of_the_table_without_a_file_are_told_of(place, tmp_path):
    table = pd.read_csv(place / "labels.csv")
    pd.concat([table, pd.DataFrame({"color": ["red"]})]).to_csv(tmp_path / "labels.csv", index=False)
    settings = ImageSettings(str(tmp_path / "labels.csv"), "color", "path")
    assert "1 line of the table names no file; left out." in read_album(place / "colors", settings, Observer()).notes


def test_a_folder_is_inspected_without_training_anything(place, capsys):
    arguments = ["inspect", *labeled(place, "--network", "tiny", "--steps", "4")]
    assert dips(arguments) == 0
    out = said(capsys)[0].splitlines()
    assert out[:2] == [
        "48 color images, trained on at 12 by 16 pixels.",
        "'color': 30 labeled (blue 10, green 10, red 10), 18 not.",
    ]
    assert dips([*arguments, "--json"]) == 0
    record = json.loads(said(capsys)[0])
    assert record["labels"]["classes"] == {"blue": 10, "green": 10, "red": 10}
    assert (record["images"], record["size"], record["damaged"]) == (48, [12, 16], {})
    assert (record["expected_seconds"] is None) == torch.cuda.is_available()


def test_what_a_study_of_images_refuses_is_refused_by_a_look(place, tmp_path, capsys):
    assert dips(["inspect", *labeled(place)[:3], "-t", "hue", "--id", "path"]) == 3
    assert "has no column 'hue'" in said(capsys)[1]
    assert dips(["inspect", *labeled(place), "--group", "path"]) == 3
    assert "--group is for tables" in said(capsys)[1]
    table = tmp_path / "t.csv"
    table.write_text("a,b\n1,2\n")
    assert dips(["inspect", str(table), "--size", "32"]) == 3
    assert "--size is for a folder of images" in said(capsys)[1]
