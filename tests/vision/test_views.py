import numpy as np
import pytest
import torch

from dips.vision import Augmentation, ImageClassifier
from dips.vision._report import _features
from dips.vision._views import View, averaged_views

from .examples import colors, dirty_labels

QUICK = {"curator": "none", "n_steps": 4, "n_rounds": 1, "batch_size": 8, "random_state": 0, "device": "cpu"}


@pytest.fixture
def images():
    return torch.from_numpy(np.random.RandomState(0).randint(0, 256, (3, 6, 8, 3)).astype(np.uint8))


def fitted(**settings):
    return ImageClassifier("tiny", **QUICK, **settings).fit(colors()[0], dirty_labels())


def test_a_view_moves_and_flips(images):
    assert torch.equal(View().of(images), images)
    assert torch.equal(View(flip=True).of(images), images.flip(2))
    moved = View(down=1, right=-2).of(images)
    assert torch.equal(moved[:, 1:, :-2], images[:, :-1, 2:])
    assert torch.equal(View(1, -2, flip=True).of(images), moved.flip(2))


@pytest.mark.parametrize(("flip", "n_views"), [(True, 6), (False, 3)])
def test_the_weights_add_up_to_one(flip, n_views):
    views = averaged_views(flip)
    assert len(set(views)) == n_views
    assert sum(view.weight for view in views) == 1
    assert any(view.flip for view in views) == flip


def test_probabilities_are_the_mean_over_views():
    clf, X = fitted(), torch.from_numpy(colors()[0])
    views = clf.views_
    clf.views_ = (View(),)
    expected = sum(view.weight * clf.predict_proba(view.of(X).numpy()) for view in views)
    clf.views_ = views
    np.testing.assert_allclose(clf.predict_proba(X.numpy()), expected, atol=1e-6)


def test_letters_are_not_mirrored():
    assert not any(view.flip for view in fitted(augmentation=Augmentation(flip=False)).views_)


def test_without_averaging_the_image_is_looked_at_once():
    assert fitted(average_views=False).views_ == (View(),)


def test_an_image_is_compared_with_others_as_it_is():
    X = colors()[0]
    assert len(_features(fitted(), X)) == len(X)
