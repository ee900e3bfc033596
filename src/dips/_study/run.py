"""A finished run: its folder, opened again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from jinja2 import TemplateError

from dips._estimators.plots import draw_calibration
from dips._files.read import Table, read_table
from dips._files.sqlite import file_of, is_address
from dips._persistence import SavedModel, load_model
from dips._persistence.model import read_record
from dips._study.folder import CURVES, MARK, recover
from dips._study.pictured import Pictured
from dips._study.scoring import Scores, score_predictions
from dips._tools.arrays import Array
from dips._tools.files import sha256
from dips._tools.wording import counted, reason_of
from dips.exceptions import DipsError, InputError, ModelError

# what is raised where a file lacks something, or holds something else
_INCOMPLETE = (
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    ArithmeticError,
    TemplateError,
    pd.errors.InvalidIndexError,  # of classes that are there twice
)


class Run(Pictured):
    """The folder that a study wrote.

    A notebook shows it as a short page; :meth:`plot_map`, :meth:`plot_curves` and :meth:`plot_calibration` draw with
    matplotlib.

    Parameters
    ----------
    folder : path
    untrusted : load the model in a child process first

    Attributes
    ----------
    metrics : scores of every model on the held-out rows, with intervals, and which was chosen
    samples : data frame, one row per input row
    held_out : data frame, one row per held-out row, with the answers of a model that was not trained on it
    config : settings, sources, versions
    model : the chosen model; loading it runs no code
    warnings : what the trainings warned of
    """

    def __init__(self, folder: Path | str, untrusted: bool = False) -> None:
        self.folder, self.untrusted = Path(folder), untrusted
        recover(self.folder)
        if reason := self._is_no_run():
            raise ModelError(f"{self.folder} is not a run folder of dips: {reason}.")

    def __repr__(self) -> str:
        labels, rows = self.metrics["labels"], self.metrics["rows"]
        found = f"{counted(rows['labeled'], 'label')}, {labels['n_suspects']:,} suspect"
        return f"Run in {self.folder}: {found}; see suspects(), samples, metrics and {self.report.name}"

    def _is_no_run(self) -> str:
        if (self.folder / MARK).exists():
            return ""
        if not self.folder.exists():
            return "there is no such folder"
        if self.folder.is_file():
            return "it is a file"
        around = self.folder.resolve().parent
        return f"it holds no {MARK}" + (f"; name the folder above it, {around}" if (around / MARK).exists() else "")

    @cached_property
    def config(self) -> dict[str, Any]:
        """How the run was made."""
        return read_record(self.folder / MARK)

    @cached_property
    def metrics(self) -> dict[str, Any]:
        """Scores of the comparison."""
        return read_record(self.folder / "metrics.json")

    @property
    def warnings(self) -> list[str]:
        """What the trainings warned of, each sentence once."""
        return self.metrics.get("warnings", [])

    @cached_property
    def samples(self) -> pd.DataFrame:
        """The account of every row."""
        return self._frame("samples.parquet")

    @cached_property
    def held_out(self) -> pd.DataFrame | None:
        """The held-out rows, and what the chosen model said before it was trained on them; None in old runs."""
        return self._frame("held_out.parquet") if (self.folder / "held_out.parquet").exists() else None

    @cached_property
    def curves(self) -> pd.DataFrame | None:
        """Learning curves of the labels that the page does not show; None where it shows all, or has none."""
        path = self.folder / CURVES
        return pd.read_parquet(path) if path.exists() else None

    @cached_property
    def model(self) -> SavedModel:
        """The chosen model."""
        return load_model(self.folder / "model", untrusted=self.untrusted)

    @cached_property
    def summary(self) -> dict[str, Any]:
        """What the page shows, as plain data."""
        return read_record(self.folder / "report.json")

    @property
    def report(self) -> Path:
        """The report."""
        return self.folder / "report.html"

    def plot_calibration(self, ax: Any = None) -> Any:
        """Draw what the models said of the held-out rows against their labels; return the axes."""
        quality, classes = self.summary["quality"], self.summary["classes"]
        if quality is None:
            raise InputError("Calibration is not drawn for images; run.held_out has the answers for the held-out ones.")
        titles = {m["name"]: m["title"] for m in self.summary["models"]}
        lines = {titles[name]: quality["calibration"][name] for name in quality["models"]}
        return draw_calibration(lines, classes[self.summary["positive"]], ax)

    def predict(self, data: Any) -> Array:
        """Most probable labels of a new table, or of a file."""
        return self.model.predict(data)

    def predict_proba(self, data: Any) -> Array:
        """Class probabilities of a new table, or of a file, in the order of ``model.classes``."""
        return self.model.predict_proba(data)

    def score(self, data: Any) -> Scores | None:
        """Score predictions for a table, or a file, that holds the truth in the target's column, if it does.

        ``print(run.score("checked.csv").sentences())`` says it in words.
        """
        table = read_table(data)
        return self.scores_of(table, self.predict_proba(table))

    def was_made_of(self, data: Path | str) -> bool:
        """Whether the run was made of this file, or table of a database; scores on it are not those of new rows."""
        path = file_of(str(data)) if is_address(data) else Path(data)
        checksum = sha256(path) if path.is_file() else None
        same = [source for source in self.config.get("sources", []) if checksum and source.get("sha256") == checksum]
        return any(not is_address(data) or source["path"] == str(data) for source in same)

    def scores_of(self, table: Table, p: Array) -> Scores | None:
        """Score class probabilities of a table's rows; labels are read as in the training."""
        words = self.metrics.get("reading", {}).get("labels", {})
        merged = words.get("variants", []) if words.get("merged") else []
        spellings = {spelling: each["label"] for each in merged for spelling in each["spellings"]}
        settings = self.config["settings"]
        positive = self.metrics.get("positive", settings.get("positive"))
        return score_predictions(self.model, table, p, settings, spellings, positive)

    def _frame(self, name: str) -> pd.DataFrame:
        path = self.folder / name
        try:
            pq.read_table(path).validate(full=True)  # arrow takes a file's word for it, and follows its offsets blindly
            return pd.read_parquet(path)
        except (pa.ArrowException, OSError, ValueError, LookupError, TypeError) as error:
            reason = reason_of(error)
            raise ModelError(f"{path} cannot be read: {reason}. Get the folder from its source again.") from error


@contextmanager
def whole(*runs: Run) -> Iterator[None]:
    """Say in one sentence that files of a run lack what they must hold, or hold something else."""
    try:
        yield
    except DipsError:
        raise
    except _INCOMPLETE as error:
        folders = " or ".join(str(run.folder) for run in runs)
        reason = reason_of(error)
        raise ModelError(f"{folders} is not a complete run ({type(error).__name__}: {reason}).") from error
