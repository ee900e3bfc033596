"""Hooks: how a long fit tells what it is doing."""

from __future__ import annotations

from typing import Any


class Observer:
    """Sees a fit while it runs. Every method does nothing; override those you want.

    An observer only watches: nothing it does changes the result.

    Examples
    --------
    >>> class Printer(Observer):
    ...     def on_round(self, record, n_rounds):
    ...         print(f"round {record['round']} of {n_rounds}")
    >>> Printer().on_round({"round": 1}, n_rounds=5)
    round 1 of 5
    """

    def message(self, text: str, fraction: float) -> None:
        """A new stage begins: what it is, and the fraction of the whole work done before it (0 to 1)."""

    def on_data(self, data: Any, leaks: dict[str, float]) -> None:
        """The data has been read: the study's data, and columns that seem to leak the label, each with its score."""

    def on_round(self, record: dict[str, Any], n_rounds: int) -> None:
        """A round has ended: its line of ``history_``; round 0 is the curation at the start."""

    def on_rows(self, n_done: int, n_rows: int) -> None:
        """A batch of rows has been read from disk: how many rows of this pass are done, out of how many."""

    def on_files(self, n_done: int, n_files: int) -> None:
        """Some files have been read: how many are done, out of how many."""

    def on_part(self, name: str) -> None:
        """A part of a training begins, such as its pretraining: its name."""

    def on_step(self, n_done: int, n_steps: int) -> None:
        """A training step, or one job of many, has ended."""

    def on_record(self, record: dict[str, Any]) -> None:
        """Something worth a line in a log: plain values under names, ``event`` among them."""
