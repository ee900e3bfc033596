"""A study: one table in, models compared, one folder out."""

from dips._study.auditing import LabelAudit, audit
from dips._study.fitting import fit
from dips._study.run import Run

__all__ = ["LabelAudit", "Run", "audit", "fit"]
