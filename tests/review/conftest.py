import pytest

from dips._study import fit
from tests.effort import quick_studies
from tests.patients import patients


@pytest.fixture(autouse=True, scope="module")
def quick():
    with quick_studies():
        yield


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """A run on a CSV file, to be copied by tests that decide something."""
    place = tmp_path_factory.mktemp("finished")
    with quick_studies():
        frame, _ = patients(n=200, n_labeled=160, noise=0.15)
        frame.to_csv(place / "patients.csv", index=False)
        fit(place / "patients.csv", "outcome", place / "run", id=("patient",), time_limit=1e-6)
    return place
