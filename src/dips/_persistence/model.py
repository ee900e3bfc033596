"""The model folder: the backbone in its own format, everything else as JSON and arrays, and a checksum per file."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dips._data.containers import as_narwhals, is_frame, names_of
from dips._data.encoder import TableEncoder
from dips._estimators.base import CuratingClassifier
from dips._estimators.self_training import SelfTrainingClassifier
from dips._files.prepare import Preparation
from dips._files.read import Table, read_table
from dips._persistence.checks import PREPARATION, check_answers, check_manifest, checked_preparation
from dips._persistence.probe import try_elsewhere
from dips._spark.executors import task_cpus
from dips._spark.predictions import predicted_frame
from dips._tools.arrays import Array, decided
from dips._tools.files import make_folder, sha256, sync, whole_file, without_nan, write_json, writing
from dips._tools.npz import read_arrays
from dips._tools.observer import Observer
from dips._tools.wording import reason_of, some_of
from dips._version import __version__
from dips.backbones import Backbone, find_backbone
from dips.backbones._registry import families, find_family, storable
from dips.exceptions import DamagedFileError, DipsError, ModelError, OutputError, UserError
from dips.network import PriorFittedClassifier

FORMAT_VERSION = 1
_MANIFEST = "manifest.json"
_ROWS_AT_ONCE = 5_000
_LIBRARIES = ("numpy", "pandas", "pyarrow", "scikit-learn")  # and those of the backbones


@dataclass(repr=False)
class SavedModel:
    """A classifier that was loaded from a folder, or is about to be written to one.

    Attributes
    ----------
    backbone : the fitted estimator
    classes : labels, in the order of the probabilities
    preparation : turns tables into numbers and knows the schema of the input; None if the input is a matrix
    categories : those that the columns of a matrix had in the training, one entry per column; None for numbers
    about : the target, the settings and other facts worth keeping
    columns : names of the columns of a matrix, where the table of the training had names
    notes : remarks on the table that was read last
    """

    backbone: Any
    classes: list[Any]
    preparation: Preparation | None = None
    categories: list[list[Any] | None] | None = None
    about: dict[str, Any] | None = None
    columns: list[str] | None = None
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        target = f", target={self.about['target']!r}" if self.about and "target" in self.about else ""
        return f"SavedModel({type(self.backbone).__name__}{target}, classes=[{some_of(map(repr, self.classes))}])"

    def predict_proba(self, data: Any, observer: Observer | None = None) -> Array:
        """Class probabilities (n, C) of a table, whose columns are first checked against those of the training."""
        if self.preparation is not None:
            table = read_table(data, wanted=[column.name for column in self.preparation.schema.used])
            self.notes = (*table.notes, *self.preparation.check(table, (self.about or {}).get("target")))
            X: Any = self.preparation.encode(table)
        else:
            X = self._encoded(data)
        try:
            return self._answers(X, observer or Observer())
        except DipsError:
            raise
        except Exception as error:  # a column that the library cannot read, or a model that somebody changed
            raise ModelError(f"The model cannot answer for this table: {reason_of(error)[:200]}.") from error

    def _answers(self, X: Any, observer: Observer) -> Array:
        """Ask some rows at a time, so that it can be told how many are done."""
        predict_proba = partial(find_backbone(self.backbone).predict_proba, self.backbone)
        if not isinstance(X, np.ndarray) or len(X) <= _ROWS_AT_ONCE:
            return np.asarray(predict_proba(X), dtype=np.float64)
        p = np.empty((len(X), len(self.classes)))
        for begin in range(0, len(X), _ROWS_AT_ONCE):
            observer.message("predicting", begin / len(X))
            p[begin : begin + _ROWS_AT_ONCE] = predict_proba(X[begin : begin + _ROWS_AT_ONCE])
        return p

    def predict(self, data: Any) -> Array:
        """Most probable label of each row, or the one that is expected to cost least where costs were given."""
        classes = np.asarray(self.classes, dtype=None if isinstance(self.classes[0], int) else object)
        return classes[self.decide(self.predict_proba(data))]

    def decide(self, p: Array) -> Array:
        """Positions among the classes that class probabilities (n, C) decide for."""
        return decided(p, self._costs)

    @property
    def _costs(self) -> Array | None:
        """Of missing a row of each class, where that decides."""
        costs = (self.about or {}).get("costs")
        return None if costs is None else np.asarray(costs)

    def predict_frame(self, df: Any, kept: Sequence[str] | None = None, name: str = "predicted_label") -> Any:
        """Return a Spark DataFrame of predictions beside the columns that are kept, all by default; Spark computes it.

        Only for models that know the schema of their tables, as those that ``dips fit`` writes.
        """
        if self.preparation is None:
            raise ModelError(
                "The model was saved without the schema of its tables; use predict_frame of the classifier."
            )
        family = find_backbone(self.backbone)
        predict = partial(family.predict_proba, family.on_threads(self.backbone, task_cpus(df.sparkSession)))
        columns = [column.name for column in self.preparation.schema.used]
        classes = np.asarray(self.classes)
        encode = self.preparation.encode
        return predicted_frame(df, kept, columns, _as_table, encode, predict, classes, name, self._costs)

    def _encoded(self, X: Any) -> Any:
        if self.categories is None:
            return self._by_name(X)
        encoder = TableEncoder()
        encoder.categories_ = self.categories
        shape = np.shape(X)
        if len(shape) != 2:
            raise ModelError(f"A table of rows and columns is wanted; got {type(X).__name__} of shape {shape}.")
        if shape[1] != len(self.categories):
            raise ModelError(f"The table has {shape[1]} columns, but the model was trained on {len(self.categories)}.")
        return encoder.encode(self._by_name(X), learn=False)

    def _by_name(self, X: Any) -> Any:
        """Return a frame with its columns in the order of the training; refuse other columns."""
        if self.columns is None or not is_frame(X):
            return X
        differing = sorted(map(str, set(names_of(X)) ^ set(self.columns)))
        if differing:
            raise ModelError(f"The columns of the table are not those of the training; they differ in {differing}.")
        return as_narwhals(X).select(self.columns).to_native()


def save_model(model: Any, folder: Path | str) -> None:
    """Write a fitted classifier of this package, or a :class:`SavedModel`, to a new folder.

    Loading it runs no code: nothing in the folder is a pickle.

    Parameters
    ----------
    model : fitted classifier or SavedModel
    folder : path
        Made here; it must not exist.

    Examples
    --------
    >>> import tempfile
    >>> from dips import CuratedClassifier
    >>> from dips.datasets import make_quadrants
    >>> X, y = make_quadrants(60, random_state=0)
    >>> model = CuratedClassifier(random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as place:
    ...     save_model(model, f"{place}/model")
    ...     same = load_model(f"{place}/model")
    >>> bool((same.predict_proba(X) == model.predict_proba(X)).all())
    True
    """
    saved = model if isinstance(model, SavedModel) else _from_classifier(model)
    folder = Path(folder)
    backbone, file_name = storable(saved.backbone, "keep the object in memory")
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise UserError(f"{folder} already exists and is not an empty folder; choose another name.")
    make_folder(folder)
    _save_backbone(backbone, saved, folder / file_name)
    files = [file_name]
    if saved.preparation is not None:
        write_json(folder / PREPARATION[0], saved.preparation.to_json())
        with writing(folder), whole_file(folder / PREPARATION[1]) as stream:
            np.savez(stream, **saved.preparation.arrays())  # type: ignore[arg-type]
        files += PREPARATION
    described = {
        "format": FORMAT_VERSION,
        "backbone": backbone.name,
        "classes": saved.classes,
        "categories": saved.categories,
        "columns": saved.columns,
        "about": saved.about or {},
        "versions": versions(),
        "files": {name: {"sha256": sha256(folder / name), "bytes": (folder / name).stat().st_size} for name in files},
    }
    record = without_nan(described)
    write_json(folder / _MANIFEST, record | {"sha256": _checksum(record)})


def load_model(folder: Path | str, backbone: Any = None, *, untrusted: bool = False) -> SavedModel:
    """Read a model folder without running anything in it; a file that has changed since it was written is refused.

    Parameters
    ----------
    folder : path
    backbone : the unfitted skorch net, needed if the stored weights are those of a PyTorch module
    untrusted : load it in a child process first, so that a file made to crash its library crashes only that
    """
    folder = Path(folder)
    if untrusted and backbone is None:
        try_elsewhere(folder)
    try:
        return _loaded(folder, backbone)
    except DamagedFileError as error:
        raise ModelError(f"{folder} is damaged: {error}. Get it from its source again.") from error
    except DipsError:
        raise
    except ModuleNotFoundError as error:
        raise ModelError(f"{folder} holds a model that needs {error.name}, which is not installed.") from error
    except Exception as error:  # whatever a library says of a file that is not as it should be
        raise ModelError(f"{folder} is damaged: {reason_of(error)[:200]}. Get it from its source again.") from error


def _loaded(folder: Path, backbone: Any) -> SavedModel:
    record = _manifest(folder)
    for name, expected in record["files"].items():
        _check_file(folder, name, expected)
    family = find_family(record["backbone"])
    if family is None or family.file_name is None:
        raise ModelError(
            f"{folder} holds a backbone of the family {record['backbone']!r}, which is not known here; install the "
            "package that it comes from, or update dips."
        )
    check_manifest(record, family.file_name)
    preparation, n_features = None, None if record["categories"] is None else len(record["categories"])
    if PREPARATION[0] in record["files"]:
        arrays = read_arrays(folder / PREPARATION[1])
        preparation = checked_preparation(read_record(folder / PREPARATION[0]), arrays)
        n_features = len(preparation.features)
    path, n_classes = folder / family.file_name, len(record["classes"])
    family().check_file(path, n_features, n_classes)
    fitted = family().load(path, backbone)
    if preparation is not None:
        probe = np.zeros((1, len(preparation.features)), dtype=np.float32)
        check_answers(np.asarray(find_backbone(fitted).predict_proba(fitted, probe)), n_classes, path)
    columns = record.get("columns")  # not there in folders of earlier releases
    return SavedModel(fitted, record["classes"], preparation, record["categories"], record["about"], columns)


def read_record(path: Path) -> dict[str, Any]:
    """Return the record in a JSON file of a model or a run."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError, RecursionError) as error:
        raise ModelError(f"{path} cannot be read: {error}.") from error
    if not isinstance(record, dict):
        raise ModelError(f"{path} is not a JSON object; get the folder from its source again.")
    return record


def versions() -> dict[str, str]:
    """Return the versions of this package, Python, and the libraries that results depend on."""
    installed = {"dips": __version__, "python": platform.python_version()}
    for library in (*_LIBRARIES, *(name for family in families() for name in family.libraries)):
        try:
            installed[library] = version(library)
        except PackageNotFoundError:
            continue
    return installed


def _save_backbone(backbone: Backbone, saved: SavedModel, path: Path) -> None:
    """Let the library write its file, and look at it: not every library says when a disk is full."""
    n_features = None if saved.preparation is None else len(saved.preparation.features)
    try:
        backbone.save(saved.backbone, path)
        sync(path)
        backbone.check_file(path, n_features, len(saved.classes))
    except DamagedFileError as error:
        raise OutputError(f"{path} was not written in full ({error}); is the disk full?") from error
    except DipsError:
        raise
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror or error}.") from error
    except Exception as error:
        raise OutputError(f"{path} was not written in full ({reason_of(error)[:200]}); is the disk full?") from error


