"""``dips sign`` and ``dips verify``: a seal on a run, under a key of your own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dips._cli.app import app
from dips._cli.console import output

_Folder = Annotated[Path, typer.Argument(metavar="RUN", help="A run folder that dips fit made, or a model folder.")]
_Key = Annotated[Path, typer.Option("--key", metavar="FILE", help="The file that holds the key.")]


@app.command("sign")
def sign_run(
    run: _Folder,
    key: _Key,
    new_key: Annotated[
        bool, typer.Option("--new-key", help="Make the key first, in a file that only you can read.")
    ] = False,
) -> None:
    """Seal a run with a key.

    Whoever has the key can then tell whether a file in the run was changed.
    """
    from dips._persistence.signature import make_key, sign

    if new_key:
        make_key(key)
    n = sign(run, key)
    output().say(f"{n} files of {run} are signed. Whoever has {key} can check them, or sign others.")


@app.command("verify")
def verify_run(run: _Folder, key: _Key) -> None:
    """Check that a run has not changed since it was signed.

    No file may be changed, missing or new.
    """
    from dips._persistence.signature import verify

    n = verify(run, key)
    output().say(f"All {n} files of {run} are as they were when signed with {key}.")
