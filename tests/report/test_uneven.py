"""Where more labels are wrong is only said where difficulty does not explain it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

from dips._report import summarize
from dips._report.uneven import judge_parts
from dips._study import audit
from dips.datasets import flip_labels
from tests.patients import patients

N, N_PARTS = 1_000, 40


def hard_table(seed, wrong_in_part=0.1, wrong_elsewhere=0.1):
    """Answers that are unsure in the first part and sure elsewhere, labels, and parts that are looked at."""
    rng = np.random.default_rng(seed)
    parts = [np.arange(N) < 250, *(rng.random(N) < 0.2 for _ in range(N_PARTS - 1))]
    sharpness = np.where(parts[0], 0.7, 4.0)
    p = 1 / (1 + np.exp(-sharpness * rng.normal(size=N)))
    wrong = rng.random(N) < np.where(parts[0], wrong_in_part, wrong_elsewhere)
    return np.column_stack([1 - p, p]), ((rng.random(N) < p) ^ wrong).astype(int), parts


def test_hard_parts_are_not_taken_for_wrong_ones():
    claimed = [min(part.p_value for part in judge_parts(*hard_table(seed))) < 0.05 for seed in range(20)]
    assert sum(claimed) <= 3  # one in twenty is what the test allows itself


def test_wrong_labels_in_one_part_are_found_in_that_part():
    rng = np.random.default_rng(99)
    answers, labels, parts = hard_table(0)
    easy = np.arange(N) >= 700
    flipped = easy & (rng.random(N) < 0.25)
    judged = judge_parts(answers, np.where(flipped, 1 - labels, labels), [*parts, easy])
    assert judged[-1].p_value < 0.01
    assert judged[-1].rate == pytest.approx(0.1 * 0.75 + 0.9 * 0.25, abs=0.08)
    assert judged[-1].range[0] < 0.3 < judged[-1].range[1]
    assert min(part.p_value for part in judged[:-1]) > 0.05


def test_the_parts_of_several_classes_are_judged_too():
    rng = np.random.default_rng(0)
    p = rng.dirichlet([0.3, 0.3, 0.3], N)
    truth = (rng.random((N, 1)) > p.cumsum(axis=1)).sum(axis=1)
    part = np.arange(N) < 200
    labels = np.where(part & (rng.random(N) < 0.4), (truth + 1) % 3, truth)
    bad, good = judge_parts(p, labels, [part, ~part])
    assert (bad.p_value < 0.01, good.p_value > 0.5) == (True, True)
    assert bad.rate == pytest.approx(0.4, abs=0.1)


def cancer():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return X.iloc[:, :12].assign(label=np.where(y, "benign", "malignant"))


def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    return X.assign(label=y.map({0: "a", 1: "b", 2: "c"}))


def hospital():
    frame, _ = patients(n=500, n_labeled=500, noise=0.0)
    return frame.drop(columns="patient").rename(columns={"outcome": "label"})


def hard():
    """One value of a column tells rows whose outcome is much harder to foresee."""
    rng = np.random.RandomState(0)
    x, unclear = rng.normal(size=(800, 3)), rng.choice(["yes", "no"], 800)
    p = 1 / (1 + np.exp(-np.where(unclear == "yes", 0.8, 4.0) * x[:, 0]))
    label = np.where(rng.rand(800) < p, "ill", "well")
    return pd.DataFrame(x, columns=list("abc")).assign(unclear=unclear, label=label)


@pytest.mark.parametrize("make", [cancer, wine, hospital, hard])
def test_labels_wrong_anywhere_alike_are_blamed_on_no_value(make):
    table = make()
    noisy, _ = flip_labels(table["label"].to_numpy(), 0.13, random_state=1)
    summary = summarize(audit(table.assign(label=noisy), target="label").findings)
    assert summary["noise"]["by_value"] == []
    assert summary["noise"]["n_values"] > 5
    assert not any("Look at the labels where" in step for step in summary["next_steps"])


def test_a_curator_without_answers_makes_no_claim(quick):
    summary = summarize(audit(hospital(), target="label", curator="dips").findings)
    assert summary["noise"]["by_value"] is None


def test_parts_are_judged_where_models_are_right_no_more_often_than_a_guess():
    rng = np.random.default_rng(0)
    p, part = rng.beta(0.2, 0.2, N), np.arange(N) < 200
    judged = judge_parts(np.column_stack([1 - p, p]), rng.integers(0, 2, N), [part, ~part])
    assert min(each.p_value for each in judged) > 0.05
