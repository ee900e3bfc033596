"""Pools on Spark, through its DataFrame API alone: the same code for classic sessions and for Spark Connect.

``pool`` is the driver's side, ``worker`` what runs on executors, ``identity`` how a row is known again, ``executors``
what is compared before any work, and ``errors`` turns Java's stacks into a sentence.
"""

from dips._spark.pool import SparkPool, is_spark_frame

__all__ = ["SparkPool", "is_spark_frame"]
