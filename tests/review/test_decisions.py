"""What holds after all events: one's own last word, the majority of several, and the order of the rows."""

import sys
import threading
import time
from datetime import datetime

import numpy as np
import pandas as pd
import pytest

from dips._review.cells import _usual_categories
from dips._review.decisions import Decisions
from dips._review.desk import Desk
from dips._review.queue import Queue
from dips._review.store import Event, EventStore
from dips.exceptions import ReviewError

from .reviews import client, correct, decide, desk_in, large_material, other_class

GIVEN = {1: "ill", 2: "well", 3: "ill"}


@pytest.fixture
def store(tmp_path):
    return EventStore(tmp_path / "decisions.sqlite", "a" * 64)


def after(store):
    decisions = Decisions(GIVEN)
    decisions.add(store.events())
    return decisions


def test_the_last_word_counts_and_undo_brings_back_the_one_before(store):
    store.append("1", "anna", 1, "", "keep")
    store.append("2", "anna", 1, "", "label", "well")
    assert after(store).answer("anna", 1).label == "well"
    assert after(store).status("anna", 1) == "label"
    store.undo("3", "anna")
    assert after(store).answer("anna", 1).label == "ill"
    store.undo("4", "anna")
    assert after(store).answer("anna", 1) is None
    assert after(store).status("anna", 1) == "open"


def test_decisions_can_be_read_while_others_decide():
    made = {"time": "", "key": "", "label": None, "note": "", "blinded": False, "undoes": None}
    made |= {"run": "", "previous": "", "hash": ""}
    events = [Event(n, str(n), reviewer=f"reviewer {n}", row=n, action="keep", **made) for n in range(1, 3_000)]
    decisions = Decisions({event.row: "ill" for event in events})
    deciding = threading.Thread(target=lambda: [decisions.add([event]) for event in events])
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # threads take turns all the time
    try:
        deciding.start()
        while deciding.is_alive():
            decisions.by_row()
            decisions.reviewers()
    finally:
        sys.setswitchinterval(usual)
        deciding.join()
    assert len(decisions.settled()) == len(events)


def test_the_last_word_is_the_last_also_where_the_clock_was_set_back(store, monkeypatch):
    years = iter((2030, 2020, 2025))

    class Clock(datetime):
        @classmethod
        def now(cls, tz=None):
            return cls(next(years), 1, 1, tzinfo=tz)

    monkeypatch.setattr("dips._review.store.datetime", Clock)
    for number, label in enumerate(("ill", "well", "ill")):
        store.append(str(number), "anna", 2, "", "label", label)
    assert [event.time[:4] for event in store.events()] == ["2030", "2020", "2025"]
    assert store.verify() == 3
    assert after(store).answer("anna", 2).label == "ill"
    monkeypatch.undo()
    store.undo("back", "anna")
    assert after(store).answer("anna", 2).label == "well"


def test_a_skipped_row_is_no_decision(store):
    store.append("1", "anna", 1, "", "skip")
    assert after(store).status("anna", 1) == "skip"
    assert after(store).answers_of("anna") == {}


def test_a_blinded_answer_that_equals_the_given_label_keeps_it(store):
    store.append("1", "anna", 1, "", "label", "ill", blinded=True)
    assert after(store).answer("anna", 1).action == "keep"
    assert not after(store).answer("anna", 1).is_wrong


def test_no_class_fits_is_a_wrong_label(store):
    store.append("1", "anna", 1, "", "unlabeled")
    answer = after(store).answer("anna", 1)
    assert answer.is_wrong
    assert answer.label is None
    assert after(store).status("anna", 1) == "unlabeled"


def test_two_who_disagree_wait_for_a_third(store):
    store.append("1", "anna", 1, "", "keep")
    store.append("2", "bob", 1, "", "label", "well")
    assert after(store).disagreements() == [1]
    assert after(store).settled() == {}
    store.append("3", "carl", 1, "", "label", "well")
    assert after(store).disagreements() == []
    assert after(store).settled()[1].label == "well"


