"""A look at a folder of images before the work: how files and labels are read, and how long a training takes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dips._image_study.album import Album, read_album
from dips._image_study.settings import ImageSettings
from dips._image_study.waiting import seconds_of_study, tell_how_long
from dips._tools.files import expanded
from dips._tools.observer import Observer

_USUAL: dict[str, Any] = {
    "labels": None, "corrections": None, "unlabeled_mark": (), "keep_label": (), "merge_labels": None, "map_label": (),
}  # fmt: skip


@dataclass(frozen=True)
class ImageInspection:
    """What was found.

    Attributes
    ----------
    album : the images and their labels, as a study would read them
    settings : of that study
    """

    album: Album
    settings: ImageSettings

    @property
    def counts(self) -> dict[str, int]:
        """How many labels each class has."""
        target = self.album.target
        return {str(c): int(n) for c, n in zip(target.classes, target.counts, strict=True)}

    def tell_how_long(self, observer: Observer) -> None:
        """Tell how long ``dips fit`` would take."""
        tell_how_long(self.album, self.settings, observer)

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        read = self.album.read
        return {
            "images": len(read.names),
            "size": list(read.size),
            "mode": read.mode,
            "damaged": read.damaged,
            "labels": {"classes": self.counts},
            "notes": self.album.notes,
            "expected_seconds": seconds_of_study(self.album, self.settings),
        }


def inspect_images(folder: Path | str, observer: Observer | None = None, **settings: Any) -> ImageInspection:
    """Read a folder of images as a study would, without training anything; what a study refuses is refused here, too.

    Parameters
    ----------
    folder : path
        As for :func:`fit_images`.
    observer : Observer, optional
        Sees the files being read.
    **settings
        Those of :func:`fit_images` that say how to read the images and how to train.
    """
    checked = ImageSettings.of(**_USUAL | settings)
    return ImageInspection(read_album(expanded(folder), checked, observer or Observer()), checked)
