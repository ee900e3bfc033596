"""Train the network in pieces: ``python -m dips.network.train --minutes 9 --out piece1``.

A later piece goes on with ``--resume piece1``, or with ``--start weights.npz`` where only exported weights are left;
``--set layers=10`` lets them grow.
``--decay-minutes`` lets the rate fall to zero at the end of a piece, which gives weights to ship, while the stable
checkpoint stays the place to go on from. ``--profile`` only measures.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import torch

from dips.network._profile import profile
from dips.network._settings import TINY, NetworkSettings
from dips.network._tasks import read_tables
from dips.network._training import Clock, NetworkTrainer, train_piece


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=9.0, help="stop after so many minutes")
    parser.add_argument("--out", type=Path, required=True, help="folder for the checkpoint and the log")
    parser.add_argument("--resume", type=Path, help="folder of the checkpoint to go on from")
    parser.add_argument("--start", type=Path, help="file of exported weights to begin with")
    parser.add_argument("--decay-minutes", type=float, default=0.0, help="let the rate fall over the last minutes")
    parser.add_argument("--real", type=Path, nargs="*", default=[], help="files of real tables to look at")
    parser.add_argument("--evaluate-minutes", type=float, default=3.0)
    parser.add_argument("--max-steps", type=int, default=10**9)
    parser.add_argument("--no-compile", action="store_true", help="leave the network uncompiled")
    parser.add_argument("--tiny", action="store_true", help="settings for a rehearsal")
    parser.add_argument("--profile", action="store_true", help="only measure the parts of a step")
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE", help="settings to change: width=128")
    return parser


def changed(settings: NetworkSettings, changes: list[str]) -> NetworkSettings:
    """Settings with some values replaced by name."""
    for change in changes:
        name, _, text = change.partition("=")
        for part in fields(settings):
            group = getattr(settings, part.name)
            if hasattr(group, name):
                value = _like(getattr(group, name), text)
                settings = replace(settings, **{part.name: replace(group, **{name: value})})
                break
        else:
            raise SystemExit(f"there is no setting {name!r}")
    return settings


def _like(before: Any, text: str) -> Any:
    """A text as a value of the kind that a setting has."""
    if isinstance(before, tuple):
        return tuple(_like(before[0], part) for part in text.split(","))
    if isinstance(before, bool):
        if text not in ("True", "False"):
            raise SystemExit(f"{text!r} is neither True nor False")
        return text == "True"
    return type(before)(text)


def main(arguments: list[str] | None = None) -> None:
    """Run the command."""
    started = time.perf_counter()
    options = _parser().parse_args(arguments)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    first = TINY if options.tiny else NetworkSettings()
    settings = NetworkSettings.load(options.resume / "settings.json") if options.resume else first
    settings = changed(settings, options.set)
    if options.profile:
        profile(settings, device, options.minutes, options.out)
        return
    trainer = NetworkTrainer(settings, device, compiled=not options.no_compile)
    if options.resume:
        trainer.resume(options.resume)
    elif options.start:
        trainer.start_from(options.start)
    clock = Clock(started, options.minutes, options.decay_minutes, options.evaluate_minutes, options.max_steps)
    train_piece(trainer, clock, options.out, [table for path in options.real for table in read_tables(path)])


if __name__ == "__main__":
    main()
