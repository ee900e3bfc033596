"""The images of one step: drawn from the pool or fed ahead, then augmented."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from dips.vision._augment import N_WEAK, Augmentation
from dips.vision._feed import Fed, drawn_rows
from dips.vision._image_pool import ImagePool
from dips.vision._method import Batch


class Draw(NamedTuple):
    """What decides which images a step sees; its tensors are buffers that a recorded step reads in place.

    Attributes
    ----------
    rows : (n,) labeled rows that may be trained on, the first `n_rows` of them
    n_rows : how many these are
    pseudo_useful : (n,) which rows of the pool may be pseudo-labeled
    u : (m, k) random numbers in [0, 1) of each view; the first column draws the rows
    sizes : labeled and unlabeled images of the step
    fed : the step's images, if they do not come from the device
    """

    rows: Tensor
    n_rows: Tensor
    pseudo_useful: Tensor
    u: Tensor
    sizes: tuple[int, int]
    fed: Fed | None

    def images(self, pool: ImagePool) -> tuple[Tensor, tuple[Tensor, ...], tuple[Tensor, ...]]:
        """Images; rows of the pool that the step draws, labeled and unlabeled; and where among the images these are."""
        if self.fed is None:
            drawn = drawn_rows(self.u, self.rows, self.n_rows, pool.images.shape[0], self.sizes)
            return pool.images, drawn, drawn
        places = torch.arange(sum(self.sizes), device=self.u.device)
        return self.fed.images, self.fed.rows.split(self.sizes), places.split(self.sizes)


def weak_and_strong(pool: ImagePool, draw: Draw, augmentation: Augmentation, dtype: torch.dtype) -> Batch:
    """Labeled images in a weak view, unlabeled ones in a weak and a strong view."""
    for_labeled, for_weak, for_strong = draw.u.split([*draw.sizes, draw.sizes[1]])
    images, (labeled, unlabeled), (at_labeled, at_unlabeled) = draw.images(pool)
    weak_labeled = augmentation.weak(images, at_labeled, for_labeled[:, 1 : 1 + N_WEAK])
    weak = augmentation.weak(images, at_unlabeled, for_weak[:, 1 : 1 + N_WEAK])
    strong = augmentation.strong(images, at_unlabeled, for_strong[:, 1:])
    return Batch(
        pool.scaling(weak_labeled, dtype),
        pool.labels[labeled],
        pool.scaling(weak, dtype),
        pool.scaling(strong, dtype),
        draw.pseudo_useful[unlabeled],
    )
