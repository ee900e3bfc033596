"""Options that several commands share, and what they ask for.

A command declares its options; those that are settings of a study go on to it by their names, with `settings_in`.

Nothing here imports a library that computes: ``dips --help`` has to be fast. Names that are only known when all
backbones, labelers and curators are imported stand as ``{backbones}`` in a help text, and are filled in when a command
of the class `CommandWithNames` is asked for its help.
"""

from __future__ import annotations

import shlex
import sys
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperCommand, TyperOption

from dips.exceptions import SettingsError

_CONFIG = "dips.config"  # in the context: what the file sets


def _fill_in(context: typer.Context, path: Path | None) -> Path | None:
    """Values from the file become the defaults; the command line takes precedence."""
    if path is not None and not context.resilient_parsing:
        from dips._study.settings import read_config

        known = {str(p.name): p for p in context.command.params}
        record = read_config(path, known)
        context.default_map = {k: _as_typed(v, known[k]) for k, v in record.items() if k in known}
        context.meta[_CONFIG] = record
    return path


def _as_typed(value: Any, parameter: Any) -> Any:
    """Write a mapping as the option is typed, NAME=VALUE for each, and what may be several as a list."""
    if isinstance(value, dict):
        return [f"{name}={entry}" for name, entry in value.items()]
    takes_several = parameter.nargs == -1 or getattr(parameter, "multiple", False)
    return [value] if takes_several and not isinstance(value, list) else value


def value_of(context: typer.Context, name: str) -> Any:
    """What was typed or set; a mapping from a file as it is, since its names may hold what sets them apart here."""
    in_file, source = context.meta.get(_CONFIG, {}).get(name), context.get_parameter_source(name)
    is_from_file = source is not None and source.name == "DEFAULT_MAP"
    return in_file if is_from_file and isinstance(in_file, dict) else context.params[name]


def settings_in(context: typer.Context) -> dict[str, Any]:
    """The options of a command that are settings of a study of tables, by name; all but the target."""
    from dips._study.settings import Settings

    names = {f.name for f in fields(Settings)} - {"target"}
    return {name: value_of(context, name) for name in context.params if name in names}


def corrections_in(context: typer.Context) -> str | None:
    """The file of corrections: the one that was named, or one written from the decisions on a reviewed run."""
    given = context.params
    if given["reviewed"] is None:
        return None if given["corrections"] is None else str(given["corrections"])
    source = context.get_parameter_source("corrections")
    if source is not None and source.name == "COMMANDLINE":
        raise SettingsError("--corrections and --reviewed name two sources of corrections; leave one out.")
    from dips._cli.console import remarks
    from dips._study.reviewing import corrections_of_run
    from dips._study.run import Run
    from dips._study.settings import believes

    path, estimated = corrections_of_run(Run(given["reviewed"]))
    if given["reviewer_error"] is None and estimated and believes(given["curator"]):
        remarks().say(
            f"Rows that two people judged suggest that about {100 * estimated:.2g} % of the answers are wrong. "
            f"--reviewer-error {estimated:.3f} would take that into account."
        )
    return str(path)


def typed_command() -> str:
    """The command as it was typed, for the records of a run."""
    return shlex.join(["dips", *sys.argv[1:]])


