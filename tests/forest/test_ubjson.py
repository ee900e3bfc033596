from __future__ import annotations

import json
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dips._forest.ubjson import loads
from tests.backbones.families import table, xgboost


def plain(value):
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return [plain(v) for v in value] if isinstance(value, list | np.ndarray) else value


def test_a_model_reads_as_its_own_json():
    X, y, _ = table(3)
    booster = xgboost().fit(X, y).get_booster()
    binary, text = plain(loads(booster.save_raw("ubj"))), json.loads(booster.save_raw("json"))
    assert binary["learner"]["learner_model_param"] == text["learner"]["learner_model_param"]
    for read, written in zip(
        *(m["learner"]["gradient_booster"]["model"]["trees"] for m in (binary, text)), strict=True
    ):
        assert read.keys() == written.keys()
        np.testing.assert_allclose(read["split_conditions"], written["split_conditions"], rtol=1e-6)
        assert read["left_children"] == written["left_children"]


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (b"Z", None),
        (b"T", True),
        (b"i\xff", -1),
        (b"L" + (2**40).to_bytes(8, "big"), 2**40),
        (b"d?\x80\x00\x00", 1.0),
        (b"Si\x02ab", "ab"),
        (b"[i\x01Si\x01aZ]", [1, "a", None]),
        (b"[#i\x02i\x01i\x02", [1, 2]),
        (b"[$U#i\x03\x01\x02\x03", [1, 2, 3]),
        (b"[$S#i\x01i\x01a", ["a"]),
        (b"{i\x01a{i\x01bT}}", {"a": {"b": True}}),
        (b"{#i\x01i\x01aF", {"a": False}),
    ],
)
def test_values_of_every_kind_are_read(document, expected):
    assert plain(loads(document)) == expected


@given(st.binary(max_size=60))
@settings(deadline=None, max_examples=300)
def test_any_bytes_are_a_document_or_refused(data):
    with suppress(ValueError):
        loads(data)


def test_a_model_cut_short_is_refused():
    X, y, _ = table(2)
    whole = bytes(xgboost().fit(X, y).get_booster().save_raw("ubj"))
    for end in range(0, len(whole), 97):
        with pytest.raises(ValueError, match="not a complete UBJSON document"):
            loads(whole[:end])


@pytest.mark.parametrize(
    "document",
    [
        b"[$Z#L\x7f\xff\xff\xff\xff\xff\xff\xff",  # more values than bytes, each of none
        b"[$U#i\xfb\x00\x00\x00\x00\x00",  # a negative length
        b"{i\xfeaU\x05}",
        b"[" * 100_000,
        b"{i\x01aU\x05i\x01aU\x06}",  # one name twice
        b"{i\x01aU\x05}trailing",
    ],
)
def test_a_document_made_to_trap_a_reader_is_refused(document):
    with pytest.raises(ValueError, match="UBJSON document"):
        loads(document)
