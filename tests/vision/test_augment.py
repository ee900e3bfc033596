import numpy as np
import pytest
import torch

from dips.vision._augment import N_WEAK, Augmentation, cut_out

ROWS = torch.arange(6)


@pytest.fixture
def images():
    return torch.from_numpy(np.random.RandomState(0).randint(0, 256, (6, 16, 16, 3)).astype(np.uint8))


def numbers(n, k, seed=0):
    return torch.rand(n, k, generator=torch.Generator().manual_seed(seed))


def test_without_flip_and_shift_weak_augmentation_changes_nothing(images):
    still = Augmentation(flip=False, shift=0)
    assert torch.equal(still.weak(images, ROWS, numbers(6, N_WEAK)), images)


def test_half_of_the_images_are_flipped(images):
    u = torch.tensor([[0.49, 0.5, 0.5], [0.5, 0.5, 0.5]])
    flipped, straight = Augmentation().weak(images, ROWS[:2], u)
    assert torch.equal(flipped, images[0].flip(1))
    assert torch.equal(straight, images[1])


def test_what_is_shifted_out_comes_back_mirrored(images):
    (shifted,) = Augmentation(flip=False).weak(images, ROWS[:1], torch.tensor([[0.0, 0.0, 0.5]]))
    assert torch.equal(shifted[2:], images[0, :-2])
    assert torch.equal(shifted[:2], images[0, [2, 1]])


def test_any_rows_can_be_drawn(images):
    drawn = Augmentation(flip=False, shift=0).weak(images, torch.tensor([5, 5, 0]), numbers(3, N_WEAK))
    assert torch.equal(drawn, images[[5, 5, 0]])


def test_strong_augmentation_depends_on_nothing_but_its_numbers(images):
    augmentation = Augmentation()
    u = numbers(6, augmentation.n_strong)
    once, again = (augmentation.strong(images, ROWS, u) for _ in range(2))
    assert torch.equal(once, again)
    assert not torch.equal(once, augmentation.strong(images, ROWS, numbers(6, augmentation.n_strong, seed=1)))


def test_each_image_has_its_own_draw(images):
    augmentation = Augmentation()
    u = numbers(6, augmentation.n_strong)
    alone = torch.cat([augmentation.strong(images, ROWS[k : k + 1], u[k : k + 1]) for k in range(6)])
    torch.testing.assert_close(augmentation.strong(images, ROWS, u), alone)


def test_strong_images_stay_in_range(images):
    many = torch.randint(0, 6, (500,))
    out = Augmentation().strong(images, many, numbers(500, Augmentation().n_strong))
    rounding = 1e-3
    assert out.min() >= -rounding
    assert out.max() <= 255 + rounding


def test_cutout_blanks_one_square_of_the_drawn_size():
    x = torch.zeros(1, 20, 20, 3)
    out = cut_out(x, torch.tensor([[0.5, 0.5, 0.8]]), share=0.5)
    blank = (out != 0).all(dim=3)[0]
    assert blank.sum() == 8 * 8
    assert blank[6:14, 6:14].all()
    assert cut_out(x, torch.tensor([[0.5, 0.5, 0.0]]), share=0.5).eq(0).all()
