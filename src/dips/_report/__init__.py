"""The report: findings → plain data → one HTML page."""

from dips._report.difference import render_difference
from dips._report.findings import TableFindings
from dips._report.images import ImageFindings, summarize_images
from dips._report.page import render
from dips._report.summary import summarize

__all__ = ["ImageFindings", "TableFindings", "render", "render_difference", "summarize", "summarize_images"]
