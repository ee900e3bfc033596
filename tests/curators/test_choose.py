import pytest

from dips import CuratedClassifier
from dips._study.settings import Settings
from dips.curators import Adaptive, Beliefs, Curator, ImageAuto, Percentile
from dips.curators._choose import curator_names, resolve_curator
from dips.exceptions import SettingsError


class ForAll(Curator):
    """Has no name, so that nobody else finds it."""


def test_auto_is_the_default_for_the_data():
    assert type(resolve_curator("auto", "tables")) is Beliefs
    assert type(resolve_curator("auto", "images")) is ImageAuto


@pytest.mark.parametrize("kind", ["tables", "images"])
def test_a_curator_judges_tables_and_images_unless_it_says_otherwise(kind):
    assert type(resolve_curator(ForAll(), kind)) is ForAll
    assert resolve_curator(lambda evidence: evidence.is_given, kind).function
    assert type(resolve_curator(Adaptive(), kind)) is Adaptive  # on images without its linear model


def test_names_are_those_that_judge_the_data():
    assert set(curator_names("tables")) ^ set(curator_names("images")) == {
        "beliefs",
        "fine",
        "image_auto",
        "percentile",
    }


@pytest.mark.parametrize("curator", ["percentile", "image_auto", Percentile()])
def test_a_table_refuses_a_curator_of_images_before_any_work(curator):
    words = (
        r"curator='?\w+'? is for images and cannot judge tables; choose among auto, adaptive, beliefs, confidence, dips"
    )
    with pytest.raises(ValueError, match=words):
        CuratedClassifier(curator=curator).fit([[0.0], [1.0]], [0, 1])


def test_a_study_refuses_a_curator_of_images():
    with pytest.raises(SettingsError, match="curator='percentile' is for images"):
        Settings("y", curator="percentile").checked()


@pytest.mark.parametrize("kind", ["tables", "images"])
def test_an_unknown_name_is_answered_with_those_that_judge_the_data(kind):
    with pytest.raises(ValueError, match="is not known") as error:
        resolve_curator("mood", kind)
    assert str(error.value).endswith(f"There are {', '.join(curator_names(kind))}.")
