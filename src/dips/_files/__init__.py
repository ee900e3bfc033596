"""Tables as people have them: reading files, understanding columns, and preparing them for a model."""

from dips._files.columns import Column, Schema
from dips._files.kinds import understand
from dips._files.prepare import Preparation
from dips._files.read import Table, read_table
from dips._files.target import Target, read_target
from dips.exceptions import DataError, ModelError, OutputError, UserError

__all__ = [
    "Column",
    "DataError",
    "ModelError",
    "OutputError",
    "Preparation",
    "Schema",
    "Table",
    "Target",
    "UserError",
    "read_table",
    "read_target",
    "understand",
]
