"""What an audit of tables or images writes and prints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from dips._cli.console import make_table, output
from dips._estimators.reasons import IMAGE, ROW, reason, whole_percent
from dips._tools.names import apart_from

if TYPE_CHECKING:
    import pandas as pd

    from dips._image_study.auditing import ImageAudit
    from dips._study.auditing import LabelAudit

_UNSEEN = {
    ROW: "according to models that had not seen the row",
    IMAGE: "according to networks not trained on the label, or not recently",
}


def write_files(judged: LabelAudit | ImageAudit, given: dict[str, Any]) -> None:
    """Write the list and the page, to the files that the options name; older typer gives these as texts."""
    from dips._persistence.export import write_frame

    if given["out"] is not None:
        write_frame(judged.samples if given["every_row"] else judged.suspects(), Path(given["out"]))
    if given["report"] is not None:
        judged.write_report(given["report"])


def say_written(given: dict[str, Any], n_listed: int) -> None:
    """Name the files that were written, or the option that writes what was not printed."""
    if n_listed > given["top"] and given["out"] is None:
        printed = f"These are the first {given['top']:,} of {n_listed:,}; " if given["top"] else ""
        output().say(f"{printed}-o suspects.csv writes them all.")
    for path in (given["out"], given["report"]):
        if path is not None:
            output().say(f"Written: {path}")


def records_of(suspects: pd.DataFrame) -> list[Any]:
    """Plain data, one record per suspect; None where a cell is empty."""
    return suspects.astype(object).where(suspects.notna(), None).to_dict("records")


def print_suspects(suspects: pd.DataFrame, ids: list[str], unit: str = ROW) -> None:
    """Print one line per suspect: its number, the columns that name it, its labels, and why it is one."""
    if not bool(suspects["p_wrong"].notna().all()):
        output().print(_table(suspects, ids, unit, {"confidence": "confidence"}, suspects["reason"].tolist()))
        return
    columns = {"wrong": "p_wrong", "unseen": "out_of_fold"}
    output().print(_table(suspects, ids, unit, columns, [_besides(r, unit) for _, r in suspects.iterrows()]))
    legend = f"wrong: the probability that the label is wrong. unseen: that it is right, {_UNSEEN[unit]}."
    output().say(legend)


def _table(suspects: pd.DataFrame, ids: list[str], unit: str, shares: dict[str, str], why: list[str]) -> Any:
    after = {"given": "left", "suggested": "left"} | dict.fromkeys(shares, "right")
    after |= {"why": "left"} if any(why) else {}
    named = apart_from(ids, taken=(unit, *after)).values()
    aligned = {unit: "right", **dict.fromkeys(named, "left"), **after}
    labels = ["row", *ids, "given_label", "suggested_label"]
    rows = [
        [*(_or_dash(r[c]) for c in labels), *(_percent(r[c]) for c in shares.values()), *([said] if any(why) else [])]
        for (_, r), said in zip(suspects.iterrows(), why, strict=True)
    ]
    return make_table(aligned, rows)


def _besides(suspect: pd.Series, unit: str) -> str:
    """What the reason says that no column does, such as a row that is the same and has another label."""
    s = suspect
    told = reason(s["given_label"], s["suggested_label"], s["confidence"], s["out_of_fold"], s["p_wrong"], unit)
    return str(suspect["reason"]).removesuffix(told).removesuffix("; ")


def _percent(share: float) -> str:
    return "–" if share != share else f"{whole_percent(share)} %"


def _or_dash(value: object) -> str:
    return "–" if value is None or value != value else str(value)
