"""Every public name, listed once: the API reference is made of this, and a test compares it with the package."""

from pathlib import Path

from dips.curators import CURATORS
from dips.labelers import LABELERS


def _named(registry) -> list[str]:
    """The classes that a string can name, which are found and not listed: a new one needs no line here."""
    return [
        part.__name__ for part in registry.by_name().values() if part.__module__.startswith(f"dips.{registry.kind}s.")
    ]


REFERENCE = {
    "dips": (
        "Estimators and tools",
        {
            "Learn from few and dirty labels": ["PseudoLabelClassifier", "CuratedClassifier"],
            "Audit labels": ["characterize", "Audit"],
            "From a table to a report": ["fit", "audit"],
            "Cross-validate": ["SemiSupervisedKFold"],
            "Larger than memory": ["ParquetPool"],
            "Save and load": ["save_model", "load_model"],
        },
    ),
    "dips.labelers": (
        "Labelers propose labels for unlabeled rows",
        {
            "Ready to use": _named(LABELERS),
            "Write your own": ["Labeler", "FunctionLabeler", "Candidates", "Moments", "LABELERS"],
        },
    ),
    "dips.curators": (
        "Curators say which rows are useful",
        {
            "Ready to use": _named(CURATORS),
            "Write your own": ["Curator", "FunctionCurator", "Evidence", "CURATORS"],
        },
    ),
    "dips.backbones": (
        "Backbones: how a family of estimators is fitted and watched",
        {
            "Find one": ["find_backbone", "default_estimator"],
            "Write your own": ["Backbone", "StagedBackbone", "register_backbone"],
        },
    ),
    "dips.datasets": (
        "Data sets, synthetic tables and label noise",
        {
            "Public tables": ["load", "available", "describe", "Dataset", "TABLES"],
            "Synthetic tables": ["make_quadrants", "make_moons"],
            "Label noise": ["flip_labels", "flip_labels_by_class", "flip_labels_by_instance"],
        },
    ),
    "dips.vision": (
        "Images",
        {
            "Estimator": ["ImageClassifier"],
            "Methods": ["FixMatch", "FreeMatch"],
            "Curators for images": ["ImageAuto", "Percentile"],
            "Networks and augmentation": ["FastNet", "WideResNet", "Augmentation"],
            "Read images": ["read_image_folder", "read_dataset"],
        },
    ),
    "dips.exceptions": (
        "Exceptions",
        {"": ["UserError", "DataError", "OutputError", "ModelError"]},
    ),
}
DATA = {"LABELERS", "CURATORS", "TABLES"}  # objects that are neither classes nor functions

INTRODUCTION = [
    "Everything that is public. A name with a leading underscore, in any part of its path, is private",
    "and may change.",
]


def write_pages(folder: Path) -> None:
    """Write one page per module, each a set of tables that link to one page per name."""
    folder.mkdir(exist_ok=True)
    index = ["API reference", "=============", "", *INTRODUCTION, "", ".. toctree::", "   :maxdepth: 1", ""]
    for module, (title, groups) in REFERENCE.items():
        index.append(f"   {module}")
        lines = [module, "=" * len(module), "", f"{title}.", "", f".. currentmodule:: {module}", ""]
        for group, names in groups.items():
            lines += [group, "-" * len(group), ""] if group else []
            for template, is_data in (("", False), ("data", True)):
                chosen = [name for name in names if (name in DATA) == is_data]
                if chosen:
                    lines += [".. autosummary::", "   :toctree: generated", "   :nosignatures:"]
                    lines += [f"   :template: autosummary/{template}.rst"] if template else []
                    lines += ["", *(f"   {name}" for name in chosen), ""]
        _write(folder / f"{module}.rst", lines)
    _write(folder / "index.rst", index)


def _write(path: Path, lines: list[str]) -> None:
    text = "\n".join(lines) + "\n"
    if not path.exists() or path.read_text(encoding="utf-8") != text:  # an unchanged page is not built again
        path.write_text(text, encoding="utf-8")
