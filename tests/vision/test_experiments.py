import json

import numpy as np
import torch

from dips.vision.datasets import ImageData
from dips.vision.experiments import Arm, compare, labeled_part, noisy_labels, steps_to
from dips.vision.percentile import Percentile
from dips.vision.pool import Pool
from dips.vision.throughput import breakdown, copy_bandwidth, floor_ms, steps_a_second

from .examples import CPU, PLAN, colors, pool, recipe


def data():
    X, y = colors()
    return ImageData(X, y, *colors(30, random_state=1), noisy={"people": (y + (np.arange(y.size) < 12)) % 3})


def test_as_many_labels_of_each_class_are_shown():
    hidden = labeled_part(data().y_train, 30, seed=0)
    assert np.bincount(hidden[hidden >= 0]).tolist() == [10, 10, 10]
    assert not (hidden == labeled_part(data().y_train, 30, seed=1)).all()


def test_noise_is_what_people_said_or_symmetric():
    said = noisy_labels(data(), "people", 60, seed=0)
    assert set((said - data().noisy["people"])[said >= 0]) == {0}
    symmetric = noisy_labels(data(), 0.2, 60, seed=0)
    assert (symmetric != data().y_train)[symmetric >= 0].sum() == 12


def test_a_comparison_notes_accuracies_and_how_many_dropped_labels_are_wrong(tmp_path):
    arms = [Arm("plain", "none", recipe(n_steps=9), PLAN), Arm("curated", Percentile(), recipe(n_steps=9), PLAN)]
    settings = {"noise": 0.2, "n_labeled": 45, "device": CPU, "log": tmp_path / "log.jsonl"}
    records = compare(data(), arms, [0, 1], **settings)
    assert records == [json.loads(line) for line in settings["log"].read_text().splitlines()]
    final = [r for r in records if r.get("step") == 9]
    assert {(r["arm"], r["seed"]) for r in final} == {(a, s) for s in (0, 1) for a in ("plain", "curated")}
    judged = [r for r in records if r["event"] == "curation" and r["seed"] == 0]
    assert [r["n_kept"] + r["n_out"] for r in judged] == [45] * 3
    for r in judged:
        assert {"n_dropped", "n_returned"} <= set(r)
        assert round(r["n_kept"] * r["wrong_kept"] + r["n_out"] * r["wrong_dropped"]) == 9


def test_steps_to_an_accuracy_are_those_of_the_first_time():
    records = [{"step": 1, "accuracy": 0.5}, {"step": 2, "accuracy": 0.8}, {"step": 3, "accuracy": 0.7}]
    assert [steps_to(records, a) for a in (0.5, 0.7, 0.9)] == [1, 2, None]


def test_the_parts_of_a_step_are_timed():
    found = breakdown(pool(), recipe(), n_steps=2)
    assert set(found) == {"step", "augmentation", "network", "optimizer", "rest"}
    assert copy_bandwidth(CPU, 2**16) > 0
    assert steps_a_second(pool(), recipe(), n_runs=2, n_steps=1) > 0


def test_the_floor_counts_what_layers_read_and_write():
    images = Pool.of(*colors(), 3, torch.device("cpu"))
    one = floor_ms(images, recipe(), bytes_a_second=1e12)
    assert floor_ms(images, recipe(batch_size=16), bytes_a_second=1e12) == 2 * one
    assert floor_ms(images, recipe(), bytes_a_second=5e11) == 2 * one
