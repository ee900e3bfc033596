"""``dips audit``: which labels to look at first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dips._cli import options as o
from dips._cli.app import app
from dips._cli.console import TerminalObserver, output, print_json, remarks
from dips._cli.images import are_images, audit_folder, target_of_table
from dips.exceptions import SettingsError

if TYPE_CHECKING:
    from dips._study.auditing import LabelAudit

_TOO_MANY = 6


@app.command(cls=o.CommandWithNames)
def audit(
    context: typer.Context,
    data: o.Data,
    target: o.TargetName = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Write the list here, as .csv, .parquet or .xlsx."),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page (.html) with the map of all labels here.")
    ] = None,
    top: Annotated[int, typer.Option(min=0, help="How many suspects to print.")] = 20,
    every_row: Annotated[bool, typer.Option("--all", help="Write every row to --out, not only suspects.")] = False,
    fail_above: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Exit with code 6 if more than this share of labels is suspect, such as 0.05."),
    ] = None,
    id: o.Ids = [],  # noqa: B006
    drop: o.Drop = [],  # noqa: B006
    type: o.Types = [],  # noqa: B006
    group: o.Group = None,
    unlabeled_mark: o.Marks = [],  # noqa: B006
    merge_labels: o.MergeLabels = None,
    map_label: o.MapLabel = [],  # noqa: B006
    sheet: o.SheetName = None,
    skip_rows: o.SkipRows = None,
    skip_below: o.SkipBelow = 0,
    verified: o.VerifiedColumn = None,
    corrections: o.CorrectionsFile = None,
    reviewed: o.Reviewed = None,
    reviewer_error: o.ReviewerError = None,
    trust_label: o.TrustedLabels = [],  # noqa: B006
    class_frequency: o.ClassFrequencies = [],  # noqa: B006
    keep_label: o.KeptLabels = [],  # noqa: B006
    backbone: o.BackboneName = "xgboost",
    curator: o.CuratorName = "auto",
    seed: o.Seed = 0,
    jobs: o.Jobs = None,
    order: o.Order = "wrong",
    labels: o.LabelsFile = None,
    steps: o.Steps = 20_000,
    network: o.NetworkName = "fast",
    size: o.Size = None,
    skip_damaged: o.SkipDamaged = False,
    skip_missing: o.SkipMissing = False,
    config: o.Config = None,
    force: o.Force = False,
    as_json: o.Json = False,
) -> None:
    """List the labels to look at first.

    Each comes with the probability that it is wrong, a label that fits better, and the reason why it is suspect.
    """
    from dips._cli.suspects import say_written, write_files
    from dips._persistence.export import check_kind
    from dips._study.auditing import audit as audit_labels
    from dips._study.folder import refuse_to_overwrite

    if fail_above is not None and fail_above != fail_above:
        raise SettingsError("--fail-above is a share of the labels, from 0 to 1; got nan.")
    for path in (out, report):
        if path is not None:
            refuse_to_overwrite(path, force, is_folder=False)
    if out is not None:
        check_kind(out)
    used_corrections = o.corrections_in(context)
    if are_images(data):
        if audit_folder(context, used_corrections) > (1 if fail_above is None else fail_above):
            raise typer.Exit(_TOO_MANY)
        return
    target = target_of_table(context, target)
    with TerminalObserver(not as_json) as observer:
        judged = audit_labels(
            data,
            target,
            command=o.typed_command(),
            observer=observer,
            **o.settings_in(context) | {"corrections": used_corrections},
        )
    n_labeled, n_suspects = int(judged.findings.target.is_labeled.sum()), len(judged.suspects())
    write_files(judged, context.params)
    if as_json:
        _print_record(judged, n_labeled)
    else:
        _print_result(judged, n_labeled, top)
        say_written(context.params, n_suspects)
    if fail_above is not None and n_suspects > fail_above * n_labeled:
        raise typer.Exit(_TOO_MANY)


def _print_record(judged: LabelAudit, n_labeled: int) -> None:
    from dips._cli.suspects import records_of

    print_json(
        {
            "n_labeled": n_labeled,
            "estimated_share_wrong": judged.share_wrong,
            "share_wrong_interval": judged.interval,
            "checked": judged.findings.checked,
            "suspects": records_of(judged.suspects()),
            "warnings": judged.findings.warnings,
            "reading": judged.findings.reading,
        }
    )


def _print_result(judged: LabelAudit, n_labeled: int, top: int) -> None:
    from dips._cli.suspects import print_suspects
    from dips._report.label_words import (
        first_looks,
        label_summary,
        left_to_chance,
        what_to_tell,
        worth_in_words,
        worth_of_suspects,
    )
    from dips._study.account import id_columns

    suspects, settings = judged.suspects(), judged.findings.settings
    remarks().say_notes(judged.findings.notes)
    checked = judged.findings.checked
    summary = label_summary(judged.share_wrong, judged.interval, len(suspects), n_labeled, checked)
    output().say(summary)
    if len(suspects) and top:
        print_suspects(suspects.head(top), list(id_columns(judged.findings.ids).values()))
    worth = worth_in_words(worth_of_suspects(suspects["p_wrong"], judged.interval))
    looks = f"{worth}." if worth else first_looks(judged.interval)
    chance = left_to_chance(judged.interval, len(suspects))
    for said in filter(None, [looks, chance, what_to_tell(judged.interval, settings)]):
        output().say(said)