def _from_classifier(model: Any) -> SavedModel:
    if isinstance(model, PriorFittedClassifier):
        return _from_network(model)
    if not isinstance(model, CuratingClassifier | SelfTrainingClassifier):
        raise UserError(
            f"save_model stores classifiers of dips, and this is a {type(model).__name__}: store it by its own means, "
            "or pass the classifier of dips inside it."
        )
    model = getattr(model, "curated_", model)  # self-training keeps its last model there
    if hasattr(model, "estimator_") and not hasattr(model, "samples_"):
        raise UserError("Self-training with curator=None is scikit-learn's own model; save it as scikit-learn does.")
    if not hasattr(model, "samples_"):
        raise UserError(f"{type(model).__name__} is not fitted; fit it before saving it.")
    if model.multilabel_:
        raise UserError(
            "A multi-label model has one backbone per label; fit and save one classifier for each column of y."
        )
    categories = None if model.encoder_ is None else _categories(model.encoder_)
    classes = [_plain(c) for c in model.classes_]
    return SavedModel(model.estimator_, classes, None, categories, columns=_names(model))


def _from_network(model: PriorFittedClassifier) -> SavedModel:
    if not hasattr(model, "table_"):
        raise UserError("PriorFittedClassifier is not fitted; fit it before saving it.")
    classes, categories = [_plain(c) for c in model.classes_], _categories(model.encoder_)
    return SavedModel(model.table_, classes, None, categories, columns=_names(model))


