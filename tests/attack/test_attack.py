"""A few of every attack; ``make attack`` makes many. None may end in a traceback, a crash, a hang or another result.

Kills are left to ``make attack``, which has the time; in what order they may come is tested in `test_run_folder.py`.
"""

import importlib
import socket
import sys

import pytest

from dips._cli.app import run as dips
from tests.attack.outcomes import FINE
from tests.effort import quick_studies
from tests.patients import patients

SEEDS = {
    "tables": range(60),
    "models": range(60),
    "forests": range(100),
    "records": range(30),
    "checkpoints": range(8),
    "disks": [2],  # these two start processes: a small backbone, and the quickest command, on a disk that gets full
    "faults": [4],
}
NEEDS = {
    "checkpoints": ["torch"],
    "models": ["lightgbm", "catboost"],
    "faults": ["matplotlib"],
}


@pytest.mark.skipif(sys.platform == "win32", reason="limits and names of files are another matter there")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SEEDS)
def test_no_attack_succeeds(name, tmp_path):
    for library in NEEDS.get(name, []):
        pytest.importorskip(library)
    attack = importlib.import_module(f"tests.attack.{name}").attack
    outcomes = {seed: attack(tmp_path, seed) for seed in SEEDS[name]}
    assert {seed: outcome for seed, outcome in outcomes.items() if outcome not in FINE} == {}


def test_a_study_needs_no_network(tmp_path, monkeypatch):
    def refuse(*_):
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    patients()[0].to_csv(tmp_path / "t.csv", index=False)
    with quick_studies():
        assert dips(["audit", str(tmp_path / "t.csv"), "-t", "outcome", "--report", str(tmp_path / "page.html")]) == 0
