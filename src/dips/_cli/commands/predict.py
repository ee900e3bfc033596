"""``dips predict``: labels and probabilities for a new table."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dips._cli import options as o
from dips._cli.app import app
from dips._cli.console import TerminalObserver, output, print_data, print_json, remarks
from dips._cli.images import is_image_run, predict_folder
from dips._tools.wording import counted
from dips.exceptions import UserError

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from dips._files.read import Table
    from dips._persistence.model import SavedModel
    from dips._study.run import Run


@app.command()
def predict(
    run: Annotated[Path, typer.Argument(help="A run folder that dips fit made.")],
    data: Annotated[
        str, typer.Argument(help="A table with the columns of the training table, spark:TABLE, or a folder of images.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="A .csv, .parquet or .xlsx file; without an ending, it gets that of the input, or .csv. For Spark, a "
            "folder.  [default: print CSV]",
        ),
    ] = None,
    keep_columns: Annotated[bool, typer.Option("--keep-columns", help="Also write the columns of the table.")] = False,
    untrusted: Annotated[
        bool, typer.Option("--untrusted", help="Load the model in a child process first, in case it was made to crash.")
    ] = False,
    sheet: o.SheetName = None,
    skip_rows: o.SkipRows = None,
    skip_below: o.SkipBelow = 0,
    skip_damaged: o.SkipDamaged = False,
    force: o.Force = False,
    as_json: o.Json = False,
) -> None:
    """Predict labels and probabilities for a table.

    The table is first checked against the training table: a missing column, or one of another type, is refused; extra
    ones are ignored. If the target column is there, the predictions are scored against it.
    """
    from dips._files.read import read_table
    from dips._spark.tables import is_spark_name
    from dips._study.folder import refuse_to_overwrite
    from dips._study.run import Run

    data = _only_match(data)
    if out is not None:
        out = out if is_spark_name(data) else _of_the_same_kind(out, data)
        refuse_to_overwrite(out, force, is_folder=is_spark_name(data))
    opened = Run(run, untrusted)
    if is_image_run(opened, data):
        predict_folder(opened, Path(data), out, skip_damaged, as_json)
        return
    if is_spark_name(data):
        _predict_on_spark(opened.model, data, out, keep_columns)
        return
    preparation = opened.model.preparation
    wanted = [] if preparation is None else [c.name for c in preparation.schema.used]
    table = read_table(data, sheet, skip_rows, wanted, skip_below)
    _predict_table(opened, data, table, out, keep_columns, as_json)


def _only_match(data: str) -> str:
    """Return what was named, or the one file that a pattern matches."""
    from dips._files.sources import named_sources

    paths = named_sources(data)
    if len(paths) > 1:
        raise UserError(f"{data} matches {len(paths):,} files, and dips predict takes one at a time.")
    return str(paths[0])


def _predict_table(opened: Run, data: str, table: Table, out: Path | None, keep_columns: bool, as_json: bool) -> None:
    from dips._persistence.export import to_csv, write_frame

    model = opened.model
    with TerminalObserver(not as_json) as observer:
        p = model.predict_proba(table, observer)
    remarks().say_notes(model.notes)
    scores = opened.scores_of(table, p)
    frame = _beside_columns(_predictions(p, model), table, model, keep_columns)
    if out is not None:
        write_frame(frame, out)
    if as_json:
        counts = {str(c): int((model.decide(p) == k).sum()) for k, c in enumerate(model.classes)}
        record = {"rows": len(frame), "out": None if out is None else str(out), "predicted": counts}
        scored = {} if scores is None else {"scores": scores.to_json(), "trained_on": opened.was_made_of(data)}
        print_json(record | scored)
        return
    if out is None:
        print_data(to_csv(frame))
    else:
        output().say(f"{counted(len(frame), 'row')} predicted; written to {out}")
    for sentence in [] if scores is None else [*scores.sentences(), *_about_training(opened, data)]:
        (remarks() if out is None else output()).say(sentence)


def _about_training(opened: Run, data: str) -> list[str]:
    """Say that a model is scored on rows that it knows."""
    if not opened.was_made_of(data):
        return []
    return [
        "The model was trained on this file, so these scores do not tell how good it is on new rows; those on the "
        "held-out rows do, in the report."
    ]


def _beside_columns(predicted: pd.DataFrame, table: Table, model: SavedModel, keep_columns: bool) -> pd.DataFrame:
    """Put the predictions beside the columns that name a row, or beside all."""
    import pandas as pd

    from dips._tools.names import apart_from

    ids = (model.about or {}).get("ids", [])
    names = table.names if keep_columns else [n for n in ids if n in table.names]
    called = apart_from(names, taken=[str(name) for name in predicted])
    for name, other in called.items():
        if name != other:
            remarks().say(f"Note: the table's column {name!r} is written as {other!r}.")
    kept = table.columns.select(names).rename_columns(list(called.values())).to_pandas(integer_object_nulls=True)
    return pd.concat([kept, predicted], axis=1)


def _of_the_same_kind(out: Path, data: str) -> Path:
    """Add the ending of the input where the output has none; where tables are read but not written so, that of CSV."""
    kind = Path(data.split("?")[0]).suffix.lower()
    written = kind if kind in (".csv", ".parquet", ".xlsx") else ".csv"
    return out if out.suffix or not kind else out.with_suffix(written)


def _predict_on_spark(model: SavedModel, data: str, out: Path | None, keep_columns: bool) -> None:
    """Let Spark predict and write a folder of Parquet files."""
    from dips._spark.errors import in_one_sentence
    from dips._spark.tables import open_table

    if out is None:
        raise UserError("Predictions for a table on Spark are written by Spark; name a new folder with -o.")
    df, about = open_table(data), model.about or {}
    ids = [n for n in about.get("ids", []) if n in df.columns]
    kept = None if keep_columns or not ids else ids
    frame = model.predict_frame(df, kept, f"predicted_{about.get('target', 'label')}")
    remarks().say("Spark: predicting")
    began = time.perf_counter()
    with in_one_sentence("predicting"):
        frame.write.parquet(str(out))
        n_rows, elapsed_s = df.sparkSession.read.parquet(str(out)).count(), time.perf_counter() - began
    done = f"{n_rows:,} rows predicted by Spark, {n_rows / elapsed_s:,.0f} rows a second"
    output().say(f"{done}; written to {out}")


def _predictions(p: np.ndarray, model: SavedModel) -> pd.DataFrame:
    import numpy as np
    import pandas as pd

    decided, target = model.decide(p), str((model.about or {}).get("target", "label"))
    labels = np.array(model.classes, dtype=object)[decided]
    of_label = p[np.arange(len(p)), decided].round(6)
    columns = {f"predicted_{target}": pd.Series(labels).infer_objects(), "probability": of_label}
    return pd.DataFrame(columns | {f"probability_{c}": p[:, k].round(6) for k, c in enumerate(model.classes)})
