"""The sentences at the top of the page: the data, the labels, the gain, and what to do next."""

from __future__ import annotations

from typing import Any

from dips._estimators.reasons import IMAGE, ROW
from dips._report.label_words import (
    checked_in_words,
    first_looks,
    guessed,
    left_to_chance,
    ranking_in_words,
    share_in_words,
    unchecked,
    what_to_tell,
    worth_in_words,
)
from dips._report.metric_words import amount_with_range, decided_by, difference, percent, title_of
from dips._tools.wording import counted, option

_FIRST_LOOK = 20  # suspects
_MANY_WRONG = 0.3  # of the labels; more is rare where people took care


def headline(summary: dict[str, Any]) -> dict[str, str]:
    """Return three sentences, each from the numbers of the summary."""
    return {"data": _data(summary), "labels": _labels(summary), "model": _model(summary)}


def next_steps(summary: dict[str, Any]) -> list[str]:
    """Return what a person might do now, the most useful first."""
    return _steps_of_images(summary) if summary["unit"] == IMAGE else _steps_of_table(summary)


def _steps_of_images(summary: dict[str, Any]) -> list[str]:
    steps, labels, worst = [], summary["labels"], max(summary["noise"]["by_class"], key=lambda r: r["share"])
    if (labels["share_wrong"] or 0) > _MANY_WRONG:
        longer = "--steps" if summary["made"]["command"] else "n_steps, warm_up_steps"
        steps.append(
            "So many labels that look wrong may also mean that the network has learned little. Unless you expected "
            f"them, train longer ({longer}) before you rely on the list."
        )
    if labels["n_listed"]:
        n = min(_FIRST_LOOK, labels["n_listed"])
        kind = "suspect labels" if labels["n_suspects"] else "labels"
        steps.append(
            f"Look at the first {n} {kind} below, beside useful images of both classes.{_continue(labels['n_listed'])}"
        )
        steps.append(
            "Choose the right class under 'corrected', save the corrections, and run the command again with "
            "`--corrections corrections.csv`. Or look at them one by one, larger, with `dips review RUN` (RUN is the "
            "folder that dips fit writes)."
            if summary["made"]["command"]
            else "Choose the right class beside an image, save the list as CSV, correct your labels, and train again."
        )
    if worst["k"] >= 5 and worst["low"] > labels["n_other"] / summary["rows"]["labeled"]:
        steps.append(
            f"Ask how {worst['label']} was told apart from {worst['instead'][0]['label']}: for "
            f"{percent(worst['share'])} of the labels {worst['label']}, another class fits better."
        )
    if summary["training"]["accuracy"] is None and not summary["made"]["command"]:
        steps.append(
            "Pass some images whose labels you are sure of as X_val and y_val: the page then says how accurate the "
            "network is."
        )
    return steps


def _steps_of_table(summary: dict[str, Any]) -> list[str]:
    steps, labels, rows = [], summary["labels"], summary["rows"]
    if labels["share_wrong"] is None and labels["n_suspects"] > 0.5 * rows["labeled"]:
        steps.append(
            f"The thresholds of the curator {summary['points']['curator']} do not suit this backbone: more than half "
            f"of the labels are suspect. Leave out {option('curator')}: the default adapts."
        )
    chosen = chosen_model(summary)
    if labels["n_suspects"]:
        n = min(_FIRST_LOOK, labels["n_suspects"])
        one_by_one = " Or look at them one by one with `dips review RUN` (RUN is this folder)." if chosen else ""
        if looks := first_looks(labels.get("interval")):
            look = f"The suspect labels below are hardly more than guesses. {looks}"
        elif labels.get("worth"):
            look = f"Look at the suspect labels below. {worth_in_words(labels['worth'])}."
        else:
            look = f"Look at the first {n} suspect labels below.{_continue(labels['n_suspects'])}"
        if chance := left_to_chance(labels.get("interval"), labels["n_suspects"]):
            look = f"{look} {chance}"
        steps.append(
            f"{look} Choose the right label under 'corrected', save the corrections, and run again with "
            f"`{option('corrections', 'corrections.csv')}`: checked labels are not doubted again, and the others are "
            f"judged better.{one_by_one}"
        )
    if tell := what_to_tell(labels.get("interval"), summary["made"]["settings"]):
        steps.append(tell)
    steps += [_uneven(w) for w in (summary["noise"]["by_value"] or [])[:1]]
    for column in summary["columns"]:
        if column["alone"]:
            steps.append(
                f"Check {column['name']}: it predicts the label almost on its own. If it is only known after the "
                f"outcome, leave it out with {option('drop', column['name'])}."
            )
    if chosen and rows["test"] < 300:
        steps.append(
            f"Only {rows['test']:,} labeled rows could be held out, so the intervals are wide. A few hundred more "
            "labels would show more clearly which model is best."
        )
    if chosen is None:
        steps.append(
            "Train a model with `dips fit`, with the same file and target. It leaves no label out: each counts as far "
            "as it is probably right."
            if summary["points"]["curator"] == "beliefs"
            else "Train a model without the suspect labels: `dips fit`, with the same file and target."
        )
    else:
        use = "Use the model with `dips predict RUN new.csv -o predictions.csv` (RUN is this folder)."
        steps.append(why_not_to_use(chosen) or _why_to_wait(chosen, summary["metric"]) or use)
    return steps


