"""How values of metrics are written: scores, their ranges, gains and what a gain is."""

from __future__ import annotations

from typing import Any

SHARES = ("accuracy", "balanced_accuracy")
_OF_ONE_CLASS = ("f1", "average_precision")  # where there are two
SMALLER_IS_BETTER = ("log_loss", "cost")
_TITLES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "f1": "F1",
    "roc_auc": "ROC AUC",
    "average_precision": "average precision",
    "log_loss": "log loss",
    "cost": "cost per row",
}


def percent(share: float, digits: int = 0) -> str:
    """Write a share for people.

    Examples
    --------
    >>> percent(0.091), percent(0.004)
    ('9 %', 'under 1 %')
    """
    if 0 < share < 0.01 and digits == 0:
        return "under 1 %"
    return f"{100 * share:.{digits}f} %"


def amount(metric: str, value: float) -> str:
    """Write a value of a metric: shares in percent, others as they are.

    Examples
    --------
    >>> amount("accuracy", 0.8231), amount("roc_auc", 0.8231)
    ('82.3 %', '0.823')
    """
    return f"{100 * value:.1f} %" if metric in SHARES else f"{value:.3f}"


def amount_with_range(metric: str, score: dict[str, Any]) -> str:
    """Write a value of a metric, and the lowest and highest that it may be.

    Examples
    --------
    >>> amount_with_range("roc_auc", {"value": 0.8231, "low": 0.78, "high": 0.8612})
    '0.823 (0.780 to 0.861)'
    """
    value, low, high = (amount(metric, score[k]) for k in ("value", "low", "high"))
    return f"{value} ({low} to {high})"


def difference(metric: str, value: float) -> str:
    """Write a difference, with its sign.

    Examples
    --------
    >>> difference("accuracy", 0.012), difference("log_loss", -0.01)
    ('+1.2 points', '−0.010')
    """
    text = f"{100 * value:+.1f} points" if metric in SHARES else f"{value:+.3f}"
    return text.replace("-", "−")


def range_of(metric: str, gain: dict[str, float]) -> str:
    """Write the interval of a gain, without its unit.

    Examples
    --------
    >>> range_of("accuracy", {"value": 0.012, "low": -0.003, "high": 0.027})
    '−0.3 to +2.7'
    """
    return " to ".join(difference(metric, gain[end]).removesuffix(" points") for end in ("low", "high"))


def verdict_of(gain: dict[str, float]) -> str:
    """Say by its interval what a gain is.

    Examples
    --------
    >>> verdict_of({"low": 0.1, "high": 0.2}), verdict_of({"low": -0.1, "high": 0.2})
    ('better', 'not clearly different')
    """
    return "better" if gain["low"] > 0 else "worse" if gain["high"] < 0 else "not clearly different"


def against_plain(metric: str, gain: float) -> str:
    """Write a gain without a sign, whose meaning depends on the metric.

    Examples
    --------
    >>> against_plain("accuracy", 0.012), against_plain("cost", -0.311), against_plain("f1", 0.0)
    ('1.2 points better than plain', '0.311 worse than plain', 'the same as plain')
    """
    size = difference(metric, abs(gain)).lstrip("+")
    if float(size.split()[0]) == 0:
        return "the same as plain"
    return f"{size} {'better' if gain > 0 else 'worse'} than plain"


def seconds_in_words(seconds: float) -> str:
    """Write a time.

    Examples
    --------
    >>> seconds_in_words(0.0312), seconds_in_words(4.56), seconds_in_words(754.0)
    ('0.03 s', '4.6 s', '12.6 min')
    """
    if seconds >= 100:
        return f"{seconds / 60:.1f} min"
    return f"{seconds:.2f} s" if seconds < 1 else f"{seconds:.1f} s"


def title_of(metric: str) -> str:
    """Return the metric's name for people."""
    return _TITLES[metric]


def decided_by(summary: dict[str, Any]) -> str:
    """Return the name of the metric that decided, with the class that it is about.

    Examples
    --------
    >>> summary = {"metric": "average_precision", "classes": ["fraud", "legal"], "positive": 0}
    >>> decided_by(summary), decided_by(summary | {"metric": "roc_auc"})
    ("average precision of 'fraud'", 'ROC AUC')
    """
    metric, classes = summary["metric"], summary["classes"]
    about = f" of '{classes[summary['positive']]}'" if metric in _OF_ONE_CLASS and len(classes) == 2 else ""
    return title_of(metric) + about
