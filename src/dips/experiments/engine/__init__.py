"""A run is a grid of small jobs; each finished one leaves a record, found again by a hash of all it depends on."""

from dips.experiments.engine.job import Job, hashed
from dips.experiments.engine.run import Tally, run
from dips.experiments.engine.store import Store

__all__ = ["Job", "Store", "Tally", "hashed", "run"]
