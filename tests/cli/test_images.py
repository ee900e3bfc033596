"""dips fit, audit, review and predict on a folder of images."""

import json
import shutil
import sys

import pandas as pd
import pytest

pytest.importorskip("torch", reason="PyTorch is not installed, and images need it")

from dips import audit_images, fit_images
from dips._cli.app import run as dips
from dips._files.corrections import read_corrections
from dips._image_study.auditing import ImageAudit
from dips._review.export import corrections_frame
from dips._study.reviewing import desk_of_run, retraining
from dips._study.run import Run
from dips._tools.observer import Observer
from dips.curators import ImageAuto
from dips.exceptions import InputError
from tests.review.reviews import correct, decide

from .colors import CLASSES, N_LABELED, N_WRONG, QUICK, QUICKLY, N, labeled, labels_of, make_colors
from .words import said

pytestmark = pytest.mark.usefixtures("cache", "one_torch_thread")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return make_colors(tmp_path_factory.mktemp("images"))


@pytest.fixture(scope="module")
def run(place):
    assert dips(["fit", *labeled(place, *QUICK, "--verified", "checked"), "-o", str(place / "run")]) == 0
    return Run(place / "run")


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
    monkeypatch.setattr(ImageAuto, "is_open", property(lambda curator: False))
    options = labeled(place, "--steps", "4", "--network", "tiny")
    assert dips(["audit", *options, "--fail-above", "0", "-o", str(tmp_path / "listed.csv")]) == 0
    out, _ = said(capsys)
    listed = pd.read_csv(tmp_path / "listed.csv")
    assert listed["p_wrong"].is_monotonic_decreasing
    n_listed = "is the one" if len(listed) == 1 else f"are the {len(listed)}"
    out = " ".join(out.split())
    assert "none of 30 is suspect. All are trained on: " in out
    assert f". Listed {n_listed} most likely to be wrong: a ranking" in out
    assert dips(["audit", *options, "--report", str(tmp_path / "page.html"), "--top", "1"]) == 0
    assert ("These are the first 1 of" in said(capsys)[0]) == (len(listed) > 1)
    page = (tmp_path / "page.html").read_text()
    assert "<code>dips review RUN</code> (RUN is the folder that dips fit writes)" in page
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


def test_corrections_find_their_image_in_a_folder_that_has_grown(place, tmp_path, capsys):
    (tmp_path / "colors").symlink_to(place / "colors")
    lines = pd.DataFrame({"image": [40], "file": ["more/03.png"], "label": ["red"]})
    lines.to_csv(tmp_path / "corrections.csv", index=False)
    assert dips(["fit", *labeled(place, *QUICK[:4], "--holdout", "0"), "--corrections",
                 str(tmp_path / "corrections.csv"), "-o", str(tmp_path / "run")]) == 0  # fmt: skip
    samples = Run(tmp_path / "run").samples.set_index("file")
    assert samples.index[samples["verified"]].tolist() == ["more/03.png"]
    _, steps = said(capsys)[0].split("Next:\n")
    assert f"Use the model: dips predict {tmp_path / 'run'} new_images -o predictions.csv" in steps


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


def test_a_stopped_training_begins_anew_where_an_image_has_changed(tmp_path, monkeypatch):
    place, begun = make_colors(tmp_path), []

    def stopped(album, settings, hidden, checkpoint, *others):
        begun.append(not checkpoint.exists())
        checkpoint.write_bytes(b"of a round")
        raise KeyboardInterrupt

    monkeypatch.setattr("dips._image_study.fitting.trained", stopped)
    for change in (False, False, True):
        if change:
            shutil.copy(place / "colors" / "more" / "01.png", place / "colors" / "00.png")
        with pytest.raises(KeyboardInterrupt):
            fit_images(place / "colors", tmp_path / "run", **QUICKLY, holdout=0, **labels_of(place))
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


def test_without_its_files_a_review_shows_what_the_run_holds(run, monkeypatch):
    monkeypatch.setitem(run.config, "data", ["nowhere"])
    desk = desk_of_run(run)
    assert desk.card("zoe", desk.queue.rows[0])["picture"].startswith("data:image/png")


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
