"""What the page says about wrong labels, classes and scores: never more than is known, and also what is worse."""

import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from dips._report import render, summarize
from dips._report.label_words import (
    classes_in_danger,
    label_summary,
    left_to_chance,
    share_in_words,
    worth_in_words,
    worth_of_suspects,
)
from dips._report.score_words import score_sentences
from dips._report.words import headline, next_steps
from dips._study import audit
from dips._tools.files import without_nan
from dips._tools.wording import command_line
from tests.patients import patients


@pytest.mark.parametrize(
    ("rate", "interval", "words"),
    [
        (0.03, (0.0, 0.062), "Between 0 and 6 % of the labels look wrong"),
        (0.23, (0.004, 0.41), "Between 0 and 41 % of the labels look wrong"),
        (0.23, (0.1, 0.41), "About 23 % of the labels look wrong (between 10 and 41 %)"),
        (0.1, (0.098, 0.102), "About 10 % of the labels look wrong"),
        (0.0, (0.0, 0.0), "Under 1 % of the labels look wrong"),
    ],
)
def test_a_share_is_never_said_without_how_sure_it_is(rate, interval, words):
    assert share_in_words(rate, interval) == words


def test_a_look_is_worth_what_is_expected():
    p = pd.Series([0.95] * 10 + [0.7] * 10 + [0.4] * 20)
    worth = worth_of_suspects(p)
    assert worth == [{"n": 10, "wrong": 10}, {"n": 20, "wrong": 16}, {"n": 40, "wrong": 24}]
    assert worth_in_words(worth).endswith("of the next 10, about 6")
    assert worth_of_suspects(pd.Series([None, None], dtype=float)) == []
    assert worth_in_words([]) == ""


def record(label, n, k, low):
    return {"label": label, "n": n, "k": k, "low": low}


def test_a_class_in_danger_is_named():
    (sentence,) = classes_in_danger([record("usual", 180, 9, 0.03), record("rare", 20, 11, 0.34)])
    assert sentence.startswith("55 % of the labels 'rare' are suspects (11 of 20), against 5 % of all others.")
    (sentence,) = classes_in_danger([record("usual", 180, 9, 0.03), record("rare", 40, 12, 0.18)])
    assert "30 % of the labels 'rare'" in sentence


@pytest.mark.parametrize("k", [0, 2, 5])
def test_a_class_like_the_others_is_not_called_in_danger(k):
    assert classes_in_danger([record("a", 50, 5, 0.04), record("b", 50, k, 0.01)]) == []


def scored(gain, recall, name="curated"):
    test = {m: {"value": 0.7, "gain": gain} for m in ("log_loss", "roc_auc", "balanced_accuracy", "accuracy")}
    models = [{"name": "plain", "chosen": name == "plain", "validation": 0.6, "test": test}]
    if name != "plain":
        models.append({"name": name, "chosen": True, "validation": 0.7, "test": test})
    baseline = {"label": "no", "accuracy": 0.8}
    return {"models": models, "metric": "accuracy", "quality": {"recall": recall}, "baseline": baseline}


RECALL = [
    {"label": "no", "n": 80, "chosen": 70, "plain": 68, "won": 3, "lost": 1},
    {"label": "yes", "n": 20, "chosen": 6, "plain": 15, "won": 0, "lost": 9},
]


@pytest.mark.parametrize(
    ("low", "high", "verdict"), [(0.01, 0.1, "better"), (-0.1, -0.01, "worse"), (-0.1, 0.1, "not clearly different")]
)
def test_every_score_is_put_into_words_also_when_it_is_worse(low, high, verdict):
    first = score_sentences(scored({"low": low, "high": high}, RECALL))[0]
    for metric in ("log loss", "ROC AUC", "balanced accuracy"):
        assert f"{metric} is {verdict}" in first


def test_a_class_that_is_found_less_often_is_named():
    sentences = " ".join(score_sentences(scored({"low": 0, "high": 0}, RECALL)))
    assert "'yes' is found less often than by the plain model: 6 of 20 held-out rows, plain 15." in sentences
    assert "'no' is found less" not in sentences


