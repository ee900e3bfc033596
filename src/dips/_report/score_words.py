"""The scores of the kept model in words, beside the plain one's: every one that matters, also where it is worse."""

from __future__ import annotations

from typing import Any

from dips._report.metric_words import SMALLER_IS_BETTER, amount, amount_with_range, title_of, verdict_of
from dips._report.words import chosen_model, plain_model
from dips._tools.wording import counted, option, some_of

_TOLD = ("log_loss", "roc_auc", "balanced_accuracy", "accuracy", "cost")
_CLEAR = 2  # standard errors
_ENOUGH = 30  # rows, to compare models on them
_DIRTY = 0.03  # of the labels, estimated to be wrong


def score_sentences(summary: dict[str, Any]) -> list[str]:
    """Return sentences on what the headline does not say: other metrics, recall by class, and the simplest answer."""
    chosen = chosen_model(summary)
    if chosen is None:
        return []
    sentences, n_test = [], summary.get("rows", {}).get("test", _ENOUGH)
    if n_test < _ENOUGH:
        sentences.append(
            f"Only {counted(n_test, 'row was', 'rows were')} held out, too few to tell which model is better."
        )
    elif chosen["name"] != "plain":
        plain = plain_model(summary)
        names = [k for k in _TOLD if k != summary["metric"] and k in chosen["test"]]
        told = [_against(k, chosen["test"], plain["test"]) for k in names]
        sentences.append(f"Compared with the plain model on the held-out rows: {'; '.join(told)}.")
        if chosen["test"]["log_loss"]["gain"]["high"] < 0:
            sentences.append(_worse_probabilities(summary))
    sentences += _where_errors_are_known(summary, chosen) + _on_verified(summary, chosen)
    is_plain = chosen["name"] == "plain"
    return sentences + _recall_sentences(summary["quality"], is_plain) + _simplest(summary, chosen)


def _worse_probabilities(summary: dict[str, Any]) -> str:
    """Say what a clearly higher log loss on the held-out labels means: little, where some of these are wrong."""
    if (summary.get("labels", {}).get("share_wrong") or 0) > _DIRTY:
        return (
            "Some of the held-out labels are wrong, too, and on these the log loss is lower for probabilities that "
            "expect the errors. So it does not say whose probabilities are nearer to the truth; verified labels would."
        )
    return (
        "The kept model's probabilities are worse than the plain one's, though its answers may be better: where you "
        f"need probabilities, keep the plain model ({option('keep', 'plain')}), or decide by log loss "
        f"({option('metric', 'log_loss')})."
    )


def _against(metric: str, chosen: dict[str, Any], plain: dict[str, Any]) -> str:
    values = f"{amount(metric, chosen[metric]['value'])}, plain {amount(metric, plain[metric]['value'])}"
    return f"{title_of(metric)} is {verdict_of(chosen[metric]['gain'])} ({values})"


def _told_share(summary: dict[str, Any], label: str) -> float | None:
    """How often a class truly occurs, as the user said; the rest for one that was left out."""
    shares = _settings(summary).get("class_frequency")
    return shares.get(label, 1 - sum(shares.values())) if shares else None


def _settings(summary: dict[str, Any]) -> dict[str, Any]:
    return dict(summary.get("made", {}).get("settings", {}))


def _where_errors_are_known(summary: dict[str, Any], chosen: dict[str, Any]) -> list[str]:
    """Say whom the held-out labels favor where the user told which way errors go, and what validation says."""
    settings = _settings(summary)
    if not (settings.get("trust_label") or settings.get("class_frequency")):
        return []
    favors = "Held-out labels go wrong as the others do, so scores on them favor a model that repeats the errors."
    if not expects_truth(summary):
        return [favors]
    plain = plain_model(summary)
    metric = summary["metric"]
    beside = "" if chosen is plain else f", plain {amount(metric, plain['validation'])}"
    return [
        f"{favors} Scores by validation take into account what you said of these: {title_of(metric)} "
        f"{amount(metric, chosen['validation'])}{beside}."
    ]


def expects_truth(summary: dict[str, Any]) -> bool:
    """Whether validation scored by what labels truly may be: it does so to compare models, not for one alone."""
    return sum(m["validation"] is not None for m in summary["models"]) > 1


