"""Files as a table names them, found in a folder."""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from dips._tools.wording import counted
from dips.exceptions import InputError


def files_named(listed: Sequence[str], names: Sequence[str], folder: Path) -> list[str]:
    """The file of a folder that each name of a table means.

    A name may leave out folders or the ending where only one file can be meant, begin with the folder itself, and
    have backslashes, other capitals or umlauts of another encoding. A name that no file has, or several, is refused,
    and so is a file with two names.

    Examples
    --------
    >>> files_named(["b", "scans/a.png", r"old\\C.PNG"], ["a.png", "b.png", "old/c.png"], Path("scans"))
    ['b.png', 'a.png', 'old/c.png']
    """
    exact, meant = set(names), _meant(names)
    beginnings = [_plain(f"{start}/") for start in (folder.resolve(), folder, folder.name)]

    def candidates(name: str) -> set[str]:
        if name in exact:
            return {name}
        plain = _plain(name)
        short = next((plain.removeprefix(start) for start in beginnings if plain.startswith(start)), plain)
        return meant.get(plain) or meant.get(short) or set()

    found = {name: candidates(name) for name in listed}
    _refuse_unknown({name: files for name, files in found.items() if len(files) != 1}, folder)
    files = [next(iter(found[name])) for name in listed]
    twice = next((file for file, n in Counter(files).items() if n > 1), None)
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


def _refuse_unknown(unknown: dict[str, set[str]], folder: Path) -> None:
    missing = sorted(name for name, files in unknown.items() if not files)
    if missing:
        files = counted(len(missing), "file that is", "files that are")
        raise InputError(
            f"The table names {files} not in {folder}, such as {missing[0]!r}; names are relative to that folder. "
            "Add the files, or remove their lines."
        )
    if unknown:
        name, several = min(unknown.items())
        first, second = sorted(several)[:2]
        raise InputError(
            f"The table names {name!r}, which may be {first!r} or {second!r}; name files with their folders."
        )
