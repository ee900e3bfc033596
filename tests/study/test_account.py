"""The account: given labels as the curated model judged them, pseudo-labels as the chosen model made them."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dips._estimators.reasons import reason
from dips._files import Preparation
from dips._study.account import _suspect_uneven, account_of
from dips._study.candidates import BY_NAME, JUDGE
from dips._study.data import read_data
from dips._study.judging import share_wrong, uneven_values
from dips._study.settings import Settings
from dips.backbones import find_backbone
from tests.patients import patients

TABLE, _ = patients()
SETTINGS = Settings(target="outcome", rounds=3)


@pytest.fixture(scope="module")
def parts(quick):
    study = read_data(TABLE, SETTINGS)
    X = Preparation(study.schema).learn(study.table).encode(study.table)
    labeled = np.flatnonzero(study.target.is_labeled)
    used = np.arange(110, 150)  # not all of the unlabeled rows are put to use
    judge, model = (c.fit(study.examples(X), labeled, used, SETTINGS) for c in (JUDGE, BY_NAME["curated_pseudo"]))
    account = account_of(judge, study.table, study.target, study.ids, model, used, X)
    return study, X, judge, model, account


def test_pseudo_labels_are_those_of_the_chosen_model(parts):
    study, _, _, model, account = parts
    made = model.samples_.iloc[110:]
    pseudo = account.iloc[110:150]
    assert (pseudo["source"].to_numpy() == made["source"].to_numpy()).all()
    is_pseudo = (made["source"] == "pseudo").to_numpy()
    assert is_pseudo.any()
    names = [study.target.classes[int(c)] for c in made["final_label"][is_pseudo]]
    assert pseudo["final_label"][is_pseudo].tolist() == names
    assert pseudo["round"][is_pseudo].tolist() == made["round"][is_pseudo].tolist()


def test_rows_not_put_to_use_stay_unlabeled(parts):
    left = parts[-1].iloc[150:]
    assert (left["source"] == "unlabeled").all()
    assert not left["trained_on"].any()
    assert left["final_label"].isna().all()


def test_trained_on_is_what_the_chosen_model_was_trained_on(parts):
    _, _, _, model, account = parts
    assert account["trained_on"][:150].tolist() == model.samples_["useful"].astype(bool).tolist()


def test_given_labels_are_judged_by_the_curated_model(parts):
    _, _, judge, _, account = parts
    given = account[:110]
    assert given["confidence"].tolist() == judge.samples_["confidence"].tolist()
    assert given["useful"].tolist() == judge.samples_["useful"].astype(bool).tolist()
    assert share_wrong(judge, None)[0] == judge.curator_.noise_rate_


def test_given_labels_have_a_probability_to_be_wrong_and_suspects_are_sorted_by_it(parts):
    _, _, judge, _, account = parts
    assert account["p_wrong"][:110].tolist() == judge.samples_["p_wrong"].tolist()
    assert account["p_wrong"][110:].isna().all()
    suspects = account[account["suspicion"].notna()].sort_values("suspicion")
    assert suspects["p_wrong"].is_monotonic_decreasing
    assert share_wrong(judge, None)[1] == judge.curator_.noise_interval_
    low, high = share_wrong(judge, None)[1]
    assert 0 <= low <= high < 1


def test_a_curator_without_beliefs_ranks_by_confidence(parts):
    study, X, *_ = parts
    labeled = np.flatnonzero(study.target.is_labeled)
    judge = JUDGE.fit(study.examples(X), labeled, labeled[:0], replace(SETTINGS, curator="adaptive"))
    account = account_of(judge, study.table, study.target, study.ids)
    assert account["p_wrong"].isna().all()
    assert share_wrong(judge, None)[1] is None
    suspects = account[account["suspicion"].notna()].sort_values("suspicion")
    assert (suspects["confidence"] * suspects["out_of_fold"].fillna(1)).is_monotonic_increasing
    assert suspects["reason"].str.contains("confidence").all()


def test_beliefs_in_pseudo_labels_are_averages_along_the_last_training(parts):
    study, X, _, model, account = parts
    rows = np.flatnonzero(account["source"] == "pseudo")
    codes = np.array([study.target.classes.index(label) for label in account["final_label"][rows]])
    statistics = find_backbone(model.estimator_).replayed(model.estimator_, X[rows], 2).at(codes)
    np.testing.assert_allclose(account["confidence"][rows], statistics["confidence"])
    np.testing.assert_allclose(account["aleatoric"][rows], statistics["aleatoric"])


def test_an_id_that_is_called_as_a_column_of_the_account_keeps_its_values(parts):
    study, _, judge, _, _ = parts
    renamed = read_data(TABLE.rename(columns={"patient": "reason"}), SETTINGS)
    account = account_of(judge, renamed.table, study.target, renamed.ids)
    assert account["reason (input)"].tolist() == TABLE["patient"].tolist()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ("no", "yes", 0.1, 0.05),
            "hardly learned (confidence 10 %); models that had not seen the row gave 'no' 5 %",
        ),
        (("no", None, 0.4, np.nan), "learned with doubt (confidence 40 %); no other label fits clearly better"),
        ((0, 1, 0.7, 0.2), "learned only by heart (confidence 70 %)"),
        (
            ("no", "yes", 0.1, 0.05, 0.93),
            "wrong with a probability of 93 %; models that had not seen the row gave",
        ),
        (("no", "yes", np.nan, np.nan, 0.6), "wrong with a probability of 60 %; 'yes' fits better"),
        (("no", "yes", np.nan, np.nan, 0.4), "wrong with a probability of 40 %; if it is wrong, 'yes' is likely"),
        (("no", "yes", np.nan, np.nan), "'yes' fits better"),
    ],
)
def test_reasons_are_in_words(arguments, words):
    assert reason(*arguments).startswith(words)


def test_ids_that_are_called_as_columns_of_the_account_keep_their_values(parts):
    study, _, judge, _, _ = parts
    names = ["row", "row (input)", "held_out"]
    columns = study.table.columns
    for name in names:
        columns = columns.append_column(name, pa.array([f"{name} {i}" for i in range(study.table.n_rows)]))
    account = account_of(judge, replace(study.table, columns=columns), study.target, names)
    called = account.columns[1:4].tolist()
    assert called == ["row (input 2)", "row (input)", "held_out (input)"]
    assert account.iloc[0, 1:4].tolist() == [f"{name} 0" for name in names]


def test_of_two_classes_labels_doubted_for_their_neighbors_get_the_other_one_as_suggestion():
    p_wrong = np.array([0.1, 0.7, 0.05, 0.1, 0.1, 0.1])
    columns = {
        "p_wrong": p_wrong.copy(),
        "given": np.array([0, 1, 0, 1, 0, 1]),
        "verified": np.zeros(6, dtype=bool),
        "useful": np.ones(6, dtype=bool),
        "suggested": np.full(6, -1),
    }
    part = SimpleNamespace(p_wrong=np.array([0.9, 0.8]))
    value = SimpleNamespace(rows=np.array([0, 3]), part=part)
    _suspect_uneven(columns, SimpleNamespace(values=[value], is_sample=False))
    assert not columns["useful"][[0, 3]].any()
    assert columns["suggested"][[0, 3]].tolist() == [1, 0]
    assert (columns["suggested"][columns["useful"]] == -1).all()


def where_errors_gather():
    """A table with more wrong labels in ward B, and a judge that is right about its rows."""
    rng = np.random.RandomState(0)
    p = 1 / (1 + np.exp(-4 * rng.normal(size=600)))  # what models say, rightly
    ward, is_ill = rng.choice(list("ABCD"), 600), rng.rand(600) < p
    label = np.where(is_ill ^ ((ward == "B") & (rng.rand(600) < 0.3)), "ill", "well")
    table = pd.DataFrame({"ward": ward, "x": rng.rand(600), "label": label, "checked": np.arange(600) % 4 == 0})
    curator = SimpleNamespace(
        believes=True, answers_=np.column_stack([p, 1 - p]), noise_rate_=0.01, noise_interval_=(0.0, 0.02)
    )
    return table, SimpleNamespace(curator_=curator, samples_=pd.DataFrame({"verified": table["checked"]}))


def test_what_somebody_has_checked_is_not_doubted_for_its_neighbors():
    table, judge = where_errors_gather()
    uneven = uneven_values(judge, read_data(table, Settings.of("label", verified="checked")), 0)
    assert [v.value for v in uneven.values] == ["B"]
    assert not table["checked"][uneven.values[0].rows].any()
    assert share_wrong(judge, uneven)[0] == 0.01  # of the others; nobody says what the checked ones were before
    judge.samples_["verified"] = False
    assert share_wrong(judge, uneven)[0] > 0.03
    judge.samples_["verified"] = True
    assert share_wrong(judge, uneven) == (None, None)


def test_wrong_labels_that_were_found_are_not_looked_for_among_the_others():
    curator = SimpleNamespace(believes=True, noise_rate_=0.2, noise_interval_=(0.1, 0.3))
    judge = SimpleNamespace(curator_=curator, samples_=pd.DataFrame({"verified": np.arange(100) < 20}))
    share, interval = share_wrong(judge, None, n_corrected=12)
    assert share == pytest.approx(8 / 80)
    assert interval == pytest.approx((0, 18 / 80))


def test_a_curator_that_judges_labels_as_they_are_now_found_all_wrong_ones_among_the_unchecked():
    judge = SimpleNamespace(
        curator_=SimpleNamespace(believes=False, noise_rate_=0.08), samples_=pd.DataFrame({"verified": [True, False]})
    )
    assert share_wrong(judge, None, n_corrected=1) == (pytest.approx(0.16), None)


@pytest.mark.parametrize("told", [{"trust_label": "ill"}, {"class_frequency": {"ill": 0.5}}])
def test_no_label_is_doubted_for_its_neighbors_where_it_was_told_which_way_labels_are_wrong(told):
    table, judge = where_errors_gather()
    assert uneven_values(judge, read_data(table, Settings.of("label", verified="checked", **told)), 0) is None
