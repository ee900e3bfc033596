"""``dips predict``: labels and probabilities for a new table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import typer

from dips._cli import options as o
from dips._cli.app import app
from dips._cli.console import output, print_json, printable, remarks
from dips._files.read import read_table
from dips._persistence.export import to_csv, write_frame
from dips._persistence.model import SavedModel
from dips._spark.errors import in_one_sentence
from dips._spark.tables import is_spark_name, open_table
from dips._study.folder import refuse_to_overwrite
from dips._study.run import Run
from dips.exceptions import UserError


@app.command()
def predict(
    run: Annotated[Path, typer.Argument(help="A run folder that dips fit made.")],
    data: Annotated[Path, typer.Argument(help="A table with the columns of the training; spark:TABLE is on Spark.")],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="A .csv or .parquet file, or for Spark a folder.  [default: CSV on the screen]"
        ),
    ] = None,
    keep_columns: Annotated[
        bool, typer.Option("--keep-columns", help="Write the columns of the table as well.")
    ] = False,
    force: o.Force = False,
    as_json: o.Json = False,
) -> None:
    """Predict labels and probabilities for a table.

    The table is checked against the columns of the training first: missing or retyped columns are refused, others
    ignored. The target may be there or not.
    """
    if out is not None:
        refuse_to_overwrite(out, force)
    opened = Run(run)
    if is_spark_name(data):
        _predict_on_spark(opened.model, data, out, keep_columns)
        return
    model, table = opened.model, read_table(data)
    p = model.predict_proba(table)
    about = model.about or {}
    for note in model.notes:
        remarks().print(printable(f"Note: {note}"), soft_wrap=True)
    predicted = _predictions(p, model.classes, str(about.get("target", "label")))
    names = table.names if keep_columns else [n for n in about.get("ids", []) if n in table.names]
    frame = pd.concat([table.columns.select(names).to_pandas(), predicted], axis=1)
    if out is not None:
        write_frame(frame, out)
    if as_json:
        counts = {str(c): int((p.argmax(axis=1) == k).sum()) for k, c in enumerate(model.classes)}
        print_json({"rows": len(frame), "out": None if out is None else str(out), "predicted": counts})
    elif out is None:
        print(to_csv(frame), end="")
    else:
        output().print(printable(f"{len(frame):,} rows predicted; written to {out}"), soft_wrap=True)


def _predict_on_spark(model: SavedModel, data: Path, out: Path | None, keep_columns: bool) -> None:
    """Let Spark predict and write a folder of Parquet files."""
    if out is None:
        raise UserError("Predictions for a table on Spark are written by Spark; name a new folder with -o.")
    df, about = open_table(data), model.about or {}
    ids = [n for n in about.get("ids", []) if n in df.columns]
    kept = None if keep_columns or not ids else ids
    frame = model.predict_frame(df, kept, f"predicted_{about.get('target', 'label')}")
    with in_one_sentence("predicting"):
        frame.write.parquet(str(out))
    output().print(printable(f"Predicted by Spark; written to {out}"), soft_wrap=True)


def _predictions(p: np.ndarray, classes: list[object], target: str) -> pd.DataFrame:
    labels = np.array(classes, dtype=object)[p.argmax(axis=1)]
    columns = {f"predicted_{target}": pd.Series(labels).infer_objects(), "probability": p.max(axis=1).round(6)}
    return pd.DataFrame(columns | {f"probability_{c}": p[:, k].round(6) for k, c in enumerate(classes)})
