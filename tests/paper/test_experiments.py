"""Every experiment in a tiny version: it runs, nothing fails, tables and figures are written."""

import json
import subprocess
import sys
from dataclasses import replace

import pandas as pd
import pytest

from dips import __version__
from dips._paper import experiments, find
from dips._paper.engine import Store, run
from dips._paper.experiment import Plan
from dips._paper.figures.battery import spread_of_labelers
from dips._paper.figures.efficiency import needed, relative
from dips._paper.figures.optimal_threshold import best
from dips._paper.published import accuracy, published
from dips._paper.show import _in_minutes, collect, command, load_plan, read_readings, save_plan, show, write_page
from dips._paper.tables import methods
from dips.exceptions import UserError
from dips.labelers import LABELERS, Greedy

NAMES = sorted(name for name, e in experiments().items() if e.sets.kind == "tables")
TINY = Plan(n_seeds=1, data=("german", "heart"), members="checkpoints", max_labeled=40, max_unlabeled=60)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return Store(tmp_path_factory.mktemp("results"))


def some(trials):
    """The trials of one noise level, so that seconds are enough; a grid is a grid."""
    kept = {}
    for trial in trials:
        kind = (
            trial.data,
            trial.method,
            str(trial.curator),
            str(trial.labeler),
            trial.curate,
            trial.grow,
            trial.measure,
        )
        kept.setdefault(kind, trial)
    return list(kept.values())


