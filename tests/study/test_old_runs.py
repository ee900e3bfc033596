"""A run folder that dips 0.1.0 wrote opens, predicts, and gets its page again."""

import json
import re
import shutil
from pathlib import Path

import pytest

from dips._cli.app import run as dips
from dips._report import render
from dips._report.early import as_of_now
from dips._study import Run
from dips._study.reviewing import material_of_run
from dips._study.run import whole
from dips.exceptions import ModelError
from tests.patients import patients

OLD = Path(__file__).parent / "run_of_0_1_0"


@pytest.fixture(scope="module")
def run():
    return Run(OLD)


def test_its_account_and_scores_are_read(run):
    assert run.config["versions"]["dips"] == "0.1.0"
    assert run.metrics["chosen"] == "curated"
    assert len(run.samples) == 60
    assert run.suspects()["suspicion"].tolist() == list(range(1, run.metrics["labels"]["n_suspects"] + 1))


def test_its_model_answers(run):
    table = patients(n=60, n_labeled=44)[0]
    assert run.predict_proba(table).shape == (60, 2)
    assert set(run.predict(table)) <= {"ill", "well"}


def test_its_page_is_written_without_what_it_did_not_know(run):
    page = render(run.summary)
    assert "of the labels look wrong" in page
    assert "How much of each class is found" not in page


def test_its_rounds_are_read_by_the_names_they_had(run):
    page = render(run.summary | {"rows": run.summary["rows"] | {"pseudo": 5}})  # so that the rounds are shown
    start = page.partition('<tr><th scope="row">start</th>')[2].partition("</tr>")[0]
    assert re.findall(r">([\d,]+)<", start) == ["44", "0", "0", "0"]
    assert as_of_now(run.summary)["rounds"]["history"][0]["n_new_suspects"] == 3


def test_the_command_writes_the_page_again(tmp_path, capsys):
    shutil.copytree(OLD, tmp_path / "run")
    assert dips(["report", str(tmp_path / "run")]) == 0
    assert (tmp_path / "run" / "report.html").exists()


def test_classes_that_are_there_twice_are_said_in_a_sentence(tmp_path):
    shutil.copytree(OLD, tmp_path / "run")
    path = tmp_path / "run" / "report.json"
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | {"classes": ["ill", "ill"]}))
    damaged = Run(tmp_path / "run")
    with pytest.raises(ModelError, match="is not a complete run"), whole(damaged):
        material_of_run(damaged)
    path.write_text("[]")
    with pytest.raises(ModelError, match=r"report\.json is not a JSON object"):
        _ = Run(tmp_path / "run").summary
