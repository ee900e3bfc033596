"""How long a study of images takes where there is no GPU, and what would take less; said before the work."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dips._image_study.album import Album
from dips._image_study.settings import ImageSettings
from dips._image_study.training import classifier_of
from dips._tools.observer import Observer
from dips._tools.wording import duration, option
from dips.vision._duration import LONG_S, expected_seconds
from dips.vision._fitting import prepared
from dips.vision._parts import PRETRAINING

_WORTH_A_WORD_S = 30.0
_FIRST_LOOK: dict[str, Any] = {"network": "tiny", "steps": 300, "holdout": 0}


def tell_how_long(album: Album, settings: ImageSettings, observer: Observer) -> None:
    """Tell an observer how long a study takes, with a warning if that is long."""
    seconds = seconds_of_study(album, settings)
    if seconds is None or seconds < _WORTH_A_WORD_S:
        return
    if seconds < LONG_S:
        observer.on_record({"event": "note", "message": f"This takes about {duration(seconds)} on this CPU."})
        return
    message = f"This takes about {duration(seconds)} on this CPU. Use a GPU{_advice(album, settings, seconds)}."
    observer.on_record({"event": "warning", "message": message})


def _advice(album: Album, settings: ImageSettings, seconds: float) -> str:
    """What is faster, and what it costs."""
    quick = seconds_of_study(album, replace(settings, **_FIRST_LOOK))
    if quick is None or quick > seconds / 2:
        return f", or fewer {option('steps')}"
    options = " ".join(option(name, value) for name, value in _FIRST_LOOK.items() if value or settings.holdout)
    return f", or take a first look, by a network that sees much less, with {options}: about {duration(quick)}"


def seconds_of_study(album: Album, settings: ImageSettings) -> float | None:
    """About how many seconds its trainings take; None on a GPU."""
    run, _ = prepared(classifier_of(settings), album.images, album.labels)
    parts = expected_seconds(run)
    if parts is None:
        return None
    once = sum(parts.values())
    return 2 * once - parts.get(PRETRAINING, 0.0) if settings.holdout else once
