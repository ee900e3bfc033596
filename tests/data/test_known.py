"""What a user says of the errors is understood, or refused in words."""

import numpy as np
import pandas as pd
import pytest

from dips._data.known import Known
from dips._data.verified import Verified
from dips.exceptions import InputError

CLASSES = np.array(["ill", "well"])
THREE = np.array([1, 2, 3])


def test_what_is_said_is_put_in_the_order_of_the_classes():
    known = Known.told(("well",), {"well": 0.7, "ill": 0.3}, CLASSES)
    assert known.trusted.tolist() == [False, True]
    assert known.frequencies.tolist() == [0.3, 0.7]
    assert Known.told([], None, CLASSES).frequencies is None


@pytest.mark.parametrize("frequencies", [{2: 0.5, 3: 0.3}, pd.Series({3: 0.3, 2: 0.5}), [0.2, 0.5, 0.3]])
def test_one_class_may_be_left_out_and_has_the_rest(frequencies):
    np.testing.assert_allclose(Known.told([], frequencies, THREE).frequencies, [0.2, 0.5, 0.3])


@pytest.mark.parametrize(
    ("trusted", "frequencies", "message"),
    [
        (["sick"], None, "trusted_labels names 'sick', which is not a label; choose among ill, well"),
        (["ill", "well"], None, "names every label, so none can be wrong"),
        ([], {"sick": 0.5}, "class_frequencies names 'sick', which is not a label; choose among ill, well"),
        ([], {"ill": 0.5, "well": 0.4}, r"positive and sum to 1, but are ill 0.5, well 0.4\."),
        ([], {"ill": 30}, r"positive and sum to 1, but are ill 30, well -29 \(the rest\)\."),
        ([], {"ill": float("nan"), "well": 0.4}, "but are ill nan, well 0.4"),
        ([], {"ill": "some"}, "must be numbers"),
        ([], [0.2, 0.3, 0.5], "has 3 shares, and the labels name 2 classes"),
        (np.array("ill"), None, r"trusted_labels is a list of labels; got one label, so write \['ill'\]"),
        ([], {"ill": 10**400}, "must be positive and sum to 1, but one is too large to be a share"),
        ([], [10**400, 1], "one is too large to be a share"),
    ],
)
def test_what_the_labels_do_not_allow_is_refused(trusted, frequencies, message):
    with pytest.raises(InputError, match=message):
        Known.told(trusted, frequencies, CLASSES)


def test_of_three_classes_two_may_not_be_left_out():
    with pytest.raises(InputError, match="leaves out 1, 3; give a share for all classes, or for all but one"):
        Known.told([], {2: 0.5}, THREE)


def test_a_class_for_which_nothing_is_left_is_refused_whatever_rounding_leaves():
    shares = {"a": 0.7, "b": 0.2, "c": 0.1}
    assert 1 - sum(shares.values()) > 0
    with pytest.raises(InputError, match=r"positive and sum to 1, but are .* d 0 \(the rest\)"):
        Known.told([], shares, np.array(["a", "b", "c", "d"]))


@pytest.mark.parametrize("told", [(["1"], None), ([], {"1": 0.5})])
def test_a_text_that_only_looks_like_a_label_is_told_apart(told):
    with pytest.raises(InputError, match="names '1', which is not a label; choose among 1, 2, 3"):
        Known.told(*told, THREE)
    with pytest.raises(InputError, match="names 1, which is not a label; choose among '1', '2', '3'"):
        Known.told([1], None, THREE.astype(str))


def test_a_trusted_label_that_was_corrected_is_refused():
    known = Known.told(["ill"], None, CLASSES)
    now, checked = np.array([1, 1, 0, 1]), np.array([True, True, True, False])
    kept = Verified(checked, np.array([1, -1, 1, -1]))  # one confirmed, one not known, one found to be ill
    known.refuse_contradictions(now, CLASSES, kept)
    wrong = Verified(checked, np.array([0, 0, 0, -1]))
    message = r"The label 'ill' is trusted, but that of row 1 was corrected to 'well' \(1 more like it\)"
    with pytest.raises(InputError, match=message):
        known.refuse_contradictions(now, CLASSES, wrong, first_row=1)


def test_a_trusted_label_that_is_given_more_often_than_its_class_occurs_is_refused():
    nobody = Verified.nothing(1_000)
    labels = np.repeat([0, 1], [300, 700])
    message = "'ill' is trusted, and 30 % of the labeled rows have it, so its class cannot occur in only 10 % of them"
    with pytest.raises(InputError, match=message):
        Known.told(["ill"], {"ill": 0.1}, CLASSES).refuse_contradictions(labels, CLASSES, nobody)
    for trusted, share in ((["ill"], 0.4), (["ill"], 0.27), ([], 0.1)):  # more, roughly as many, or not trusted
        Known.told(trusted, {"ill": share}, CLASSES).refuse_contradictions(labels, CLASSES, nobody)
    few = np.repeat([0, 1], [3, 7])
    Known.told(["ill"], {"ill": 0.1}, CLASSES).refuse_contradictions(few, CLASSES, Verified.nothing(10))


def test_a_class_of_less_than_one_labeled_row_is_refused():
    nobody, labels = Verified.nothing(200), np.repeat([0, 1], [20, 180])
    message = "0.1 % of 200 labeled rows is not one row, and 'ill' is a label; say how often its class occurs among"
    with pytest.raises(InputError, match=message):
        Known.told([], {"ill": 0.001}, CLASSES).refuse_contradictions(labels, CLASSES, nobody)
    Known.told([], {"ill": 0.005}, CLASSES).refuse_contradictions(labels, CLASSES, nobody)
