import pickle
import random

import pytest
import torch

from dips._tools.observer import Observer
from dips.curators import CURATORS
from dips.curators._image_auto import ImageAuto
from dips.exceptions import InputError, OutputError
from dips.vision import _checkpoint as checkpoint
from dips.vision._packing import packed
from dips.vision._parts import PILOTS, PLAIN_PILOTS, PRETRAINING
from dips.vision._rounds import CurationPlan, ImageRounds
from dips.vision._turns import interleave

from .examples import PLAN, pool, recipe, weights


class KilledError(Exception):
    pass


def run_with(path, plan=PLAN, n_steps=30, seed=0, pretrain_steps=0):
    how = recipe(n_steps=n_steps, pretrain_steps=pretrain_steps)
    return ImageRounds(pool(), how, plan, ImageAuto(n_folds=3, least_noise=0), seed, path=path)


def kill_at(run, step):
    for _ in run.proceed():
        if run.training.n_done >= step:
            raise KilledError


def without_times(history):
    return [{k: v for k, v in record.items() if k != "elapsed_s"} for record in history]


@pytest.mark.parametrize(("step", "pretrain_steps"), [(8, 0), (24, 0), (24, 10)])
def test_a_killed_run_continues_to_the_same_result_bit_for_bit(tmp_path, step, pretrain_steps):
    through = run_with(None, pretrain_steps=pretrain_steps)
    interleave([through.proceed()])
    with pytest.raises(KilledError):
        kill_at(run_with(tmp_path / "run.pt", pretrain_steps=pretrain_steps), step)
    continued = run_with(tmp_path / "run.pt", pretrain_steps=pretrain_steps)
    interleave([continued.proceed()])
    assert torch.equal(weights(through.training.network), weights(continued.training.network))
    assert (through.training.probabilities() == continued.training.probabilities()).all()
    assert (through.useful == continued.useful).all()
    assert without_times(through.history) == without_times(continued.history)
    assert (continued.recipe.start is None) == (pretrain_steps == 0)
    assert {k: v.tolist() for k, v in through.curves.items()} == {k: v.tolist() for k, v in continued.curves.items()}


def test_a_run_killed_in_its_pilots_does_not_pretrain_again(tmp_path):
    def fresh(path):
        plan = CurationPlan(warm_up_steps=4, n_rounds=2, n_checkpoints=1, pilot_steps=4)
        return ImageRounds(pool(), recipe(n_steps=8, pretrain_steps=6), plan, ImageAuto(), path=path)

    class Parts(Observer):
        def __init__(self):
            self.names = []

        def on_part(self, name):
            if name == PILOTS:
                raise KilledError
            self.names.append(name)

    through, killed, continued = fresh(None), fresh(tmp_path / "run.pt"), fresh(tmp_path / "run.pt")
    interleave([through.proceed()])
    killed.progress.observer = Parts()
    with pytest.raises(KilledError):
        interleave([killed.proceed()])
    continued.progress.observer = told = Parts()
    with pytest.raises(KilledError):
        interleave([continued.proceed()])
    assert told.names == []
    continued.progress.observer = Observer()
    interleave([continued.proceed()])
    assert torch.equal(weights(through.training.network), weights(continued.training.network))


def in_parts(path=None, observer=None):
    plan = CurationPlan(warm_up_steps=4, n_rounds=2, n_checkpoints=1, pilot_steps=5)
    how = recipe(n_steps=8, pretrain_steps=6)
    return ImageRounds(pool(), how, plan, ImageAuto(n_pilots=2), path=path, observer=observer)


class KilledAt(Observer):
    def __init__(self, part, n_steps):
        self.part, self.n_left, self.is_there, self.told = part, n_steps, False, []

    def on_part(self, name):
        self.is_there = name == self.part

    def on_step(self, n_done, n_steps):
        if self.is_there:
            self.told.append(n_done)
            if len(self.told) > self.n_left:
                raise KilledError