def few_verified(n: int) -> str:
    """Say that too few held-out labels are verified to score on them.

    Examples
    --------
    >>> few_verified(1)
    '1 of the held-out labels is verified, too few to score on alone.'
    """
    return f"{n:,} of the held-out labels {'is' if n == 1 else 'are'} verified, too few to score on alone."


def _on_verified(summary: dict[str, Any], chosen: dict[str, Any]) -> list[str]:
    """Say what the scores are on held-out labels that somebody has checked, or that these are too few to tell."""
    n, scores = summary.get("rows", {}).get("test_verified", 0), chosen.get("test_verified")
    if not n:
        return []
    if not scores:
        return [few_verified(n)]
    metric = summary["metric"]
    score, plain = scores[metric], plain_model(summary)["test_verified"][metric]
    beside = "" if chosen["name"] == "plain" else f"; plain {amount(metric, plain['value'])}"
    return [
        f"On the {n:,} held-out rows whose label is verified, {title_of(metric)} is "
        f"{amount_with_range(metric, score)}{beside}. These labels are nearly the truth, but people check doubtful "
        "rows first, so these rows need not be like the others."
    ]


def _recall_sentences(quality: dict[str, Any], is_plain: bool) -> list[str]:
    """Name the classes that the kept model finds clearly less often than the plain one, or never."""
    recall = quality.get("recall", [])
    never = [r for r in recall if r["n"] and r["chosen"] == r["plain"] == 0]
    sentences = [_never_found(never, is_plain)] if never else []
    for r in recall:
        if r["chosen"] == 0 < r["plain"]:
            beside = f"found {r['plain']:,}" if r["n"] > 1 else "did"
            sentences.append(f"The kept model {_missed(r)}; the plain one {beside}.")
        elif r["lost"] - r["won"] > _CLEAR * (r["lost"] + r["won"]) ** 0.5:
            sentences.append(
                f"'{r['label']}' is found less often than by the plain model: {r['chosen']:,} of {r['n']:,} held-out "
                f"rows, plain {r['plain']:,}."
            )
    return sentences


def _never_found(never: list[dict[str, Any]], is_plain: bool) -> str:
    """Name the classes of which neither model found a row, together: of many classes, some have few rows."""
    if len(never) > 1:
        named = some_of(f"'{r['label']}' ({r['n']:,})" for r in never)
        who = "The kept model found" if is_plain else "Neither the kept model nor the plain one found"
        return f"{who} {'none' if is_plain else 'any'} of the held-out rows of {len(never)} classes: {named}."
    return f"The kept model {_missed(never[0])}{'' if is_plain else '; nor did the plain one'}."


def _missed(recall: dict[str, Any]) -> str:
    n, of = recall["n"], f"of '{recall['label']}'"
    return f"found none of the {n:,} held-out rows {of}" if n > 1 else f"did not find the one held-out row {of}"


def _simplest(summary: dict[str, Any], chosen: dict[str, Any]) -> list[str]:
    """Say what always giving one answer, the most frequent in training, would score, by accuracy and what decided."""
    baseline, metric = summary["baseline"], summary["metric"]
    usual = baseline["accuracy"]
    truly = _told_share(summary, str(baseline["label"]))
    on_these = (
        "" if truly is None else f" on these labels, and of {amount('accuracy', truly)} on true ones, as you said"
    )
    where = "" if truly is None else " on these labels"
    beaten = "" if chosen["test"]["accuracy"]["value"] > usual else f" The kept model does not beat that{where}."
    score = amount("accuracy", usual)
    simplest = f"Always answering '{baseline['label']}' would have an accuracy of {score}{on_these}.{beaten}"
    if metric == "accuracy" or baseline.get(metric) is None:
        return [simplest]
    score = chosen["test"][metric]
    is_better = score["high"] < baseline[metric] if metric in SMALLER_IS_BETTER else score["low"] > baseline[metric]
    verdict = "clearly better" if is_better else "not clearly better"
    said = f"The {title_of(metric)} of that answer would be {amount(metric, baseline[metric])}"
    return [f"{simplest} {said}: the kept model is {verdict}."]
