"""The families that are known: which one handles an estimator, and which can be named."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar, overload

from sklearn.base import BaseEstimator

from dips._tools.plugins import load_plugins
from dips._tools.warnings import warn
from dips._tools.wording import option
from dips.backbones._base import Backbone
from dips.backbones._plain import Plain
from dips.backbones._staged import Staged
from dips.exceptions import InputError, UserError

PLUGINS = "dips.backbones"
"""The entry-point group under which another package offers its families."""

_DEFAULT = "xgboost"
_by_handle: dict[str, type[Backbone]] = {}  # package.ClassName of an estimator -> its family
_by_name: dict[str, type[Backbone]] = {}
_plugins_are_loaded = False
_loading = threading.RLock()  # a plug-in may look for a family while it is loaded; other threads wait

F = TypeVar("F", bound=type[Backbone])


@overload
def register_backbone(family: F, *, replace: bool = ...) -> F: ...
@overload
def register_backbone(*, replace: bool = ...) -> Callable[[F], F]: ...


def register_backbone(family: F | None = None, *, replace: bool = False) -> F | Callable[[F], F]:
    """Add a family of backbones; usable as a decorator.

    Parameters
    ----------
    family : subclass of Backbone
        Its ``handles`` say which estimators it is for.
    replace : bool
        Whether to take over estimators, or a name, that another family already has; otherwise that is refused.
    """
    if family is None:
        return lambda decorated: register_backbone(decorated, replace=replace)
    if not family.handles:
        raise InputError(
            f"{family.__name__}.handles is empty, so no estimator would find it; name the estimators that it is for, "
            'such as handles = ("package.ClassName",).'
        )
    if not replace:
        _refuse_conflicts(family)
    _by_handle.update(dict.fromkeys(handled_by(family), family))
    if _own_name(family):
        _by_name[family.name] = family
    return family


def _own_name(family: type[Backbone]) -> str:
    """Return the family's name; one that subclasses a family, to handle other estimators in its way, inherits none."""
    return vars(family).get("name", "")


def _refuse_conflicts(family: type[Backbone]) -> None:
    taken = {handled: _by_handle[handled] for handled in handled_by(family) if handled in _by_handle}
    if _own_name(family) in _by_name:
        taken[f"The name {family.name!r}"] = _by_name[family.name]
    for what, other in taken.items():
        if (other.__module__, other.__qualname__) != (family.__module__, family.__qualname__):  # not defined once more
            raise InputError(
                f"{what} already belongs to the backbone family {other.__name__}; to take it over, use "
                "register_backbone(family, replace=True)."
            )


def find_backbone(estimator: BaseEstimator) -> Backbone:
    """Return how to fit and watch this estimator.

    A subclass is handled like its nearest parent. Families are compared by name, so no optional library is imported.
    An estimator of no family can be watched if it has ``staged_predict_proba``; any other can only be fitted.

    Parameters
    ----------
    estimator : classifier
        Fitted or not; a Pipeline is watched through its last step.

    Examples
    --------
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> type(find_backbone(HistGradientBoostingClassifier())).__name__
    'Staged'
    """
    names = [_name_of(parent) for parent in type(estimator).__mro__]
    if names[0] not in _by_handle:
        _load_plugins()
    for name in names:
        if name in _by_handle:
            return _by_handle[name].of(estimator)
    return Staged() if hasattr(type(estimator), "staged_predict_proba") else Plain()


def handled_by(family: type[Backbone]) -> list[str]:
    """Return the estimators of a family as ``package.ClassName``."""
    return [handled if isinstance(handled, str) else _name_of(handled) for handled in family.handles]


def _name_of(estimator_class: type) -> str:
    return f"{estimator_class.__module__.partition('.')[0]}.{estimator_class.__name__}"


def families() -> list[type[Backbone]]:
    """Return every registered family once."""
    _load_plugins()
    return list(dict.fromkeys([*_by_handle.values(), *_by_name.values()]))


def find_family(name: str) -> type[Backbone] | None:
    """Return the family of this name, or None."""
    if name not in _by_name:
        _load_plugins()
    return _by_name.get(name)


def storable(estimator: BaseEstimator, otherwise: str) -> tuple[Backbone, str]:
    """Return the backbone of an estimator and the file it is stored in; refuse what only pickle could store.

    `otherwise` ends the refusal: what else there is to do.
    """
    backbone = find_backbone(estimator)
    if backbone.file_name is not None and backbone.name:
        return backbone, backbone.file_name
    stored = {handled for family in families() if family.file_name for handled in handled_by(family)}
    names = sorted(handled.partition(".")[2] for handled in stored if not handled.startswith("dips."))
    raise UserError(
        f"{type(estimator).__name__} can only be stored by pickle, which runs code when it is loaded, so it is not "
        f"saved; use one of {', '.join(names)}, or {otherwise}."
    )


def default_names() -> list[str]:
    """Return the names that :func:`default_estimator` takes, the one it takes by itself first."""
    named = [f.name for f in families() if f.name and _suggests_an_estimator(f)]
    return sorted(named, key=lambda name: (name != _DEFAULT, name))


def default_estimator(name: str = _DEFAULT, n_labels: int = 0) -> BaseEstimator:
    """Return the unfitted estimator that a family suggests for so many labels.

    Without a name it is XGBoost with slow, shallow, subsampled trees, which overfit a few hundred rows far less than
    XGBoost's own defaults do. From 3,000 labels on, they are more, faster and deeper, because such small models learn
    too little from many rows.

    Parameters
    ----------
    name : str
        A family that suggests an estimator.
    n_labels : int
        How many labels it will learn from.

    Examples
    --------
    >>> default_estimator().get_params()["max_depth"]
    3
    """
    family = find_family(name)
    if family is None or not _suggests_an_estimator(family):
        raise UserError(f"{option('backbone', name)} is not known; choose one of {', '.join(default_names())}.")
    try:
        return family.default(n_labels)
    except ModuleNotFoundError:
        raise UserError(f'The backbone {name!r} is not installed: pip install "dips-ssl[{name}]".') from None


def _suggests_an_estimator(family: type[Backbone]) -> bool:
    return family.default is not Backbone.default


def _load_plugins() -> None:
    """Register the families that other packages offer, once and only when they may be needed."""
    global _plugins_are_loaded
    with _loading:
        if _plugins_are_loaded:
            return
        _plugins_are_loaded = True
        for family in load_plugins(PLUGINS, Backbone):
            try:
                register_backbone(family)
            except ValueError as error:
                warn(f"The backbone family {family.__name__} of {family.__module__} is left out: {error}")
