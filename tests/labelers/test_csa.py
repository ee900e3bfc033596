import numpy as np
import pytest
from scipy.stats import t as student_t
from scipy.stats import ttest_ind

from dips.labelers import CSA, SLA, Moments
from dips.labelers._csa import _degrees_of_freedom

from .examples import FEW, as_pairs, make_candidates, random_members
from .test_sla import naive_sla


def two_most_probable(members, i):
    second, first = np.argsort(np.mean(members[:, i], axis=0))[-2:]
    return members[:, i, first], members[:, i, second]


def passes_by_hand(members):
    """Rows whose Welch statistic, 0.1 added to the variances, exceeds the 97.5 % point of Student's t."""
    n_models, passing = len(members), []
    for i in range(members.shape[1]):
        a, b = two_most_probable(members, i)
        statistic = (a.mean() - b.mean()) / np.sqrt((0.1 + a.var(ddof=1) + b.var(ddof=1)) / n_models)
        if statistic > student_t.ppf(0.975, ttest_ind(a, b, equal_var=False).df):
            passing.append(i)
    return passing


def moments(members):
    return Moments(members.mean(axis=0), members.std(axis=0, ddof=1), len(members))


@pytest.mark.parametrize("n_models", [2, 3, 20])
def test_the_degrees_of_freedom_are_welch_s(n_models):
    members = random_members(n_models=n_models, spread=0.8)
    for i in range(members.shape[1]):
        a, b = two_most_probable(members, i)
        ours = _degrees_of_freedom(a.var(ddof=1, keepdims=True), b.var(ddof=1, keepdims=True), n_models)
        assert ours[0] == pytest.approx(ttest_ind(a, b, equal_var=False).df, rel=1e-6)


def test_members_that_agree_to_the_last_digit_are_tested_as_of_equal_variance():
    assert _degrees_of_freedom(np.zeros(1), np.zeros(1), 10).tolist() == [18]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_models", [2, 3, 20])
def test_the_rows_that_enter_pass_welch_s_test(n_classes, n_models):
    members = random_members(n=200, n_classes=n_classes, n_models=n_models, spread=0.8)
    entering = np.flatnonzero(CSA().enters(moments(members))).tolist()
    assert entering == passes_by_hand(members)
    assert len(entering) < 200


def test_rows_may_be_tested_a_few_at_a_time(monkeypatch):
    seen = moments(random_members(n=200, spread=0.8))
    whole = CSA().enters(seen)
    monkeypatch.setattr("dips.labelers._csa._BLOCK", 7)
    np.testing.assert_array_equal(CSA().enters(seen), whole)


@pytest.mark.parametrize("n_models", [3, 10, 20])
def test_an_ensemble_of_any_size_can_be_sure(n_models):
    certain = np.repeat([[[0.99, 0.01], [0.5, 0.5]]], n_models, axis=0)
    assert CSA().enters(moments(certain)).tolist() == [True, False]


@pytest.mark.parametrize("caps", [None, [2, 3, 1]])
def test_csa_allocates_the_rows_that_pass(caps):
    members = random_members(spread=0.8)
    candidates = make_candidates(members, caps, frequencies=[0.5, 0.3, 0.2], t=2)
    entering = passes_by_hand(members)
    expected = naive_sla(members, candidates, 0.8, entering)
    assert as_pairs(CSA(n_models=FEW).propose(candidates)) == expected
    assert 0 < len(entering) < members.shape[1]
    assert set(as_pairs(CSA(n_models=FEW).propose(candidates))) <= {(i, c) for i in entering for c in range(3)}


def test_where_no_row_passes_nothing_is_proposed():
    undecided = np.full((FEW, 8, 2), 0.5)
    assert as_pairs(CSA(threshold=0, n_models=FEW).propose(make_candidates(undecided))) == []


def test_csa_is_sla_on_fewer_rows():
    assert issubclass(CSA, SLA)
    assert CSA().get_params() == SLA().get_params()