def why_not_to_use(chosen: dict[str, Any]) -> str:
    """Say that the chosen model is no better than a guess; empty if it is."""
    auc = chosen["test"]["roc_auc"]
    if auc["low"] > 0.5:
        return ""
    return (
        f"Do not use the model yet: on the held-out rows it is not clearly better than a guess (ROC AUC "
        f"{auc['low']:.2f} to {auc['high']:.2f}; 0.5 is chance). More labels, or columns that say more, may help."
    )


def how_chosen(summary: dict[str, Any]) -> str:
    """Say which model is kept as a rule, and when another one is."""
    before = "curated labels and unlabeled rows" if summary["rows"]["unlabeled"] else "curated labels"
    title = next((m["title"] for m in summary["models"] if m.get("usual")), before)  # early runs do not say
    kept = title if title.startswith("the ") else f"the model with {title}"
    if title == "plain":
        kept = "the plain model"
        if sum(bool(m["test"]) for m in summary["models"]) == 1:
            return f"{kept} was the only one"
    return f"{kept} is kept unless another one is better there by two standard errors"


def trained_at_last(chosen: dict[str, Any]) -> str:
    """Say what the chosen model did with all rows, the held-out ones included."""
    if chosen["name"] == "network":
        return "The network then read the held-out rows, too: that is the model in this folder."
    return (
        "The chosen kind of model was then trained once more on all rows, including the held-out ones: that is the "
        "model in this folder."
    )


def rows_in_model(summary: dict[str, Any]) -> str:
    """Say that the folder of the model holds rows of the table; empty if it does not."""
    chosen = chosen_model(summary)
    if chosen is None or chosen["name"] != "network":
        return ""
    trained = "curated_pseudo" if summary["rows"]["unlabeled"] else "curated"
    return (
        "The model folder holds rows of this table with their labels, because the network reads them each time that it "
        f"predicts. Whoever has the folder can read them; {option('keep', trained)} keeps a trained model without rows."
    )


def _why_to_wait(chosen: dict[str, Any], metric: str) -> str:
    """Say that the chosen model did worse than the plain one on the labels as given; empty if it did not."""
    if chosen["test"][metric]["gain"]["high"] >= 0:
        return ""
    return (
        "Check some suspect labels before you use the model: validation preferred it, but on the held-out labels as "
        f"given its {title_of(metric)} is clearly worse than the plain model's. If most suspects turn out to be right, "
        f"keep the plain model with `{option('keep', 'plain')}`."
    )


def _continue(n_suspects: int) -> str:
    return " If most are wrong, continue down the list." if n_suspects > _FIRST_LOOK else ""


def _uneven(where: dict[str, Any]) -> str:
    """Say where more labels are wrong, and that this was tested."""
    chance = max(where["p_value"], 0.01)
    often = "under 1" if chance <= 0.01 else f"{100 * chance:.0f}"
    elsewhere = "under 1 %" if where["elsewhere"] < 0.01 else f"about {percent(where['elsewhere'])}"
    return (
        f"Look at the labels where {where['column']} is {where['value']}: about {percent(where['share'])} of these "
        f"{where['n']:,} look wrong, elsewhere {elsewhere}. Harder rows do not explain this: of 100 tables simulated "
        f"without such a difference, {often} would show as much at any value."
    )


