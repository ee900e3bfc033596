"""The image experiments in a tiny version, on the CPU."""

import json
from dataclasses import replace

import pytest

pytest.importorskip("torch")
pytest.importorskip("matplotlib")
pytest.importorskip("PIL")

from dips._paper import experiments, find
from dips._paper.engine import Store, run
from dips._paper.experiment import Plan
from dips._paper.figures.suspect_images import tiles_of
from dips._paper.images import grids, reports, sets
from dips._paper.images.trial import ImageTrial
from dips._paper.published import published
from dips._paper.show import command, save_plan, show, write_page
from dips.curators._choose import curator_names
from dips.datasets import _image_sets as datasets
from dips.datasets._download import Remote
from dips.exceptions import DataError, UserError
from dips.vision._turns import interleave

from . import image_sets

NAMES = [name for name, e in experiments().items() if e.sets.kind == "images"]
HERE = ("cifar10n", "cifar100n", "eurosat", "pathmnist")
TINY = Plan(1, HERE, n_steps=3, network="tiny", max_labeled=24, max_unlabeled=60)
TRIAL = ImageTrial("cifar10n", 0, "worse", 24, network="tiny", n_steps=4, rounds=2, warm_up_steps=4)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("images")
    image_sets.write_mosaics(folder / "cifar10n.npz", worse_label=True)
    image_sets.write_mosaics(folder / "eurosat32.npz")
    image_sets.write_medmnist(folder / "pathmnist.npz")
    return folder


@pytest.fixture(autouse=True)
def image_data(folder, monkeypatch):
    import torch

    def offline(remote: Remote, into):
        raise DataError(f"{remote.file_name} could not be downloaded")

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    monkeypatch.setenv("DIPS_DATA", str(folder))
    monkeypatch.setattr(datasets, "fetch", offline)
    monkeypatch.setitem(datasets.LOADERS, "cifar100n", image_sets.many_classes)
    sets._kept.cache_clear()
    sets._fingerprint_in.cache_clear()
    yield folder
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return Store(tmp_path_factory.mktemp("results"))


@pytest.mark.parametrize("name", NAMES)
def test_an_experiment_runs_and_is_shown_without_the_data(name, store, tmp_path, monkeypatch):
    experiment = find(name)
    assert run(experiment.trials(TINY), store).failed == 0
    save_plan(experiment, TINY, store)
    monkeypatch.setenv("DIPS_DATA", str(tmp_path / "nothing"))
    monkeypatch.setattr(sets, "read", None)
    shown = show(experiment, store, tmp_path)
    assert not shown.results.failures
    assert shown.results.n_missing == 0
    assert shown.report.figures
    for table in shown.report.tables:
        assert (tmp_path / f"{name}-{table}.md").read_text().startswith("| ")
    for figure in shown.report.figures:
        assert (tmp_path / f"{name}-{figure}.png").stat().st_size > 5000


def test_experiments_on_one_set_share_their_trials():
    keys = {name: {t.key() for t in find(name).trials(TINY)} for name in NAMES}
    assert keys["time-to-accuracy"] == keys["cifar10n"]
    assert keys["suspect-images"] < keys["cifar10n"]
    assert not keys["cifar10n"] & keys["freematch"]


def test_grids_are_those_of_the_paper():
    plan = replace(TINY, n_seeds=3, max_labeled=None, n_steps=26_000)
    trials = {name: find(name).trials(plan) for name in NAMES}
    assert {(t.noise, t.n_labeled, t.method) for t in trials["cifar10n"]} == {("worse", 1000, "fixmatch")}
    assert {(t.n_labeled, t.seed) for t in trials["cifar10n-200"]} == {(200, 0), (200, 1), (200, 2)}
    assert {(t.method, t.memory) for t in trials["freematch"]} == {("freematch", 0.99)}
    assert {(t.data, t.noise, t.n_labeled) for t in trials["more-images"]} == {
        ("eurosat", 0.2, 200),
        ("pathmnist", 0.2, 200),
    }
    assert {(t.warm_up_steps, t.rounds, t.checkpoints) for t in trials["cifar10n"]} == {(1000, 20, 5)}


def test_the_key_depends_on_settings_images_and_device(folder, tmp_path, monkeypatch):
    changes = [{"seed": 1}, {"curator": "auto"}, {"n_steps": 5}, {"data": "eurosat"}, {"method": "freematch"}]
    assert len({replace(TRIAL, **change).key() for change in changes} | {TRIAL.key()}) == len(changes) + 1
    before = TRIAL.key()
    monkeypatch.setattr("dips._paper.images.trial._device_name", lambda: "another")
    assert TRIAL.key() != before
    monkeypatch.undo()
    image_sets.write_mosaics(tmp_path / "cifar10n.npz", n_classes=2, worse_label=True)
    monkeypatch.setenv("DIPS_DATA", str(tmp_path))
    assert TRIAL.key() != before


def test_a_trial_says_what_computed_it_and_is_the_same_each_time():
    trial = replace(TRIAL, curator="percentile")
    one, other = trial.run(), trial.run()
    assert one["device"] == "CPU"
    assert set(one["libraries"]) == {"dips", "numpy", "torch"}
    for outcome in (one, other):
        outcome.pop("training_s")
        for point in outcome["curve"]:
            point.pop("elapsed_s")
    assert one == other


