"""``dips predict``: labels and probabilities for a new table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import typer

from dips._cli import options as o
from dips._cli.app import app
from dips._cli.console import output, print_data, print_json, printable, remarks
from dips._files.read import read_table
from dips._persistence.export import to_csv, write_frame
from dips._study.folder import refuse_to_overwrite
from dips._study.run import Run
from dips._tools.names import beside


@app.command()
def predict(
    run: Annotated[Path, typer.Argument(help="A run folder that dips fit made.")],
    data: Annotated[str, typer.Argument(help="A table with the columns of the training.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="A .csv or .parquet file.  [default: CSV on the screen]")
    ] = None,
    keep_columns: Annotated[
        bool, typer.Option("--keep-columns", help="Write the columns of the table as well.")
    ] = False,
    untrusted: Annotated[
        bool, typer.Option("--untrusted", help="Try the model in a child process first, in case it is made to crash.")
    ] = False,
    sheet: o.Sheet = None,
    skip_rows: o.SkipRows = None,
    force: o.Force = False,
    as_json: o.Json = False,
) -> None:
    """Predict labels and probabilities for a table.

    The table is checked against the columns of the training first: missing or retyped columns are refused, others
    ignored. The target may be there or not.
    """
    if out is not None:
        refuse_to_overwrite(out, force, is_folder=False)
    model = Run(run, untrusted).model
    wanted = [] if model.preparation is None else [c.name for c in model.preparation.schema.used]
    table = read_table(data, sheet, skip_rows, wanted)
    p = model.predict_proba(table)
    about = model.about or {}
    for note in model.notes:
        remarks().print(printable(f"Note: {note}"), soft_wrap=True)
    predicted = _predictions(p, model.classes, str(about.get("target", "label")))
    names = table.names if keep_columns else [n for n in about.get("ids", []) if n in table.names]
    called = beside(names, taken=[str(name) for name in predicted])
    for name, other in called.items():
        if name != other:
            remarks().print(printable(f"Note: the table's column {name!r} is written as {other!r}."), soft_wrap=True)
    kept = table.columns.select(names).rename_columns(list(called.values())).to_pandas(integer_object_nulls=True)
    frame = pd.concat([kept, predicted], axis=1)
    if out is not None:
        write_frame(frame, out)
    if as_json:
        counts = {str(c): int((p.argmax(axis=1) == k).sum()) for k, c in enumerate(model.classes)}
        print_json({"rows": len(frame), "out": None if out is None else str(out), "predicted": counts})
    elif out is None:
        print_data(to_csv(frame))
    else:
        output().print(printable(f"{len(frame):,} rows predicted; written to {out}"), soft_wrap=True)


def _predictions(p: np.ndarray, classes: list[object], target: str) -> pd.DataFrame:
    labels = np.array(classes, dtype=object)[p.argmax(axis=1)]
    columns = {f"predicted_{target}": pd.Series(labels).infer_objects(), "probability": p.max(axis=1).round(6)}
    return pd.DataFrame(columns | {f"probability_{c}": p[:, k].round(6) for k, c in enumerate(classes)})
