"""Labels and probabilities for a folder of new images."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from dips._files.pictures import COLOR, GRAY
from dips._image_study.fitting import MODEL
from dips._image_study.settings import FILE
from dips._study.run import Run
from dips._tools.observer import Observer
from dips.vision import load_classifier
from dips.vision._image_files import read_images
from dips.vision._image_folder import find_images, notes_on_other_files


@dataclass(frozen=True)
class ImagePredictions:
    """Predictions for images.

    Attributes
    ----------
    frame : one line per image: its file, the predicted label, its probability, and one column per class
    classes : in the order of the columns
    notes : sentences on how the files were read
    """

    frame: pd.DataFrame
    classes: list[str]
    notes: list[str]


def predict_images(run: Run, folder: Path, skip_damaged: bool, observer: Observer) -> ImagePredictions:
    """Predict the images of a folder, read as those of the training were."""
    clf = load_classifier(run.folder / MODEL)
    observer.message("reading", 0.0)
    mode = GRAY if clf.scaling_.mean.numel() == 1 else COLOR
    names = find_images(folder)
    read = read_images(
        folder, names, size=clf.image_size_, mode=mode, skip_damaged=skip_damaged, observer=observer
    )  # fmt: skip
    observer.message("predicting", 0.7)
    p = clf.predict_proba(read.images)
    best = p.argmax(axis=1)
    target = run.config["settings"]["target"]
    notes = [*notes_on_other_files(folder), *read.notes]
    columns = {FILE: read.names, f"predicted_{target}": clf.classes_[best]}
    columns |= {"probability": p[np.arange(len(p)), best].round(6)}
    columns |= {f"probability_{c}": p[:, k].round(6) for k, c in enumerate(clf.classes_)}
    return ImagePredictions(pd.DataFrame(columns), clf.classes_.tolist(), notes)
