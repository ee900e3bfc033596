"""Tables as people have them: reading files, understanding columns, preparing them for a model, writing results."""

from dips.tabular.columns import Column, Schema, understand
from dips.tabular.errors import DataError, ModelError, OutputError, UserError
from dips.tabular.prepare import Preparation
from dips.tabular.read import Table, read_table
from dips.tabular.target import Target, read_target

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
