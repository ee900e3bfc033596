"""Sessions of Spark for a few rows."""

from __future__ import annotations

import socket

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # made for programs that end soon
    "spark.python.daemon.module": "tests.spark.warm_daemon",
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


def free_port():
    with socket.socket() as any_port:
        any_port.bind(("127.0.0.1", 0))
        return any_port.getsockname()[1]
