"""Label columns as people fill them in: spellings of one label, words for "no label", and too few labels."""

import shlex

import numpy as np
import pandas as pd
import pytest

from dips._files import DataError, read_table, read_target
from dips._files.spelling import find_variants
from dips._tools.wording import command_line

RNG = np.random.RandomState(0)


def target(counts, **settings):
    labels = RNG.permutation([label for label, n in counts.items() for _ in range(n)])
    with command_line():
        return read_target(read_table(pd.DataFrame({"y": labels, "x": 1})), "y", **settings)


def refused(words, counts, **settings):
    with pytest.raises(DataError, match=words) as error:
        target(counts, **settings)
    return str(error.value)


YES_AND_NO = {"Yes": 120, "yes": 40, "Y": 12, "YES": 6, "No": 300, "no": 50, "N": 22}


def test_seven_spellings_of_yes_and_no_are_refused_with_the_exact_option():
    message = refused("--merge-labels to merge them", YES_AND_NO)
    assert "'Yes' (120), 'yes' (40), 'Y' (12), 'YES' (6)" in message
    assert "'No' (300), 'no' (50), 'N' (22)" in message
    assert "as a class 'YES' would have 6 rows" in message
    assert "--no-merge-labels" in message


def test_they_are_merged_on_demand():
    merged = target(YES_AND_NO, merge_labels=True)
    assert merged.classes == ["No", "Yes"]
    assert np.bincount(merged.codes).tolist() == [372, 178]
    assert merged.notes[0].startswith("Spellings of one label in 'y' are merged: 'No' (300)")


def test_a_letter_that_stands_there_twice_is_a_spelling_of_a_short_word():
    merged = target({"Yes": 60, "Yess": 2, "No": 80}, merge_labels=True)
    assert merged.classes == ["No", "Yes"]
    refused("--merge-labels to merge them", {"Yes": 60, "Yess": 2, "No": 80})


def test_they_are_merged_by_a_mapping():
    mapping = {"yes": "Yes", "Y": "Yes", "YES": "Yes", "no": "No", "N": "No"}
    assert target(YES_AND_NO, map_label=mapping).classes == ["No", "Yes"]
    refused("map-label names 'Yess', which is not a label of 'y'", YES_AND_NO, map_label={"Yess": "Yes"})


def test_a_label_that_is_read_as_a_whole_number_is_asked_for_as_such():
    refused("names '1.0', which is not a label of 'y'; choose one of 1, 2.", {1.0: 9, 2.0: 9}, map_label={"1.0": "x"})


def test_a_mark_that_no_row_has_is_pointed_out():
    found = target({1.0: 9, 2.0: 9, 3.0: 9}, unlabeled_marks=("3.0", "2"))
    assert found.classes == [1, 3]
    assert found.notes == ["--unlabeled-mark 3.0 matches no label of 'y'."]


def test_they_are_kept_apart_on_demand():
    assert len(target(YES_AND_NO, merge_labels=False).classes) == 7


def test_frequent_spellings_are_shown_and_not_merged():
    shown = target({"Yes": 100, "yes": 50, "No": 200})
    assert shown.classes == ["No", "Yes", "yes"]
    assert shown.notes == [
        "Labels in 'y' look like spellings of one: 'Yes' (100), 'yes' (50); --merge-labels merges them."
    ]
    assert shown.words.to_json()["variants"] == [{"label": "Yes", "spellings": {"Yes": 100, "yes": 50}}]


@pytest.mark.parametrize(
    ("counts", "groups"),
    [
        ({"Café": 50, "cafe": 50, "bar": 50}, [["Café", "cafe"]]),
        ({"in situ": 50, "in  situ": 20, "In-Situ": 10, "none": 50}, [["in situ", "in  situ", "In-Situ"]]),
        ({"1": 50, "0": 50, "true": 20, "false": 20}, [["0", "false"], ["1", "true"]]),
        ({"y": 50, "n": 50, "1": 20, "0": 20}, [["n", "0"], ["y", "1"]]),
        ({"malignant": 400, "malignent": 3, "benign": 300}, [["malignant", "malignent"]]),
        ({"malignant": 400, "benign": 300, "bengin": 2}, [["benign", "bengin"]]),
        ({"1": 50, "1.0": 20, "2": 30, "x": 9}, [["1", "1.0"]]),
        ({"ill": 50, "i\u200bll": 20, "well": 50}, [["ill", "i\u200bll"]]),
        ({"grade 1": 500, "grade 2": 5}, []),
        ({"stage i": 500, "stage ii": 5}, []),
        ({"male": 500, "female": 5}, []),
        ({"0": 50, "1": 50, "2": 50}, []),
        ({"f": 50, "m": 50}, []),
        ({"hypotension": 400, "hypertension": 9}, []),
        ({"yes": 50, "no": 50}, []),
        ({"rose": 400, "nose": 3}, []),
    ],
)  # fmt: skip
def test_what_looks_like_one_label(counts, groups):
    assert [list(v.spellings) for v in find_variants(counts)] == groups


@pytest.mark.parametrize("word", ["unknown", "Pending", "N/a", "not reviewed", "??"])
def test_a_majority_that_means_no_label_stops_the_run(word):
    message = refused("The most frequent label of 'y' is", {word: 940, "churn": 25, "stay": 35})
    assert "(940 of 1,000 rows)" in message
    assert f"use --unlabeled-mark {shlex.quote(word)}" in message
    assert target({word: 940, "churn": 25, "stay": 35}, unlabeled_marks=(word,)).is_labeled.sum() == 60
    assert target({word: 940, "churn": 25, "stay": 35}, merge_labels=False).classes.count(word) == 1


def test_a_question_mark_means_no_label_without_being_told():
    assert target({"?": 940, "churn": 25, "stay": 35}).is_labeled.sum() == 60


def test_a_minority_that_may_mean_no_label_is_pointed_out():
    doubted = target({"churn": 300, "stay": 500, "pending": 40})
    assert doubted.notes == [
        "'pending' (40 rows) in 'y' is taken as a class, but looks like a word for 'no label'; if it is one, use "
        "--unlabeled-mark pending."
    ]
    assert doubted.words.unlabeled == {"pending": 40}


@pytest.mark.parametrize("word", ["Prefer not to say", "don't know", "Not applicable", "unklar", "Weiß nicht"])
def test_answers_that_are_none_are_pointed_out(word):
    assert target({"churn": 300, "stay": 500, word: 40}).words.unlabeled == {word: 40}


def test_three_labels_are_said_to_be_few():
    labels = ["yes", "no", "yes"] + [None] * 500
    table = read_table(pd.DataFrame({"y": labels, "x": range(503)}))
    with pytest.raises(DataError, match=r"Only 3 rows of 'y' are labeled \('no' 1, 'yes' 2\); label at least 5"):
        read_target(table, "y")


def test_two_of_one_class_among_twenty_is_the_reason_and_nothing_that_would_leave_one_class_is_advised():
    message = refused("The class 'yes' of 'y' has 2 labeled rows", {"yes": 2, "no": 18})
    assert message.endswith("label more rows of it.")
    assert "--unlabeled-mark rare" in refused("'rare'", {"yes": 20, "no": 18, "rare": 2})


def test_in_python_messages_speak_python():
    table = read_table(pd.DataFrame({"y": ["Yes"] * 40 + ["yes"] * 4 + ["No"] * 40, "x": 1}))
    with pytest.raises(DataError, match=r"use merge_labels=True to merge them, map_label=\{'yes': 'LABEL'\}"):
        read_target(table, "y")
