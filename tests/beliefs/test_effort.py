from itertools import pairwise

import pytest

from dips._beliefs.effort import Effort
from dips._beliefs.teachers import HELPERS


def backbone_trainings(effort):
    return effort.n_folds * (1 + ("backbone" in effort.again))


def test_the_more_labels_the_fewer_trainings():
    efforts = [Effort.for_labels(n) for n in (50, 999, 1_000, 5_000, 10_000, 100_000)]
    for fewer, more in pairwise(efforts):
        assert backbone_trainings(more) <= backbone_trainings(fewer)
        assert len(more.helpers) <= len(fewer.helpers)
        assert more.n_student <= fewer.n_student


@pytest.mark.parametrize("n", [50, 1_000, 10_000])
def test_the_second_round_asks_teachers_of_the_first(n):
    effort = Effort.for_labels(n)
    assert set(effort.helpers) <= set(HELPERS)
    assert set(effort.again) <= {"backbone", *effort.helpers, *(["graph"] if effort.graph else [])}


def test_the_user_may_choose_the_folds():
    assert {Effort.for_labels(n, n_folds=4).n_folds for n in (50, 1_000, 10_000)} == {4}
