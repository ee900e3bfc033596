"""Sessions of Spark for a few rows."""

from __future__ import annotations

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.codegen.wholeStage": "false",  # compiling costs more than these few rows
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.log.level": "OFF",
    "spark.ui.showConsoleProgress": "false",
}


def new_session(master, **more):
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master).appName("dips")
    for name, value in (SETTINGS | more).items():
        builder = builder.config(name, value)
    return builder.getOrCreate()
