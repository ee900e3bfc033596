"""What of the Spark side needs no Spark."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from dips import SparkPool
from dips._data.arrow import as_array
from dips._spark import worker
from dips._spark.errors import in_one_sentence
from dips._spark.executors import compare, installed, task_cpus
from dips._spark.predictions import Predictions
from dips._spark.worker import ROW, FilePlaces, Reader

READER = Reader(("a",), as_array)


def batches():
    for rows in ([3, 1], [], [2]):
        columns = [pa.array(rows, pa.int64()), pa.array([10.0 * r for r in rows], pa.float64())]
        yield pa.RecordBatch.from_arrays(columns, names=[ROW, "a"])


class PySparkError(Exception):
    __module__ = "pyspark.errors"


def test_a_partition_is_reduced_to_one_part():
    total = lambda rows, X: {"sum": X.sum(axis=0), "n": np.array([rows.size])}  # noqa: E731
    (part,) = worker.reduced(READER, total, lambda a, b: {k: a[k] + b[k] for k in a}, batches())
    assert {k: v.tolist() for k, v in worker.unpacked(part["part"][0].as_py()).items()} == {"sum": [60.0], "n": [3]}


def test_a_task_that_is_run_twice_sends_the_same_twice():
    def total(rows, X):
        return {"sum": X.sum(axis=0), "rows": rows}

    def join(one, other):
        return {name: np.append(one[name], other[name]) for name in one}

    once, again = (
        worker.unpacked(next(worker.reduced(READER, total, join, batches()))["part"][0].as_py()) for _ in "12"
    )
    assert {name: values.tolist() for name, values in once.items()} == {k: v.tolist() for k, v in again.items()}


def test_an_empty_partition_sends_nothing():
    assert list(worker.reduced(READER, None, None, iter([]))) == []


def test_chosen_rows_come_with_what_was_said_of_them():
    parts = worker.selected(READER, lambda rows, X: (rows > 1, {"twice": 2 * rows}), batches())
    said, table = zip(*(worker.unpacked_rows(part["part"][0].as_py()) for part in parts), strict=True)
    assert np.concatenate([s["twice"] for s in said]).tolist() == [6, 4]
    assert pa.concat_tables(table)["a"].to_pylist() == [30.0, 20.0]


def test_small_batches_are_put_together():
    def counted(rows, X):
        return {"rows": np.array([rows.size])}

    (part,) = worker.reduced(READER, counted, None, batches())  # one call, so nothing to combine
    assert worker.unpacked(part["part"][0].as_py())["rows"].tolist() == [3]


def test_what_is_said_of_rows_stands_beside_them():
    schema = pa.schema([("twice", pa.int64())])
    described = worker.described(READER, lambda rows, X: {"twice": 2 * rows}, ("a",), schema, batches())
    assert pa.Table.from_batches(described).to_pydict() == {"a": [30.0, 10.0, 20.0], "twice": [6, 2, 4]}


def test_row_numbers_follow_from_file_and_position():
    tags = [-(2**62), 5 << 40, 2**63 - 1]  # hashes of three files, whose first rows have the numbers 7, 0 and 100
    numbers = FilePlaces.of(dict(zip(tags, [7, 0, 100], strict=True)), n_bits=3)
    places = np.array([(tag & -8) | index for tag, index in ((tags[0], 0), (tags[2], 5), (tags[1], 7), (tags[0], 2))])
    assert numbers(places).tolist() == [7, 105, 7, 9]
    with pytest.raises(ValueError, match="A file of the Spark table is new, or changed"):
        numbers(np.array([64]))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("ModuleNotFoundError: No module named 'xgboost'\n at x", "The executors have no module xgboost; install"),
        ("[PYTHON_VERSION_MISMATCH] x", "another Python than the driver"),
        ("java.io.IOException: No space left on device\n\tat a\n\tat b", "A disk of the cluster is full"),
        ("dips.exceptions.InputError: Column 'a' holds dates.\n\tat c", "^Column 'a' holds dates.$"),
        (
            "x\nCaused by: a.B: one\n\tat c\nCaused by: d.E: the reason.\n\tat f",
            "^Spark failed while trying: d.E: the reason.$",
        ),
    ],
)
def test_errors_are_one_sentence(text, sentence):
    with pytest.raises(ValueError, match=sentence) as caught, in_one_sentence("trying"):
        raise PySparkError(text)
    assert "\n" not in str(caught.value)


def test_errors_of_others_pass():
    with pytest.raises(KeyError), in_one_sentence("trying"):
        raise KeyError("x")


def test_other_versions_on_executors_are_refused():
    here = installed(["numpy"])
    with pytest.raises(ValueError, match=r"The executors have numpy 1.0 instead of .*; install the driver's versions"):
        compare(here, [here, here | {"numpy": "1.0"}])


def test_a_missing_kernel_on_executors_is_said():
    here = installed([]) | {"kernel": "yes"}
    with pytest.warns(UserWarning, match="The executors have no compiled kernel"):
        compare(here, [here | {"kernel": "no"}])


def test_predictions_use_as_many_threads_as_a_task_has_cores():
    class Session:
        conf = {"spark.task.cpus": "3"}

    assert task_cpus(Session) == 3


def test_other_frames_are_refused():
    with pytest.raises(TypeError, match="SparkPool takes a Spark DataFrame; got list"):
        SparkPool([1])


def test_labels_are_those_that_are_expected_to_cost_least():
    p, classes = np.array([[0.8, 0.2], [0.95, 0.05]]), np.array(["well", "ill"])
    named = Predictions(lambda X: p, classes, "label", costs=np.array([1.0, 9.0]))(np.arange(2), None)
    assert named["label"].tolist() == ["ill", "well"]
    assert named["probability"].tolist() == [0.2, 0.95]
