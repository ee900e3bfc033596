"""The page of two runs side by side."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from dips._report import charts
from dips._report.label_words import share_in_words, unchecked
from dips._report.metric_words import SHARES, amount, difference, range_of, title_of, verdict_of
from dips._report.page import packaged, template
from dips._tools.wording import counted

_PARTS = {
    "all": "all rows that both held out",
    "verified": "those with a verified label",
    "others": "those without a verified label",
}


def render_difference(comparison: dict[str, Any]) -> str:
    """Return the page; it needs no script."""
    return template("difference.html").render(
        s=comparison,
        sentences=difference_sentences(comparison),
        parts=_PARTS,
        chart=_chart(comparison) if comparison["scores"]["all"] else "",
        shares=[_share_wrong(run) for run in comparison["runs"]],
        style=Markup(packaged("page.css")),
    )  # fmt: skip


def _share_wrong(run: dict[str, Any]) -> str:
    if run["share_wrong"] is None:
        return "not estimated"
    return share_in_words(run["share_wrong"], run["interval"], unchecked(run["checked"], run["n_labeled"]))


def difference_sentences(comparison: dict[str, Any]) -> list[str]:
    """Say what the second run does better or worse, and what became of the suspects."""
    metric, scores, suspects = comparison["metric"], comparison["scores"], comparison["suspects"]
    sentences = [comparison["caution"]] if comparison["caution"] else []
    sentences += [_gain(metric, scores[part], words) for part, words in _PARTS.items() if scores[part]]
    if comparison["no_scores"]:
        sentences.append(comparison["no_scores"])
    elif scores["verified"] is None:
        sentences.append(
            f"Too few of these rows have a verified label (under {comparison['enough']}) to score on them alone."
        )
    else:
        sentences.append("Verified labels are nearly the truth, but people check doubtful rows first.")
    fates = ", ".join(f"{n:,} {fate}" for fate, n in suspects["fates"].items())
    gone = counted(suspects["n_gone"], "suspect is gone", "suspects are gone") + (f" ({fates})" if fates else "")
    sentences.append(f"{gone}, {counted(suspects['n_new'], 'is new', 'are new')}, {suspects['n_stayed']:,} stayed.")
    return sentences


def _gain(metric: str, scores: dict[str, Any], words: str) -> str:
    gain = scores["after"][metric]["gain"]
    values = " → ".join(amount(metric, scores[run][metric]["value"]) for run in ("before", "after"))
    return (
        f"On {words} ({scores['n']:,}), {title_of(metric)} is {verdict_of(gain)}: {values}, a gain of "
        f"{difference(metric, gain['value'])} ({range_of(metric, gain)})."
    )


def _chart(comparison: dict[str, Any]) -> Markup:
    metric = comparison["metric"]
    rows = [
        {"label": f"{run}: {words.removeprefix('those ')}", "css": "chosen" if run == "after" else "other"}
        | {k: comparison["scores"][part][run][metric][k] for k in ("value", "low", "high")}
        for part, words in _PARTS.items()
        if comparison["scores"][part]
        for run in ("before", "after")
    ]
    title = f"{title_of(metric)} of both runs, with 95 % intervals"
    return charts.whisker_chart(rows, title_of(metric), title=title, percent=metric in SHARES)
