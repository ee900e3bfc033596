"""Files as people have them: each comes out upright, gray or color, in eight bits."""

import numpy as np
import pytest

from dips._files.pictures import decode, read_header

Image = pytest.importorskip("PIL.Image")

RED, WHITE = (255, 0, 0), (255, 255, 255)


def saved(tmp_path, image, name="image.png", **how):
    image.save(tmp_path / name, **how)
    return tmp_path / name


def corners(path, mode="RGB"):
    """The pixels of an image that is 20 wide and 10 high: upper left, lower right."""
    pixels = decode(path, (10, 20), mode)
    return tuple(pixels[1, 1].tolist()), tuple(pixels[-2, -2].tolist())


def two_halves(mode, left, right):
    image = Image.new(mode, (20, 10), right)
    image.paste(left, (0, 0, 10, 10))
    return image


@pytest.mark.parametrize(
    ("mode", "left", "right", "seen"),
    [
        ("RGB", RED, WHITE, (RED, WHITE)),
        ("L", 40, 200, ((40,) * 3, (200,) * 3)),
        ("1", 0, 1, ((0,) * 3, (255,) * 3)),
        ("RGBA", (*RED, 255), (0, 0, 0, 0), (RED, WHITE)),  # what is transparent hides black
        ("LA", (40, 255), (0, 0), ((40,) * 3, WHITE)),
    ],
)
def test_every_kind_of_pixel_becomes_color(tmp_path, mode, left, right, seen):
    assert corners(saved(tmp_path, two_halves(mode, left, right))) == seen


def test_a_palette_is_looked_up_and_its_transparent_entry_is_white(tmp_path):
    image = two_halves("P", 3, 7)
    image.putpalette([k for number in range(256) for k in (RED if number == 3 else (0, number, 0))])
    assert corners(saved(tmp_path, image)) == (RED, (0, 7, 0))
    assert corners(saved(tmp_path, image, transparency=7)) == (RED, WHITE)


def test_the_inks_of_a_printer_become_light(tmp_path):
    path = saved(tmp_path, two_halves("CMYK", (0, 255, 255, 0), (0, 0, 0, 0)), "print.jpg", quality=100)
    seen = np.array(corners(path))
    np.testing.assert_allclose(seen, [RED, WHITE], atol=6)
    assert not read_header(path).is_gray


@pytest.mark.parametrize("name", ["scan.png", "scan.tif"])
def test_sixteen_bits_are_windowed_to_their_own_range(tmp_path, name):
    values = np.full((10, 20), 1000, dtype=np.uint16)
    values[:, 10:], values[5:, :5] = 3000, 2000
    path = saved(tmp_path, Image.fromarray(values), name)
    header = read_header(path)
    assert (header.is_gray, header.is_deep) == (True, True)
    pixels = decode(path, (10, 20), "L")
    assert (pixels[1, 1, 0], pixels[8, 1, 0], pixels[1, 15, 0]) == (0, 128, 255)


def test_numbers_with_a_point_are_windowed_and_gaps_are_dark(tmp_path):
    values = np.linspace(-1, 1, 200, dtype=np.float32).reshape(10, 20)
    values[0, 0] = np.nan
    pixels = decode(saved(tmp_path, Image.fromarray(values), "map.tif"), (10, 20), "L")
    assert (pixels[0, 0, 0], pixels[-1, -1, 0]) == (0, 255)


def test_a_flat_image_of_sixteen_bits_is_black(tmp_path):
    path = saved(tmp_path, Image.fromarray(np.full((10, 20), 700, dtype=np.uint16)))
    assert decode(path, (10, 20), "L").max() == 0


@pytest.mark.parametrize("orientation", [1, 3, 6, 8])
def test_images_are_turned_upright(tmp_path, orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    upright = two_halves("RGB", RED, WHITE)
    as_stored = upright.rotate({1: 0, 3: 180, 6: 90, 8: 270}[orientation], expand=True)
    path = saved(tmp_path, as_stored, "photo.jpg", exif=exif, quality=100, subsampling=0)
    assert read_header(path)[:2] == (10, 20)
    np.testing.assert_allclose(np.array(corners(path)), [RED, WHITE], atol=6)


def test_a_large_photograph_is_resized_as_a_whole(tmp_path):
    path = saved(tmp_path, two_halves("RGB", RED, WHITE).resize((2000, 1000)), "photo.jpg")
    pixels = decode(path, (16, 16), "RGB")
    assert pixels.shape == (16, 16, 3)
    np.testing.assert_allclose(pixels[8, [1, 14]], [RED, WHITE], atol=6)