@pytest.mark.parametrize("name", NAMES)
def test_an_experiment_runs_and_is_shown(name, tables, store, tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("torch" if name == "vime" else "cleanlab" if name == "good-model" else "numpy")
    experiment = find(name)
    assert experiment.trials(TINY)
    tally = run(some(experiment.trials(TINY)), store)
    assert tally.failed == 0
    save_plan(experiment, TINY, store)
    shown = show(experiment, store, tmp_path)
    assert not shown.results.failures
    for table in shown.report.tables:
        assert (tmp_path / f"{name}-{table}.md").read_text().startswith("| ")
        assert (tmp_path / f"{name}-{table}.csv").exists()
    for figure in shown.report.figures:
        assert (tmp_path / f"{name}-{figure}.png").stat().st_size > 5000
        assert (tmp_path / f"{name}-{figure}.svg").read_text().startswith("<?xml")


def test_trials_that_two_experiments_need_are_done_once():
    plan = replace(TINY, data=("german",))
    keys = [{t.settings().__repr__() for t in find(n).trials(plan)} for n in ("battery", "aleatoric", "selectors")]
    assert len(keys[0] & keys[1] & keys[2]) == 2  # PL and PL+DIPS


def test_the_first_seed_is_done_first():
    seeds = [t.seed for t in find("quadrants").trials(replace(TINY, n_seeds=3))]
    assert seeds == sorted(seeds)


def test_without_its_data_an_experiment_has_nothing_to_do():
    assert find("battery").trials(replace(TINY, data=())) == []
    assert find("cross-country").trials(replace(TINY, data=("german",))) == []


def test_what_was_not_run_is_said_so(store, tmp_path):
    with pytest.raises(UserError, match="ablation has not been run yet; run `dips paper run ablation` first"):
        load_plan(find("ablation"), Store(tmp_path))
    save_plan(find("ablation"), TINY, Store(tmp_path))
    with pytest.raises(UserError, match=r"Nothing of ablation is finished \(16 trials to do, 0 failed\)"):
        show(find("ablation"), Store(tmp_path), tmp_path)


def test_records_are_shown_without_the_data_and_with_other_libraries(tables, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    experiment, store = find("aleatoric"), Store(tmp_path / "r")
    run(experiment.trials(TINY), store)
    save_plan(experiment, TINY, store)
    before = show(experiment, store, tmp_path).results.frame
    monkeypatch.setenv("DIPS_DATA", str(tmp_path / "nothing"))
    monkeypatch.setattr("dips._paper.tables.trial.version_of", lambda name: "0.0")
    pd.testing.assert_frame_equal(show(experiment, store, tmp_path).results.frame, before)


def test_a_plan_that_is_no_longer_that_of_the_experiment_is_refused(tables, tmp_path):
    experiment, store = find("clean-labels"), Store(tmp_path)
    run(experiment.trials(TINY), store)
    save_plan(experiment, TINY, store)
    path = tmp_path / "plans" / "clean-labels.json"
    kept = json.loads(path.read_text())
    of_another_order = kept | {"keys": kept["keys"][::-1]}
    of_other_trials = kept | {"keys": kept["keys"][1:]}
    without_keys = kept["plan"]
    for changed in (of_another_order, of_other_trials, without_keys):
        path.write_text(json.dumps(changed))
        with pytest.raises(UserError, match="The experiment clean-labels has changed since it was run; run"):
            show(experiment, store, tmp_path / "out")


def test_a_damaged_plan_is_refused_in_a_sentence(tmp_path):
    experiment, store, path = find("clean-labels"), Store(tmp_path), tmp_path / "plans" / "clean-labels.json"
    save_plan(experiment, TINY, store)
    kept = json.loads(path.read_text())
    for damaged in (b"", b"{", b"\xff\xfe\x00"):
        path.write_bytes(damaged)
        with pytest.raises(UserError, match=r"clean-labels\.json is damaged; run `dips paper run clean-labels` again"):
            load_plan(experiment, store)
    of_a_later_version = kept | {"plan": kept["plan"] | {"mood": "good"}}
    for changed in ([], 3, {"keys": []}, kept | {"plan": None}, kept | {"keys": 3}, of_a_later_version):
        path.write_text(json.dumps(changed))
        with pytest.raises(UserError, match="The experiment clean-labels has changed since it was run"):
            load_plan(experiment, store)


def test_readings_that_cannot_be_read_are_refused_in_a_sentence(tmp_path):
    path = tmp_path / "readings.toml"
    with pytest.raises(UserError, match=r"readings.toml cannot be read: No such file"):
        read_readings(path)
    for content, said in (
        (b"a = [", "readings.toml is not a TOML file: Invalid"),
        (b"\xff\xfe", "readings.toml is not a TOML file"),
        (b"battery = 3", r"has battery = 3; write a table, \[battery\]"),
    ):
        path.write_bytes(content)
        with pytest.raises(UserError, match=said):
            read_readings(path)


def test_a_failed_trial_is_shown_and_not_dropped(tmp_path, monkeypatch):
    experiment, store = find("clean-labels"), Store(tmp_path)
    monkeypatch.setitem(methods._FITS, "pl", None)
    assert run(experiment.trials(TINY), store).failed == 3
    save_plan(experiment, TINY, store)
    shown = show(experiment, store, tmp_path / "out")
    assert [f["method"] for f in shown.results.failures] == ["PL", "PL+DIPS", "PL+adaptive"]
    assert "TypeError" in (tmp_path / "out" / "clean-labels-failures.md").read_text()


def test_the_page_has_command_reading_figure_and_tables(tmp_path):
    pytest.importorskip("matplotlib")
    experiment, store, drawn = find("clean-labels"), Store(tmp_path / "r"), tmp_path / "drawn"
    run(experiment.trials(TINY), store)
    save_plan(experiment, TINY, store)
    assert load_plan(experiment, store)[0] == TINY
    (tmp_path / "readings.toml").write_text('[clean-labels]\nreading = "All about the same."\n')
    shown = show(experiment, store, drawn)
    write_page([shown], ["battery"], tmp_path / "p.md", drawn, read_readings(tmp_path / "readings.toml"))
    page = (tmp_path / "p.md").read_text()
    assert "dips paper run clean-labels --seeds 1 --members checkpoints" in page
    assert "All about the same." in page
    assert "(images/paper/clean-labels-figure.png)" in page
    assert (tmp_path / "images" / "paper" / "clean-labels-figure.png").exists()
    assert "Not run for this page: battery." in page
    assert f"Versions: dips {__version__}, numpy " in page
    assert "under a minute of one core" in page
    assert "82.36 ± 1.46" in page
    assert command(experiment, Plan(4)) == "dips paper run clean-labels --seeds 4"


@pytest.mark.parametrize(("seconds", "said"), [(20, "under a minute"), (70, "1 minute"), (4320, "72 minutes")])
def test_the_time_of_an_experiment_is_said_in_whole_minutes(seconds, said):
    assert _in_minutes(seconds) == said


def test_an_unknown_experiment_gets_a_hint():
    with pytest.raises(UserError, match="No experiment is called 'batery'; did you mean 'battery'"):
        find("batery")


def test_every_published_value_has_its_source():
    for name in ("quadrants", "battery", "authors_code", "selectors", "vime", "aleatoric", "cross-country"):
        assert published(name)["source"]
    assert accuracy("battery", "adult", "PL+DIPS") == 82.65
    assert accuracy("battery", "nowhere", "PL") is None


def test_the_spread_of_labelers_is_the_variance_of_their_means():
    names = ["PL", "UPS", "FlexMatch", "SLA", "CSA"]
    rows = [{"table": "x", "method": m, "accuracy": 0.5 + i / 100} for i, m in enumerate(names)]
    rows += [{"table": "x", "method": f"{m}+DIPS", "accuracy": 0.6} for m in names]
    spread = spread_of_labelers(pd.DataFrame(rows))
    assert spread.loc["x"].tolist() == pytest.approx([2.5, 0.0])


def test_labels_needed_is_the_least_share_that_reaches_the_vanilla_best():
    rows = []
    for share, plain, curated in ((0.5, 0.6, 0.8), (1.0, 0.7, 0.9)):
        for method, value in (("PL", plain), ("PL+DIPS", curated)):
            rows.append({"labeler": "PL", "method": method, "table": "x", "share": share, "seed": 0, "accuracy": value})
    shares = needed(relative(pd.DataFrame(rows)))
    assert shares["share of labels needed"].to_dict() == {"PL": 1.0, "PL+DIPS": 0.5}


def test_the_best_percentile_is_that_of_the_best_mean():
    rows = [
        {"noise": 0.1, "percentile": p, "seed": s, "accuracy": a}
        for p, pair in {0.1: (0.9, 0.5), 0.2: (0.8, 0.8)}.items()
        for s, a in enumerate(pair)
    ]
    assert best(pd.DataFrame(rows)).loc[0.1].tolist() == [0.2, pytest.approx(0.15)]


def test_all_labels_are_enough_for_the_method_that_sets_the_mark():
    gains = pd.DataFrame({"method": "PL", "share": [0.5, 1.0], "gain": [-1.0, -1e-15]})
    assert needed(gains).loc["PL", "share of labels needed"] == 1.0


class Newcomer(Greedy):
    """Has no name of its own, so that other tests do not find it."""


def test_a_new_labeler_runs_in_the_battery_by_its_name(tables, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    known = LABELERS.by_name() | {"newcomer": Newcomer}
    monkeypatch.setattr(LABELERS, "by_name", lambda: known)
    experiment, store = find("battery"), Store(tmp_path / "r")
    plan = replace(TINY, data=("german",), labelers=("greedy", "newcomer"))
    assert run(experiment.trials(plan), store).failed == 0
    save_plan(experiment, plan, store)
    shown = show(experiment, store, tmp_path)
    assert {"PL", "newcomer", "newcomer+DIPS"} <= set(shown.report.tables["accuracy"].index)
    assert shown.report.tables["mean_difference"].index.tolist() == ["PL+DIPS − PL", "newcomer+DIPS − newcomer"]
    assert command(experiment, plan).endswith("--labeler greedy --labeler newcomer")


def test_a_new_curator_runs_among_the_selectors_by_its_name(tables, paper):
    options = ("--seeds", "1", "--data", "german", "--max-labeled", "40", "--max-unlabeled", "60")
    code, printed, _ = paper("run", "selectors", "--curator", "confidence", *options)
    assert (code, "2 trials done" in printed) == (0, True)
    assert "PL+confidence − PL" in paper("show", "selectors")[1]


def test_what_is_not_compared_cannot_be_named(paper, tables):
    assert "battery does not compare curators; leave --curator out" in paper("run", "battery", "--curator", "dips")[2]
    assert "--labeler nobody is not known" in paper("run", "battery", "--labeler", "nobody")[2]
    assert "--curator percentile is for images" in paper("run", "selectors", "--curator", "percentile")[2]


def test_a_plan_of_0_1_0_is_read(tmp_path):
    experiment, store, path = find("selectors"), Store(tmp_path), tmp_path / "plans" / "selectors.json"
    save_plan(experiment, replace(TINY, data=()), store)
    kept = json.loads(path.read_text())
    del kept["plan"]["labelers"]
    path.write_text(json.dumps(kept | {"plan": kept["plan"] | {"curators": ["none", "percentile", "auto"]}}))
    assert load_plan(experiment, store)[0] == replace(TINY, data=())


def test_a_record_of_0_1_0_is_read_under_the_new_name_of_its_curator(tmp_path):
    experiment, store = find("clean-labels"), Store(tmp_path)
    run(experiment.trials(TINY), store)
    save_plan(experiment, TINY, store)
    before = collect(experiment, store)[1].frame
    keys = load_plan(experiment, store)[1]
    for key in keys:
        record = store.get(key)
        if record["settings"].get("curator") == {"name": "adaptive"}:
            store.put(key, record | {"settings": record["settings"] | {"curator": {"name": "auto"}}})
    assert any(store.get(key)["settings"].get("curator") == {"name": "auto"} for key in keys)
    pd.testing.assert_frame_equal(collect(experiment, store)[1].frame, before)


def test_a_part_of_an_experiment_is_run_by_its_labels(tables, paper):
    options = ("--seeds", "1", "--data", "german", "--max-labeled", "40", "--max-unlabeled", "60")
    only = ("--only", "backbone=xgboost sensible", "--only", "noise=0.2", "--only", "kind=symmetric")
    code, printed, _ = paper("run", "good-model", *options, *only, "--only", "method=Supervised")
    assert (code, "1 trials done" in printed) == (0, True)
    more = ("--only", "method=Supervised", "--only", "method=Curated, default")
    assert "1 trials done in" in paper("run", "good-model", *options, *only, *more)[1]
    assert "Curated, default" in paper("show", "good-model")[1]


def test_a_part_of_an_experiment_is_run_by_its_seed(tables, paper):
    options = ("--data", "german", "--max-labeled", "40", "--max-unlabeled", "60", "--only", "noise=0.2")
    only = ("--only", "backbone=xgboost sensible", "--only", "kind=symmetric", "--only", "method=Supervised")
    second = str(find("good-model").chosen(Plan(2, ("german",)))[-1].trial.seed)
    assert "1 trials done" in paper("run", "good-model", "--seeds", "2", *options, *only, "--only", f"seed={second}")[1]


def test_a_part_that_there_is_not_is_refused_in_words(tables, paper):
    assert "has nothing called 'mood'; --only takes NAME=VALUE, of method, " in paper(
        "run", "good-model", "--only", "mood=good"
    )[2].replace("\n", " ")
    assert "good-model has no noise '0.7'; choose among 0.0, 0.1" in paper("run", "good-model", "--only", "noise=0.7")[
        2
    ].replace("\n", " ")


def test_the_command_says_which_part_was_run():
    plan = Plan(2, only=("backbone=xgboost sensible", "noise=0.2"))
    assert command(find("good-model"), plan).endswith("--seeds 2 --only 'backbone=xgboost sensible' --only noise=0.2")


def test_held_out_tables_are_reported_apart():
    chosen = find("good-model").chosen(Plan(1, data=("german", "heart"), only=("method=Supervised", "noise=0.0")))
    assert {c.labels["table"]: c.labels["set"] for c in chosen} == {"german": "development", "heart": "held out"}


def test_all_labels_known_are_one_trial_whatever_the_noise():
    chosen = find("good-model").chosen(
        Plan(1, data=("german",), only=("method=All labels known", "backbone=mlp", "labels=100"))
    )
    assert len(chosen) > 5
    assert len({str(c.trial.settings()) for c in chosen}) == 1


def test_only_the_experiment_that_is_asked_for_is_imported():
    code = (
        "import sys; from dips._paper import find; find('{}'); "
        "print(*(name for name in sys.modules if name.startswith('dips._paper') or name in ('torch', 'matplotlib')))"
    )
    for name, other in (("quadrants", "images"), ("cifar10n", "tables")):
        done = subprocess.run([sys.executable, "-c", code.format(name)], capture_output=True, text=True, check=True)
        modules = done.stdout.split()
        assert [m for m in modules if m.startswith("dips._paper.figures.")] == [f"dips._paper.figures.{name}"]
        assert not [m for m in modules if m.startswith(f"dips._paper.{other}")]
        assert not {"torch", "matplotlib"} & set(modules)
