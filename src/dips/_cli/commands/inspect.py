"""``dips inspect``: what a table or a folder of images holds, before the work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dips._cli import options as o
from dips._cli.app import app
from dips._cli.console import output, print_json
from dips._cli.images import are_images, inspect_folder, refuse_options_for_images
from dips._tools.wording import count_of, counted, some_of
from dips.exceptions import DataError

if TYPE_CHECKING:
    from dips._study.inspecting import Inspection

_MOST_COLUMNS = 100  # to show how each is read is what the command is for


@app.command()
def inspect(
    context: typer.Context,
    data: o.Data,
    target: Annotated[
        str | None, typer.Option("--target", "-t", metavar="COLUMN", help="The column with the labels.")
    ] = None,
    id: o.Ids = [],  # noqa: B006
    drop: o.Drop = [],  # noqa: B006
    type: o.Types = [],  # noqa: B006
    group: o.Group = None,
    unlabeled_mark: o.Marks = [],  # noqa: B006
    keep_label: o.KeptLabels = [],  # noqa: B006
    merge_labels: o.MergeLabels = None,
    map_label: o.MapLabel = [],  # noqa: B006
    sheet: o.SheetName = None,
    skip_rows: o.SkipRows = None,
    skip_below: o.SkipBelow = 0,
    verified: o.VerifiedColumn = None,
    labels: o.LabelsFile = None,
    steps: o.Steps = 20_000,
    network: o.NetworkName = "fast",
    size: o.Size = None,
    skip_damaged: o.SkipDamaged = False,
    skip_missing: o.SkipMissing = False,
    as_json: o.Json = False,
) -> None:
    """Show how a table is read, without training anything.

    Column types, missing values, guesses and doubts, and the options that settle them. The exit code is 3 if dips fit
    would refuse the table.

    For a folder of images: how files and labels are read, copies, and, without a GPU, how long dips fit takes.
    """
    if are_images(data):
        inspect_folder(context)
        return
    refuse_options_for_images(context)
    from dips._study.inspecting import inspect as inspect_table

    inspection = inspect_table(data, target, **o.settings_in(context))
    if as_json:
        print_json(inspection.to_json())
    else:
        _print(inspection)
        if inspection.problem:
            raise DataError(inspection.problem)
    if inspection.problem:
        raise typer.Exit(DataError.exit_code)


def _print(inspection: Inspection) -> None:
    from dips._cli.understanding import print_columns

    console, target = output(), inspection.target
    n_columns = len(inspection.schema.columns)
    besides = " besides the target" if n_columns < len(inspection.look.table.names) else ""
    console.say(f"{counted(inspection.n_rows, 'row')}, {counted(n_columns, 'column')}{besides}.")
    if target is not None:
        classes = some_of(map(count_of, target.classes, target.counts))
        n_labeled = int(target.is_labeled.sum())
        words = f"{target.name!r}: {n_labeled:,} labeled ({classes}), {inspection.n_rows - n_labeled:,} not."
        console.say(words)
    print_columns(
        console, inspection.schema.columns, inspection.leaks_alone, inspection.look.table.n_rows, _MOST_COLUMNS
    )
    console.say_notes(inspection.notes)
    if inspection.options:
        console.say(f"Options to consider: {'  '.join(inspection.options)}")