def test_now_and_then_a_row_comes_that_nobody_suspects(finished, tmp_path):
    desk = desk_in(finished, tmp_path)
    queue, account = desk.queue, desk.material.account.set_index("row")
    suspected = [row for row in queue.rows if row not in queue.checks]
    assert account.loc[suspected, "suspicion"].tolist() == sorted(account["suspicion"].dropna())
    assert account.loc[list(queue.checks), "suspicion"].isna().all()
    assert len(queue.checks) == -(-len(suspected) // 7)
    for start in range(0, len(queue.rows) - 8, 8):
        assert len(queue.checks & set(queue.rows[start : start + 8])) == 1
    assert Queue(desk.material).rows == queue.rows  # the same for everybody


def test_verified_labels_do_not_come_back(finished, tmp_path):
    desk = desk_in(finished, tmp_path)
    first = desk.queue.rows[:5]
    account = desk.material.account
    account.loc[account["row"].isin(first), "is_checkable"] = False
    assert not set(first) & set(Queue(desk.material).rows)


def test_a_third_reviewer_gets_what_two_others_are_divided_on(finished, tmp_path):
    desk = desk_in(finished, tmp_path)
    row, agreed = desk.queue.rows[:2]
    decide(desk, "anna", row)
    correct(desk, "bob", row)
    for who in ("anna", "bob"):
        decide(desk, who, agreed)
    assert desk.line("carl", "disagreements")["rows"] == [row]
    assert desk.line("anna", "disagreements")["rows"] == []
    correct(desk, "carl", row)
    assert desk.line("dora", "disagreements")["rows"] == []


def test_nobody_sees_the_answers_of_others(finished, tmp_path):
    desk = desk_in(finished, tmp_path)
    row = desk.queue.rows[0]
    before = desk.card("bob", row), desk.progress("bob"), desk.line("bob")
    correct(desk, "anna", row)
    assert (desk.card("bob", row), desk.progress("bob"), desk.line("bob")) == before


def test_a_blinded_card_tells_nothing_of_the_label(finished, tmp_path):
    desk = desk_in(finished, tmp_path, blinded=True)
    row = desk.queue.rows[0]
    assert set(desk.card("anna", row)) == {"row", "key", "values", "unusual", "status", "answer", "note"}
    assert desk.start("anna")["map"] == {}
    with pytest.raises(ReviewError, match="hidden"):
        decide(desk, "anna", row, "keep")
    decide(desk, "anna", row, "label", other_class(desk, row))
    assert desk.card("anna", row)["label"]["given"] >= 0
    assert "label" not in desk.card("bob", row)


@pytest.mark.parametrize(
    ("action", "label", "words"),
    [("label", "no such", "is not a class"), ("label", None, "is not a class"), ("undo", None, "is not one of")],
)
def test_what_makes_no_sense_is_refused(finished, tmp_path, action, label, words):
    desk = desk_in(finished, tmp_path)
    with pytest.raises(ReviewError, match=words):
        decide(desk, "anna", desk.queue.rows[0], action, label)
    with pytest.raises(ReviewError, match="no labeled row"):
        decide(desk, "anna", 10_000)
    with pytest.raises(ReviewError, match="note"):
        decide(desk, "anna", desk.queue.rows[0], note="x" * 3_000)
    with pytest.raises(ReviewError, match="client"):
        desk.undo("anna", "x" * 200)
    assert desk.undo("anna", client()) is None


def test_rows_are_found_by_number_name_and_value(finished, tmp_path):
    desk = desk_in(finished, tmp_path)
    row = desk.queue.rows[3]
    key = desk.material.key_of(row)
    assert [f["row"] for f in desk.find("anna", key)] == [row]
    ward = desk.card("anna", row)["values"][[c["name"] for c in desk.material.showing.columns].index("ward")]
    assert row in [f["row"] for f in desk.find("anna", ward.upper())]
    assert desk.find("anna", "no such thing") == []
    assert desk.find("anna", "  ") == []
    assert desk.find("anna", f"{ward}{ward}") == []  # no word goes from one cell into the next


def test_ten_thousand_suspects_of_two_hundred_columns_are_searched_at_once(tmp_path):
    material = large_material()
    desk = Desk(material, EventStore(tmp_path / "decisions.sqlite", material.checksum))
    desk.prepare()
    value = desk.card("anna", desk.queue.rows[5_000])["values"][199]
    began = time.process_time()
    hits = desk.find("anna", value)
    assert time.process_time() - began < 1.0
    assert desk.queue.rows[5_000] in [hit["row"] for hit in hits]


def test_unusual_values_and_typical_ones_are_told(finished, tmp_path):
    desk = desk_in(finished, tmp_path)
    columns = desk.start("anna")["columns"]
    age = next(c for c in columns if c["name"] == "age")
    typical = dict(zip(desk.material.classes, map(float, age["typical"]), strict=True))
    assert typical["ill"] > typical["well"]
    cards = [desk.card("anna", row) for row in desk.queue.rows]
    assert any(any(unlike) for card in cards for unlike in card["unusual"])


@pytest.mark.parametrize(
    ("classes", "keys"),
    [
        (["no", "yes"], {"1": 0, "2": 1}),
        (["0", "1"], {"0": 0, "1": 1}),
        ([str(n) for n in range(10)], {str(n): n for n in range(10)}),
        ([f"c{n}" for n in range(12)], {str(n): n for n in range(1, 10)}),  # the first is rare, and so are the last
        (["1", "10"], {"1": 0, "2": 1}),
    ],
)
def test_every_class_has_a_key_as_far_as_they_go(classes, keys):
    material = large_material(240, 2)
    material.classes = classes
    codes = np.arange(240) % len(classes)
    material.account["given"] = np.where((codes == 0) & (len(classes) == 12) | (codes > 9), 5, codes)
    assert material.class_keys == keys


@pytest.mark.parametrize(
    ("values", "usual"),
    [
        (["a"] * 97 + ["b", "c"], {"a"}),
        ([f"product {k % 60}" for k in range(1_000)], {f"product {k}" for k in range(60)}),
        ([f"product {k}" for k in range(100)] + ["product 0"] * 100, None),  # half of the rows have one of their own
        (["a"] * 19, None),
    ],
)
def test_a_category_is_unusual_only_where_most_rows_have_a_more_frequent_one(values, usual):
    assert _usual_categories(pd.Series(values)) == usual
