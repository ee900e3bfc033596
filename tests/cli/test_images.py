"""dips fit, audit, review and predict on a folder of images."""

import json
import re
import shutil
import sys

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("torch", reason="PyTorch is not installed, and images need it")

import torch
from PIL import Image

from dips import audit_images, fit, fit_images
from dips._cli.app import run as dips
from dips._files.corrections import read_corrections
from dips._image_study.album import read_album
from dips._image_study.auditing import ImageAudit
from dips._image_study.settings import ImageSettings
from dips._image_study.waiting import tell_how_long
from dips._review.export import corrections_frame
from dips._study.reviewing import desk_of_run, retraining
from dips._study.run import Run
from dips._tools.observer import Observer
from dips.curators import ImageAuto
from dips.exceptions import DataError, InputError, SettingsError
from tests.review.reviews import correct, decide

CLASSES = ("blue", "green", "red")
QUICK = ["--steps", "16", "--network", "tiny", "--rounds", "2", "--holdout", "0.25"]
QUICKLY = {"steps": 4, "network": "tiny"}
N, N_LABELED, N_WRONG = 48, 30, 3

pytestmark = pytest.mark.usefixtures("cache", "one_torch_thread")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder of colors, of which some have a label, the first of them wrong; and a table of these."""
    place = tmp_path_factory.mktemp("images")
    (place / "colors" / "more").mkdir(parents=True)
    rng = np.random.RandomState(0)
    lines = []
    for k in range(N):
        pixels = rng.randint(0, 120, (12, 16, 3)).astype(np.uint8)
        pixels[..., 2 - k % 3] += 100
        name = f"{'more/' if k % 2 else ''}{k:02}.png"
        Image.fromarray(pixels).save(place / "colors" / name)
        if k < N_LABELED:
            lines.append((name, CLASSES[(k + (k < N_WRONG)) % 3], "yes" if k == N_WRONG else "no"))
    pd.DataFrame(lines, columns=["path", "color", "checked"]).to_csv(place / "labels.csv", index=False)
    return place


def labels_of(place):
    return {"labels": place / "labels.csv", "target": "color", "id": "path"}


def labeled(place, *more):
    return [str(place / "colors"), "--labels", str(place / "labels.csv"), "-t", "color", "--id", "path", *more]


@pytest.fixture(scope="module")
def run(place):
    assert dips(["fit", *labeled(place, *QUICK, "--verified", "checked"), "-o", str(place / "run")]) == 0
    return Run(place / "run")


def said(capsys):
    captured = capsys.readouterr()
    return captured.out, captured.err


def test_a_run_is_made_of_a_folder_and_a_table(run, place):
    names = {path.name for path in run.folder.iterdir()}
    assert {"report.html", "samples.csv", "samples.parquet", "metrics.json", "config.json", "model"} <= names
    assert [path.name for path in (run.folder / "model").iterdir()] == ["network.safetensors"]
    samples = run.samples
    assert samples["file"].tolist() == sorted(samples["file"])
    assert (samples["source"] == "given").sum() == N_LABELED
    assert pd.read_csv(run.folder / "samples.csv").columns.tolist() == samples.columns.tolist()
    checked = samples[samples["verified"]]
    assert checked["file"].tolist() == [f"more/{N_WRONG:02}.png"]
    assert checked["useful"].all()
    assert run.metrics["rows"]["test"] == 8
    assert 0 <= run.metrics["test"]["network"]["accuracy"]["low"] <= 1


def test_calibration_is_drawn_for_tables_only(run):
    with pytest.raises(InputError, match=r"not drawn for images; run\.held_out has the answers"):
        run.plot_calibration()
    assert not hasattr(ImageAudit, "plot_calibration")


def test_the_page_holds_pictures_scores_and_the_command(run):
    page = run.report.read_text(encoding="utf-8")
    assert "data:image/png;base64," in page
    assert "held-out images has an accuracy of" in page
    assert "--corrections corrections.csv" in page
    assert run.summary["points"]["id_names"] == ["file"]


def test_it_says_what_it_read_and_what_it_found(place, tmp_path, capsys):
    assert dips(["audit", *labeled(place, "--steps", "4", "--network", "tiny"), "-o", str(tmp_path / "a.csv"),
                 "--report", str(tmp_path / "a.html"), "--all"]) == 0  # fmt: skip
    out, err = said(capsys)
    assert "48 images of 12 by 16 pixels, 30 labeled and 18 not: one of blue, green, red." in err
    assert "; none of 30 is suspect." in out  # after four steps nothing is shown to be wrong
    assert len(pd.read_csv(tmp_path / "a.csv")) == N
    assert (tmp_path / "a.html").stat().st_size > 10_000


def test_an_audit_for_machines_can_fail(place, capsys):
    code = dips(["audit", *labeled(place, "--steps", "4", "--network", "tiny"), "--json", "--fail-above", "0"])
    record = json.loads(said(capsys)[0])
    assert record["n_labeled"] == N_LABELED
    assert code == (6 if record["suspects"] else 0)


def test_an_audit_of_labels_with_little_noise_ranks_them_without_a_verdict(place, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(ImageAuto, "is_dirty", property(lambda curator: False))
    options = labeled(place, "--steps", "4", "--network", "tiny")
    assert dips(["audit", *options, "--fail-above", "0", "-o", str(tmp_path / "listed.csv")]) == 0
    out, _ = said(capsys)
    listed = pd.read_csv(tmp_path / "listed.csv")
    assert listed["p_wrong"].is_monotonic_decreasing
    n_listed = "is the one" if len(listed) == 1 else f"are the {len(listed)}"
    assert f"none of 30 is suspect. Listed {n_listed} most likely to be wrong: a ranking" in " ".join(out.split())
    assert dips(["audit", *options, "--report", str(tmp_path / "page.html"), "--top", "1"]) == 0
    assert ("These are the first 1 of" in said(capsys)[0]) == (len(listed) > 1)
    assert "dips review RUN  (RUN is the folder that dips fit writes)" in (tmp_path / "page.html").read_text()
    said(capsys)
    assert dips(["audit", *options, "--json"]) == 0
    told = json.loads(said(capsys)[0])
    assert (told["n_suspects"], told["suspects"]) == (0, [])
    assert [r["file"] for r in told["ranked"]] == listed["file"].tolist()


def test_new_images_are_predicted(run, place, tmp_path, capsys):
    for out in ("p.csv", "p.parquet"):
        assert dips(["predict", str(run.folder), str(place / "colors"), "-o", str(tmp_path / out)]) == 0
    assert "48 images predicted; written to" in said(capsys)[0]
    predicted = pd.read_csv(tmp_path / "p.csv")
    assert predicted.columns.tolist() == [
        "file", "predicted_color", "probability", "probability_blue", "probability_green", "probability_red"
    ]  # fmt: skip
    assert predicted["file"].tolist() == run.samples["file"].tolist()
    assert set(predicted["predicted_color"]) <= set(CLASSES)
    assert dips(["predict", str(run.folder), str(place / "colors")]) == 0
    assert said(capsys)[0].startswith("file,predicted_color,probability")


def test_a_folder_per_class_needs_no_table(place, tmp_path, capsys):
    for k, name in enumerate(sorted((place / "colors").glob("*.png"))[:12]):
        target = tmp_path / "sorted" / ("cat", "dog")[k % 2] / name.name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(name.read_bytes())
    (tmp_path / "sorted" / "unlabeled").mkdir()
    (tmp_path / "sorted" / "unlabeled" / "x.png").write_bytes(name.read_bytes())
    quick = ["--steps", "4", "--network", "tiny", "--holdout", "0", "-o", str(tmp_path / "run")]
    assert dips(["fit", str(tmp_path / "sorted"), *quick]) == 0
    assert "13 images of 12 by 16 pixels, 12 labeled and 1 not" in said(capsys)[1]
    assert Run(tmp_path / "run").summary["classes"] == ["cat", "dog"]
    shutil.copytree(tmp_path / "run", tmp_path / "again")
    assert dips(["compare", str(tmp_path / "run"), str(tmp_path / "again")]) == 0
    out = said(capsys)[0]
    assert "There are no scores:" in out
    assert "held out no images, and 30 are needed" in out
    assert "0 suspects are gone, 0 are new" in out


def test_two_runs_are_compared_on_what_both_held_out(run, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("dips._study.between.ENOUGH", 5)
    page = tmp_path / "compare.html"
    shutil.copytree(run.folder, tmp_path / "again")
    assert dips(["compare", str(run.folder), str(tmp_path / "again"), "-o", str(page)]) == 0
    assert "8 rows that both held out" in said(capsys)[0]
    assert page.exists()


def test_what_was_decided_in_a_review_is_taken_up(run, place, tmp_path):
    desk = desk_of_run(run)
    row = desk.queue.rows[0]
    card = desk.card("anna", row)
    assert card["picture"].startswith("data:image/jpeg")  # the file itself, not the copy that was trained on
    correct(desk, "anna", row)
    frame = corrections_frame(desk)
    assert frame.columns.tolist()[:2] == ["image", "file"]
    assert len(read_corrections(frame)) == 1
    assert dips(["fit", *labeled(place, *QUICK[:4], "--holdout", "0"), "--reviewed", str(run.folder),
                 "-o", str(tmp_path / "again")]) == 0  # fmt: skip
    again = Run(tmp_path / "again").samples.set_index("file").loc[frame["file"][0]]
    assert (again["verified"], again["given_label"]) == (True, frame["label"][0])


def test_corrections_find_their_image_in_a_folder_that_has_grown(place, tmp_path):
    (tmp_path / "colors").symlink_to(place / "colors")
    lines = pd.DataFrame({"image": [40], "file": ["more/03.png"], "label": ["red"]})
    lines.to_csv(tmp_path / "corrections.csv", index=False)
    assert dips(["fit", *labeled(place, *QUICK[:4], "--holdout", "0"), "--corrections",
                 str(tmp_path / "corrections.csv"), "-o", str(tmp_path / "run")]) == 0  # fmt: skip
    samples = Run(tmp_path / "run").samples.set_index("file")
    assert samples.index[samples["verified"]].tolist() == ["more/03.png"]


def test_the_review_can_train_again(run, place, tmp_path):
    corrections = tmp_path / "corrections.csv"
    pd.DataFrame({"file": ["00.png"], "label": ["keep"]}).to_csv(corrections, index=False)
    plan = retraining(run, [place / "colors"])(corrections)
    (_, command), (_, compare) = plan.commands
    assert [name for name, _ in plan.commands] == ["training", "comparing"]
    assert command[:5] == [sys.executable, "-m", "dips", "fit", str(place / "colors")]
    assert command[command.index("--labels") + 1] == str(place / "labels.csv")
    assert dips(command[3:]) == 0
    again = Run(plan.made)
    assert again.config["settings"] == run.config["settings"] | {"corrections": str(corrections)}
    assert again.samples.set_index("file")["verified"]["00.png"]
    assert dips(compare[3:]) == 0
    assert "Suspects that are gone" in plan.page.read_text()


def test_a_second_review_adds_to_the_first(run, place, tmp_path):
    lines = pd.DataFrame({"file": ["00.png", "more/01.png"], "label": ["keep", "unlabeled"], "reviewer": "anna"})
    lines.to_csv(tmp_path / "corrections.csv", index=False)
    second = fit_images(place / "colors", tmp_path / "second", **QUICKLY, holdout=0, **labels_of(place),
                        corrections=tmp_path / "corrections.csv")  # fmt: skip
    desk = desk_of_run(second)
    row = next(row for row in desk.queue.rows if desk.material.key_of(row) != "00.png")
    decide(desk, "bob", row)
    frame = corrections_frame(desk).set_index("file")
    assert frame.loc[["00.png", "more/01.png"], "label"].tolist() == ["keep", "unlabeled"]
    assert frame.loc[desk.material.key_of(row), "reviewer"] == "bob"


def test_a_stopped_training_does_not_go_on_with_other_corrections(place, tmp_path, monkeypatch):
    corrections, begun = tmp_path / "corrections.csv", []

    def stopped(album, settings, hidden, checkpoint, *others):
        begun.append(not checkpoint.exists())
        checkpoint.write_bytes(b"of a round")
        raise KeyboardInterrupt

    monkeypatch.setattr("dips._image_study.fitting.trained", stopped)
    for label in ("keep", "keep", "unlabeled"):
        corrections.write_text(f"file,label\n00.png,{label}\n")
        with pytest.raises(KeyboardInterrupt):
            fit_images(place / "colors", tmp_path / "run", **QUICKLY, holdout=0, **labels_of(place),
                       corrections=corrections)  # fmt: skip
    assert begun == [True, False, True]


def test_a_stopped_audit_continues_and_leaves_nothing_behind(place, tmp_path, cache, capsys, monkeypatch):
    class StoppedInRoundTwo(Observer):
        def on_round(self, record, n_rounds):
            if record["round"] == 2:
                raise KeyboardInterrupt

    class Steps(Observer):
        def on_step(self, n_done, n_steps):
            self.first = getattr(self, "first", n_done)

    how = {"curator": "percentile", **QUICKLY, **labels_of(place)}
    through = audit_images(place / "colors", **how)
    with pytest.raises(KeyboardInterrupt):
        audit_images(place / "colors", **how, observer=StoppedInRoundTwo())
    (kept,) = (cache / "audits").glob("*.pt")
    audit_images(place / "colors", **how | {"seed": 1})  # another one does not continue it
    assert kept.exists()
    watched = Steps()
    continued = audit_images(place / "colors", **how, observer=watched)
    assert watched.first == 1 + 1  # after the warm-up and the first round
    assert not list((cache / "audits").iterdir())
    pd.testing.assert_frame_equal(continued.samples, through.samples)
    monkeypatch.setattr("dips._image_study.auditing.trained", lambda *_: StoppedInRoundTwo().on_round({"round": 2}, 2))
    assert dips(["audit", *labeled(place, "--steps", "4", "--network", "tiny")]) == 130
    assert "The same command continues" in said(capsys)[1]
    (tmp_path / "file").touch()
    monkeypatch.setenv("DIPS_CACHE", str(tmp_path / "file"))
    assert dips(["audit", *labeled(place, "--steps", "4", "--network", "tiny")]) == 130
    assert "cannot be written to, so an audit that is stopped begins anew" in said(capsys)[1]


def test_a_review_of_images_may_begin_with_every_class_in_turn(place, tmp_path):
    run = fit_images(place / "colors", tmp_path / "run", **QUICKLY, holdout=0, **labels_of(place))
    queue = desk_of_run(run, order="useful").queue
    labels = run.samples.set_index("row")["given_label"]
    assert labels[queue.rows[:6]].value_counts().to_dict() == dict.fromkeys(CLASSES, 2)
    percentile = fit_images(
        place / "colors", tmp_path / "p", **QUICKLY, holdout=0, **labels_of(place), curator="percentile"
    )
    with pytest.raises(InputError, match="needs a curator that estimates p_wrong"):
        desk_of_run(percentile, order="useful")


def test_verified_labels_of_held_out_images_are_scored_apart(place, tmp_path, monkeypatch):
    monkeypatch.setattr("dips._study.metrics.ENOUGH", 5)
    table = pd.read_csv(place / "labels.csv").assign(checked="yes")
    table.to_csv(tmp_path / "labels.csv", index=False)
    of_table = labels_of(place) | {"labels": tmp_path / "labels.csv", "verified": "checked"}
    run = fit_images(place / "colors", tmp_path / "run", **QUICKLY, holdout=0.25, **of_table)
    assert run.metrics["rows"]["test_verified"] == run.metrics["rows"]["test"] == 8
    assert run.metrics["test_verified"]["network"] == run.metrics["test"]["network"]
    assert "On the 8 held-out images whose label is verified, accuracy is" in run.summary["scores"][1]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"curator": ImageAuto()}, "curator takes a name here; got an object of type ImageAuto"),
        ({"network": lambda n_classes, n_channels: None}, "network takes a name here"),
        ({"verified": [True]}, "verified takes a name here"),
        ({"steps": 4.5}, "steps must be a whole number of at least 1; got 4.5"),
        ({"steps": "4"}, "steps must be a whole number of at least 1; got '4'"),
        ({"seed": -1}, "seed must be a whole number of at least 0; got -1"),
        ({"holdout": None}, "from 0 to 0.5; got None"),
    ],
)
def test_settings_of_the_wrong_type_are_refused_before_anything_is_read(tmp_path, settings, words):
    with pytest.raises(SettingsError, match=words):
        fit_images(tmp_path, tmp_path / "run", **settings)


def test_an_audit_of_images_is_one_of_tables_with_pictures(place, tmp_path):
    judged = audit_images(place / "colors", **QUICKLY, **labels_of(place), curator="percentile", verified="checked")
    assert judged.samples["file"].tolist() == sorted(judged.samples["file"])
    suspects = judged.suspects()
    assert len(suspects)
    assert not suspects["verified"].any()
    assert "suspect" in judged._repr_html_()
    assert "array" not in repr(judged)
    review = judged.review(tmp_path / "kept", reviewer="anna")
    try:
        desk = review._desk
        assert desk.card("anna", desk.queue.rows[0])["picture"].startswith("data:image/jpeg")
        correct(desk, "anna", desk.queue.rows[0])
        corrections = review.corrections()
    finally:
        review.close()
    assert corrections.columns.tolist()[:2] == ["image", "file"]
    corrections.to_csv(tmp_path / "corrections.csv", index=False)
    again = audit_images(place / "colors", **QUICKLY, **labels_of(place), corrections=tmp_path / "corrections.csv")
    after = again.samples.set_index("file").loc[corrections["file"][0]]
    assert (after["verified"], after["given_label"]) == (True, corrections["label"][0])


def test_python_is_told_what_to_write(place, tmp_path):
    with pytest.raises(DataError, match=r"is a folder; .* images in it with dips.fit_images"):
        fit(place / "colors", "color", tmp_path / "run")
    with pytest.raises(SettingsError, match=r"labels takes a file, .*; save the DataFrame first"):
        audit_images(place / "colors", labels=pd.read_csv(place / "labels.csv"))


def test_without_its_files_a_review_shows_what_the_run_holds(run, monkeypatch):
    monkeypatch.setitem(run.config, "data", ["nowhere"])
    desk = desk_of_run(run)
    assert desk.card("zoe", desk.queue.rows[0])["picture"].startswith("data:image/png")


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


def test_images_and_tables_are_not_confused(run, place, tmp_path, capsys):
    table = tmp_path / "t.csv"
    table.write_text("a,b\n1,2\n")
    assert dips(["predict", str(run.folder), str(table)]) == 3
    assert "was trained on images; name a folder" in said(capsys)[1]
    assert dips(["fit", str(table), "-t", "b", "--size", "32", "-o", str(tmp_path / "r")]) == 3
    assert "--size is for a folder of images" in said(capsys)[1]
    assert dips(["fit", "nowhere", "-t", "b", "--labels", str(table), "-o", str(tmp_path / "r")]) == 3
    words = "--labels is for a folder of images, and nowhere is not one; there is no such file or folder."
    assert words in " ".join(said(capsys)[1].split())
    assert dips(["fit", str(table), "-o", str(tmp_path / "r")]) == 2
    assert "Missing option '--target'" in said(capsys)[1]


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
