"""From a CSV to a run, to a review, to a corrected CSV and a better run: nothing is lost, nothing else is touched."""

import json
import sys
import time
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dips import fit
from dips._cli.app import run as dips
from dips._persistence.export import to_csv
from dips._review.export import corrected_files, corrections_frame
from dips._review.training import TrainingAgain, TrainingPlan
from dips._study.data import read_data
from dips._study.reviewing import corrections_of_run, desk_of_run, retraining
from dips._study.run import Run
from dips._study.settings import Settings
from dips.exceptions import ReviewError
from tests.patients import patients

from .reviews import copy_of, correct, decide, desk_in

QUICK = ("--time-limit", "0.000001")


def reviewed(desk, n=12):
    """Correct all suspects among the first rows, keep the others."""
    for row in desk.queue.rows[:n]:
        (decide if row in desk.queue.checks else correct)(desk, "anna", row)


def test_the_corrected_table_and_the_corrections_give_the_same_labels(finished, tmp_path):
    desk = desk_in(finished, tmp_path)
    reviewed(desk)
    ((name, content),) = corrected_files(desk)
    (tmp_path / name).write_bytes(content)
    corrections_frame(desk).to_csv(tmp_path / "corrections.csv", index=False)
    of_table = fit(tmp_path / name, "outcome", tmp_path / "of_table", id=("patient",), time_limit=1e-6)
    said = {"corrections": str(tmp_path / "corrections.csv")}
    of_file = fit(tmp_path / "patients.csv", "outcome", tmp_path / "of_file", id=("patient",), time_limit=1e-6, **said)
    assert of_table.samples["given_label"].tolist() == of_file.samples["given_label"].tolist()
    rows = desk.queue.rows[:12]
    assert of_file.samples.set_index("row").loc[rows, "verified"].all()
    assert not set(of_file.suspects()["row"]) & set(rows)


def test_fit_takes_up_the_review_of_a_run_and_a_second_review_adds_to_it(finished, tmp_path):
    desk = desk_in(finished, tmp_path)
    reviewed(desk, 6)
    table = str(tmp_path / "patients.csv")
    again = ["fit", table, "-t", "outcome", "--id", "patient", *QUICK, "--reviewed", str(tmp_path / "run")]
    assert dips([*again, "-o", str(tmp_path / "run-2")]) == 0
    second = desk_of_run(Run(tmp_path / "run-2"))
    assert not set(second.queue.rows) & set(desk.queue.rows[:6])
    correct(second, "anna", second.queue.rows[0])
    after = corrections_frame(second)
    assert len(after) == 7
    assert set(corrections_frame(desk)["row"]) < set(after["row"])
    ((_, content),) = corrected_files(second)
    lines = zip(content.split(b"\n"), (tmp_path / "patients.csv").read_bytes().split(b"\n"), strict=True)
    n_wrong = sum(row not in desk.queue.checks for row in desk.queue.rows[:6]) + 1
    assert sum(a != b for a, b in lines) == n_wrong


def test_a_second_review_remembers_which_labels_the_first_has_looked_at(finished, tmp_path):
    desk = desk_in(finished, tmp_path)
    reviewed(desk, 4)
    path, _ = corrections_of_run(Run(tmp_path / "run"))
    again = {"id": ("patient",), "time_limit": 1e-6, "corrections": path}
    second = desk_of_run(fit(tmp_path / "patients.csv", "outcome", tmp_path / "run-2", **again))
    row = next(row for row in desk.queue.rows[:4] if row not in desk.queue.checks)  # which rows are checks is drawn
    correct(second, "anna", second.queue.rows[0])
    lines = corrections_frame(second).set_index("row")["given_label"]
    assert lines[row] == desk.material.given[row] != second.material.given[row]


def test_the_review_can_be_taken_up_without_its_table(finished, tmp_path):
    desk = desk_in(finished, tmp_path)
    with pytest.raises(
        ReviewError, match=r"Nothing has been decided on .* yet; look at its suspects with dips review first"
    ):
        corrections_of_run(Run(tmp_path / "run"))
    reviewed(desk, 6)
    before = corrections_frame(desk)
    (tmp_path / "patients.csv").unlink()
    path, error = corrections_of_run(Run(tmp_path / "run"))
    assert error is None  # nobody else has judged the same rows
    assert pd.read_csv(path)["label"].tolist() == before["label"].tolist()
    assert corrections_of_run(Run(tmp_path / "run"))[0] == path  # nothing new, so no new file


def test_corrections_have_one_source(finished, tmp_path, capsys):
    copy_of(finished, tmp_path)
    both = ["--corrections", "x.csv", "--reviewed", str(tmp_path / "run")]
    assert dips(["audit", str(tmp_path / "patients.csv"), "-t", "outcome", *both]) == 3
    assert "leave one out" in capsys.readouterr().err


