"""Files as a table names them, found in a folder."""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from dips._tools.wording import counted, option, some_of
from dips.exceptions import InputError

_NAMED = 5  # missing files in a message


def files_named(
    listed: Sequence[str], names: Sequence[str], folder: Path, skip_missing: bool = False
) -> list[str | None]:
    """The file of a folder that each name of a table means; None for those to skip, that no file has.

    A name may leave out folders or the ending where only one file can be meant, begin with the folder itself, here or
    where it was on another machine, and have backslashes, other capitals or umlauts of another encoding. A name that
    several files have is refused, and so are a file with two names and, unless they are to be skipped, names that no
    file has.

    Examples
    --------
    >>> files_named(["b", "scans/a.png", r"old\\C.PNG"], ["a.png", "b.png", "old/c.png"], Path("scans"))
    ['b.png', 'a.png', 'old/c.png']
    """
    exact, meant = set(names), _meant(names)
    beginnings = [_plain(f"{start}/") for start in (folder.resolve(), folder, folder.resolve().name)]

    def candidates(name: str) -> set[str]:
        if name in exact:
            return {name}
        plain = _plain(name)
        short = next((plain.removeprefix(start) for start in beginnings if start and plain.startswith(start)), None)
        if short is None:
            short = plain.partition(f"/{beginnings[-1]}")[2]  # of a folder of the same name
        return meant.get(plain) or meant.get(short) or set()

    found = {name: candidates(name) for name in listed}
    _refuse_missing([name for name, files in found.items() if not files], len(found), folder, skip_missing)
    _refuse_unclear({name: files for name, files in found.items() if len(files) > 1})
    files = [next(iter(found[name]), None) for name in listed]
    twice = next((file for file, n in Counter(files).items() if n > 1 and file is not None), None)
    if twice is not None:
        raise InputError(f"The table names {twice!r} more than once; give each file one label.")
    return files


def _meant(names: Sequence[str]) -> dict[str, set[str]]:
    """Files by all that they may be called: with and without folders and ending."""
    files = defaultdict[str, set[str]](set)
    for name in names:
        path = PurePosixPath(_plain(name))
        for called in (path, path.with_suffix(""), path.name, path.stem):
            files[str(called)].add(name)
    return dict(files)


def _plain(name: str) -> str:
    """A name as all its spellings have in common."""
    return unicodedata.normalize("NFC", name.strip().replace("\\", "/")).casefold().removeprefix("./")


def note_on_missing(listed: Sequence[str], files: Sequence[str | None]) -> list[str]:
    """A sentence on names of a table that were skipped, as no file has them."""
    missing = [name for name, file in zip(listed, files, strict=True) if file is None]
    if not missing:
        return []
    are = counted(len(missing), "file of the table is", "files of the table are")
    return [f"{are} not in the folder and left out: {some_of(missing, _NAMED)}."]


def note_on_nameless(n: int) -> list[str]:
    """A sentence on lines of a table that name no file."""
    return [f"{counted(n, 'line of the table names', 'lines of the table name')} no file; left out."] if n else []


def _refuse_missing(missing: list[str], n: int, folder: Path, skip: bool) -> None:
    if missing and not (skip and len(missing) < n):
        files = counted(len(missing), "file that is", "files that are")
        remedy = "" if len(missing) == n else f" Add the files, or leave them out with {option('skip_missing', True)}."
        raise InputError(
            f"The table names {files} not in {folder}, such as {min(missing)!r}; names are relative to that folder."
            f"{remedy}"
        )


def _refuse_unclear(unclear: dict[str, set[str]]) -> None:
    if unclear:
        name, several = min(unclear.items())
        first, second = sorted(several)[:2]
        raise InputError(
            f"The table names {name!r}, which may be {first!r} or {second!r}; name files with their folders."
        )
