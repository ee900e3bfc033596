import numpy as np
import pytest
import torch

from dips.vision._crops import N_COLORS, N_CROP, N_VIEW, cropped, random_view, recolored

WHOLE = [1.0, 0.5, 0.5, 0.5, 0.9]  # the largest part, in the middle, not swapped
AS_IT_IS = [0.5, 0.5, 0.5, 0.5, 0.0, 0.9]  # factors of 1, no turn, recolored, not gray


def images(n=4, size=8, channels=3, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, 256, (n, size, size, channels), generator=generator, dtype=torch.uint8)


def numbers(n, k, seed=0):
    return torch.rand(n, k, generator=torch.Generator().manual_seed(seed))


def test_the_whole_image_in_its_own_colors_is_the_image():
    x = images().float()
    u = torch.tensor([WHOLE + AS_IT_IS]).expand(4, -1)
    assert torch.allclose(random_view(images(), u, flip=True), x, atol=1e-2)


def test_left_and_right_are_swapped_where_that_is_allowed():
    x = images().float()
    u = torch.tensor([[*WHOLE[:4], 0.1]]).expand(4, -1)
    assert torch.allclose(cropped(x, u, flip=True), x.flip(2), atol=1e-2)
    assert torch.allclose(cropped(x, u, flip=False), x, atol=1e-2)


def test_a_part_is_a_part():
    x = torch.arange(64.0).reshape(1, 8, 8, 1)  # grows from corner to corner
    left_top = cropped(x, torch.tensor([[0.0, 0.5, 0.0, 0.0, 0.9]]), flip=False)
    right_bottom = cropped(x, torch.tensor([[0.0, 0.5, 1.0, 1.0, 0.9]]), flip=False)
    side = 8 * 0.2**0.5  # a fifth of the area
    assert left_top.max() <= 9 * (side - 0.5) + 1e-3
    assert right_bottom.min() >= 63 - 9 * (side - 0.5) - 1e-3


def test_colors_turn_about_the_axis_of_grays():
    red = torch.tensor([200.0, 20.0, 20.0]).expand(1, 2, 2, 3)
    gray = torch.full((1, 2, 2, 3), 77.0)
    turn = torch.tensor([[0.5, 0.5, 0.5, 1.0, 0.0, 0.9]])  # a tenth of the circle
    turned = recolored(red, turn)[0, 0, 0]
    angle = 2 * np.pi / 10
    axis = np.ones(3) / np.sqrt(3)
    color = np.array([200.0, 20.0, 20.0])
    expected = (
        color * np.cos(angle) + np.cross(axis, color) * np.sin(angle) + axis * (axis @ color) * (1 - np.cos(angle))
    )  # Rodrigues
    assert np.allclose(turned.numpy(), expected.clip(0, 255), atol=1e-3)
    assert torch.allclose(recolored(gray, turn), gray, atol=1e-3)


def test_a_fifth_is_gray_and_a_fifth_keeps_its_colors():
    x = images(2000, 2).float()
    out = recolored(x, numbers(2000, N_COLORS))
    is_gray = (out - out.mean(dim=3, keepdim=True)).abs().amax(dim=(1, 2, 3)) < 1e-3
    is_same = (out == x).all(dim=3).all(dim=2).all(dim=1)
    assert 0.16 < is_gray.float().mean() < 0.24
    assert 0.12 < is_same.float().mean() < 0.2  # a fifth of those that are not gray


@pytest.mark.parametrize("channels", [1, 2, 3, 5])
def test_views_have_the_shape_of_their_images_and_pixels_in_range(channels):
    views = random_view(images(50, 9, channels), numbers(50, N_VIEW), flip=True)
    assert views.shape == (50, 9, 9, channels)
    assert views.min() >= 0
    assert views.max() <= 255


def test_the_same_numbers_make_the_same_view():
    assert N_VIEW == N_CROP + N_COLORS
    u = numbers(4, N_VIEW)
    assert torch.equal(random_view(images(), u, True), random_view(images(), u, True))
    assert not torch.equal(random_view(images(), u, True), random_view(images(), numbers(4, N_VIEW, seed=1), True))