def test_a_class_that_is_never_found_is_named_whichever_model_was_kept():
    never = [RECALL[0], RECALL[1] | {"chosen": 0, "plain": 0, "lost": 0}]
    sentences = " ".join(score_sentences(scored({"low": 0, "high": 0}, never, name="plain")))
    assert "found none of the 20 held-out rows of 'yes'." in sentences
    compared = " ".join(score_sentences(scored({"low": 0, "high": 0}, never, name="curated")))
    assert "found none of the 20 held-out rows of 'yes'; " in compared
    assert "Always answering 'no' would have an accuracy of 80.0 %. The kept model does not beat that." in sentences


def test_classes_that_are_never_found_are_named_together():
    few = [{"label": c, "n": n, "chosen": 0, "plain": 0, "won": 0, "lost": 0} for c, n in (("a", 1), ("b", 3))]
    compared = score_sentences(scored({"low": 0, "high": 0}, [*RECALL, *few]))
    assert (
        "Neither the kept model nor the plain one found any of the held-out rows of 2 classes: 'a' (1), 'b' (3)."
        in (compared)
    )
    alone = score_sentences(scored({"low": 0, "high": 0}, [*RECALL, *few], name="plain"))
    assert "The kept model found none of the held-out rows of 2 classes: 'a' (1), 'b' (3)." in alone


def test_the_only_row_of_a_class_is_not_called_none_of_1():
    one = {"label": "a", "n": 1, "chosen": 0, "plain": 0, "won": 0, "lost": 0}
    assert "The kept model did not find the one held-out row of 'a'; nor did the plain one." in score_sentences(
        scored({"low": 0, "high": 0}, [*RECALL, one])
    )
    found = one | {"plain": 1, "lost": 1}
    assert "The kept model did not find the one held-out row of 'a'; the plain one did." in score_sentences(
        scored({"low": 0, "high": 0}, [*RECALL, found])
    )


@pytest.fixture(scope="module")
def unwatched(quick):
    """An audit with a classifier that has no checkpoints."""
    with pytest.MonkeyPatch.context() as patch:
        linear = LogisticRegression(max_iter=500)
        patch.setattr("dips._study.candidates.default_estimator", lambda name, n_labels: linear)
        yield audit(patients(n=150, n_labeled=150)[0], target="outcome")


def test_without_checkpoints_the_page_shows_what_is_believed(unwatched):
    assert unwatched.samples["confidence"].isna().all()
    summary = without_nan(summarize(unwatched.findings))
    points = summary["points"]
    assert points["curves"] is None
    assert not points["watched"]
    assert points["n_judged"] == 150
    account = unwatched.samples.set_index("row").loc[points["row"]]
    assert points["confidence"] == (1000 * (1 - account["p_wrong"])).round().astype(int).tolist()
    page = render(summary)
    assert "At the top, it is probably right" in page
    assert "confidence nan" not in page.lower()


def test_without_checkpoints_reasons_speak_of_probabilities(unwatched):
    reasons = unwatched.suspects()["reason"]
    assert len(reasons)
    assert reasons.str.startswith("wrong with a probability of").all()


def test_the_next_step_says_what_a_look_is_worth(unwatched):
    summary = summarize(unwatched.findings)
    assert "estimated to be wrong" in next_steps(summary)[0]
    assert summary["labels"]["interval"] == list(unwatched.interval)


def test_where_no_label_is_suspect_the_range_is_said_all_the_same(unwatched):
    summary = summarize(unwatched.findings)
    summary["labels"] |= {"n_suspects": 0, "interval": [0.0, 0.034]}
    assert headline(summary)["labels"] == "Between 0 and 3 % of the labels look wrong; none is suspect."


