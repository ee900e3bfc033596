"""Plain data to one HTML page: no request to anywhere, and nothing from the data is ever run."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined, Template
from markupsafe import Markup, escape

from dips._files.columns import KINDS
from dips._report import charts
from dips._report.early import as_of_now
from dips._report.label_words import share_in_short, unchecked
from dips._report.metric_words import (
    SHARES,
    against_plain,
    amount,
    amount_with_range,
    difference,
    percent,
    seconds_in_words,
    title_of,
)
from dips._report.points import short
from dips._report.score_words import expects_truth
from dips._report.words import chosen_model, how_chosen, rows_in_model, trained_at_last
from dips._tools.wording import cut

_SEAMS = re.compile(r"(?<=[_./\-])(?=[^\s_./\-])")
_SCRIPTS = ("logic.js", "thresholds.js", "detail.js", "map.js", "table.js", "page.js")  # each builds on those before
_PERCENT = re.compile(r"(?<=\d) %")
_COMMAND = re.compile(r"`([^`]+)`")
_SMALL = 0.3
_UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def render(summary: dict[str, Any]) -> str:
    """Return the page.

    The only script that the page's own policy lets run is the one that comes with this package, by its checksum; the
    data is inert text beside it.
    """
    summary = as_of_now(summary)
    script = "\n".join(packaged(name) for name in _SCRIPTS)
    return template("page.html").render(
        s=summary,
        chosen=chosen_model(summary),
        charts=_charts(summary),
        style=Markup(packaged("page.css")),
        script=Markup(script),
        script_hash=_policy_hash(script),
        data=Markup(inert_json(_for_script(summary))),
    )


@cache
def template(name: str) -> Template:
    """Return a template that comes with this package; whatever it is filled with is escaped."""
    environment = Environment(
        loader=FunctionLoader(packaged),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=unparted,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        amount=amount, difference=difference, percent=percent, title_of=title_of, kinds=KINDS, cut=cut,
        share_in_short=share_in_short, softly=softly, seconds=seconds_in_words, with_commands=with_commands,
        against_plain=against_plain, how_chosen=how_chosen, trained_at_last=trained_at_last,
        rows_in_model=rows_in_model, expects_truth=expects_truth, amount_with_range=amount_with_range, short=short,
        unchecked=unchecked,
    )  # fmt: skip
    return environment.get_template(name)


def packaged(name: str) -> str:
    """Return a file that comes with this package, as text."""
    return (files("dips._report") / name).read_text(encoding="utf-8")


def unparted(value: Any) -> Any:
    """Tie every percent sign of a text to its number, so that no line ends between the two; what is markup stays.

    Examples
    --------
    >>> unparted("About 21 % of the labels")
    'About 21\xa0% of the labels'
    """
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return _PERCENT.sub("\u00a0%", value)


def softly(name: Any) -> Markup:
    """Write a name that may be broken after its dots, bars and dashes, and nowhere else.

    Examples
    --------
    >>> str(softly("hours_per_week<b>"))
    'hours_<wbr>per_<wbr>week&lt;b&gt;'
    """
    return Markup("<wbr>").join(escape(part) for part in _SEAMS.split(str(name)))


def with_commands(text: str) -> Markup:
    """Show what stands between backticks as something to type.

    Examples
    --------
    >>> str(with_commands("Run `dips fit` on <b>."))
    'Run <code>dips fit</code> on &lt;b&gt;.'
    """
    parts = _COMMAND.split(unparted(text))
    return Markup("").join(Markup("<code>{}</code>").format(p) if k % 2 else escape(p) for k, p in enumerate(parts))


def inert_json(record: Any) -> str:
    r"""JSON that can stand in a script element: it holds no tag, whatever the data.

    Examples
    --------
    >>> inert_json({"name": "</script><script>"})
    '{"name":"\\u003c/script\\u003e\\u003cscript\\u003e"}'
    """
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    for character, escaped in _UNSAFE.items():
        text = text.replace(character, escaped)
    return text


def _for_script(summary: dict[str, Any]) -> dict[str, Any]:
    """Only what the script draws; the rest is in the page already."""
    shown = {k: summary[k] for k in ("classes", "points", "phrases", "target", "unit")}
    of_classes = _of_classes(summary) if "thresholds" in (summary["quality"] or {}) else []
    return shown | {"thresholds": {each["class"]: each["thresholds"] for each in of_classes}}


def _of_classes(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """Curves and thresholds of each class against the rest, those of the class of interest first."""
    quality = summary["quality"]
    return [quality | {"class": summary["positive"]}, *quality.get("other_classes", [])]


def _policy_hash(script: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _charts(summary: dict[str, Any]) -> dict[str, Any]:
    drawn: dict[str, Any] = {}
    compared = [m for m in summary["models"] if m["test"]]
    if compared:
        drawn["models"] = _models(summary, compared)
    if summary["quality"]:
        names = summary["quality"]["models"]
        drawn["of_classes"] = [
            each | {"charts": _quality(each, names, summary["classes"][each["class"]])} for each in _of_classes(summary)
        ]
    if len(summary["rounds"]["history"]) > 1 and summary["rows"]["pseudo"]:
        drawn["growth"] = _growth(summary["rounds"]["history"])
    if summary["distributions"]:
        drawn["distributions"] = [_distribution(record) for record in summary["distributions"]]
    if "training" in summary:
        drawn |= _training(summary["training"]["history"])
    return drawn


def _models(summary: dict[str, Any], compared: list[dict[str, Any]]) -> Markup:
    metric = summary["metric"]
    rows = [
        {"label": m["title"], "css": "chosen" if m["chosen"] else "other"}
        | {k: m["test"][metric][k] for k in ("value", "low", "high")}
        for m in compared
    ]
    title = f"{title_of(metric)} of each model on the held-out rows, with 95 % intervals"
    is_share = metric in SHARES
    return charts.whisker_chart(rows, title_of(metric), title=title, percent=is_share)


def _quality(quality: dict[str, Any], models: list[str], positive: str) -> dict[str, Markup]:
    """The plain model lies under the chosen one, which is the first."""
    chosen, names = models[0], models[::-1]
    css = {name: "chosen" if name == chosen else "other" for name in names}
    said = f"probability of {cut(positive, 16)}"
    calibration = [(css[n], [(g["said"], g["seen"]) for g in quality["calibration"][n]]) for n in names]
    spans = [(g["said"], g["low"], g["high"]) for g in quality["calibration"][chosen] if "low" in g]
    return {
        "roc": charts.line_chart(
            [(css[n], quality["roc"][n]) for n in names], "false positives", "true positives",
            title="ROC curve", diagonal=True,
        ),
        "precision_recall": charts.line_chart(
            [(css[n], quality["precision_recall"][n]) for n in names], "recall", "precision",
            title="Precision and recall", level=quality["share_positive"],
        ),
        "calibration": charts.line_chart(
            calibration, said, "share seen", title="Calibration", diagonal=True, dots=True, spans=spans,
            most=_reach(calibration),
        ),
    }  # fmt: skip


def _reach(lines: list[tuple[str, list[tuple[float, float]]]]) -> float:
    """How far the axes must reach: of a rare class all probabilities are small."""
    largest = max(max(point) for _, points in lines for point in points)
    return 1.0 if largest > _SMALL else 1.6 * max(largest, 0.01)


def _distribution(record: dict[str, Any]) -> tuple[str, Markup, list[tuple[str, str, int]]]:
    """A column's name, its chart, and what the chart's lines are."""
    series = record["series"]
    css = ["suspect" if each["label"] == "suspects" else f"class{k}" for k, each in enumerate(series)]
    title = f"Distribution of {record['column']} by label"
    lines = [(c, s["shares"]) for c, s in zip(css, series, strict=True)]
    drawn = charts.share_chart(record["names"], lines, title=title, edges=record["edges"])
    return record["column"], drawn, [(c, s["label"], s["n"]) for c, s in zip(css, series, strict=True)]


def _growth(history: list[dict[str, Any]]) -> Markup:
    bars = [
        ("start" if r["round"] == 0 else f"round {r['round']}", [("given", r["n_given"]), ("pseudo", r["n_pseudo"])])
        for r in history
    ]
    return charts.growth_chart(bars, "rows trained on", title="Rows that each round was trained on")


def _training(history: list[dict[str, Any]]) -> dict[str, Markup]:
    """Useful and suspect labels after each round, and how accuracy and the use of pseudo-labels rose."""
    bars = [(str(r["round"]), [("given", r["n_useful"]), ("suspect", r["n_suspects"])]) for r in history]
    steps = max(r["step"] for r in history)
    measured = {
        css: [(r["step"] / steps, r[name]) for r in history if r.get(name) is not None]
        for css, name in (("other", "coverage"), ("chosen", "accuracy"))
    }
    return {
        "useful": charts.growth_chart(
            bars, "labels", title="Useful and suspect labels after each round", x_title="round", frame_size=(320, 260),
        ),
        "progress": charts.line_chart(
            [(css, line) for css, line in measured.items() if line], "share of the training", "share",
            title="Along the training", dots=True,
        ),
    }  # fmt: skip
