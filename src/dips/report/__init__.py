"""The report: findings → plain data → one HTML page."""

from dips.report.images import ImageFindings, summarize_images
from dips.report.render import render
from dips.report.summarize import summarize

__all__ = ["ImageFindings", "render", "summarize", "summarize_images"]
