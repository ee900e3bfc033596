"""Every public name, once: the API reference is made of this, and a test holds it to the package.

The names themselves are read off the package, so a new one appears by itself, under "More" until it is given a place in
``PLACES``.
"""

import importlib
import inspect
from pathlib import Path
from types import ModuleType
from typing import Any

import dips

# module: a sentence about it, and its names in groups, in the order of the page
PLACES: dict[str, tuple[str, dict[str, list[str]]]] = {
    "dips": (
        "Estimators, audits and the tools around them.",
        {
            "Learn from few and dirty labels": ["PseudoLabelClassifier", "CuratedClassifier", "SelfTrainingClassifier"],
            "Audit labels": ["characterize", "Audit"],
            "From a table to a report": ["fit", "Run", "audit", "LabelAudit"],
            "From a folder of images to a report": ["fit_images", "audit_images", "ImageAudit"],
            "Labels that somebody has checked": ["read_corrections", "Corrections"],
            "Cross-validate": ["SemiSupervisedKFold"],
            "Larger than memory": ["ParquetPool", "SparkPool"],
            "Save and load": ["save_model", "load_model", "SavedModel"],
        },
    ),
    "dips.labelers": (
        "Labelers propose labels for unlabeled rows.",
        {"Write your own": ["Labeler", "FunctionLabeler", "Candidates", "Moments", "LABELERS"]},
    ),
    "dips.curators": (
        "Curators say which rows are useful.",
        {"Write your own": ["Curator", "FunctionCurator", "Evidence", "CURATORS"]},
    ),
    "dips.backbones": (
        "Backbones: how a family of estimators is fitted and watched.",
        {
            "Find one": ["find_backbone", "default_estimator"],
            "Write your own": ["Backbone", "StagedBackbone", "register_backbone"],
        },
    ),
    "dips.datasets": (
        "Data sets, synthetic tables and label noise.",
        {
            "Public tables": ["load", "available", "describe", "Dataset", "TABLES"],
            "Public images": ["load_images", "ImageData"],
            "Synthetic tables": ["make_quadrants", "make_moons"],
            "Label noise": ["flip_labels", "flip_labels_by_class", "flip_labels_by_instance"],
        },
    ),
    "dips.vision": (
        "Images. Needs PyTorch.",
        {
            "Estimator": ["ImageClassifier", "load_classifier"],
            "Methods": ["FixMatch", "FreeMatch"],
            "Networks and augmentation": ["FastNet", "WideResNet", "Augmentation"],
            "Read images": ["read_image_folder", "read_dataset"],
        },
    ),
    "dips.network": (
        "A network trained on synthetic tables with dirty labels.",
        {"Estimator": ["PriorFittedClassifier"]},
    ),
    "dips.testing": (
        "Checks that a labeler, a curator or a backbone of your own keeps its contract.",
        {"Checks": ["check_labeler", "check_curator", "check_backbone"]},
    ),
}
REST = {"dips.labelers": "Ready to use", "dips.curators": "Ready to use"}  # how the names without a place are called
INTRODUCTION = (
    "Everything that is public. A name with a leading underscore, in any part of its path, is private and may change."
)


def public_modules() -> list[ModuleType]:
    """The package and its public parts."""
    parts = [importlib.import_module(f"dips.{name}") for name in dir(dips) if inspect.ismodule(getattr(dips, name))]
    return [dips, *(part for part in parts if not any(p.startswith("_") for p in part.__name__.split(".")))]


def names_of(module: ModuleType) -> list[str]:
    """The public names that are at home in a module: what it only passes on is listed where it comes from."""
    names = getattr(module, "__all__", None) or [
        name for name, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__
    ]
    return [name for name in names if not name.startswith("_") and _home(getattr(module, name), module) is module]


def _home(value: Any, module: ModuleType) -> ModuleType:
    """The public part that defines a class or function; for anything else, the module it was found in."""
    if not (inspect.isclass(value) or inspect.isfunction(value)):
        return module
    inside = [part for part in public_modules()[1:] if f"{value.__module__}.".startswith(f"{part.__name__}.")]
    return inside[0] if inside else module


def arranged(module: ModuleType) -> dict[str, list[str]]:
    """The names of a module in groups."""
    names = names_of(module)
    groups = {title: list(group) for title, group in PLACES.get(module.__name__, ("", {}))[1].items()}
    placed = {name for group in groups.values() for name in group}
    rest = {REST.get(module.__name__, "More" if groups else ""): [name for name in names if name not in placed]}
    parts = rest | groups if module.__name__ in REST else groups | rest
    return {title: [name for name in group if name in names] for title, group in parts.items()}


def write_pages(folder: Path) -> None:
    """Write one page per module, each a set of tables that link to one page per name."""
    folder.mkdir(exist_ok=True)
    index = ["API reference", "=============", "", INTRODUCTION, "", ".. toctree::", "   :maxdepth: 1", ""]
    for module in public_modules():
        name = module.__name__
        index.append(f"   {name}")
        about = PLACES[name][0] if name in PLACES else (inspect.getdoc(module) or "").split("\n\n")[0]
        lines = [name, "=" * len(name), "", about, "", f".. currentmodule:: {name}", ""]
        for title, names in arranged(module).items():
            if names:
                lines += [title, "-" * len(title), ""] if title else []
                lines += _table(module, names)
        _write(folder / f"{name}.rst", lines)
    _write(folder / "index.rst", index)


def _table(module: ModuleType, names: list[str]) -> list[str]:
    is_code = {name: callable(getattr(module, name)) for name in names}
    lines = []
    for chosen, template in (([n for n in names if is_code[n]], ""), ([n for n in names if not is_code[n]], "data")):
        if chosen:
            lines += [".. autosummary::", "   :toctree: generated", "   :nosignatures:"]
            lines += [f"   :template: autosummary/{template}.rst"] if template else []
            lines += ["", *(f"   {name}" for name in chosen), ""]
    return lines


def _write(path: Path, lines: list[str]) -> None:
    text = "\n".join(lines) + "\n"
    if not path.exists() or path.read_text(encoding="utf-8") != text:  # an unchanged page is not built again
        path.write_text(text, encoding="utf-8")
