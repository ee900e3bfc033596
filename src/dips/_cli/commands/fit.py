"""``dips fit``: from a table to a run folder."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from dips._cli import options as o
from dips._cli.app import app
from dips._cli.console import TerminalObserver, label_summary, make_table, output, print_json, printable
from dips._files.columns import KINDS
from dips._report.words import SHARES, title_of
from dips._study.candidates import BY_NAME, PLAIN
from dips._study.data import StudyData
from dips._study.fitting import fit as fit_study
from dips._study.run import Run
from dips.exceptions import StoppedError

_MANY_COLUMNS = 25


@app.command()
def fit(
    data: o.Data,
    target: o.TargetName,
    out: Annotated[Path, typer.Option("--out", "-o", help="The run folder to make.")] = Path("run"),
    unlabeled: Annotated[
        list[Path], typer.Option(help="More rows, without labels; spark:TABLE reads from Spark. Repeatable.")
    ] = [],  # noqa: B006
    id: o.Ids = [],  # noqa: B006
    drop: o.Drop = [],  # noqa: B006
    unlabeled_mark: o.Marks = [],  # noqa: B006
    positive: o.Positive = None,
    metric: o.MetricName = "accuracy",
    backbone: o.Backbone = "xgboost",
    labeler: o.LabelerName = "auto",
    curator: o.CuratorName = "auto",
    rounds: Annotated[int, typer.Option(help="Rounds of pseudo-labeling.")] = 5,
    holdout: Annotated[float, typer.Option(help="Share of the labeled rows that is held out.")] = 0.2,
    max_unlabeled: Annotated[
        int, typer.Option(help="Use at most this many unlabeled rows, drawn at random.")
    ] = 100_000,
    time_limit: Annotated[
        float | None, typer.Option(help="Minutes after which no further model is started.  [default: none]")
    ] = None,
    seed: o.Seed = 0,
    jobs: o.Jobs = None,
    config: o.Config = None,
    force: o.Force = False,
    as_json: o.Json = False,
) -> None:
    """Compare four models and keep the best, with a report.

    The models: plain; curated labels; pseudo-labels, not curated; curated labels and unlabeled rows. Writes a folder
    with report.html, samples.parquet and .csv (the account of every row), metrics.json, config.json and model/. After
    Ctrl-C, the same command continues where it stopped.
    """
    try:
        with _FitObserver(not as_json) as observer:
            run = fit_study(
                data,
                target,
                out,
                unlabeled=unlabeled,
                force=force,
                command=shlex.join(["dips", *sys.argv[1:]]),
                observer=observer,
                id=tuple(id),
                drop=tuple(drop),
                unlabeled_mark=tuple(unlabeled_mark),
                positive=positive,
                metric=metric,
                backbone=backbone,
                labeler=labeler,
                curator=curator,
                rounds=rounds,
                holdout=holdout,
                max_unlabeled=max_unlabeled,
                time_limit=time_limit,
                seed=seed,
                jobs=jobs,
            )
    except KeyboardInterrupt:
        raise StoppedError("Stopped. The same command continues where it stopped.") from None
    if as_json:
        print_json({"folder": str(run.folder), "report": str(run.report), **run.metrics})
    else:
        _print_result(run)


class _FitObserver(TerminalObserver):
    """Shows how the table was understood before any model is trained."""

    def on_data(self, data: StudyData, leaks: dict[str, float]) -> None:
        """Print the columns."""
        if self.enabled:
            _print_understanding(self.console, data, leaks)


def _print_understanding(console: Console, study: StudyData, leaks: dict[str, float]) -> None:
    target = study.target
    n_labeled = int(target.is_labeled.sum())
    console.print(
        printable(
            f"{study.table.n_rows:,} rows, {n_labeled:,} labeled and {study.table.n_rows - n_labeled:,} not; "
            f"{target.name!r} is one of {', '.join(map(str, target.classes[:8]))}."
        ),
        soft_wrap=True,
    )
    columns = study.schema.columns
    shown = [c for c in columns if len(columns) <= _MANY_COLUMNS or not c.is_used or c.note or c.name in leaks]
    rows = []
    for c in shown[:_MANY_COLUMNS]:
        alone = (
            f"predicts the label almost alone ({leaks[c.name]:.0%}): known in time? else --drop"
            if c.name in leaks
            else ""
        )
        n_missing = f"{c.n_missing:,}" if c.n_missing else ""
        rows.append(
            [
                c.name,
                KINDS[c.kind],
                f"{c.n_distinct:,}" if c.n_distinct else "",
                n_missing,
                alone or c.note or c.example,
            ]
        )
    columns_shown = {"column": "left", "holds": "left", "distinct": "right", "missing": "right", "": "left"}
    if rows:
        console.print(make_table(columns_shown, rows))
    n_more = len(columns) - len(rows)
    if n_more:
        kinds = [f"{sum(c.kind == k for c in columns)} {KINDS[k]}" for k in KINDS if any(c.kind == k for c in columns)]
        console.print(printable(f"and {n_more} more columns; in all {', '.join(kinds)}."), soft_wrap=True)
    for note in (*study.table.notes, *target.notes):
        console.print(printable(f"Note: {note}"), soft_wrap=True)


def _print_result(run: Run) -> None:
    console, m = output(), run.metrics
    title, shown = title_of(m["metric"]), _shown(m["metric"])
    rows = []
    for name, scores in m["test"].items():
        s, gain = scores[m["metric"]], scores[m["metric"]]["gain"]
        cells = [
            ("→ " if name == m["chosen"] else "  ") + BY_NAME[name].title,
            shown(m["validation"][name]),
            f"{shown(s['value'])} ({shown(s['low'])}–{shown(s['high'])})",
            ""
            if name == PLAIN
            else f"{shown(gain['value'], '+')} ({shown(gain['low'], '+')} to {shown(gain['high'], '+')})",
        ]
        rows.append([printable(c, "bold" if name == m["chosen"] else "") for c in cells])
    columns = {
        "model": "left",
        "valid.": "right",
        f"{m['rows']['test']:,} held out": "right",
        "better than plain": "right",
    }
    unit = " in %" if m["metric"] in SHARES else ""
    console.print(make_table(columns, rows, title=f"{title[0].upper()}{title[1:]}{unit}, with 95 % intervals"))
    for name, why in m["skipped"].items():
        console.print(printable(f"{BY_NAME[name].title} was left out: {why}."), soft_wrap=True)
    labels = m["labels"]
    shares = labels["estimated_share_wrong"], labels["share_wrong_interval"]
    console.print(printable(label_summary(*shares, labels["n_suspects"], m["rows"]["labeled"])), soft_wrap=True)
    for sentence in run.summary["scores"]:
        console.print(printable(sentence), soft_wrap=True)
    console.print(printable(f"Kept: {BY_NAME[m['chosen']].title}, trained once more on all rows."), soft_wrap=True)
    console.print(printable(f"Open {run.report}"), soft_wrap=True)


def _shown(metric: str) -> Callable[..., str]:
    """Return how to write a value of the metric: shares in percent."""
    if metric in SHARES:
        return lambda value, sign="": f"{100 * value:{sign}.1f}"
    return lambda value, sign="": f"{value:{sign}.3f}"
