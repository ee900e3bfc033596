"""A run is a grid of small jobs; each finished one leaves a record, found again by a hash of all it depends on."""

from dips._paper.engine.job import Job, hashed
from dips._paper.engine.runner import Tally, run
from dips._paper.engine.store import Store

__all__ = ["Job", "Store", "Tally", "hashed", "run"]