def compared(gain, **changed):
    """A summary of two models, in which the kept one gains so much in log loss."""
    score = {"value": 0.6, "low": 0.5, "high": 0.7, "gain": {"value": 0.0, "low": -0.1, "high": 0.1}}
    scores = dict.fromkeys(("accuracy", "balanced_accuracy", "roc_auc", "log_loss"), score)
    kept = scores | {"log_loss": score | {"gain": {"value": gain, "low": gain - 0.1, "high": gain + 0.1}}}
    models = [
        {"name": "plain", "title": "plain", "chosen": False, "test": scores},
        {"name": "curated", "title": "curated labels", "chosen": True, "test": kept},
    ]
    recall = [{"label": "ill", "n": 30, "predicted": 30, "chosen": 20, "plain": 20, "won": 1, "lost": 1}]
    baseline = {"label": "ill", "accuracy": 1.0} | changed.pop("baseline", {})
    return {"metric": "accuracy", "models": models, "quality": {"recall": recall}, "baseline": baseline} | changed


def test_probabilities_that_are_worse_are_said_to_be():
    assert "probabilities are worse than the plain one's" in " ".join(score_sentences(compared(-0.3)))
    assert "probabilities are worse" not in " ".join(score_sentences(compared(0.3)))


def test_on_wrong_labels_log_loss_does_not_say_whose_probabilities_are_worse():
    said = " ".join(score_sentences(compared(-0.3, labels={"share_wrong": 0.1})))
    assert "probabilities are worse" not in said
    assert "does not say whose probabilities are nearer to the truth" in said
    assert "are wrong, too" not in " ".join(score_sentences(compared(0.3, labels={"share_wrong": 0.1})))


def test_models_are_not_compared_on_a_handful_of_rows():
    told, *_ = score_sentences(compared(-0.3, rows={"test": 4}))
    assert told == "Only 4 rows were held out, too few to tell which model is better."
    assert "log loss is worse" in score_sentences(compared(-0.3))[0]


def test_the_simplest_answer_is_scored_by_what_decides():
    sentence = score_sentences(compared(0.0, metric="roc_auc", baseline={"roc_auc": 0.5}))[-1]
    assert "The ROC AUC of that answer would be 0.500: the kept model is not clearly better." in sentence
    sentence = score_sentences(compared(0.0, metric="log_loss", baseline={"log_loss": 0.8}))[-1]
    assert "clearly better" in sentence
    assert "not clearly better" not in sentence


def test_the_simplest_answer_is_the_one_that_is_scored_also_at_a_tie():
    tie = [{"label": label, "n": 10, "chosen": 5, "plain": 5, "won": 0, "lost": 0} for label in ("no", "yes")]
    always = {"label": "yes", "accuracy": 0.5}  # the most frequent in training
    sentences = score_sentences(compared(0.0, quality={"recall": tie}, baseline=always))
    assert sentences[-1] == "Always answering 'yes' would have an accuracy of 50.0 %."


def test_what_was_checked_is_said_before_what_looks_wrong_of_the_rest():
    assert label_summary(0.08, (0.05, 0.11), 35, 500, {"n": 30, "corrected": 12}) == (
        "30 labels were checked, and 12 corrected. About 8 % of the 470 unchecked labels look wrong (between 5 "
        "and 11 %); 35 of 470 are suspect."
    )
    assert label_summary(None, None, 0, 30, {"n": 30, "corrected": 0}) == (
        "All 30 labels were checked, and none corrected."
    )
    assert label_summary(0.08, None, 1, 500, {"n": 1, "corrected": None}) == (
        "1 label was checked. About 8 % of the 499 unchecked labels look wrong; 1 of 499 is suspect."
    )


def test_where_the_range_is_wide_and_begins_at_0_the_number_of_suspects_is_called_chance(unwatched):
    said = "the number of suspects is partly chance"
    assert said in left_to_chance((0.0, 0.24), 13)
    assert left_to_chance((0.0, 0.24), 0) == ""
    assert left_to_chance((0.07, 0.24), 50) == ""
    assert left_to_chance((0.0, 0.05), 5) == ""
    assert left_to_chance((0.0, 0.46), 90) == ""  # these are called guesses
    summary = summarize(unwatched.findings)
    summary["labels"] |= {"interval": [0.0, 0.24]}
    assert said in next_steps(summary)[0]
    summary["labels"] |= {"interval": [0.1, 0.24]}
    assert said not in next_steps(summary)[0]


