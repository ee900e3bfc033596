"""Images of three colors, a network that learns them in a second, and labels of which some are wrong."""

import numpy as np
import torch

from dips.vision._fixmatch import FixMatch
from dips.vision._image_pool import ImagePool
from dips.vision._optimizer import Schedule
from dips.vision._rounds import CurationPlan, ImageRounds
from dips.vision._training import Recipe, Training
from dips.vision._turns import interleave

N, N_LABELED, N_WRONG, N_CLASSES = 120, 45, 9, 3
CPU = torch.device("cpu")
PLAN = CurationPlan(warm_up_steps=40, n_rounds=3, n_checkpoints=3, pilot_steps=40)


def colors(n=N, size=8, random_state=0):
    """Return noise in which one of three channels is brighter, and which."""
    rng = np.random.RandomState(random_state)
    truth = np.arange(n) % N_CLASSES
    X = rng.randint(0, 120, (n, size, size, 3)).astype(np.uint8)
    X[np.arange(n), :, :, truth] += 90
    return X, truth


def dirty_labels():
    """The first labels are wrong, the last are hidden."""
    y = colors()[1]
    y[:N_WRONG] = (y[:N_WRONG] + 1) % N_CLASSES
    y[N_LABELED:] = -1
    return y


def recipe(n_steps=45, method=None, **settings):
    settings = {"batch_size": 8, "unlabeled_ratio": 2} | settings
    return Recipe("tiny", method or FixMatch(), Schedule(n_steps, lr=0.05), **settings)


def pool():
    return ImagePool.of(colors()[0], dirty_labels(), N_CLASSES, CPU)


def training(seed=0, **settings):
    images = pool()
    return Training(images, recipe(**settings), images.labeled_rows, seed)


def run_of(curator, plan=PLAN, seed=0, **settings):
    run = ImageRounds(pool(), recipe(), plan, curator, seed, **settings)
    interleave([run.proceed()])
    return run


def weights(network):
    return torch.cat([p.detach().flatten() for p in network.parameters()])
