"""Runs a grid of small jobs. Each finished job leaves a record, stored under a hash of everything it depends on."""

from dips._paper.engine.job import Job, hashed
from dips._paper.engine.runner import Tally, run
from dips._paper.engine.store import Store

__all__ = ["Job", "Store", "Tally", "hashed", "run"]
