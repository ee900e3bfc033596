"""Two processes on this machine, started as users start them."""

import os
import subprocess
import sys

import numpy as np
import pytest
import torch

from dips.vision._image_pool import ImagePool
from dips.vision._training import Training

from .examples import CPU, N_CLASSES, colors, dirty_labels, pool, recipe

SCRIPT = """
import os, sys
import torch
torch.set_num_threads(1)
sys.path.insert(0, {root!r})
from tests.vision.test_classifier import classifier, colors, dirty_labels
import numpy as np
clf = classifier(checkpoint={folder!r} + "/run.pt", log={folder!r} + "/log.jsonl", random_state=None)
clf.set_params(pretrain_steps=6)
clf.fit(colors()[0], dirty_labels())
rank = int(os.environ["RANK"])
np.savez({folder!r} + f"/rank{{rank}}.npz", p=clf.predict_proba(colors()[0]), useful=clf.samples_["useful"])
torch.distributed.destroy_process_group()
"""


@pytest.mark.skipif(not torch.distributed.is_available(), reason="this PyTorch has no torch.distributed")
def test_two_processes_end_with_one_and_the_same_network(tmp_path):
    root = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    (tmp_path / "train.py").write_text(SCRIPT.format(root=root, folder=str(tmp_path)))
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    done = subprocess.run([*command, str(tmp_path / "train.py")], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    first, second = (np.load(tmp_path / f"rank{rank}.npz") for rank in (0, 1))
    assert (first["p"] == second["p"]).all()
    assert (first["useful"] == second["useful"]).all()
    truth = np.arange(len(first["p"])) % 3
    assert (first["p"].argmax(axis=1) == truth).mean() > 0.9
    assert len((tmp_path / "log.jsonl").read_text().splitlines()) == 1 + 3 * 5 + 3  # of one process alone


@pytest.mark.parametrize("stream", [False, True])
def test_a_process_that_continues_draws_images_of_its_own(monkeypatch, stream):
    images = ImagePool.of(colors()[0], dirty_labels(), N_CLASSES, CPU, stream)

    def trained(n_steps):
        training = Training(images, recipe(), images.labeled_rows, 0)
        for _ in range(n_steps):
            training.step()
        return training

    stored = trained(3).state()
    monkeypatch.setattr("dips.vision._distributed.rank", lambda: 1)
    through, continued = trained(4), trained(0)
    continued.restore(stored)
    continued.step()
    assert torch.equal(continued._u, through._u)


def test_a_batch_that_cannot_be_shared_is_refused(monkeypatch):
    monkeypatch.setattr("dips.vision._distributed.n_processes", lambda: 3)
    monkeypatch.setattr("dips.vision._distributed.rank", lambda: 0)
    with pytest.raises(ValueError, match="batch_size=8 cannot be shared evenly by 3 processes"):
        Training(pool(), recipe(), pool().labeled_rows, 0)
