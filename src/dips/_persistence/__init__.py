"""Models on disk, without pickle: loading one runs no code."""

from dips._persistence.model import SavedModel, load_model, save_model

__all__ = ["SavedModel", "load_model", "save_model"]