def _names(model: Any) -> list[str] | None:
    return [str(name) for name in model.feature_names_in_] if hasattr(model, "feature_names_in_") else None


def _categories(encoder: TableEncoder) -> list[list[Any] | None]:
    return [None if c is None else [_plain(v) for v in c] for c in encoder.categories_]


def _as_table(columns: pa.Table) -> Table:
    return Table(columns, "a Spark table")


def _plain(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    if not isinstance(value, str | int | float | bool):
        raise UserError(
            f"A category or class is a {type(value).__name__}, which JSON cannot store; use strings or numbers."
        )
    return value


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / _MANIFEST
    if not path.exists():
        within = folder / "model"
        remedy = f"; name the model of the run, {within}" if (within / _MANIFEST).exists() else ""
        raise ModelError(f"{folder} holds no model: it has no {_MANIFEST}{remedy}.")
    record = read_record(path)
    if record.pop("sha256", None) != _checksum(record):
        raise ModelError(
            f"{path} has changed since it was written: its checksum differs. Get the folder from its source again."
        )
    if not isinstance(record.get("format"), int) or not isinstance(record.get("backbone"), str):
        raise ModelError(f"{path} is damaged: its format or its backbone is not valid. Get it from its source again.")
    if record["format"] > FORMAT_VERSION:
        raise ModelError(
            f"{folder} was written by a later version of dips ({record['versions']['dips']}); update dips."
        )
    return record


def _check_file(folder: Path, name: str, expected: dict[str, Any]) -> None:
    path = folder / name
    if Path(name).name != name or not path.is_file():
        raise ModelError(f"{path} is missing; get the model folder from its source again.")
    size = path.stat().st_size
    if size != expected["bytes"]:
        raise ModelError(
            f"{path} has {size} bytes but was written with {expected['bytes']}: it was cut off or changed. Get the "
            "model folder from its source again."
        )
    if sha256(path) != expected["sha256"]:
        raise ModelError(
            f"{path} has changed since it was written: its checksum differs. Get it from its source again."
        )


def _checksum(record: dict[str, Any]) -> str:
    text = json.dumps(record, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
