"""``dips compare``: what corrections changed, from one run to the next."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dips._cli import options as o
from dips._cli.app import app
from dips._cli.console import make_table, output, print_json


@app.command()
def compare(
    before: Annotated[Path, typer.Argument(help="The run folder of the original table.")],
    after: Annotated[Path, typer.Argument(help="The run folder of the same table with corrections.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Where to write it.  [default: AFTER/compare.html]"),
    ] = None,
    force: o.Force = False,
    as_json: o.Json = False,
    open_it: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
) -> None:
    """Show what changed between two runs.

    Scores on the same held-out rows, and which suspects are gone or new; printed, and written as a page.
    """
    from dips._report import render_difference
    from dips._study.between import compare_runs
    from dips._study.folder import refuse_to_overwrite
    from dips._study.run import Run, whole
    from dips._tools.files import without_nan, write_whole

    runs = Run(before), Run(after)
    if out is not None:
        refuse_to_overwrite(out, force, is_folder=False)
    path = runs[1].folder / "compare.html" if out is None else out
    with whole(*runs):
        comparison = without_nan(compare_runs(*runs))
        page = render_difference(comparison).encode()
    write_whole(path, page)
    if as_json:
        print_json({"page": str(path), **comparison})
        return
    _print(comparison)
    output().say(f"Open {path}")
    if open_it:
        typer.launch(path.resolve().as_uri())


def _print(comparison: dict[str, Any]) -> None:
    from dips._report.difference import difference_sentences

    if comparison["scores"]["all"]:
        _print_scores(comparison["scores"]["all"], comparison["n_held_out"])
    for sentence in difference_sentences(comparison):
        output().say(sentence)


def _print_scores(scores: dict[str, Any], n_held_out: int) -> None:
    from dips._report.metric_words import difference, range_of, title_of

    rows = []
    for metric, after in scores["after"].items():
        gain = after["gain"]
        cells = [_with_interval(metric, score) for score in (scores["before"][metric], after)]
        rows.append([title_of(metric), *cells, f"{difference(metric, gain['value'])} ({range_of(metric, gain)})"])
    columns = {"": "left", "before": "right", "after": "right", "gain": "right"}
    title = f"{n_held_out:,} rows that both held out, with 95 % intervals"
    output().print(make_table(columns, rows, title=title))


def _with_interval(metric: str, score: dict[str, float]) -> str:
    from dips._report.metric_words import amount

    value, low, high = (amount(metric, score[k]) for k in ("value", "low", "high"))
    return f"{value} ({low.removesuffix(' %')}–{high.removesuffix(' %')})"
