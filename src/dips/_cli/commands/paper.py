"""``dips paper``: the figures and tables of the paper, one command each."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dips._cli import options as o
from dips._cli.app import app
from dips._cli.console import Terminal, make_table, output, print_json, remarks
from dips.exceptions import StoppedError, UserError

if TYPE_CHECKING:
    import pandas as pd

    from dips._paper.experiment import Experiment, Plan
    from dips._paper.show import Shown

paper = typer.Typer(help="Reproduce the figures and tables of the paper.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(paper, name="paper")

Name = Annotated[str, typer.Argument(help="An experiment; `dips paper list` lists them.")]
Seeds = Annotated[int | None, typer.Option(min=1, help="How many seeds.  [default: as many as the paper]")]
TrialsAtOnce = Annotated[
    int,
    typer.Option(min=1, help="Trials at a time: on tables, each in its own process; on images, sharing the device."),
]
Retry = Annotated[bool, typer.Option("--retry", help="Retry trials that failed before.")]
DataSetNames = Annotated[
    list[str], typer.Option("--data", metavar="NAME", help="Only this data set. Repeatable.  [default: all available]")
]
DataFolder = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="A folder with the data sets as Parquet or CSV files.  [default: $DIPS_DATA]"),
]
Members = Annotated[
    str,
    typer.Option(metavar="NUMBER", help='Models in an ensemble, or "checkpoints" to use those of a single training.'),
]
MaxLabeled = Annotated[int | None, typer.Option(min=2, help="Use at most this many labeled rows of a data set.")]
MaxUnlabeled = Annotated[int | None, typer.Option(min=1, help="Use at most this many unlabeled rows, or images.")]
TrainingSteps = Annotated[int | None, typer.Option(min=1, help="Images: length of a training.  [default: 26000]")]
NetworkOfImages = Annotated[
    str | None, typer.Option(metavar="NAME", help="Images: fast, wrn-28-2, wrn-28-8 or tiny.  [default: fast]")
]
Labelers = Annotated[
    list[str],
    typer.Option("--labeler", metavar="NAME", help="Compare this labeler. Repeatable.  [default: the paper's]"),
]
Curators = Annotated[
    list[str],
    typer.Option("--curator", metavar="NAME", help="Compare this curator. Repeatable.  [default: the paper's]"),
]
ImageCurators = Annotated[
    list[str],
    typer.Option("--curator", metavar="NAME", help="Images: compare this curator. Repeatable.  [default: the paper's]"),
]
Only = Annotated[
    list[str],
    typer.Option(
        "--only",
        metavar="NAME=VALUE",
        help='Only trials with this label, such as "backbone=mlp" or "seed=2". Repeatable.  [default: all]',
    ),
]
ResultsFolder = Annotated[Path, typer.Option("--results", metavar="FOLDER", help="Where the records are kept.")]
Out = Annotated[
    Path | None, typer.Option("--out", "-o", metavar="FOLDER", help="Where to write.  [default: RESULTS/shown]")
]
_RESULTS = Path("results/paper")


@dataclass(frozen=True)
class _Options:
    """How much of an experiment to run, as the user asked for; None and empty lists stand for the defaults."""

    seeds: int | None
    data: list[str]
    members: str
    max_labeled: int | None
    max_unlabeled: int | None
    steps: int | None
    network: str | None
    labelers: list[str]
    curators: list[str]
    only: list[str]

    @property
    def for_images(self) -> dict[str, Any]:
        """Options that only experiments on images have, by their names in a plan."""
        return {k: v for k, v in {"n_steps": self.steps, "network": self.network}.items() if v is not None}

    @property
    def compared(self) -> dict[str, Any]:
        """Labelers and curators to compare, by their names in a plan."""
        named = {"labelers": self.labelers, "curators": self.curators}
        return {k: tuple(dict.fromkeys(v)) for k, v in named.items() if v}


@paper.command("list")
def list_(as_json: o.Json = False) -> None:
    """List the experiments, and where each is in the paper."""
    from dips._paper import experiments

    listed = list(experiments().values())
    if as_json:
        print_json([{"name": e.name, "title": e.title, "source": e.source, "seeds": e.seeds} for e in listed])
        return
    columns = {"name": "left", "shows": "left", "in the paper": "left", "seeds": "right"}
    _wide().print(make_table(columns, [[e.name, e.title, e.source, e.seeds] for e in listed]))


@paper.command()
def run(
    name: Name,
    seeds: Seeds = None,
    jobs: TrialsAtOnce = 1,
    retry: Retry = False,
    data: DataSetNames = [],  # noqa: B006
    data_folder: DataFolder = None,
    members: Members = "3",
    max_labeled: MaxLabeled = None,
    max_unlabeled: MaxUnlabeled = None,
    steps: TrainingSteps = None,
    network: NetworkOfImages = None,
    labeler: Labelers = [],  # noqa: B006
    curator: Curators = [],  # noqa: B006
    only: Only = [],  # noqa: B006
    results: ResultsFolder = _RESULTS,
) -> None:
    """Run an experiment. Finished trials are kept: a stopped run continues, and a repeated one costs nothing."""
    from dips._paper import find

    experiment = find(name)
    options = _Options(seeds, data, members, max_labeled, max_unlabeled, steps, network, labeler, curator, only)
    _check_options(experiment, options)
    plan = _plan(experiment, options, data_folder)
    if _run(experiment, plan, jobs, retry, results):
        raise typer.Exit(1)


@paper.command()
def show(
    name: Name,
    results: ResultsFolder = _RESULTS,
    out: Out = None,
    as_json: o.Json = False,
) -> None:
    """Write the figures (PNG, SVG) and tables (Markdown, CSV) of the last run, and print the tables."""
    from dips._paper import find
    from dips._paper.show import as_json as record

    shown = _show(find(name), results, out or results / "shown")
    if as_json:
        print_json(record(shown))
        return
    for title, table in shown.report.tables.items():
        _print_table(f"{name}: {title.replace('_', ' ')}", table)
    _print_gaps(shown)
    output().say(f"Open {out or results / 'shown'}")


@paper.command("all")
def all_(
    seeds: Seeds = None,
    jobs: TrialsAtOnce = 1,
    retry: Retry = False,
    data: DataSetNames = [],  # noqa: B006
    data_folder: DataFolder = None,
    members: Members = "3",
    max_labeled: MaxLabeled = None,
    max_unlabeled: MaxUnlabeled = None,
    steps: TrainingSteps = None,
    network: NetworkOfImages = None,
    curator: ImageCurators = [],  # noqa: B006
    results: ResultsFolder = _RESULTS,
    out: Out = None,
) -> None:
    """Run every experiment, and write the figures and tables of each."""
    from dips._paper import experiments
    from dips._paper.experiment import Plan

    options = _Options(seeds, data, members, max_labeled, max_unlabeled, steps, network, [], curator, [])
    if options.for_images or curator:
        from dips._paper.images.sets import IMAGE_SETS

        IMAGE_SETS.check(Plan(1, **options.for_images, **options.compared))
    n_failed = 0
    for experiment in experiments().values():
        if why := experiment.sets.why_unavailable():
            remarks().say(f"{experiment.name} is left out: {why}")
            continue
        of_kind = options if experiment.sets.kind == "images" else replace(options, curators=[])
        plan = _plan(experiment, of_kind, data_folder)
        if not experiment.trials(plan):
            remarks().say(f"{experiment.name} is left out: none of its data sets is available.")
            continue
        n_failed += _run(experiment, plan, jobs, retry, results)
        _show(experiment, results, out or results / "shown")
    if n_failed:
        raise typer.Exit(1)


@paper.command()
def data(data_folder: DataFolder = None) -> None:
    """List the data sets: those that are here, those downloaded when needed, those that you provide."""
    from dips._paper.images import sets as images
    from dips.datasets import TABLES, available

    _use(data_folder)
    here = available() if os.environ.get("DIPS_DATA") else []
    rows = []
    for name, declared in TABLES.items():
        where = "in the folder" if name in here else "downloaded when needed" if declared.source else "your own copy"
        rows.append([name, declared.title, where, f"{declared.file}.parquet or .csv"])
    for name, title in images.TITLES.items():
        files = " or ".join(" and ".join(files) for files in images.file_names(name))
        rows.append([name, title, images.where(name), files])
    _wide().print(make_table({"name": "left", "what": "left", "where": "left", "file": "left"}, rows))
    output().say("dips.datasets.describe(NAME) lists the columns that the file of a table must have.")


@paper.command()
def page(
    path: Annotated[Path, typer.Argument(help="The Markdown file to write; figures go to images/paper beside it.")],
    results: ResultsFolder = _RESULTS,
    readings: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A TOML file with a reading of each experiment.")
    ] = None,
) -> None:
    """Write one page with the figures, tables and commands of all experiments that were run."""
    from dips._paper import experiments
    from dips._paper.engine import Store
    from dips._paper.show import has_results, read_readings, write_page

    said = {} if readings is None else read_readings(readings)
    known, shown = experiments().values(), []
    for experiment in known:
        if has_results(experiment, Store(results)):
            shown.append(_show(experiment, results, results / "shown"))
    if not shown:
        raise UserError(f"No trial in {results} is finished; run an experiment first: dips paper list names them.")
    left_out = [e.name for e in known if e not in [one.experiment for one in shown]]
    write_page(shown, left_out, path, results / "shown", said)
    output().say(f"Open {path}")


def _plan(experiment: Experiment, options: _Options, data_folder: Path | None) -> Plan:
    from dips._paper.experiment import Plan

    _use(data_folder)
    members = options.members
    if members != "checkpoints" and (not members.isdigit() or int(members) < 2):
        raise UserError(f'--members is a number from 2, or "checkpoints"; got {members!r}.')
    plan = Plan(
        n_seeds=options.seeds or experiment.seeds,
        data=tuple(options.data or experiment.sets.available()),
        members=members if members == "checkpoints" else int(members),
        max_labeled=options.max_labeled,
        max_unlabeled=options.max_unlabeled,
        only=tuple(dict.fromkeys(options.only)),
        **options.for_images if experiment.sets.kind == "images" else {},
        **{name: value for name, value in options.compared.items() if name in experiment.compares},
    )
    experiment.sets.check(plan)
    lacking = _lacking(experiment, plan)
    if options.data and lacking:
        raise UserError(next(iter(lacking.values())))
    for name, why in lacking.items():
        remarks().say(f"{name} is left out: {why}")
    return replace(plan, data=tuple(name for name in plan.data if name not in lacking))


def _check_options(experiment: Experiment, options: _Options) -> None:
    """Refuse options that the experiment would ignore."""
    if options.for_images and experiment.sets.kind != "images":
        raise UserError(f"--steps and --network are for experiments on images; {experiment.name} is one on tables.")
    for name in options.compared:
        if name not in experiment.compares:
            raise UserError(f"{experiment.name} does not compare {name}; leave --{name.removesuffix('s')} out.")


def _lacking(experiment: Experiment, plan: Plan) -> dict[str, str]:
    """Data sets that the experiment would use but that are not available, and why; found out before any work."""
    lacking, sets = {}, experiment.sets
    for name in sorted({n for trial in experiment.trials(plan) for n in sets.used_by(trial.data)}):
        try:
            sets.read(name)
        except UserError as error:
            lacking[name] = str(error)
    return lacking


def _use(data_folder: Path | None) -> None:
    """Worker processes learn of the folder from the environment."""
    if data_folder is not None:
        if not data_folder.is_dir():
            raise UserError(f"{data_folder} is not a folder; name one that holds the data sets.")
        os.environ["DIPS_DATA"] = str(data_folder.resolve())


def _run(experiment: Experiment, plan: Plan, jobs: int, retry: bool, results: Path) -> int:
    """Run and say how it went; return how many trials failed."""
    from dips._paper.engine import Store, run
    from dips._paper.show import collect, failures_table, save_plan
    from dips._tools.files import make_folder
    from dips._tools.locks import only_writer

    os.environ.setdefault("OMP_NUM_THREADS", "1")  # the processes are the parallelism
    store = Store(results)
    trials = experiment.trials(plan)
    if not trials:
        raise UserError(
            f"{experiment.name} has nothing to run: its data sets are not here (see `dips paper data`), or --data, "
            "--curator and --only leave none of its trials."
        )
    make_folder(results)
    try:
        with only_writer(results / experiment.name):
            save_plan(experiment, plan, store)  # now, so that an unfinished run can be shown
            tally = run(trials, store, jobs, retry, experiment.name)
    except KeyboardInterrupt:
        raise StoppedError("Stopped. Finished trials are kept: the same command continues.") from None
    output().say(
        f"{experiment.name}: {tally.done} trials done in {tally.elapsed_s:.0f} s, {tally.already_there} were there "
        f"already, {tally.failed} failed."
    )
    if tally.failed:
        _print_table("failed", failures_table(collect(experiment, store)[1]))
        output().say("Run again with --retry to try these once more.")
    return tally.failed


def _show(experiment: Experiment, results: Path, out: Path) -> Shown:
    from dips._paper.engine import Store
    from dips._paper.show import show

    return show(experiment, Store(results), out)


def _print_table(title: str, table: pd.DataFrame) -> None:
    flat = table.reset_index()
    rows = [[f"{v:.2f}" if isinstance(v, float) else v for v in row] for row in flat.itertuples(index=False, name=None)]
    columns = {str(c): "left" if i == 0 else "right" for i, c in enumerate(flat.columns)}
    _wide().print(make_table(columns, rows, title))


def _wide() -> Terminal:
    """Return a console for tables, wide where the output is a file."""
    console = output()
    console.width = max(console.width, 200) if not console.is_terminal else console.width
    return console


def _print_gaps(shown: Shown) -> None:
    if shown.results.n_missing:
        remarks().say(f"Trials not finished: {shown.results.n_missing}; run the experiment to continue.")
    if shown.results.failures:
        remarks().say(f"{len(shown.results.failures)} trials failed and are not in these tables.")