def test_train_again_runs_commands_and_tells_how_far_it_is(finished, tmp_path):
    desk = desk_in(finished, tmp_path)
    says = "import json, sys; print(json.dumps({'stage': 'half', 'fraction': 0.5}), file=sys.stderr, flush=True); "
    page = tmp_path / "page.html"
    commands = {
        "good": f"{says} open({str(page)!r}, 'w').write('<p>better</p>')",
        "bad": f"{says} sys.exit('no such column')",
        "long": f"{says} import time; time.sleep(60)",
    }
    ended, stopped = {}, False
    for name, code in commands.items():
        plan = TrainingPlan([("training", [sys.executable, "-c", code])], page, "run-2")
        training = TrainingAgain(tmp_path / "run" / "review", lambda corrections, plan=plan: plan)
        if name == "good":
            with pytest.raises(ReviewError, match="nothing to train with"):
                training.start(desk)
            reviewed(desk, 3)
        training.start(desk)
        for _ in range(200):
            state = training.state()
            if name == "long" and state["stage"] == "training: half" and not stopped:
                stopped = True
                with pytest.raises(ReviewError, match="already running"):
                    training.start(desk)
                training.stop()
            if state["state"] != "running":
                break
            time.sleep(0.05)
        ended[name] = (state["state"], training.page())
        assert name != "bad" or "no such column" in state["error"]
    assert ended == {"good": ("done", "<p>better</p>"), "bad": ("failed", None), "long": ("failed", None)}


def test_a_training_that_cannot_go_on_has_failed(finished, tmp_path):
    desk = desk_in(finished, tmp_path)
    reviewed(desk, 3)
    page = tmp_path / "page.html"

    def stopped_between_two():
        yield "first", [sys.executable, "-c", ""]
        training.stop()
        yield "second", [sys.executable, "-c", f"open({str(page)!r}, 'w')"]

    plans = {"It was stopped.": stopped_between_two(), "no-such-program": [("first", ["no-such-program"])]}
    for error, commands in plans.items():
        training = TrainingAgain(
            tmp_path / "run" / "review", lambda _, commands=commands: TrainingPlan(commands, page, "run-2")
        )
        training.start(desk)
        for _ in range(200):
            if training.state()["state"] != "running":
                break
            time.sleep(0.05)
        assert training.state()["state"] == "failed"
        assert error in training.state()["error"]
    assert not page.exists()


def test_the_command_exports_without_a_server(finished, tmp_path, capsys):
    desk = desk_in(finished, tmp_path)
    reviewed(desk, 3)
    assert dips(["review", str(tmp_path / "run"), "--export", str(tmp_path / "out")]) == 0
    assert "corrections.csv" in capsys.readouterr().out
    trail = (tmp_path / "out" / "trail.jsonl").read_text().splitlines()
    assert [json.loads(line)["seq"] for line in trail] == [1, 2, 3]


def test_the_command_wants_one_run(capsys):
    assert dips(["review"]) == 3
    assert "dips review --demo" in capsys.readouterr().err


def test_a_run_of_a_table_in_memory_can_be_reviewed_too(finished, tmp_path):
    frame = pd.read_csv(finished / "patients.csv")
    run = fit(frame, "outcome", tmp_path / "run", id=("patient",), time_limit=1e-6)
    desk = desk_of_run(run)
    row = desk.queue.rows[0]
    columns = [c["name"] for c in desk.start("anna")["columns"]]
    assert dict(zip(columns, desk.card("anna", row)["values"], strict=True))["age"] == str(frame["age"][row - 1])
    correct(desk, "anna", row)
    assert corrections_frame(desk)["patient"].tolist() == [frame["patient"][row - 1]]


def test_a_run_whose_unlabeled_rows_were_in_memory_can_be_reviewed_too(finished, tmp_path):
    table, more = finished / "patients.csv", patients(n=20, n_labeled=0, seed=1)[0].drop(columns="outcome")
    run = fit(table, "outcome", tmp_path / "run", unlabeled=[more], id=("patient",), time_limit=1e-6)
    for data in ([], [table]):
        desk = desk_of_run(run, data)
        assert set(desk.queue.rows) >= set(run.suspects()["row"])


def test_suspects_come_in_the_order_that_is_asked_for(finished, tmp_path):
    desks = {order: desk_in(finished, tmp_path / order, order=order) for order in ("wrong", "useful")}
    suspects = {k: [r for r in d.queue.rows if r not in d.queue.checks | d.queue.openers] for k, d in desks.items()}
    assert set(suspects["wrong"]) == set(suspects["useful"])
    samples = Run(tmp_path / "useful" / "run").samples.set_index("row")
    queue = desks["useful"].queue
    assert samples.loc[queue.rows[:20], "check_gain"].is_monotonic_decreasing
    assert samples.loc[queue.rows[:20], "given_label"].value_counts().tolist() == [10, 10]
    assert samples.loc[[r for r in suspects["useful"] if r not in queue.rows[:20]], "p_wrong"].is_monotonic_decreasing
    assert (queue.n_suspects, queue.n_unsuspected) == (
        desks["wrong"].queue.n_suspects,
        desks["wrong"].queue.n_unsuspected,
    )


