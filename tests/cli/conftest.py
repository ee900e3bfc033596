import pytest

from tests.effort import quick_studies
from tests.patients import patients


@pytest.fixture(autouse=True, scope="module")
def quick():
    with quick_studies():
        yield


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """Where an audit of images keeps its training until it is done."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("cache")
        patch.setenv("DIPS_CACHE", str(folder))
        yield folder


@pytest.fixture(scope="module")
def one_torch_thread():
    """Trainings of a few images are faster on one thread."""
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a table of patients."""
    place = tmp_path_factory.mktemp("cli")
    patients()[0].to_csv(place / "patients.csv", index=False)
    return place


@pytest.fixture
def at_home(place, monkeypatch):
    monkeypatch.chdir(place)
