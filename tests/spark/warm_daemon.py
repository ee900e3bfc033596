"""Spark's Python workers, forked from a process that has imported already what every one of them needs."""

from __future__ import annotations

import xgboost  # noqa: F401
from pyspark.daemon import manager

import dips  # noqa: F401

if __name__ == "__main__":
    manager()