def test_the_commands_of_train_again_make_a_run_and_a_comparison(finished, tmp_path):
    desk = desk_in(finished, tmp_path)
    reviewed(desk, 8)
    corrections, _ = corrections_of_run(Run(tmp_path / "run"))
    plan = retraining(Run(tmp_path / "run"), [tmp_path / "patients.csv"])(corrections)
    for _, command in plan.commands:
        assert command[1:3] == ["-m", "dips"]
        assert dips(command[3:]) == 0
    made = Run(tmp_path / "run-2")
    assert plan.made == str(made.folder)
    assert made.samples["verified"].sum() == 8
    assert "<html" in plan.page.read_text()
    assert Path(retraining(made, [])(corrections).made).name == "run-3"


def test_rows_that_two_people_judged_tell_how_often_they_err(finished, tmp_path, capsys):
    desk = desk_in(finished, tmp_path)
    for k, row in enumerate(desk.queue.rows[:24]):
        decide(desk, "anna", row)
        (correct if k % 4 == 0 else decide)(desk, "bob", row)
    table, run = str(tmp_path / "patients.csv"), str(tmp_path / "run")
    assert dips(["audit", table, "-t", "outcome", "--id", "patient", "--reviewed", run]) == 0
    remarks = capsys.readouterr().err
    assert "about 2.9 % of the answers are wrong. --reviewer-error 0.029" in remarks  # only a hint
    assert "assumed to be wrong" not in remarks
    assert dips(["audit", table, "-t", "outcome", "--id", "patient", "--reviewed", run, "--curator", "dips"]) == 0
    assert "--reviewer-error" not in capsys.readouterr().err


def test_labels_that_the_page_does_not_draw_have_a_learning_curve_too(quick, tmp_path, monkeypatch):
    monkeypatch.setattr("dips._report.points._MAX_POINTS", 40)
    patients(150, 120, 0.2)[0].to_csv(tmp_path / "patients.csv", index=False)
    run = fit(tmp_path / "patients.csv", "outcome", tmp_path / "run", time_limit=1e-6)
    on_page = set(run.summary["points"]["row"])
    assert len(on_page) == 40
    material = desk_of_run(run).material
    curves = {row: material.curve(position) for row, position in material.position.items()}
    assert all(len(curve) == run.summary["points"]["n_curve"] for curve in curves.values())
    assert set(run.curves["row"]) == set(curves) - on_page
    confidence = run.samples.set_index("row")["confidence"]
    told = [(confidence[row], sum(curve) / len(curve)) for row, curve in curves.items() if row not in on_page]
    assert np.corrcoef(*zip(*told, strict=True))[0, 1] > 0.9


def test_corrections_find_their_rows_by_an_id_that_nobody_named(tmp_path):
    frame, _ = patients(n=160, n_labeled=160, noise=0.15)
    frame.to_csv(tmp_path / "patients.csv", index=False)
    fit(tmp_path / "patients.csv", "outcome", tmp_path / "run", time_limit=1e-6)
    desk = desk_of_run(Run(tmp_path / "run"))
    row = desk.queue.rows[0]
    correct(desk, "anna", row)
    path, _ = corrections_of_run(Run(tmp_path / "run"))
    assert path.read_text() == to_csv(corrections_frame(desk))
    settings = Settings(target="outcome", corrections=str(path)).checked()
    study = read_data(frame.sort_values("age"), settings)
    changed = study.target.codes != study.given.codes
    assert study.table.columns["patient"].filter(changed).to_pylist() == [frame["patient"][row - 1]]


@pytest.mark.parametrize("way", ["parquet", "xlsx"])
def test_corrections_find_their_rows_by_ids_of_any_kind(tmp_path, way):
    if way == "xlsx":
        pytest.importorskip("openpyxl")
    frame, _ = patients(n=160, n_labeled=160, noise=0.15)
    n = np.arange(len(frame))
    ids = {
        "time": [f"2024-01-01T{k // 60:02d}:{k % 60:02d}" for k in n],
        "reviewer": [f"film {k}" for k in n],
        "row": n[::-1],
        "image": n,
        "at": pd.Timestamp("2024-01-01") + pd.to_timedelta(n, unit="h"),
        "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(n, unit="D"),
        "price": [Decimal(int(k)) / 4 for k in n],
    }
    frame, table = frame.assign(**ids), tmp_path / f"table.{way}"
    frame.to_parquet(table) if way == "parquet" else frame.to_excel(table, index=False)
    desk = desk_of_run(fit(table, "outcome", tmp_path / "run", id=tuple(ids), time_limit=1e-6))
    for row in (5, 9):
        decide(desk, "anna", row, "unlabeled")
    path, _ = corrections_of_run(Run(tmp_path / "run"))
    for sorted_since in (frame, frame.sort_values("age")):
        study = read_data(sorted_since, Settings(target="outcome", id=tuple(ids), corrections=str(path)).checked())
        changed = study.target.codes != study.given.codes
        assert sorted(study.table.columns["patient"].filter(changed).to_pylist()) == ["P0004", "P0008"]
