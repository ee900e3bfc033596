"""The small benchmark, and the harness by which the large ones measure."""

import importlib
import re
import sys
from functools import partial
from pathlib import Path

import choosing
import data
import effective_labels
import harness
import keel_tables
import network_card
import network_report
import numpy as np
import pandas as pd
import pytest
import small

from dips.network._tasks import Task, scores_of

BENCHMARKS = Path(small.__file__).parent


@pytest.mark.parametrize("sentence", small.checks())
@pytest.mark.filterwarnings("ignore")
def test_the_small_benchmark_holds(sentence):
    small.checks()[sentence]()


@pytest.mark.parametrize("name", sorted(path.stem for path in BENCHMARKS.glob("*.py")))
def test_every_benchmark_finds_what_it_imports(name):
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("dips"):
            raise
        pytest.skip(f"needs {error.name}")


def test_every_benchmark_is_in_the_list_of_commands():
    scripts = [path for path in BENCHMARKS.glob("*.py") if '__name__ == "__main__"' in path.read_text(encoding="utf-8")]
    page = (BENCHMARKS.parent / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    listed = re.findall(r"`(\w+\.py)`", page.partition("## All commands")[2])
    assert sorted(listed) == sorted(path.name for path in scripts)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the peak of a process")
def test_memory_is_what_the_act_adds_in_a_process_of_its_own():
    held_here = np.ones(2**25)
    used = harness.in_child(partial, np.ones, 2**24)
    assert 128 <= used.added_mb < 140
    assert used.peak_mb < held_here.nbytes / harness.MB + 128


def test_a_child_hands_back_the_figures_of_its_act_and_nothing_large():
    assert harness.in_child(partial, dict).figures == {}
    assert harness.in_child(partial, dict, [("accuracy", 0.9)]).figures == {"accuracy": 0.9}
    assert harness.in_child(partial, np.ones, 10).figures == {}


def test_contenders_are_timed_in_turn():
    order = []
    times = harness.in_turn({name: partial(order.append, name) for name in "ab"}, at_least=2, at_most=2)
    assert order == ["a", "b", "a", "b"]
    assert all(t.repeats == 2 and t.wall_s >= 0 for t in times.values())


def test_what_calibration_does_to_a_cell_is_told_with_its_noise():
    p, labels = np.tile([[0.8, 0.2], [0.3, 0.7]], (50, 1)), np.arange(100) % 2
    by_name = {"curated_pseudo_test": p, "curated_pseudo_folds": p, "labels": labels, "y_test": labels}
    by_name |= {"validated": np.arange(100), "rate": np.array([0.15, 0.1, 0.3])}
    records = choosing.of_cells(choosing.calibrated, {("adult", 100, 0.2, 0): by_name})
    assert records.groupby(["rule", "noise"]).size().to_dict() == {("as it is", 0.2): 1, ("calibrated", 0.2): 1}


def test_the_exponent_of_a_power_is_found():
    assert harness.exponent({10: 3.0, 100: 3.0 * 10**1.5, 1000: 3.0 * 10**3}) == pytest.approx(1.5)


@pytest.mark.parametrize(
    ("value", "bar", "at_most", "shown"),
    [
        (2.0, 3, True, "2.00 ≤ 3"),
        (4.0, 3, True, "4.00 > 3 !"),
        (30.0, 25, False, "30.00 ≥ 25"),
        (20.0, 25, False, "20.00 < 25 !"),
        (2.0, None, True, "2.00"),
        (float("nan"), 3, True, ""),
    ],
)
def test_a_figure_beside_its_bar_is_a_true_statement(value, bar, at_most, shown):
    assert harness.against(value, bar, at_most) == shown


def test_the_parquet_folder_holds_the_rows_asked_for_in_single_precision(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    data.write_parquet(tmp_path, 2500, rows_per_file=1000)
    tables = [parquet.read_table(file) for file in sorted(tmp_path.iterdir())]
    assert [table.num_rows for table in tables] == [1000, 1000, 500]
    first, second = (np.column_stack(table.columns) for table in tables[:2])
    assert first.shape[1] == data.N_FEATURES
    assert first.dtype == np.float32
    assert not np.array_equal(first, second)


def test_a_table_of_keel_is_read_without_its_rare_classes(tmp_path, monkeypatch):
    monkeypatch.setattr(keel_tables, "_folder", lambda package: tmp_path)
    folder = tmp_path / "classification" / "flare"
    folder.mkdir(parents=True)
    rows = [f"{k}, a, {'yes' if k % 2 else 'no'}" for k in range(98)] + ["?, <null>, yes", "1, b, hardly"]
    (folder / "flare.dat").write_text("\n".join(["@relation flare", "@data", *rows]))
    columns, classes = keel_tables.observed("flare")
    assert columns.dtypes.map(pd.api.types.is_numeric_dtype).tolist() == [True, False]
    assert columns.isna().sum().tolist() == [1, 1]
    assert classes.value_counts().to_dict() == {"yes": 50, "no": 49}


def scores(model, accuracy, table="a", task="50/0.2", seed=0):
    return {"table": table, "task": task, "seed": seed, "model": model, "accuracy": accuracy, "log_loss": 1 - accuracy}


def test_the_default_and_other_forms_of_the_network_are_no_supervised_models():
    models = ("network", "network, told", "x", "x, sigmoid", "curated", "self-training")
    records = [scores(model, 0.5) for model in models]
    assert network_report.rivals_of(records, "network") == [["x", "x, sigmoid"], ["x, sigmoid"], ["curated"]]


def test_the_network_is_compared_with_the_best_of_the_others_over_tables():
    records = [scores(model, 0.5 + gain, t) for t in "ab" for model, gain in (("network", 0.2), ("x", 0.1), ("y", 0.0))]
    best, its, ahead, error = network_report.gain(records, "accuracy", "network", ["x", "y"])
    assert (best, its, error) == ("x", pytest.approx(0.6), pytest.approx(0, abs=1e-9))
    assert ahead == pytest.approx(0.1)
    assert network_report.gain(records, "log_loss", "network", ["x", "y"])[2] == pytest.approx(-0.1)


def test_what_a_model_gains_is_told_cell_by_cell():
    records = [
        scores(model, a, seed=k) | {"auc": a} for k in (0, 1) for model, a in (("x", 0.5), ("curated", 0.6 + k / 10))
    ]
    (cell,) = network_report.differences(records, "x").to_dict("records")
    assert (cell["model"], cell["table"], cell["task"]) == ("curated", "a", "50/0.2")
    assert cell["accuracy"] == pytest.approx(0.15)
    assert (cell["log_loss"], cell["before"]) == (pytest.approx(-0.15), pytest.approx(0.5))


def test_a_model_without_records_is_no_baseline():
    with pytest.raises(SystemExit, match="No record is of 'y'"):
        network_report.differences([scores("x", 0.5)], "y")


@pytest.mark.filterwarnings("ignore")
def test_rivals_answer_for_every_row_of_a_task():
    network_rivals = pytest.importorskip("network_rivals", reason="needs CatBoost", exc_type=ImportError)
    rng = np.random.default_rng(0)
    values, true = rng.normal(size=(160, 3)).astype(np.float32), np.arange(160) % 2
    values[:, 0] += 3 * true
    task = Task(values, true[:60].copy(), true, context=100)
    names = ["logistic", "self-training", "curated: logistic"]
    answers = network_rivals.answers_of_rivals(names, task, np.zeros(3, dtype=bool), folds=False)
    assert list(answers) == names
    for p in answers.values():
        assert scores_of(task, p)["accuracy"] > 0.8
    with pytest.raises(SystemExit, match="'magic' is not known; choose among 'xgboost', "):
        network_rivals.check_names(["magic"])


def test_tasks_that_a_model_could_not_fit_are_left_out():
    records = [scores("network", 0.7), scores("x", 0.6), scores("network", 0.9, seed=1)]
    assert [record["seed"] for record in network_report.complete(records)] == [0, 0]


def test_dirty_labels_are_worth_as_many_clean_ones_as_carry_their_information():
    assert effective_labels.worth(400, 0.2) == 144
    assert effective_labels.worth(1600, 0.4) == 64


@pytest.mark.parametrize("sign", [1, -1])
def test_a_score_is_found_on_the_curve_of_clean_labels(sign):
    curve = sign * pd.DataFrame({10: [0.6, 0.5], 100: [0.7, 0.8], 1000: [0.8, 0.9]})
    place = effective_labels.place_on(curve, sign * pd.Series([0.6, 0.7]))
    assert np.exp(place) == pytest.approx(np.sqrt(10 * 100))


def test_the_card_shows_a_cell_for_each_model_and_how_far_the_network_is_ahead():
    gains = {"network": 0.2, "curated": 0.1, "xgboost": 0.05, "xgboost, sigmoid": 0.0}
    records = [
        scores(model, 0.5 + gain, table, task) | {"auc": 0.5 + gain}
        for table in "ab"
        for task in ("100/0", "50/0.4")
        for model, gain in gains.items()
    ]
    lines = network_card.table(records, network_card.TITLES, network_card.by_task(records)).splitlines()
    assert lines[0] == "| | network | the default | XGBoost |"
    assert lines[2] == "| 50 labels, 40 % wrong | 70.0 / 0.300 / 70.0 | 60.0 / 0.400 / 60.0 | 55.0 / 0.450 / 55.0 |"
    assert [line.split(" | ")[0] for line in lines[3:]] == ["| 100 labels, 0 % wrong", "| all clean", "| all dirty"]
    ahead = list(network_card.leads(records, "two tables"))
    assert ahead[0] == "| two tables, dirty labels; best supervised model | +15.0 ± 0.0 | −33.3 % | +15.0 ± 0.0 |"
    assert ahead[-1] == "| two tables, clean labels; the default | +10.0 ± 0.0 | −25.0 % | +10.0 ± 0.0 |"
