"""``dips review``: suspects one by one, in the browser."""

from __future__ import annotations

import getpass
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dips._cli import options as o
from dips._cli.app import app
from dips._cli.console import output, remarks
from dips.exceptions import ReviewError

if TYPE_CHECKING:
    from dips._review.desk import Desk

_OPEN_TO_OTHERS = (
    "Others on your network can reach this review at {host}. Nobody gets in without a token, but nothing is encrypted: "
    "whoever can read the traffic can read the rows that are shown. Do this only on a network that you trust, or leave "
    "out --host and forward the port with ssh -L."
)


@app.command()
def review(
    run: Annotated[Path | None, typer.Argument(help="A run folder that dips fit made.")] = None,
    port: Annotated[int, typer.Option(help="The port to listen on; 0 takes a free one.")] = 0,
    host: Annotated[
        str,
        typer.Option(metavar="ADDRESS", help="The address to listen on; any other than the default lets others in."),
    ] = "127.0.0.1",
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open a browser.")] = False,
    reviewer: Annotated[str | None, typer.Option(metavar="NAME", help="Your name.  [default: your user name]")] = None,
    blinded: Annotated[
        bool, typer.Option("--blinded", help="Hide given and suggested labels until you have answered.")
    ] = False,
    order: Annotated[
        str | None,
        typer.Option(metavar="ORDER", help="Which suspects come first: wrong or useful.  [default: as in the run]"),
    ] = None,
    data: Annotated[
        list[Path], typer.Option(metavar="FILE", help="Where the table is now, if it was moved. Repeatable.")
    ] = [],  # noqa: B006
    export: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write all results to this folder, and start no server.")
    ] = None,
    force: o.Force = False,
    demo: Annotated[bool, typer.Option("--demo", help="Try it on a small table whose wrong labels are known.")] = False,
) -> None:
    """Look at the suspects one by one in a browser.

    Everything stays on this machine. Decisions are kept in RUN/review. The page can train again with them, and saves a
    corrected table and a file for dips fit --corrections.
    """
    if demo == (run is not None):
        raise ReviewError("Name one run folder, as in  dips review run,  or try  dips review --demo.")
    from dips._review.desk import checked_name
    from dips._review.export import write_all
    from dips._study.reviewing import desk_of_run, server_of_run
    from dips._study.run import Run, whole

    who = checked_name(reviewer or _user())
    if demo:
        _run_demo(host=host, port=port, reviewer=who, blinded=blinded, no_open=no_open)
        return
    assert run is not None
    opened = Run(run)
    if export is not None:
        with whole(opened):
            desk = desk_of_run(opened, data)
        for path in write_all(desk, export, force):
            output().say(f"Written: {path}")
        return
    with whole(opened):
        made = server_of_run(opened, data, blinded=blinded, order=order, host=host, port=port, reviewer=who)
    _serve(made, host, no_open)
    _say_goodbye(made.desk)


def _run_demo(no_open: bool, **server: Any) -> None:
    from dips._study.reviewing import server_class

    server_class()  # or say what is missing
    from dips._review_demo import review_demo

    remarks().say("Making and judging a table with known errors; this takes a few seconds.")
    output().say(review_demo(lambda made: _serve(made, server["host"], no_open), **server))


def _serve(server: Any, host: str, no_open: bool) -> None:
    """Print the address, open it, and answer until Ctrl-C."""
    if host not in ("127.0.0.1", "localhost", "::1"):
        remarks().say(_OPEN_TO_OTHERS.format(host=host), "yellow")
    address = server.address()
    output().say(f"Review at {address}  (Ctrl-C ends it)")
    if not no_open:
        webbrowser.open(address)
    server.serve()


def _say_goodbye(desk: Desk) -> None:
    n = len(desk.decisions.by_row())
    remarks().say(f"{n:,} decision{'' if n == 1 else 's'} in {desk.store.path}.")


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "reviewer"