@pytest.mark.parametrize("part", [PRETRAINING, PILOTS, PLAIN_PILOTS])
def test_a_run_killed_before_the_rounds_repeats_no_more_than_a_few_minutes(tmp_path, monkeypatch, part):
    monkeypatch.setattr("dips.vision._unfinished._EVERY_S", 0.0)
    through, path = in_parts(), tmp_path / "run.pt"
    interleave([through.proceed()])
    with pytest.raises(KilledError):
        interleave([in_parts(path, KilledAt(part, 3)).proceed()])
    watched = KilledAt(part, 100)
    continued = in_parts(path, watched)
    interleave([continued.proceed()])
    assert watched.told[0] > {PRETRAINING: 3, PILOTS: 6 + 3, PLAIN_PILOTS: 6 + 10 + 3}[part]
    assert torch.equal(weights(through.training.network), weights(continued.training.network))
    assert (through.p_wrong == continued.p_wrong)[through.is_given].all()
    assert without_times(through.history) == without_times(continued.history)


def test_a_run_killed_in_its_first_round_does_not_train_pilots_again(tmp_path):
    run = run_with(tmp_path / "run.pt")
    with pytest.raises(KilledError):
        kill_at(run, 1)
    continued = run_with(tmp_path / "run.pt")
    next(continued.proceed())
    assert continued.round == 1
    assert without_times(continued.history) == without_times(run.history)


def test_a_finished_run_is_not_trained_again(tmp_path):
    interleave([run_with(tmp_path / "run.pt").proceed()])
    again = run_with(tmp_path / "run.pt")
    assert len(list(again.proceed())) == 0
    assert again.training.n_done == 30


@pytest.mark.parametrize(
    "other", [{"n_steps": 33}, {"seed": 1}, {"plan": CurationPlan(41, 3, 3)}, {"pretrain_steps": 5}]
)
def test_a_checkpoint_of_another_run_is_refused(tmp_path, other):
    interleave([run_with(tmp_path / "run.pt").proceed()])
    with pytest.raises(ValueError, match="other settings or data, so training cannot continue from it"):
        interleave([run_with(tmp_path / "run.pt", **other).proceed()])


def test_a_write_that_breaks_off_leaves_the_last_checkpoint(tmp_path, monkeypatch):
    path, run = tmp_path / "run.pt", run_with(None)
    checkpoint.save(path, run)
    before = path.read_bytes()

    def break_off(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", break_off)
    with pytest.raises(OutputError, match=r"run\.pt cannot be written: No space left on device"):
        checkpoint.save(path, run)
    assert path.read_bytes() == before


def test_settings_are_described_the_same_in_every_process():
    text = checkpoint.describe(pool(), recipe(), CURATORS.resolve(lambda evidence: evidence.confidence > 0))
    assert " at 0x" not in text


class Runs:
    def __reduce__(self):
        return exec, ("raise SystemExit('code of the file ran')",)


@pytest.mark.parametrize("write", [torch.save, lambda value, path: path.write_bytes(pickle.dumps(value))])
def test_nothing_in_a_file_is_run(tmp_path, write):
    path, run = tmp_path / "run.pt", run_with(None)
    write({"described": run.described, "run": Runs()}, path)
    with pytest.raises(InputError, match="written by an earlier version of dips, or by another program; remove it"):
        checkpoint.load(path, run)


def test_every_damage_is_refused(tmp_path):
    path, run = tmp_path / "run.pt", run_with(None)
    checkpoint.save(path, run)
    whole, rng = path.read_bytes(), random.Random(0)
    for _ in range(60):
        damaged = bytearray(whole)
        damaged[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged if rng.random() < 0.7 else whole[: rng.randrange(len(whole))])
        with pytest.raises(InputError, match="Training cannot continue from"):
            checkpoint.load(path, run)


def test_a_forged_checkpoint_is_refused_in_words(tmp_path):
    path, run = tmp_path / "run.pt", run_with(None)
    forged = {"described": run.described, "run": {"useful": 3}, "training": {}}
    path.write_bytes(packed(forged))
    with pytest.raises(InputError, match="does not hold what this training needs"):
        checkpoint.load(path, run)


def test_one_training_at_a_time_writes_a_checkpoint(tmp_path):
    first, second = (run_with(tmp_path / "run.pt").proceed() for _ in range(2))
    next(first)
    with pytest.raises(OutputError, match=r"run\.pt is being written by process"):
        next(second)
    first.close()
    next(run_with(tmp_path / "run.pt").proceed())
