"""Better classifiers when labels are few and dirty."""

from dips.classifier import PseudoLabelClassifier
from dips.curated import Audit, CuratedClassifier, characterize
from dips.model_selection import SemiSupervisedKFold
from dips.parquet import ParquetPool

__version__ = "0.1.0"

__all__ = [
    "Audit",
    "CuratedClassifier",
    "ParquetPool",
    "PseudoLabelClassifier",
    "SemiSupervisedKFold",
    "__version__",
    "characterize",
]