def test_suspects_of_labels_that_nothing_is_known_of_are_called_guesses(unwatched):
    said = label_summary(0.3, (0.0, 0.46), 90, 200)
    assert said == (
        "Models can hardly predict the labels, so anything from 0 to 46 % of them may be wrong; 90 of 200 are suspect, "
        "hardly more than guesses until some are checked."
    )
    assert worth_of_suspects(pd.Series([0.6] * 90), (0.0, 0.46)) == []
    assert worth_of_suspects(pd.Series([0.6] * 90), (0.1, 0.46))
    summary = summarize(unwatched.findings)
    summary["labels"] |= {"interval": [0.0, 0.46]}
    assert headline(summary)["labels"].endswith("listed below, hardly more than guesses until some are checked.")
    summary["labels"] |= {"n_suspects": summary["rows"]["labeled"]}  # no thresholds are to blame
    assert "Check the first 20 with order='useful'" in next_steps(summary)[0]
    with command_line():
        assert "Check the first 20 with --order useful" in next_steps(summary)[0]


def test_settings_are_named_as_the_reader_types_them(unwatched):
    summary = summarize(unwatched.findings)
    summary["columns"][0] |= {"name": "age", "alone": 0.99}
    summary["labels"] |= {"share_wrong": None, "n_suspects": summary["rows"]["labeled"]}
    in_python = " ".join(next_steps(summary))
    with command_line():
        typed = " ".join(next_steps(summary))
    assert "--" not in in_python
    for words in ("Leave out curator:", "`corrections='corrections.csv'`", "leave it out with drop='age'."):
        assert words in in_python
    for words in ("Leave out --curator:", "`--corrections corrections.csv`", "leave it out with --drop age."):
        assert words in typed


def test_the_page_rounds_to_the_same_percent_as_the_account(unwatched):
    points = summarize(unwatched.findings)["points"]
    account = unwatched.samples.set_index("row").loc[points["row"]]
    on_page = [(k + 5) // 10 for k in points["wrong"]]  # as Math.round does
    assert on_page == (100 * account["p_wrong"]).round().astype(int).tolist()


def test_a_short_list_is_not_said_to_go_on():
    from dips._report.words import _continue

    assert _continue(5) == ""
    assert "continue down the list" in _continue(40)
    assert worth_in_words([{"n": 4, "wrong": 0}]) == "Of all 4, hardly any is estimated to be wrong"


@pytest.mark.parametrize(
    "settings", [{}, {"trust_label": []}, {"trust_label": ["yes"]}, {"class_frequency": {"no": 0.9}}]
)
def test_where_errors_are_known_it_is_said_whom_held_out_labels_favor(settings):
    summary = scored({"low": 0, "high": 0}, RECALL) | {"made": {"settings": settings}}
    said = [s for s in score_sentences(summary) if s.startswith("Held-out labels go wrong as the others do")]
    assert len(said) == any(settings.values())
    assert all(s.endswith("what you said of these: accuracy 70.0 %, plain 60.0 %.") for s in said)


def test_one_model_alone_is_validated_by_labels_as_given():
    told = {"made": {"settings": {"trust_label": ["yes"]}}}
    said = " ".join(score_sentences(scored({"low": 0, "high": 0}, RECALL, name="plain") | told))
    assert "scores on them favor a model that repeats the errors." in said
    assert "by validation" not in said


@pytest.mark.parametrize("told", [{"no": 0.6}, {"yes": 0.4}])
def test_the_simplest_answer_is_also_scored_by_known_frequencies(told):
    summary = scored({"low": 0, "high": 0}, RECALL) | {"made": {"settings": {"class_frequency": told}}}
    simplest = score_sentences(summary)[-1]
    assert "an accuracy of 80.0 % on these labels, and of 60.0 % on true ones, as you said." in simplest
    assert simplest.endswith("The kept model does not beat that on these labels.")