def chosen_model(summary: dict[str, Any]) -> dict[str, Any] | None:
    """Return the record of the chosen model, if models were compared."""
    return next((m for m in summary["models"] if m["chosen"]), None)


def plain_model(summary: dict[str, Any]) -> dict[str, Any]:
    """Return the record of the plain model, which is compared in every study that trains models."""
    return next(m for m in summary["models"] if m["name"] == "plain")


def _data(summary: dict[str, Any]) -> str:
    rows, unit = summary["rows"], summary["unit"]
    columns = f", with {counted(summary['n_used'], 'column')} to learn {summary['target']} from" if unit == ROW else ""
    unlabeled = f" and {rows['unlabeled']:,} without a label" if rows["unlabeled"] else ""
    classes = summary["classes"]
    which = f"{', '.join(classes[:-1])} or {classes[-1]}" if len(classes) <= 3 else f"one of {len(classes)} classes"
    return f"The data: {rows['labeled']:,} labeled {unit}s{unlabeled}{columns} ({which})."


def _labels(summary: dict[str, Any]) -> str:
    checked, n_labeled = summary["labels"].get("checked"), summary["rows"]["labeled"]
    of = unchecked(checked, n_labeled)
    return " ".join(filter(None, [checked_in_words(checked, n_labeled), _doubted_labels(summary, of)]))


def _doubted_labels(summary: dict[str, Any], of: str) -> str:
    """Say how many labels look wrong, `of` those that nobody has checked."""
    labels, n = summary["labels"], summary["labels"]["n_suspects"]
    if n == 0 and labels.get("interval") is None:
        return "No label is suspect."
    if n == 0:
        share = f"{share_in_words(labels['share_wrong'], labels['interval'], of)}; none is suspect."
        ranking = ranking_in_words(labels["n_listed"]) if labels.get("n_listed") else ""
        return " ".join(filter(None, [share, labels.get("why_all_useful"), ranking]))
    if labels["share_wrong"] is None:
        suspects = counted(n, "label is", "labels are")
        return f"According to the curator {summary['points']['curator']}, {suspects} suspect and listed below."
    n_shown = sum(rank > 0 for rank in summary["points"]["rank"])
    listed = f"{counted(n, 'is', 'are')} suspect and listed below"
    if n_shown < n:
        listed = f"{n:,} are suspect, and the first {n_shown:,} are listed below"
    if summary["unit"] == IMAGE:
        listed = f"{listed}, and for {labels['n_other']:,} another class fits better"
    interval = labels.get("interval")
    return f"{share_in_words(labels['share_wrong'], interval, of)}; {listed}{guessed(interval)}."


def _model(summary: dict[str, Any]) -> str:
    if summary["unit"] == IMAGE:
        return _network(summary)
    chosen, metric = chosen_model(summary), summary["metric"]
    if chosen is None:
        return ""
    score, title = chosen["test"][metric], decided_by(summary)
    value = amount_with_range(metric, score)
    if chosen["name"] == "plain":
        return (
            f"The plain model was kept: {title} {value} on {summary['rows']['test']:,} held-out rows. "
            "No other model was better in validation."
        )
    gain = score["gain"]
    interval = f"{difference(metric, gain['low']).removesuffix(' points')} to {difference(metric, gain['high'])}"
    if gain["low"] == gain["high"] == 0:
        verdict = "the same as the plain model's"
    elif gain["low"] > 0:
        verdict = f"better than the plain model by {difference(metric, gain['value']).lstrip('+')} ({interval})"
    elif gain["high"] < 0:
        verdict = f"worse than the plain model there (gain {difference(metric, gain['value'])}; {interval})"
    else:
        by = difference(metric, gain["value"])
        verdict = f"which is not clearly different from the plain model (gain {by}; {interval})"
    return (
        f"The kept model uses {chosen['title']}: {title} {value} on "
        f"{summary['rows']['test']:,} held-out rows, {verdict}."
    )


def _network(summary: dict[str, Any]) -> str:
    n, accuracy = summary["labels"]["n_useful"], summary["training"]["accuracy"]
    score = "" if accuracy is None else f"; its accuracy on the validation images is {percent(accuracy, 1)}"
    return f"The network was trained on the {n:,} useful labels{score}."
