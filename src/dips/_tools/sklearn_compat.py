"""Every private name of scikit-learn that this package uses, imported here and nowhere else.

When scikit-learn moves or changes one of them, this is the file to mend.
"""

from __future__ import annotations

from sklearn.base import _clone_parametrized as clone_parametrized
from sklearn.base import _fit_context as fit_context
from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads as openmp_effective_n_threads
from sklearn.utils._param_validation import HasMethods, Interval, InvalidParameterError, StrOptions
from sklearn.utils.metadata_routing import _raise_for_params as raise_for_params
from sklearn.utils.validation import _check_sample_weight as check_sample_weight
from sklearn.utils.validation import _num_samples as num_samples

__all__ = [
    "HasMethods",
    "Interval",
    "InvalidParameterError",
    "StrOptions",
    "check_sample_weight",
    "clone_parametrized",
    "fit_context",
    "num_samples",
    "openmp_effective_n_threads",
    "raise_for_params",
    "safe_indexing",
]
