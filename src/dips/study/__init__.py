"""A study: one table in, four models compared, one folder out."""

from dips.study.audit import LabelAudit, audit
from dips.study.fit import fit
from dips.study.run import Run

__all__ = ["LabelAudit", "Run", "audit", "fit"]
