"""Image files to one array: decoded in threads, kept in memory or in a memory map."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dips._files.pictures import COLOR, GRAY, Header, decode, read_header
from dips._tools.arrays import Array
from dips._tools.files import make_folder, whole_file, write_json, writing
from dips._tools.observer import Observer
from dips._tools.wording import counted, option, some_of
from dips.datasets._download import cache_folder
from dips.exceptions import InputError
from dips.vision._image_pool import is_too_large
from dips.vision._images import LEAST_SIDE, as_images

AUTO = "auto"
_LARGE, _MIXED = 128, 96  # pixels: a size up to the first is kept if most images have it, else all get the second
_AT_ONCE = 256  # images between two writes
_NAMED = 5  # damaged files in a message


@dataclass(frozen=True)
class FolderImages:
    """The images of a folder.

    Attributes
    ----------
    images : (n, height, width, channels) bytes, in memory or a memory map
    names : of the files, relative to the folder
    damaged : files that could not be read and were left out, with the reason
    notes : sentences on how the others were read
    """

    images: Array
    names: list[str]
    damaged: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def size(self) -> tuple[int, int]:
        """Height and width."""
        return self.images.shape[1], self.images.shape[2]

    @property
    def mode(self) -> str:
        """Color or gray."""
        return GRAY if self.images.shape[3] == 1 else COLOR


def read_images(
    folder: Path,
    names: Sequence[str],
    *,
    size: tuple[int, int] | str | None = None,
    mode: str = AUTO,
    skip_damaged: bool = False,
    cache: bool | str | Path | None = None,
    observer: Observer | None = None,
) -> FolderImages:
    """Read files of a folder; :func:`dips.vision.read_image_folder` says what the parameters mean.

    ``size="auto"`` is the size that most images have, if it is up to 128 pixels, else 96 by 96.
    """
    observer = observer or Observer()
    headers, damaged = _read_headers(folder, names)
    _refuse_damaged(folder, damaged, len(names), skip_damaged)
    sound = [name for name in names if name in headers]
    size, mode = _chosen_size(headers, size), _chosen_mode(headers, mode)
    shape = (*size, 1 if mode == GRAY else 3)
    n_bytes = len(sound) * int(np.prod(shape))
    parts = _decoded(folder, sound, size, mode, observer)
    if is_too_large(n_bytes) if cache is None else cache is not False:
        place = Path(cache) if isinstance(cache, str | Path) else cache_folder() / "images"
        path, late = _in_file(place, state_of_files(folder, sound, shape), parts)
        _refuse_damaged(folder, late, len(sound), skip_damaged)
        images: Array = np.memmap(path, np.uint8, mode="r").reshape(-1, *shape)
    else:
        images, late = _in_memory(len(sound), shape, parts)
        _refuse_damaged(folder, late, len(sound), skip_damaged)
    notes = _notes(headers, damaged | late, shape)
    return FolderImages(as_images(images), [n for n in sound if n not in late], damaged | late, notes)


def _read_headers(folder: Path, names: Sequence[str]) -> tuple[dict[str, Header], dict[str, str]]:
    headers, damaged = {}, {}
    with ThreadPoolExecutor() as threads:
        outcomes = threads.map(lambda name: _tried(read_header, folder / name), names)
        for name, outcome in zip(names, outcomes, strict=True):
            if isinstance(outcome, str):
                damaged[name] = outcome
            else:
                headers[name] = outcome
    return headers, damaged


def _decoded(
    folder: Path, names: Sequence[str], size: tuple[int, int], mode: str, observer: Observer
) -> Iterator[tuple[list[Array], dict[str, str]]]:
    """Decode in threads; yield some images and the damaged files between them."""
    with ThreadPoolExecutor() as threads:
        for start in range(0, len(names), _AT_ONCE):
            some = names[start : start + _AT_ONCE]
            outcomes = list(threads.map(lambda name: _tried(decode, folder / name, size, mode), some))
            observer.on_files(start + len(some), len(names))
            damaged = {name: why for name, why in zip(some, outcomes, strict=True) if isinstance(why, str)}
            yield [image for image in outcomes if not isinstance(image, str)], damaged


def _tried(read: Any, *arguments: Any) -> Any:
    """What a file holds, or why it cannot be read."""
    try:
        return read(*arguments)
    except Exception as error:  # Pillow's readers say in many ways that a file is damaged
        return str(error).partition(" '")[0].strip().removesuffix(":") or type(error).__name__


def _in_memory(n: int, shape: tuple[int, ...], parts: Iterator[Any]) -> tuple[Array, dict[str, str]]:
    images, n_read, damaged = np.empty((n, *shape), dtype=np.uint8), 0, dict[str, str]()
    for some, unreadable in parts:
        for image in some:
            images[n_read] = image
            n_read += 1
        damaged |= unreadable
    return images[:n_read], damaged


def _in_file(place: Path, name: str, parts: Iterator[Any]) -> tuple[Path, dict[str, str]]:
    """Decode into a file, unless it was done before; return it, and the damaged files."""
    path, about = place / f"{name}.bytes", place / f"{name}.json"
    if not (path.exists() and about.exists()):
        make_folder(place)
        damaged = dict[str, str]()
        with writing(path), whole_file(path) as stream:
            for some, unreadable in parts:
                stream.writelines(image.tobytes() for image in some)
                damaged |= unreadable
        write_json(about, {"damaged": damaged})
    return path, json.loads(about.read_text(encoding="utf-8"))["damaged"]


def state_of_files(folder: Path, names: Sequence[str], shape: tuple[int, ...]) -> str:
    """A text that changes with the files, and with how they are read."""
    states = [(folder / name).stat() for name in names]
    of_files = [(name, s.st_size, s.st_mtime_ns) for name, s in zip(names, states, strict=True)]
    return hashlib.sha256(repr([str(folder.resolve()), shape, of_files]).encode()).hexdigest()[:32]


def _chosen_size(headers: dict[str, Header], size: tuple[int, int] | str | None) -> tuple[int, int]:
    if isinstance(size, tuple):
        return size
    if size not in (AUTO, None):
        raise InputError(f"size must be (height, width), {AUTO!r} or None; got {size!r}.")
    sizes = Counter((h.height, h.width) for h in headers.values())
    if size is None and len(sizes) > 1:
        some = sorted(sizes)[:2]
        raise InputError(
            f"The images have {len(sizes)} different sizes, such as {some}; choose one with {option('size')}=."
        )
    usual, n = sizes.most_common(1)[0]
    if size is None or 2 * n > sizes.total():
        _refuse_tiny(usual)
    is_kept = size is None or (2 * n > sizes.total() and max(usual) <= _LARGE)
    return usual if is_kept else (_MIXED, _MIXED)


def _refuse_tiny(size: tuple[int, int]) -> None:
    if min(size) < LEAST_SIDE:
        found = f"The images are {size[0]} by {size[1]} pixels, and networks need at least {LEAST_SIDE} by {LEAST_SIDE}"
        raise InputError(f"{found}; enlarge them with {option('size')}.")


def _chosen_mode(headers: dict[str, Header], mode: str) -> str:
    if mode not in (GRAY, COLOR, AUTO):
        raise InputError(f"mode must be {COLOR!r}, {GRAY!r} or {AUTO!r}; got {mode!r}.")
    return mode if mode != AUTO else GRAY if all(h.is_gray for h in headers.values()) else COLOR


def _refuse_damaged(folder: Path, damaged: dict[str, str], n: int, skip: bool) -> None:
    if len(damaged) == n:
        raise InputError(f"None of the {n:,} image files in {folder} can be read: {listed(damaged)}.")
    if damaged and not skip:
        raise InputError(
            f"{len(damaged):,} of {n:,} image files in {folder} cannot be read: {listed(damaged)}. Remove them, or "
            f"leave them out with {option('skip_damaged', True)}."
        )


def listed(damaged: dict[str, str]) -> str:
    """Name files that cannot be read, with the reason; of many, the first ones."""
    return some_of((f"{name} ({why})" for name, why in damaged.items()), _NAMED)


def _notes(headers: dict[str, Header], damaged: dict[str, str], shape: tuple[int, ...]) -> list[str]:
    kept = [header for name, header in headers.items() if name not in damaged]
    n_resized = sum((h.height, h.width) != shape[:2] for h in kept)
    n_deep = sum(h.is_deep for h in kept)
    notes = []
    if n_resized:
        are = "is" if n_resized == 1 else "are"
        notes.append(f"{n_resized:,} of {len(kept):,} images {are} resized to {shape[0]} by {shape[1]} pixels.")
    if n_deep:
        deep = counted(n_deep, "image has more than eight bits and is", "images have more than eight bits; each is")
        notes.append(f"{deep} windowed to its own range.")
    if damaged:
        unread = counted(len(damaged), "file cannot be read and is", "files cannot be read and are")
        notes.append(f"{unread} left out: {listed(damaged)}.")
    return notes
