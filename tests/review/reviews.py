"""Reviews to test: of copies of one run, so that each test decides for itself."""

import itertools
import shutil

from dips._study.reviewing import desk_of_run, server_of_run
from dips._study.run import Run

_clients = (f"client-{n}" for n in itertools.count())


def copy_of(finished, place):
    """The run, with its table beside it."""
    shutil.copytree(finished, place, dirs_exist_ok=True)
    return Run(place / "run")


def desk_in(finished, place, **settings):
    run = copy_of(finished, place)
    return desk_of_run(run, [place / "patients.csv"], **settings)


def server_in(finished, place, **settings):
    run = copy_of(finished, place)
    return server_of_run(run, [place / "patients.csv"], **settings)


def client():
    return next(_clients)


def other_class(desk, row):
    return next(c for c in desk.material.classes if c != desk.material.given[row])


def decide(desk, reviewer, row, action="keep", label=None, note=""):
    return desk.decide(reviewer, client(), row, action, label, note)


def correct(desk, reviewer, row):
    """Give a row another label than it has."""
    return decide(desk, reviewer, row, "label", other_class(desk, row))
