"""Model folders that somebody changed, with checksums computed anew or not."""

from __future__ import annotations

import json
import random
import re
import shutil
import struct
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from dips import CuratedClassifier
from dips._files import Preparation
from dips._persistence import SavedModel, load_model, save_model
from dips._persistence.model import _checksum
from dips._study.data import read_data
from dips._study.settings import Settings
from dips._tools.files import sha256
from dips.backbones._registry import default_estimator
from dips.exceptions import DipsError
from tests.attack.outcomes import CLEAN, DIFFERENT, REFUSED, TRACEBACK
from tests.patients import patients

FAMILIES = ("xgboost", "lightgbm", "catboost")
READS_CATEGORIES = {
    "xgboost": {"enable_categorical": True},
    "lightgbm": {"categorical_feature": [1, 2], "min_child_samples": 3, "min_data_per_group": 2, "cat_smooth": 1},
    "catboost": {"cat_features": ["ward", "street"], "one_hot_max_size": 3, "max_ctr_complexity": 2},
}
_ODD_NUMBERS = (-1, 0, 1, 2, 255, 2**15, 2**31 - 1, -(2**31), 2**62, 1e308, float("nan"), "x", None, [], {})


@cache
def _base(place: Path, family: str, n_classes: int, has_categories: bool) -> Path:
    """Return a sound model folder, made once; with categories it is one whose library reads them by itself."""
    folder = place / f"{family}-{n_classes}-{has_categories}"
    if folder.exists():  # made by a process that has crashed since
        return folder
    table = patients(n=120, n_labeled=120, noise=0)[0]
    table["note"] = [f"came with a cough {i} and left" for i in range(len(table))]
    if n_classes == 3:
        table.loc[::3, "outcome"] = "unsure"
    few = {"iterations" if family == "catboost" else "n_estimators": 8}
    estimator = default_estimator(family).set_params(**few)
    if has_categories:
        estimator.set_params(**READS_CATEGORIES[family])
        model = CuratedClassifier(estimator, curator="none", random_state=0).fit(_frame(table), table["outcome"])
        save_model(model, folder)
    else:
        study = read_data(table, Settings(target="outcome"))
        preparation = Preparation(study.schema).learn(study.table)
        estimator.fit(preparation.encode(study.table), study.target.codes)
        about = {"target": "outcome", "ids": ["patient"]}
        save_model(SavedModel(estimator, study.target.classes, preparation, about=about), folder)
    return folder


def _frame(table: pd.DataFrame) -> pd.DataFrame:
    """Return columns with few and with many categories."""
    street = [f"street {i % 37}" for i in range(len(table))]
    columns = {"age": table["age"], "ward": table["ward"], "street": street}
    return pd.DataFrame(columns).astype({"ward": "category", "street": "category"})


def attack(place: Path, seed: int) -> str:
    """Change a folder, load it and predict with it."""
    rng = random.Random(seed)
    family, n_classes, has_categories = rng.choice(FAMILIES), rng.choice((2, 3)), rng.random() < 0.4
    base = _base(place, family, n_classes, has_categories)
    folder = place / "tampered"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(base, folder)
    forged = rng.random() < 0.8
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        _tamper(folder, rng)
    if forged:
        _forge(folder)
    table = patients(n=120, n_labeled=120, noise=0)[0].assign(note="came with a cough and left")
    rows = (_frame(table) if has_categories else table).head(20)
    try:
        p = load_model(folder).predict_proba(rows)
    except DipsError as error:
        return REFUSED if "\n" not in str(error) else TRACEBACK
    if not forged:
        return CLEAN if np.array_equal(p, load_model(base).predict_proba(rows)) else DIFFERENT
    is_answer = p.shape == (20, n_classes) and np.isfinite(p).all() and np.allclose(p.sum(axis=1), 1, atol=1e-3)
    return CLEAN if is_answer else DIFFERENT


def _tamper(folder: Path, rng: random.Random) -> None:
    path = rng.choice([p for p in sorted(folder.iterdir()) if p.name != "manifest.json"] + [folder / "manifest.json"])
    if path.name == "backbone.txt" or (path.suffix == ".json" and rng.random() < 0.8):
        (_edit_text if path.suffix == ".txt" else _edit_json)(path, rng)
        return
    content = bytearray(path.read_bytes() or b"\0")
    kind = rng.choice(("flip", "number", "cut", "insert", "zero", "swap"))
    at = rng.randrange(len(content))
    if kind == "flip":
        content[at] ^= 1 << rng.randrange(8)
    elif kind == "number":
        content[at : at + 4] = struct.pack(rng.choice("<>") + "i", rng.choice((-1, 0, 1, 7, 2**31 - 1, -(2**31))))
    elif kind == "cut":
        del content[at:]
    elif kind == "insert":
        content[at:at] = rng.randbytes(rng.randrange(1, 9))
    elif kind == "zero":
        content[at : at + 16] = bytes(len(content[at : at + 16]))
    else:
        other = rng.randrange(len(content))
        content[at : at + 8], content[other : other + 8] = content[other : other + 8], content[at : at + 8]
    path.write_bytes(bytes(content))


def _edit_text(path: Path, rng: random.Random) -> None:
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    at = rng.randrange(min(len(lines), 140))
    words = re.split(r"([ =])", lines[at])
    kind = rng.random()
    if kind < 0.7:
        words[rng.randrange(len(words))] = str(rng.choice(_ODD_NUMBERS))
        lines[at] = "".join(words)
    elif kind < 0.85:
        del lines[at]
    else:
        lines.insert(rng.randrange(len(lines)), lines[at])
    path.write_text("\n".join(lines), encoding="utf-8")


def _edit_json(path: Path, rng: random.Random) -> None:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return
    node = record
    for _ in range(rng.randrange(6)):
        children = list(node.values()) if isinstance(node, dict) else node if isinstance(node, list) else []
        nested = [c for c in children if isinstance(c, dict | list) and c]
        if not nested:
            break
        node = rng.choice(nested)
    keys = list(node) if isinstance(node, dict) else list(range(len(node))) if isinstance(node, list) else []
    if keys:
        key = rng.choice(keys)
        if rng.random() < 0.25:
            del node[key]
        elif rng.random() < 0.2 and len(keys) > 1:
            node[key] = node[rng.choice([k for k in keys if k != key])]
        else:
            node[key] = rng.choice(_ODD_NUMBERS)
    path.write_text(json.dumps(record), encoding="utf-8")


def _forge(folder: Path) -> None:
    """Compute the checksums anew, as whoever can write the folder can."""
    path = folder / "manifest.json"
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        record.pop("sha256", None)
        for name, entry in record["files"].items():
            entry.update(sha256=sha256(folder / name), bytes=(folder / name).stat().st_size)
        path.write_text(json.dumps(record | {"sha256": _checksum(record)}), encoding="utf-8")
    except (ValueError, OSError, AttributeError, KeyError, TypeError):
        pass  # the manifest itself was broken
