"""Pretraining: before any label is looked at, a network learns which two views are of the same image.

This is SimCLR (Chen et al. 2020). What the network has learned to see cannot be spoiled by wrong labels, so they are
told from right ones before they have been learned by heart.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from dips.exceptions import InputError
from dips.vision import _distributed
from dips.vision._augment import Augmentation
from dips.vision._crops import N_VIEW, random_view
from dips.vision._image_pool import ImagePool
from dips.vision._last_layer import last_linear, replace_layer
from dips.vision._method import Batch, Logits, Method
from dips.vision._networks import NETWORKS, build_network
from dips.vision._optimizer import Schedule
from dips.vision._parts import PRETRAINING
from dips.vision._step_images import Draw
from dips.vision._training import Recipe, Training
from dips.vision._unfinished import Unfinished

_MAX_EPOCHS = 400  # more teach little
_N_PROJECTED = 128
_NEVER = -1e4  # how alike a view is to itself
_LR_PER_IMAGE, _WEIGHT_DECAY = 0.2 / 512, 1e-4


@dataclass(frozen=True)
class Contrast(Method):
    """Two views of an image are to be more alike than views of any two images of the batch."""

    temperature: float = 0.2
    uses_unlabeled = False

    def loss(self, logits: Logits, batch: Batch, state: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Cross-entropy of finding each view's other half, and the share that was found."""
        z = normalize(torch.cat([logits.labeled, logits.strong]), dim=1)
        with torch.autocast(z.device.type, enabled=False):  # half precision cannot tell near views apart
            alike = z @ z.T / self.temperature
        alike = alike.masked_fill(torch.eye(len(z), dtype=torch.bool, device=z.device), _NEVER)
        of_pair = (z * z.roll(len(z) // 2, dims=0)).sum(dim=1) / self.temperature
        found = (alike.amax(dim=1) <= of_pair + 1e-4).float().mean()
        return (alike.logsumexp(dim=1) - of_pair).mean(), found.detach()


class Pretraining(Training):
    """A training on two views of each image, without labels."""

    @property
    def n_random(self) -> int:
        """Random numbers of an image: one draws it, the others make two views."""
        return 1 + 2 * N_VIEW

    @property
    def batch_maker(self) -> Callable[..., Batch]:
        """The views are where other trainings have labeled and strongly augmented images."""
        return _two_views


def pretrain(
    pool: ImagePool, recipe: Recipe, seed: int, unfinished: Unfinished
) -> Generator[None, None, dict[str, Tensor]]:
    """Pretrain the recipe's network, yielding after every few steps; return the weights of all but its last layer."""
    n_steps, batch_size = recipe.pretrain_steps, images_of_pretraining(recipe, pool.images.shape[0])
    projecting = replace(
        recipe,
        network=partial(_projecting, recipe.network, seed),
        method=Contrast(),
        schedule=Schedule(n_steps, lr=_LR_PER_IMAGE * batch_size, weight_decay=_WEIGHT_DECAY),
        batch_size=batch_size,
    )
    training = Pretraining(pool, projecting, np.arange(pool.images.shape[0]), seed)
    yield from unfinished.train(PRETRAINING, [training], n_steps)
    record = {"step": n_steps, "loss": float(training.loss), "found": float(training.coverage)}
    unfinished.progress.observer.on_record({"event": "pretraining"} | record)
    return _without_last_layer(training.averaged)


def usual_pretrain_steps(recipe: Recipe, n_images: int) -> int:
    """As many steps as the training has, but no more than help; a network that somebody brought is taken as it is."""
    if not (isinstance(recipe.network, str) and recipe.network in NETWORKS):
        return 0
    return min(recipe.schedule.n_steps, _MAX_EPOCHS * n_images // images_of_pretraining(recipe, n_images))


def check_pretrainable(network: nn.Module) -> None:
    """Refuse a network whose last layer cannot be told."""
    if last_linear(network) is None:
        raise InputError(
            "pretrain_steps needs a network that ends in a linear layer (torch.nn.Linear); this one has none. "
            "Add one, or set pretrain_steps=0."
        )


def images_of_pretraining(recipe: Recipe, n_images: int) -> int:
    """Images of a step: as many as a step of the training has, but not so many that most are drawn twice."""
    n = _distributed.n_processes()
    return max(2 * n, min(recipe.batch_size * (1 + recipe.unlabeled_ratio), n_images // 2) // n * n)


def _projecting(
    network: str | Callable[[int, int], nn.Module], seed: int, n_classes: int, n_channels: int
) -> nn.Module:
    """The network, with a small one in place of its last layer, whose answers are compared."""
    body = build_network(network, n_classes, n_channels, seed)
    name = last_linear(body)
    assert name is not None  # checked before any work
    width = body.get_submodule(name).in_features
    projection = [nn.Linear(width, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Linear(width, _N_PROJECTED)]
    replace_layer(body, name, nn.Sequential(*projection))
    return body


def _without_last_layer(network: nn.Module) -> dict[str, Tensor]:
    name = last_linear(network)
    projection = "" if name is None else name.rpartition(".")[0]
    return {k: v.clone() for k, v in network.state_dict().items() if not k.startswith(f"{projection}.")}


def _two_views(pool: ImagePool, draw: Draw, augmentation: Augmentation, dtype: torch.dtype) -> Batch:
    """Make two views of each of the step's images; there are no others."""
    images, (drawn, _), (at, _) = draw.images(pool)
    halves = draw.u[:, 1:].chunk(2, dim=1)
    first, second = (random_view(images[at], half, augmentation.flip) for half in halves)
    none = pool.scaling(first[:0], dtype)
    return Batch(
        pool.scaling(first, dtype), pool.labels[drawn], none, pool.scaling(second, dtype), draw.pseudo_useful[:0]
    )