def test_trials_side_by_side_come_to_what_each_comes_to_alone():
    trials = [replace(TRIAL, curator=name, seed=seed) for seed, name in enumerate(("percentile", "none"))]
    together = {}

    def kept(k):
        together[k] = yield from trials[k].proceed()

    interleave([kept(k) for k in range(2)])
    for k, trial in enumerate(trials):
        assert together[k]["accuracy"] == (alone := trial.run())["accuracy"]
        assert together[k]["curation"] == alone["curation"]


def test_a_set_that_cannot_be_had_is_left_out_and_said_so(paper):
    code, printed, said = paper(
        *("run", "more-images", "--seeds", "1", "--steps", "2", "--network", "tiny", "--curator", "none"),
        *("--max-labeled", "24", "--max-unlabeled", "40"),
    )
    assert (code, "4 trials done" in printed) == (0, True)
    assert "tissuemnist is left out: tissuemnist.npz could not be downloaded" in said
    code, printed, _ = paper("show", "more-images")
    assert code == 0
    assert "organamnist" not in printed


def test_images_are_listed_and_not_run_unasked_without_a_gpu(paper, monkeypatch):
    assert "in the folder" in next(line for line in paper("data")[1].splitlines() if line.startswith(" cifar10n"))
    assert "time-to-accuracy" in [e["name"] for e in json.loads(paper("list", "--json")[1])]
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    only = {"cifar10n": find("cifar10n")}
    monkeypatch.setattr("dips._paper.experiments", lambda: only)
    code, _, said = paper("all")
    assert code == 0
    assert "cifar10n is left out: There is no GPU" in said


def test_what_cannot_be_done_is_said_in_a_sentence(paper):
    assert "network='huge' is not known; choose one of wrn-28-2" in paper("run", "cifar10n", "--network", "huge")[2]
    assert "--curator mood is not known" in paper("run", "cifar10n", "--curator", "mood")[2]
    assert "network='' is not known" in paper("run", "cifar10n", "--network", "")[2]
    assert "--curator mood is not known" in paper("all", "--curator", "mood")[2]
    assert "--curator fine is for tables and cannot judge images" in paper("run", "cifar10n", "--curator", "fine")[2]
    assert "cifar10n does not compare labelers; leave --labeler out" in paper("run", "cifar10n", "--labeler", "ups")[2]
    for options in (("suspect-images", "--curator", "none"), ("cifar10n", "--data", "cifar10")):
        assert f"{options[0]} has nothing to run: its data sets are not here" in paper("run", *options)[2]
    said = paper("run", "quadrants", "--steps", "5")[2]
    assert "--steps and --network are for experiments on images; quadrants is one on tables" in said


def test_options_of_images_are_part_of_the_command():
    plan = Plan(3, HERE, n_steps=27_000, curators=("none", "dips"))
    said = "dips paper run cifar10n --seeds 3 --steps 27000 --curator none --curator dips"
    assert command(find("cifar10n"), plan) == said
    assert command(find("cifar10n"), Plan(3, HERE)) == "dips paper run cifar10n --seeds 3"


def test_the_page_counts_the_seeds_that_were_run(store, tmp_path):
    experiment, plan = find("suspect-images"), replace(TINY, n_seeds=2)  # which takes the first of them
    run(experiment.trials(plan), store)
    save_plan(experiment, plan, store)
    shown = show(experiment, store, tmp_path)
    write_page([shown], [], tmp_path / "page.md", tmp_path, {})
    assert "3 trials, 1 seed, " in (tmp_path / "page.md").read_text()


def test_time_to_an_accuracy_is_that_of_the_first_time():
    curve = [{"elapsed_s": 60 * k, "accuracy": a} for k, a in ((1, 0.5), (2, 0.8), (3, 0.7))]
    slow = [{"elapsed_s": 60 * k, "accuracy": a} for k, a in ((1, 0.5), (2, 0.6), (3, 0.75))]
    assert [reports._minutes([curve, slow], a) for a in (0.5, 0.7, 0.8, 0.9)] == [
        "1.00 ± 0.00",
        "2.50 ± 0.50",
        "2.00 (1 of 2 seeds)",
        "not reached",
    ]


def test_published_values_are_those_of_methods_that_are_run():
    names = {cell.labels["method"] for cell in find("cifar10n").cells(TINY)}
    assert set(published("cifar10n")["accuracy"]) < names
    assert published("time-to-accuracy")["hours"]["FixMatch+DIPS"]["85"] == "38.5 ± 0.3"


def test_every_set_that_can_be_loaded_has_a_title():
    assert set(sets.TITLES) == set(datasets.LOADERS)


def test_curators_have_names_and_colors():
    titles = [f"FixMatch{grids.title_of(name)}" for name in curator_names("images")]
    assert len(set(titles)) == len(titles)
    assert len(set(reports.colors(titles).values())) == len(titles)


def test_without_torch_experiments_are_listed_and_refused_in_a_sentence(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "dips.vision", None)
    with pytest.raises(UserError, match="Experiments on images cannot be run"):
        sets.check(TINY)
    assert sets.why_unavailable().startswith("Experiments on images cannot be run")
    assert sets.where("eurosat") == "in the folder"


def test_tiles_are_cut_from_the_mosaic():
    examples = replace(TRIAL, curator="percentile").run()["examples"]
    assert len(tiles_of(examples)) == len(examples["rows"])
    assert tiles_of(examples)[0].shape[:2] == (image_sets.SIZE, image_sets.SIZE)
