"""Backbones in their own formats, none of which runs code when it is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dips.exceptions import ModelError, UserError


@dataclass(frozen=True)
class Format:
    """How one family of backbones is written and read.

    Attributes
    ----------
    file : name of the file
    write : (fitted estimator, path)
    read : (path, unfitted estimator or None) → fitted estimator
    """

    file: str
    write: Callable[[Any, Path], None]
    read: Callable[[Path, Any], Any]


def find_format(estimator: Any) -> str:
    """Return the name of the format that can hold this estimator; refuse where there is none."""
    for parent in type(estimator).__mro__:
        name = f"{parent.__module__.partition('.')[0]}.{parent.__name__}"
        if name in _BY_TYPE:
            return _BY_TYPE[name]
    raise UserError(
        f"{type(estimator).__name__} can only be stored by pickle, which runs code when it is loaded, so it is not "
        f"saved; use one of {', '.join(sorted({n.partition('.')[2] for n in _BY_TYPE}))}, or keep the object in memory."
    )


def _read_xgboost(path: Path, estimator: Any) -> Any:
    from xgboost import XGBClassifier

    model = XGBClassifier() if estimator is None else estimator
    model.load_model(path)
    return model


def _write_lightgbm(estimator: Any, path: Path) -> None:
    path.write_text(estimator.booster_.model_to_string(), encoding="utf-8")


def _read_lightgbm(path: Path, estimator: Any) -> Any:
    from lightgbm import Booster

    return BoosterOnly(Booster(model_str=path.read_text(encoding="utf-8")))


class BoosterOnly:
    """A LightGBM booster that answers as its classifier did."""

    def __init__(self, booster: Any) -> None:
        self.booster_ = booster

    def predict_proba(self, X: Any) -> Any:
        """Class probabilities (n, C)."""
        p = np.asarray(self.booster_.predict(X))
        return np.column_stack([1 - p, p]) if p.ndim == 1 else p


def _write_catboost(estimator: Any, path: Path) -> None:
    estimator.save_model(str(path), format="cbm")


def _read_catboost(path: Path, estimator: Any) -> Any:
    from catboost import CatBoostClassifier

    return CatBoostClassifier().load_model(str(path), format="cbm")


def _write_net(estimator: Any, path: Path) -> None:
    state = {name: tensor.detach().cpu().numpy() for name, tensor in estimator.module_.state_dict().items()}
    with path.open("wb") as stream:
        np.savez(stream, **state)


def _read_net(path: Path, estimator: Any) -> Any:
    import torch

    if estimator is None:
        raise ModelError(
            "The backbone is a PyTorch module, whose weights are stored but not its code; pass the net, unfitted, as "
            "load_model(folder, backbone=net)."
        )
    with np.load(path, allow_pickle=False) as stored:
        state = {name: torch.as_tensor(stored[name]) for name in stored.files}
    net = estimator.initialize()
    try:
        net.module_.load_state_dict(state)
    except RuntimeError as error:
        raise ModelError(
            f"The stored weights are not those of this net: {str(error).splitlines()[-1].strip()}"
        ) from error
    return net


FORMATS: dict[str, Format] = {
    "xgboost": Format("backbone.ubj", lambda e, path: e.save_model(path), _read_xgboost),
    "lightgbm": Format("backbone.txt", _write_lightgbm, _read_lightgbm),
    "catboost": Format("backbone.cbm", _write_catboost, _read_catboost),
    "torch": Format("backbone.npz", _write_net, _read_net),
}

_BY_TYPE = {
    "xgboost.XGBClassifier": "xgboost",
    "lightgbm.LGBMClassifier": "lightgbm",
    "catboost.CatBoostClassifier": "catboost",
    "skorch.NeuralNetClassifier": "torch",
}
