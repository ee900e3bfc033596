"""Every operation against Pillow's, which the published ones are made of."""

import numpy as np
import pytest
import torch

from dips.vision._randaugment import OPERATIONS, apply_operation, random_operation

Image = pytest.importorskip("PIL.Image")
ImageEnhance, ImageOps = pytest.importorskip("PIL.ImageEnhance"), pytest.importorskip("PIL.ImageOps")

FACTORS = {"brightness": "Brightness", "color": "Color", "contrast": "Contrast", "sharpness": "Sharpness"}


def smooth_image(size=16, seed=0):
    """Return an image of slow changes: a nearest neighbor is then a near one."""
    rng = np.random.RandomState(seed)
    coarse = Image.fromarray(rng.randint(20, 230, (4, 4, 3)).astype(np.uint8))
    return np.asarray(coarse.resize((size, size), Image.BILINEAR))


def apply(name, image, magnitude=0.5, sign=1.0):
    x = torch.from_numpy(image.copy()).float()[None]
    drawn = torch.tensor([OPERATIONS.index(name)])
    return apply_operation(x, drawn, torch.tensor([magnitude]), torch.tensor([sign]))[0].numpy()


def assert_close(ours, theirs, levels=1.5):
    """Pillow rounds the image it blends with, and cuts off the result: up to a level and a half in all."""
    assert np.abs(ours - np.asarray(theirs, dtype=float)).max() <= levels


@pytest.mark.parametrize("name", FACTORS)
@pytest.mark.parametrize("magnitude", [0.0, 0.5, 1.0])
def test_blends_are_pillows(name, magnitude):
    image = smooth_image()
    theirs = getattr(ImageEnhance, FACTORS[name])(Image.fromarray(image)).enhance(0.05 + 0.9 * magnitude)
    assert_close(apply(name, image, magnitude), theirs)


def test_autocontrast_is_pillows():
    assert_close(apply("autocontrast", smooth_image()), ImageOps.autocontrast(Image.fromarray(smooth_image())), 2)


def test_equalize_is_pillows():
    image = smooth_image(32)
    assert_close(apply("equalize", image), ImageOps.equalize(Image.fromarray(image)), levels=0)


@pytest.mark.parametrize("name", ["autocontrast", "equalize"])
def test_an_image_of_one_level_stays(name):
    image = np.full((8, 8, 3), 77, dtype=np.uint8)
    assert_close(apply(name, image), image)


@pytest.mark.parametrize(("magnitude", "bits"), [(0.0, 4), (0.5, 6), (1.0, 8)])
def test_posterize_is_pillows(magnitude, bits):
    image = smooth_image()
    assert_close(apply("posterize", image, magnitude), ImageOps.posterize(Image.fromarray(image), bits), levels=0)


def test_solarize_is_pillows():
    image = smooth_image()
    assert_close(apply("solarize", image, 0.5), ImageOps.solarize(Image.fromarray(image), 128), levels=0)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_rotation_is_pillows(sign):
    image = smooth_image(32)
    theirs = np.asarray(Image.fromarray(image).rotate(-15 * sign, Image.NEAREST), dtype=float)
    middle = (slice(8, 24), slice(8, 24))  # where neither fills in
    assert np.abs(apply("rotate", image, 0.5, sign)[middle] - theirs[middle]).mean() < 2


def test_translation_moves_by_its_share_and_fills_with_gray():
    image = smooth_image(20)
    moved = apply("translate_x", image, 1.0, 1.0)  # 0.3 of 20 pixels
    assert_close(moved[:, :14], image[:, 6:])
    assert (moved[:, 14:] == 128).all()


@pytest.mark.parametrize("name", ["rotate", "shear_x", "shear_y", "translate_x", "translate_y"])
def test_moving_by_nothing_changes_nothing(name):
    assert_close(apply(name, smooth_image(), magnitude=0.0), smooth_image(), levels=0)


def test_identity_changes_nothing():
    assert_close(apply("identity", smooth_image()), smooth_image(), levels=0.01)


def test_all_operations_are_drawn_about_equally_often():
    n = 1400
    x, which = torch.zeros(n, 8, 8, 3), torch.arange(n) / n
    assert random_operation(x, which, torch.zeros(n), torch.zeros(n)).shape == x.shape
    assert torch.bincount((which * len(OPERATIONS)).long()).tolist() == [100] * 14


def test_gray_images_are_augmented_too():
    x = torch.from_numpy(smooth_image()[..., :1].copy()).float()[None].repeat(14, 1, 1, 1)
    out = apply_operation(x, torch.arange(14), torch.full((14,), 0.5), torch.ones(14))
    assert out.shape == x.shape
    assert out.isfinite().all()
