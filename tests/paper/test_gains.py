"""The summary of the good-model benchmark: gains, harm, and the gap closed, from outcomes made by hand."""

import itertools

import numpy as np
import pandas as pd
import pytest

from dips._paper.tables import gains
from dips._paper.tables.scores import audit_scores, calibration_error, scores

MEASURES = ("accuracy", "auc", "balanced_accuracy", "calibration_error", "rarest_recall")


def outcomes(changes, noise=(0.0, 0.2), seeds=(0, 1)):
    """Supervised training at 0.7 and a log loss of 0.5, all labels at 0.8, and methods that differ by what is given."""
    rows = []
    for method, (more, loss) in ({"Supervised": (0, 0), "All labels known": (0.1, -0.2)} | changes).items():
        for share, seed in itertools.product(noise, seeds):
            row = dict.fromkeys(MEASURES, 0.7 + more) | {"log_loss": 0.5 + loss, "method": method, "seed": seed}
            cell = {"set": "development", "table": "x", "labels": 100, "backbone": "b", "kind": "symmetric"}
            rows.append(row | cell | {"noise": share, "test_over_train": 0.2})
    return pd.DataFrame(rows)


BETTER = outcomes({"Curated, default": (0.02, -0.05), "Pseudo-labeling, default": (0.04, -0.1)})


def test_gains_are_points_over_supervised_training_and_log_loss_is_relative():
    summary = gains.summary(BETTER).loc["Pseudo-labeling, default"]
    assert summary["accuracy"] == "+4.00 ± 0.00"
    assert summary["log loss, %"] == "-20.0 ± 0.0"
    assert summary["gap closed, %"] == "40"
    assert (summary["cells harmed"], summary["clean cells, log loss higher"]) == ("0 of 2", "0 of 1")


def test_harm_is_counted_after_averaging_over_seeds():
    frame = outcomes({"Curated, default": (-0.004, 0.02)})
    assert gains.summary(frame).loc["Curated, default", "cells harmed"] == "0 of 2"
    assert gains.summary(frame).loc["Curated, default", "clean cells, log loss higher"] == "1 of 1"
    worse = outcomes({"Curated, default": (-0.006, 0.0)})
    assert gains.summary(worse).loc["Curated, default", "cells harmed"] == "2 of 2"
    assert gains.harmed(worse)["accuracy"].tolist() == pytest.approx([-0.6, -0.6])
    assert gains.harmed(BETTER).empty


def test_what_unlabeled_rows_add_is_the_default_with_them_less_without():
    added = gains.of_unlabeled_rows(BETTER)
    assert added.loc["all", "accuracy"] == "+2.00 ± 0.00"
    assert added.loc["all", "log loss"] == "-0.050 ± 0.000"
    assert added.loc["all", "cells under -0.3"] == "0 of 2"
    assert added.loc["noise", "where"].tolist() == ["symmetric 0%", "symmetric 20%"]


def test_a_method_that_lacks_cells_is_compared_on_those_it_has():
    lacking = BETTER[~((BETTER["method"] == "Curated, default") & (BETTER["noise"] == 0.2))]
    summary = gains.summary(lacking)
    assert summary.loc["Curated, default", "accuracy"] == "+2.00 ± 0.00"
    assert summary.loc["Curated, default", "cells harmed"] == "0 of 1"
    assert gains.means(lacking)["cells"].unique().tolist() == [2]


def test_a_seed_that_is_not_finished_has_no_part_in_the_standard_error():
    unfinished = BETTER[~((BETTER["seed"] == 1) & (BETTER["noise"] == 0.2))]
    assert gains.summary(unfinished).loc["Curated, default", "accuracy"] == "+2.00"


def test_the_noise_is_the_first_column_of_what_is_told_by_noise():
    by_noise = gains.by(BETTER, "kind", "noise")
    assert by_noise.columns[:2].tolist() == ["noise", "against supervised"]
    assert by_noise["noise"].unique().tolist() == [0.0, 0.2]


def test_without_supervised_training_nothing_is_gained():
    assert gains.summary(BETTER[BETTER["method"] != "Supervised"]).empty
    assert gains.audit(BETTER).empty


def test_a_class_that_no_label_has_costs_log_loss_but_is_no_error():
    scored = scores(np.array([[1.0, 0, 0], [0.2, 0.8, 0], [0.5, 0.5, 0]]), np.array([0, 1, 2]))
    assert scored["log_loss"] > 4
    assert scored["balanced_accuracy"] == pytest.approx(2 / 3)
    assert scored["rarest_recall"] in (0.0, 1.0)


def test_calibration_error_is_what_was_said_less_what_happened():
    assert calibration_error(np.full(10, 0.9), np.arange(10) < 5) == pytest.approx(0.4)
    assert calibration_error(np.array([1.0, 0.0]), np.array([True, False])) == 0


class Estimate:
    noise_interval_ = (0.1, 0.3)


def test_an_audit_is_scored_by_the_wrong_labels_that_are_known():
    flipped = np.array([True, False, False, False])
    samples = pd.DataFrame({"p_wrong": [0.9, 0.1, 0.1, 0.1], "confidence": 0.5})
    scored = audit_scores(samples, Estimate(), flipped)
    assert (scored["wrong_auc"], scored["noise_covered"], scored["wrong_share"]) == (1.0, 1.0, 0.25)
    assert scored["p_wrong_error"] == pytest.approx(0.1)
    without = audit_scores(samples.assign(p_wrong=np.nan, confidence=[0.1, 0.9, 0.8, 0.7]), object(), flipped)
    assert without == {"wrong_share": 0.25, "wrong_auc": 1.0}
