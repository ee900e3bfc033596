"""Estimates from the review itself, against figures computed by hand or by other libraries."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.metrics import cohen_kappa_score

from dips._review.statistics import kappa, reviewer_error, share, total

from .reviews import correct, decide, desk_in


@pytest.mark.parametrize(("k", "n"), [(0, 5), (3, 9), (7, 7)])
def test_a_share_has_the_exact_interval(k, n):
    expected = binomtest(k, n).proportion_ci(method="exact")
    estimate = share(k, n)
    assert (estimate.value, estimate.low, estimate.high) == pytest.approx((k / n, expected.low, expected.high))


def test_a_total_counts_what_was_looked_at_as_known():
    assert total(0, 0, 50) is None
    everything = total(3, 50, 50)
    assert (everything.value, everything.low, everything.high) == (3, 3, 3)
    estimate = total(1, 10, 110)
    assert estimate.value == pytest.approx(11)
    assert 1 < estimate.low < estimate.value < estimate.high < 110


def test_kappa_is_cohens():
    rng = np.random.RandomState(0)
    first = rng.choice(["a", "b", "c"], 60)
    second = np.where(rng.uniform(size=60) < 0.7, first, rng.choice(["a", "b", "c"], 60))
    estimate = kappa(first.tolist(), second.tolist())
    assert estimate.value == pytest.approx(cohen_kappa_score(first, second))
    assert estimate.low < estimate.value < estimate.high


def test_the_interval_of_kappa_covers_as_often_as_it_says():
    rng, hits = np.random.RandomState(0), 0
    for _ in range(300):  # two who err independently in one of ten: agreement .82, by chance .5
        truth = rng.randint(0, 2, 150)
        first, second = (truth ^ (rng.uniform(size=150) < 0.1) for _ in range(2))
        estimate = kappa(first.tolist(), second.tolist())
        hits += estimate.low <= 0.64 <= estimate.high
    assert 0.9 <= hits / 300 <= 0.98


def test_kappa_is_unknown_where_chance_alone_agrees():
    assert kappa([], []) is None
    for n in range(1, 60):  # a sum of shares is not always 1
        assert kappa(["a"] * n, ["a"] * n) is None


def test_labels_that_open_the_review_are_neither_suspects_nor_drawn(finished, tmp_path):
    desk = desk_in(finished, tmp_path, order="useful")
    desk.queue.openers = {desk.queue.rows[0]}
    correct(desk, "anna", desk.queue.rows[0])
    progress = desk.progress("anna")
    assert progress["wrong"] == 1
    assert (progress["suspects"]["looked"], progress["checks"]["looked"], progress["missed"]) == (0, 0, None)
    assert desk.card("anna", desk.queue.rows[0])["label"]["opens"]
    assert total(1, 10, 100, besides=2).value == total(1, 10, 100).value + 2


def test_progress_counts_suspects_and_checks_apart(finished, tmp_path):
    desk = desk_in(finished, tmp_path)
    rows, checks = desk.queue.rows[:16], desk.queue.checks
    before = desk.progress("anna")
    assert before["precision"] is None
    assert before["missed"] is None
    for row in rows:
        (decide if row in checks else correct)(desk, "anna", row)
    progress = desk.progress("anna")
    assert (progress["looked"], progress["wrong"]) == (16, 14)
    assert progress["left"] == len(desk.queue.rows) - 16
    assert progress["suspects"]["wrong"] == progress["suspects"]["looked"] == 14
    assert progress["precision"]["value"] == 1
    assert progress["checks"] == {"looked": 2, "wrong": 0, "n": desk.queue.n_unsuspected}
    assert progress["missed"]["value"] == 0
    assert progress["missed"]["high"] > 20
    assert 0 < progress["next"]["worth"] <= progress["next"]["n"]


def test_the_next_ten_are_worth_less_where_little_was_found(finished, tmp_path):
    desks = [desk_in(finished, tmp_path / name) for name in ("right", "wrong")]
    for desk, act in zip(desks, (decide, correct), strict=True):
        for row in desk.queue.rows[:10]:
            act(desk, "anna", row)
    few, many = (desk.progress("anna")["next"]["worth"] for desk in desks)
    assert few < many


def test_nothing_is_promised_after_a_few_looks_where_nothing_is_believed(finished, tmp_path):
    desk = desk_in(finished, tmp_path)
    desk.material.account["p_wrong"] = np.nan
    suspects = [row for row in desk.queue.rows if row not in desk.queue.checks]
    for k, row in enumerate(suspects[:10]):
        assert desk.progress("anna")["next"]["worth"] is None
        (correct if k % 2 else decide)(desk, "anna", row)
    progress = desk.progress("anna")["next"]
    assert progress["worth"] == progress["n"] / 2


def test_agreement_names_pairs_and_what_is_divided(finished, tmp_path):
    desk = desk_in(finished, tmp_path)
    for k, row in enumerate(desk.queue.rows[:8]):
        decide(desk, "anna", row)
        (correct if k == 0 else decide)(desk, "bob", row)
    agreement = desk.agreement()
    assert agreement["reviewers"] == ["anna", "bob"]
    assert agreement["divided"] == 1
    assert agreement["pairs"][0]["n"] == 8
    assert agreement["pairs"][0]["same"] == 7
    assert agreement["pairs"][0]["kappa"]["value"] < 1


class Said:
    """Decisions that need no review: what each of two reviewers said of each row."""

    def __init__(self, *reviewers):
        self.rows = [
            [SimpleNamespace(label=label) for label in said if label is not None]
            for said in zip(*reviewers, strict=True)
        ]

    def by_row(self):
        return {row: dict(enumerate(answers)) for row, answers in enumerate(self.rows)}

    def settled(self):
        return {row: a[0] for row, a in enumerate(self.rows) if len({each.label for each in a}) == 1}


@pytest.mark.parametrize("n_classes", [2, 4])
def test_how_often_two_reviewers_err_is_found_from_where_they_differ(n_classes):
    rng, n = np.random.RandomState(0), 20_000
    truth = rng.randint(n_classes, size=n)
    first, second = (
        np.where(rng.uniform(size=n) < 0.1, (truth + rng.randint(1, n_classes, n)) % n_classes, truth) for _ in range(2)
    )
    seldom = [label if k % 4 == 0 else None for k, label in enumerate(second)]
    settled = [k for k in range(n) if seldom[k] is None or seldom[k] == first[k]]
    expected = (first[settled] != truth[settled]).mean()
    assert reviewer_error(Said(first, seldom), n_classes) == pytest.approx(expected, abs=0.01)


def test_how_often_reviewers_err_is_unknown_where_few_rows_were_judged_twice():
    assert reviewer_error(Said(["a"] * 30, ["a"] * 19 + [None] * 11), 2) is None
    assert reviewer_error(Said(["a"] * 30, ["a"] * 30), 2) == 0
    assert reviewer_error(Said(["a"] * 30, ["b"] * 30), 2) == 0  # nothing is settled
