"""The label column: which rows are labeled, with what, and what cannot be learned."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dips._files import DataError, read_table, read_target
from dips._tools.wording import command_line


def target(labels, **settings):
    return read_target(read_table(pd.DataFrame({"x": range(len(labels)), "y": labels})), "y", **settings)


def refused(words, labels, **settings):
    with pytest.raises(DataError, match=words):
        target(labels, **settings)


def test_many_numbers_as_labels_are_pointed_out():
    said = "'y' holds 30 numbers, each taken as a class; if they are a quantity, cut it into classes first"
    assert target([f"{i / 4}" for i in range(30)] * 5).notes[0].startswith(said)
    assert target([*range(20)] * 5).notes == []


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (["no", "yes"] * 5 + [None, ""], ["no", "yes"]),
        ([" no", "yes "] * 5 + ["NA", "?"], ["no", "yes"]),
        ([0, 1] * 5 + [None, None], [0, 1]),
        (["0", "1"] * 5 + [None, None], [0, 1]),
        (["0.0", "1.0"] * 5 + [None, None], [0, 1]),
        ([True, False] * 5 + [None, None], [False, True]),
        (["10", "9"] * 5 + [None, None], [9, 10]),
        (["01", "1"] * 5 + [None, None], ["01", "1"]),
    ],
)
def test_classes_and_unlabeled_rows_are_found(labels, classes):
    read = target(labels)
    assert read.classes == classes
    assert read.is_labeled.tolist() == [True] * 10 + [False] * 2
    assert read.positive == 1


def test_a_label_can_mean_none():
    read = target(["no", "yes"] * 5 + ["unsure"] * 3, unlabeled_marks=("unsure",))
    assert read.classes == ["no", "yes"]
    assert read.codes[-3:].tolist() == [-1, -1, -1]


def test_minus_one_is_a_class_unless_said_otherwise():
    labels = [0, 1] * 5 + [-1] * 6
    assert target(labels).classes == [-1, 0, 1]
    assert "if it marks unlabeled rows, use unlabeled_mark='-1'" in target(labels).notes[0]
    with command_line():
        assert "if it marks unlabeled rows, use --unlabeled-mark=-1" in target(labels).notes[0]
    assert target(labels, unlabeled_marks=("-1",)).classes == [0, 1]


def test_minus_one_among_words_looks_like_a_word_for_no_label():
    assert target(["ill", "well"] * 20 + ["-1"] * 9).words.unlabeled == {"-1": 9}
    assert target(["1", "0"] * 20 + ["-1"] * 9).words.unlabeled == {}


def test_the_positive_class_can_be_chosen():
    assert target(["no", "yes"] * 5, positive="no").positive == 0
    assert target([0, 1] * 5, positive="0").positive == 0
    refused("'maybe' is not among the labels of 'y': no, yes", ["no", "yes"] * 5, positive="maybe")


def test_the_positive_class_is_the_rarer_of_two_words_and_otherwise_the_last():
    assert target(["fraud"] * 6 + ["legal"] * 7).positive == 0
    assert target(["fraud"] * 7 + ["legal"] * 6).positive == 1
    assert target(["fraud"] * 5 + ["legal"] * 5).positive == 1
    assert target([0] * 6 + [1] * 7).positive == 1
    assert target([False] * 6 + [True] * 7).positive == 1
    assert target(["a"] * 6 + ["b"] * 8 + ["c"] * 8).positive == 2


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ([None] * 10, "All 10 labels in 'y' are missing"),
        (["", "NA", "?"] * 4, "All 12 labels in 'y' are missing"),
        (["yes"] * 8 + [None] * 2, r"has the label 'yes' \(8 rows\)"),
        (["None", "mild"] * 6, r"label 'mild' \(6 rows\).* as missing: 'None' \(6\); if .* keep_label='None'\.$"),
        (np.linspace(0, 1, 12), "holds fractions such as 0.09.*: a quantity"),
        ([f"P{i}" for i in range(12)], "has 12 different labels in 12 labeled rows"),
        (
            [f"{i / 7:.2f}" for i in range(40)],
            "has 40 different labels .*; if they are a quantity, cut it into classes",
        ),
        ([*range(30), *range(30)] * 2, "have few labeled rows .* If labels are a quantity, cut it into classes first"),
        (["a"] * 9 + ["b"] * 2, "The class 'b' of 'y' has 2 labeled rows, and at least 5 are needed to learn"),
        (
            [*"aaaaabbbbbcdd"],
            r"2 classes of 'y' have few labeled rows \('c' 1, 'd' 2\), and .* unlabeled_mark=\['c', 'd'\]\.$",
        ),
        (pd.to_datetime(["2024-01-01", "2024-01-02"] * 5), "holds timestamp.* values"),
    ],
)
def test_labels_that_cannot_be_learned(labels, words):
    refused(words, labels)


def test_a_column_that_is_not_there_is_named_with_the_nearest():
    table = read_table(pd.DataFrame({"Outcome": [1, 2], "age": [3, 4]}))
    words = r"^A data frame has no column 'outcome'; did you mean 'Outcome'\? It has Outcome, age"
    with pytest.raises(DataError, match=words):
        read_target(table, "outcome")


def test_a_name_whose_accents_are_encoded_otherwise_is_pointed_out():
    table = read_table(pd.DataFrame({"Gro\u0308\u00dfe": [1, 2], "age": [3, 4]}))
    with pytest.raises(DataError, match="looks the same, but its letters are encoded differently: copy the name"):
        read_target(table, "Gr\u00f6\u00dfe")


def test_a_file_without_a_header_is_told_from_its_names():
    table = read_table(pd.DataFrame({"64": [1, 2], "-1.03": [3, 4]}))
    with pytest.raises(DataError, match=r"It has 64, -1\.03\. If its first line is not a header, add one\."):
        read_target(table, "outcome")


def test_rows_of_other_files_follow_without_a_label():
    assert target(["no", "yes"] * 5, n_more=3).codes.tolist() == [0, 1] * 5 + [-1] * 3


@pytest.mark.parametrize(
    "stored", [pa.int64(), pa.uint64(), pa.decimal128(20), pa.string(), pa.dictionary(pa.int8(), pa.int64())]
)
def test_large_whole_numbers_stay_apart(stored):
    labels = pa.array([1234567890123456789, 1234567890123456790] * 5 + [None])
    column = labels.dictionary_encode() if pa.types.is_dictionary(stored) else labels.cast(stored)
    read = read_target(read_table(pa.table({"x": range(11), "y": column})), "y")
    assert read.classes == [1234567890123456789, 1234567890123456790]
    assert read.codes.tolist() == [0, 1] * 5 + [-1]


@pytest.mark.parametrize("label", [np.inf, -np.inf, 2.0**63, 1e300])
def test_a_float_that_is_no_exact_label_is_refused(label):
    refused("as a float, which cannot tell it from its neighbors", [0.0, 1.0, label] * 5)


def test_words_for_missing_are_counted_in_a_note():
    read = target(["no", "yes"] * 5 + ["NA", "NA", "?", ""])
    assert read.notes == ["Labels of 'y' read as missing: '?' (1), 'NA' (2); if one is a class, use keep_label='NA'."]


def test_a_word_for_missing_can_be_a_class():
    read = target(["NA", "-", "EU"] * 5 + ["None", ""], keep=("NA", "-"))
    assert read.classes == ["-", "EU", "NA"]
    assert "'None' (1)" in read.notes[0]


def test_booleans_with_other_names_are_texts():
    labels = [True, False] * 5
    assert target(labels).classes == [False, True]
    assert target(labels, map_label={"True": "ill", "False": "well"}).classes == ["ill", "well"]


def test_a_kept_label_is_not_doubted():
    labels = ["unknown"] * 20 + ["yes", "no"] * 5
    refused(r"use unlabeled_mark='unknown', or keep_label='unknown' if it is a class", labels)
    read = target(labels, keep=("unknown",))
    assert (read.classes, read.notes, read.words.unlabeled) == (["no", "unknown", "yes"], [], {})
