"""Scores of predictions, in words."""

from dips._study.scoring import Scores, _codes


def test_the_recall_of_a_class_that_is_a_number_is_set_apart_from_it():
    scores = Scores(9, {}, {"label": 0, "accuracy": 0.9}, {"0": 1.0, "1": 0.13}, [])
    assert "Recall by class: 0: 100 %, 1: 13 %." in scores.sentences()
    named = Scores(9, {}, {"label": "well", "accuracy": 0.9}, {"ill": 1.0, "well": 0.13}, [])
    assert "Recall by class: ill 100 %, well 13 %." in named.sentences()


def test_the_metric_that_decided_is_told():
    of_each = {name: {"value": 0.5, "low": 0.4, "high": 0.6} for name in ("accuracy", "average_precision")}
    baseline = {"label": "well", "accuracy": 0.9}
    decided = Scores(9, of_each, baseline, {"ill": 1.0, "well": 0.1}, [], "average_precision")
    assert "average precision 0.500 (0.400 to 0.600)" in decided.sentences()[0]
    assert "average precision" not in Scores(9, of_each, baseline, {}, [], "accuracy").sentences()[0]


def test_labels_that_are_the_same_number_are_told_apart_by_how_they_are_written():
    codes, unknown = _codes(["01", "1", "1.0", "b", "10", "1_0"], ["01", "1", "b"], set(), {})
    assert codes.tolist() == [0, 1, 1, 2, -1, -1]
    assert unknown == ["10", "1_0"]
    assert _codes(["10", "1_0"], ["1_0", "b"], set(), {})[0].tolist() == [-1, 0]
