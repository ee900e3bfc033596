"""Metadata routing: what ``fit`` is given for the backbone's own ``fit``, and how it gets there.

The backbone is trained on numbers, on codes and on some of the rows. So arguments with one entry per row are cut to the
rows of each training, tables to validate on are encoded as X is, and their labels become codes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.metadata_routing import MetadataRequest, MetadataRouter, MethodMapping, process_routing

from dips._data.containers import n_rows
from dips._data.labels import Labels, true_labels
from dips._rounds.training import FitParams
from dips._tools.arrays import Array
from dips._tools.sklearn_compat import raise_for_params
from dips.backbones import find_backbone
from dips.exceptions import InputError

_PAIRS, _TABLES, _LABELS = ("eval_set",), ("X_val", "eval_X"), ("y_val", "eval_y")
_OF_VALIDATION = (*_PAIRS, *_TABLES, *_LABELS, "sample_weight_val")  # of other rows, were there as many as in X
_COLUMNS = ("categorical_feature",)
_ONE_PER_ROW = ("base_margin", "init_score", "baseline")


def router_of(model: BaseEstimator, estimator: BaseEstimator) -> MetadataRouter:
    """Return what the model itself and its backbone request for ``fit``."""
    mapping = MethodMapping().add(caller="fit", callee="fit")
    router = MetadataRouter(owner=type(model).__name__).add_self_request(model)
    return router.add(estimator=requests_of(estimator), method_mapping=mapping)


def routed_to_backbone(model: BaseEstimator, params: dict[str, Any]) -> dict[str, Any]:
    """Return what the backbone requests of the arguments of ``fit``; refused where routing is off."""
    raise_for_params(params, model, "fit")
    return dict(process_routing(model, "fit", **params).estimator.fit)


def absorbed(estimator: BaseEstimator, params: dict[str, Any]) -> tuple[BaseEstimator, dict[str, Any]]:
    """Return the estimator with the arguments that could as well be its settings, and the other arguments.

    So with CatBoost's ``cat_features``: as a setting it also tells that such columns are wanted as they are.
    """
    if hasattr(estimator, "get_metadata_routing"):
        return estimator, params
    known = inspect.signature(type(estimator).__init__).parameters
    settings = {name: value for name, value in params.items() if name in known}
    if settings:
        estimator = find_backbone(estimator).clone(estimator).set_params(**settings)
    return estimator, {name: value for name, value in params.items() if name not in settings}


def make_fit_params(
    params: dict[str, Any],
    estimator: BaseEstimator,
    n: int,
    n_more: int,
    labels: Labels,
    encode: Callable[[Any], Any],
    names: Sequence[str] = (),
) -> FitParams:
    """Return the arguments as the trainings need them.

    Parameters
    ----------
    params : as the user gave them
    estimator : the backbone, to refuse what it could not use
    n, n_more : rows of X, and of X_unlabeled
    labels : of the rows
    encode : turns a table like X into what the backbone is trained on
    names : of its columns, where that is a matrix, which has none
    """
    _refuse_validation(params, estimator, labels)
    by_row = {name: value for name, value in params.items() if _has_entries(value, n) and name not in _OF_VALIDATION}
    strange = [name for name in _ONE_PER_ROW if params.get(name) is not None and name not in by_row]
    if strange or (by_row and n_more):
        name = next(iter(strange or by_row))
        more = f", and none for the {n_more} rows of X_unlabeled" if by_row and n_more else ""
        raise InputError(f"{name} must have one entry per row: X has {n} rows, {name} has {_size(params[name])}{more}.")
    fixed = {name: value for name, value in params.items() if name not in by_row}
    fixed = {name: _translated(name, value, labels, encode) for name, value in fixed.items()}
    return FitParams(by_row, fixed | {name: _positions(fixed[name], names) for name in _COLUMNS if name in fixed})


def requests_of(estimator: BaseEstimator | None) -> Any:
    """Return the estimator, which knows what it requests; if it does not, as CatBoost, all that its ``fit`` takes."""
    if estimator is None or hasattr(estimator, "get_metadata_routing"):
        return estimator
    request = MetadataRequest(owner=type(estimator).__name__)
    for name in inspect.signature(estimator.fit).parameters:
        if name not in ("X", "y"):
            request.fit.add_request(param=name, alias=True)
    return request


def _refuse_validation(params: dict[str, Any], estimator: BaseEstimator, labels: Labels) -> None:
    given = [name for name in (*_PAIRS, *_TABLES, *_LABELS) if params.get(name) is not None]
    if given and labels.name is not None:
        raise InputError(f"{given[0]} cannot be used with a multi-label y: every label has a model of its own.")
    if given and hasattr(estimator, "steps"):
        raise InputError(
            f"{given[0]} cannot pass through the transformers of a Pipeline; leave it out, or transform the table "
            "first and use the last step alone."
        )


def _translated(name: str, value: Any, labels: Labels, encode: Callable[[Any], Any]) -> Any:
    if value is None or name not in (*_PAIRS, *_TABLES, *_LABELS):
        return value
    if name in _PAIRS:
        pairs = [value] if isinstance(value, tuple) else value
        if not (isinstance(pairs, list) and all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs)):
            raise InputError(f"{name} must be a pair (X, y) or a list of such pairs; got {type(value).__name__}.")
        return [(encode(X), _codes(name, y, labels.classes)) for X, y in pairs]
    one = encode if name in _TABLES else lambda y: _codes(name, y, labels.classes)
    return tuple(map(one, value)) if isinstance(value, tuple) else one(value)


def _positions(columns: Any, names: Sequence[str]) -> Any:
    """Return a list of columns with those that are named as positions."""
    if not isinstance(columns, list):
        return columns
    places = {name: place for place, name in enumerate(names)}
    return [places.get(column, column) for column in columns]


def _codes(name: str, y: Any, classes: Array) -> Array:
    """Codes of labels to validate on."""
    codes = {label: code for code, label in enumerate(classes.tolist())}
    known = true_labels(y, classes).tolist()
    unknown = [label for label in known if label not in codes]
    if unknown:
        raise InputError(f"{name} holds the label {unknown[0]!r}, but the classes of y are {list(codes)}.")
    return np.array([codes[label] for label in known])


def _has_entries(value: Any, n: int) -> bool:
    return _is_sized(value) and _size(value) == n


def _is_sized(value: Any) -> bool:
    return isinstance(value, list) or len(getattr(value, "shape", ())) > 0


def _size(value: Any) -> Any:
    return n_rows(value) if _is_sized(value) else "none"
