"""The report: findings → plain data → one HTML page."""

from dips.report.render import render
from dips.report.summarize import summarize

__all__ = ["render", "summarize"]
