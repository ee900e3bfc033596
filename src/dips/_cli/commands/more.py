"""``dips report``, ``dips demo`` and ``dips info``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from dips._cli import options as o
from dips._cli.app import app
from dips._cli.console import make_table, output, print_json


@app.command()
def report(
    run: Annotated[Path, typer.Argument(help="A run folder that dips fit made.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Where to write it.  [default: RUN/report.html]")
    ] = None,
    force: o.Force = False,
    open_it: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
) -> None:
    """Rewrite the report of a run."""
    from dips._report import render
    from dips._study.folder import refuse_to_overwrite
    from dips._study.run import Run, whole
    from dips._tools.files import write_whole

    opened = Run(run)
    if out is not None:
        refuse_to_overwrite(out, force, is_folder=False)
    path = opened.report if out is None else out
    with whole(opened):
        page = render(opened.summary)
    write_whole(path, page.encode())
    output().say(f"Open {path}")
    if open_it:
        typer.launch(path.resolve().as_uri())


@app.command()
def demo(
    tables: Annotated[
        bool, typer.Option("--tables", help="Write synthetic tables to the current folder, to try the commands on.")
    ] = False,
) -> None:
    """Show what dips does, on two small tables."""
    if tables:
        from dips._demo_tables import write_tables

        for path in write_tables(Path()):
            output().say(f"Written: {path}")
        return
    from dips._demo import main

    main()


@app.command()
def info(as_json: o.Json = False) -> None:
    """Print versions, and the names of what can be chosen.

    Backbones, labelers, curators and metrics.
    """
    from dips._persistence.model import versions
    from dips._study.metrics import METRIC_NAMES
    from dips.backbones._registry import default_names
    from dips.curators import CURATORS
    from dips.labelers import LABELERS

    record = {
        "versions": versions(),
        "cores": os.cpu_count(),
        "backbones": default_names(),
        "labelers": list(LABELERS.by_name()),
        "curators": list(CURATORS.by_name()),
        "metrics": list(METRIC_NAMES),
    }
    if as_json:
        print_json(record)
        return
    output().print(make_table({"library": "left", "version": "left"}, [list(v) for v in versions().items()]))
    for name in ("backbones", "labelers", "curators", "metrics"):
        output().say(f"{name}: {', '.join(record[name])}")  # type: ignore[arg-type]