class CommandWithNames(TyperCommand):
    """Fills in what may be named, when its help is asked for."""

    def format_help(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        """Write the help."""
        names = {kind: ", ".join(known) for kind, known in _names().items()}
        for parameter in self.params:
            if isinstance(parameter, TyperOption) and parameter.help:
                parameter.help = parameter.help.format(**names)
        super().format_help(ctx, formatter)


def _names() -> dict[str, list[str]]:
    """What may be named on the command line, by kind."""
    from dips._study.metrics import METRIC_NAMES
    from dips._study.settings import KEPT
    from dips.backbones._registry import default_names
    from dips.labelers import LABELERS

    return {
        "backbones": default_names(),
        "curators": _that_judge("tables"),
        "image_curators": _that_judge("images"),
        "labelers": ["auto", *LABELERS.by_name()],
        "metrics": list(METRIC_NAMES),
        "models": list(KEPT),
    }


def _that_judge(kind: Literal["tables", "images"]) -> list[str]:
    from dips.curators._choose import curator_names

    return [name for name in curator_names(kind) if name != "none"]


Data = Annotated[
    list[str],
    typer.Argument(
        help="Labeled tables, to be stacked: CSV, TSV, Parquet, Feather, Excel or JSON lines, compressed or not, or "
        "sqlite:///FILE?table=NAME; or a folder of images."
    ),
]
TargetName = Annotated[
    str | None,
    typer.Option(
        "--target",
        "-t",
        metavar="COLUMN",
        help="The column with the labels; not needed for images in one folder per class.",
    ),
]
Ids = Annotated[
    list[str],
    typer.Option(
        "--id", metavar="COLUMN", help="A column that identifies rows: shown, but not learned from. Repeatable."
    ),
]
Drop = Annotated[list[str], typer.Option("--drop", metavar="COLUMN", help="A column to leave out. Repeatable.")]
Marks = Annotated[
    list[str],
    typer.Option(
        "--unlabeled-mark",
        metavar="LABEL",
        help="A label that means 'no label', in addition to empty cells. Repeatable.",
    ),
]
Types = Annotated[
    list[str],
    typer.Option(
        "--type",
        metavar="COLUMN=KIND",
        help="What a column holds: category, number, pair, date, text, id or ignore. Repeatable.",
    ),
]
Group = Annotated[
    str | None,
    typer.Option(
        "--group", metavar="COLUMN", help="A column of groups, such as the patient; no split divides a group."
    ),
]
MergeLabels = Annotated[
    bool | None,
    typer.Option(
        "--merge-labels/--no-merge-labels", help="Merge spellings of one label, such as Yes and Y, or keep them apart."
    ),
]
MapLabel = Annotated[
    list[str], typer.Option("--map-label", metavar="OLD=NEW", help="Another name for a label. Repeatable.")
]
SheetName = Annotated[
    str | None,
    typer.Option(
        "--sheet",
        metavar="SHEET",
        help="The sheet of an Excel file, by name or number.  [default: the first that fits]",
    ),
]
SkipRows = Annotated[
    int | None, typer.Option("--skip-rows", help="Lines to skip above the header.  [default: detected]")
]
SkipBelow = Annotated[
    int, typer.Option("--skip-below", help="Rows right below the header to leave out, such as one of units.")
]
VerifiedColumn = Annotated[
    str | None,
    typer.Option("--verified", metavar="COLUMN", help="A column that says yes where someone has checked the label."),
]
CorrectionsFile = Annotated[
    Path | None,
    typer.Option(
        "--corrections",
        metavar="FILE",
        help="A file of checked labels, with the columns label (a class, keep or unlabeled) and row, or those of --id.",
    ),
]
Reviewed = Annotated[
    Path | None,
    typer.Option("--reviewed", metavar="RUN", help="A reviewed run folder, whose decisions are used as corrections."),
]
ReviewerError = Annotated[
    float | None,
    typer.Option(
        "--reviewer-error",
        help="Share of the checked labels that reviewers got wrong, such as 0.1.  [default: 0]",
    ),
]
TrustedLabels = Annotated[
    list[str],
    typer.Option(
        "--trust-label",
        metavar="LABEL",
        help="A label that is never wrong, such as a confirmed fraud; rows of its class may still be labeled "
        "otherwise. Repeatable.",
    ),
]
ClassFrequencies = Annotated[
    list[str],
    typer.Option(
        "--class-frequency",
        metavar="LABEL=SHARE",
        help="How often a class truly occurs, such as fraud=0.02; one class may be left out. Repeatable.",
    ),
]
Order = Annotated[
    str,
    typer.Option(
        "--order",
        metavar="ORDER",
        help="Which suspects come first: wrong, those most likely to be wrong, or useful, those most useful to check.",
    ),
]
KeptLabels = Annotated[
    list[str],
    typer.Option(
        "--keep-label", metavar="LABEL", help="A label such as NA or '-' that is a class, not 'no label'. Repeatable."
    ),
]
Positive = Annotated[
    str | None,
    typer.Option(
        metavar="LABEL",
        help="The class that F1, average precision and the report's curves are about.  "
        "[default: the dearest by --costs, or of two words the rarer, or the last in order]",
    ),
]
MetricName = Annotated[str, typer.Option(metavar="METRIC", help="The metric that decides: {metrics}.")]
Costs = Annotated[
    list[str],
    typer.Option(
        "--costs",
        metavar="LABEL=COST",
        help="The cost of missing a row of a class; 1 for other classes. Repeatable; see --metric cost.",
    ),
]
Keep = Annotated[
    str | None,
    typer.Option(
        "--keep",
        metavar="MODEL",
        help="The model to keep, whatever the comparison says: {models}.  [default: the best]",
    ),
]
BackboneName = Annotated[str, typer.Option(metavar="NAME", help="The classifier: {backbones}.")]
LabelerName = Annotated[str, typer.Option("--labeler", metavar="NAME", help="What proposes pseudo-labels: {labelers}.")]
CuratorName = Annotated[
    str, typer.Option("--curator", metavar="NAME", help="What judges labels: {curators}; for images: {image_curators}.")
]
LabelsFile = Annotated[
    Path | None,
    typer.Option(
        "--labels", metavar="FILE", help="Images: the table with their labels; --id names its column of file names."
    ),
]
Steps = Annotated[int, typer.Option("--steps", min=1, help="Images: how many steps to train.")]
NetworkName = Annotated[
    str,
    typer.Option("--network", metavar="NAME", help="Images: fast, wrn-28-2, tiny, torchvision:MODEL or timm:MODEL."),
]
Size = Annotated[
    int | None,
    typer.Option("--size", min=8, help="Images: height and width to train at.  [default: that of most, or 96]"),
]
SkipDamaged = Annotated[
    bool, typer.Option("--skip-damaged", help="Images: skip files that cannot be read, instead of stopping.")
]
SkipMissing = Annotated[
    bool,
    typer.Option("--skip-missing", help="Images: skip labels whose file is not in the folder, instead of stopping."),
]
Seed = Annotated[int, typer.Option(help="Seeds everything random; the same seed gives the same result.")]
Jobs = Annotated[int | None, typer.Option(help="Folds trained in parallel; -1 is all cores.  [default: 1]")]
Config = Annotated[
    Path | None,
    typer.Option(
        callback=_fill_in,
        is_eager=True,
        metavar="FILE",
        help="A TOML file with any of these settings, or the config.json of a run.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as one JSON document.")]
Force = Annotated[bool, typer.Option("--force", help="Replace existing output.")]
