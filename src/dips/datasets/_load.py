"""Tables by name, from a local folder or from their public address."""

from __future__ import annotations

import os
import urllib.error
import zipfile
from difflib import get_close_matches
from pathlib import Path

import pandas as pd

from dips.datasets._declaration import Declaration, Source
from dips.datasets._download import Remote, cache_folder, fetch
from dips.datasets._prepare import Dataset, prepare
from dips.datasets._tables import PUBLIC, TABLES
from dips.exceptions import DataError

_ENDINGS = (".parquet", ".csv")


def load(name: str, folder: str | Path | None = None) -> Dataset:
    """Return a table of the paper, prepared as there.

    It is read from a Parquet or CSV file in `folder`, or in the folder that the environment variable ``DIPS_DATA``
    names; without either, it is downloaded once into the user's cache folder. SEER, CUTRACT and MAGGIC may not be
    redistributed: put your own copy into the folder, with the columns that :func:`describe` lists.

    Parameters
    ----------
    name : str
        One of :data:`TABLES`.
    folder : path, optional
        Where to look for the file.

    Examples
    --------
    >>> adult = load("adult")  # doctest: +SKIP
    >>> adult.X.shape, adult.y.mean()  # doctest: +SKIP
    ((30162, 12), 0.751...)
    """
    declared = _declared(name)
    path = _local(declared, folder)
    if path is not None:
        return prepare(pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path), declared)
    if folder is not None or declared.source is None:
        place = Path(folder or os.environ.get("DIPS_DATA") or ".")
        why = " may not be redistributed and" if declared.source is None else ""
        raise DataError(
            f"{name}{why} is not in {place}: put {declared.file}.parquet or {declared.file}.csv there, or set "
            "DIPS_DATA to another folder."
        )
    return prepare(_downloaded(declared.source, cache_folder() / "tables" / name), declared)


def available(folder: str | Path | None = None) -> list[str]:
    """Names of the tables that can be loaded: those in the local folder, or the public ones if there is none.

    Parameters
    ----------
    folder : path, optional
        Where to look for files; without it, the folder in ``DIPS_DATA``.
    """
    named = folder or os.environ.get("DIPS_DATA")
    local = [name for name, declared in TABLES.items() if _local(declared, folder) is not None]
    return local if named else list(dict.fromkeys([*PUBLIC, *local]))


def describe(name: str) -> str:
    """Say what a table is and which columns its file must have.

    Parameters
    ----------
    name : str
        One of :data:`TABLES`.

    Examples
    --------
    >>> print(describe("maggic").splitlines()[0])
    MAGGIC: heart failure (private)
    """
    declared = _declared(name)
    lines = [declared.title, f"file: {declared.file}.parquet or {declared.file}.csv"]
    lines += [f"{column}: {meaning}" for column, meaning in declared.columns.items()]
    if not declared.columns:
        lines.append(f"columns: {', '.join(declared.wanted())}, and the other features; {declared.features} in all")
    return "\n".join(lines)


def _declared(name: str) -> Declaration:
    if name not in TABLES:
        close = get_close_matches(name, TABLES, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"choose among {', '.join(TABLES)}."
        raise DataError(f"No table is called {name!r}; {hint}")
    return TABLES[name]


def _local(declared: Declaration, folder: str | Path | None) -> Path | None:
    place = folder or os.environ.get("DIPS_DATA")
    if not place:
        return None
    candidates = (Path(place) / f"{declared.file}{ending}" for ending in _ENDINGS)
    return next((path for path in candidates if path.exists()), None)


def _downloaded(source: Source, folder: Path) -> pd.DataFrame:
    if source.openml is not None:
        return _from_openml(source, folder)
    parts = [_read(remote, fetch(remote, folder), source).assign(**remote.adds) for remote in source.files]
    table = pd.concat(parts, ignore_index=True)
    table = table if source.rows is None else table.query(source.rows, engine="python")
    if source.n_rows not in (None, len(table)):
        names = ", ".join(remote.file_name for remote in source.files)
        raise DataError(
            f"{names} in {folder} has {len(table):,} rows instead of {source.n_rows:,}: it changed at its source, or "
            "is damaged. Delete it to download it again, or set DIPS_DATA to a folder with your copy."
        )
    return table


def _read(remote: Remote, path: Path, source: Source) -> pd.DataFrame:
    try:
        if remote.member is None:
            return pd.read_csv(path, **source.read)
        with zipfile.ZipFile(path) as archive, archive.open(remote.member) as stream:
            return pd.read_csv(stream, **source.read)
    except (zipfile.BadZipFile, KeyError, ValueError, EOFError) as error:
        raise DataError(f"{path} cannot be read ({error}); delete it to download it again.") from error


def _from_openml(source: Source, folder: Path) -> pd.DataFrame:
    from sklearn.datasets import fetch_openml

    try:
        bunch = fetch_openml(data_id=source.openml, data_home=folder, as_frame=True, parser="auto")
    except (urllib.error.URLError, OSError) as error:
        raise DataError(
            f"OpenML's data set {source.openml} could not be downloaded ({error}); go online, or set DIPS_DATA to a "
            "folder that holds the tables."
        ) from error
    table = pd.concat([bunch.data, bunch.target.astype(int)], axis=1)
    return table.set_axis(list(source.names), axis=1)
