"""Print how many modules of the package some calls enter, and with `--names` which, in the order of their first call.

python tools/walk.py adaptive default command paper images
"""

import contextlib
import io
import os
import sys
import tempfile
import warnings
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd

import dips
from dips._cli import main

_PACKAGE = f"{Path(dips.__file__).parent}{os.sep}"


def adaptive() -> None:
    """PseudoLabelClassifier.fit with the default of 0.1.0."""
    dips.PseudoLabelClassifier(curator="adaptive", n_rounds=3, random_state=0).fit(*_table())


def default() -> None:
    """PseudoLabelClassifier.fit."""
    dips.PseudoLabelClassifier(n_rounds=3, random_state=0).fit(*_table())


def command() -> None:
    """Call dips fit on a CSV file."""
    X, y = _table()
    labels = pd.Series(y).map({0: "no", 1: "yes"})
    pd.DataFrame(X, columns=list("abcd")).assign(y=labels).to_csv("t.csv", index=False)
    _dips("fit", "t.csv", "--target", "y", "-o", tempfile.mkdtemp(dir=".") + "/run")


def paper() -> None:
    """Call dips paper run."""
    _dips("paper", "run", "clean-labels", "--seeds", "1", "--results", tempfile.mkdtemp(dir="."))


def images() -> None:
    """ImageClassifier.fit."""
    from dips.vision import ImageClassifier

    rng = np.random.RandomState(0)
    X, y = rng.randint(0, 255, (64, 16, 16, 3)).astype(np.uint8), rng.randint(0, 2, 64)
    y[32:] = -1
    ImageClassifier("tiny", n_steps=4, batch_size=4, pilot_steps=2, random_state=0).fit(X, y)


CALLS = {call.__name__: call for call in (adaptive, default, command, paper, images)}


def entered_by(name: str) -> list[str]:
    """Modules whose functions a call runs; it is run once before, so that imports do not count."""
    modules: dict[str, None] = {}

    def note(frame, event, argument) -> None:
        if event == "call" and (path := frame.f_code.co_filename).startswith(_PACKAGE):
            modules.setdefault(path.removeprefix(_PACKAGE))

    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        CALLS[name]()
        sys.setprofile(note)
        try:
            CALLS[name]()
        finally:
            sys.setprofile(None)
    return list(modules)


def _table() -> tuple[np.ndarray, np.ndarray]:
    X = np.random.RandomState(0).normal(size=(200, 4))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    y[80:] = -1
    return X, y


def _dips(*arguments: str) -> None:
    sys.argv = ["dips", *arguments]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        main()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for name in [n for n in sys.argv[1:] if n in CALLS] or CALLS:
        modules = entered_by(name)
        print(f"{name}: {len(modules)} modules", *(modules if "--names" in sys.argv else ()), sep="\n  ")
