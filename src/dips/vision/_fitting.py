"""A fit of an image classifier: what was given is checked, rounds are run, and what was learned is kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
from sklearn.utils import check_random_state

from dips._beliefs.usefulness import check_gain
from dips._data.containers import row_names
from dips._data.labels import UNLABELED, Labels, labels_of_rows, true_labels
from dips._data.verified import check_verified
from dips._estimators.reasons import MORE_LIKELY
from dips._estimators.samples import samples_frame
from dips._tools.arrays import Array
from dips._tools.checkpoints import output_file
from dips._tools.observer import Observer
from dips._tools.seeds import draw_seed
from dips.curators._choose import resolve_curator
from dips.curators._image_auto import ImageAuto
from dips.exceptions import InputError
from dips.vision import _distributed
from dips.vision._augment import Augmentation
from dips.vision._fixmatch import FixMatch
from dips.vision._freematch import FreeMatch
from dips.vision._image_pool import ImagePool, Scaling, on_host
from dips.vision._images import as_images
from dips.vision._method import Method
from dips.vision._networks import NETWORKS, build_network, check_answers, check_network
from dips.vision._optimizer import Schedule
from dips.vision._pretraining import usual_pretrain_steps
from dips.vision._rounds import CurationPlan, ImageRounds
from dips.vision._training import Recipe
from dips.vision._turns import interleave
from dips.vision._views import AS_IT_IS, averaged_views

if TYPE_CHECKING:
    from dips.vision._classifier import ImageClassifier

METHODS: dict[str, Callable[..., Method]] = {"fixmatch": FixMatch, "freematch": FreeMatch}


def recipe_of(clf: ImageClassifier) -> Recipe:
    """How a classifier trains; refuses names that are not known."""
    check_network(clf.network)
    if isinstance(clf.method, str) and clf.method not in METHODS:
        raise InputError(f"method={clf.method!r} is not known; choose one of {', '.join(METHODS)}.")
    return Recipe(
        clf.network,
        METHODS[clf.method]() if isinstance(clf.method, str) else clf.method,
        Schedule(clf.n_steps, lr=clf.lr),
        clf.batch_size,
        clf.unlabeled_ratio,
        Augmentation() if clf.augmentation is None else clf.augmentation,
        compiled=clf.compiled,
    )


def fit_observed(
    clf: ImageClassifier,
    X: Any,
    y: Any,
    verified: Any,
    y_given: Any,
    observer: Observer,
    start: dict[str, torch.Tensor] | None,
) -> None:
    """Fit a classifier, watched by an observer of one's own; the others are the parameters of its ``fit``.

    `start` are the weights of a pretraining on the same images, which is then not repeated.
    """
    run, labels = prepared(clf, X, y, None, None, verified, y_given, observer, start)
    complete(clf, run, labels, y)


def complete(clf: ImageClassifier, run: ImageRounds, labels: Labels, y: Any) -> None:
    """Run the rounds of a fit, and keep what was learned."""
    interleave([run.proceed()])
    keep(clf, run, labels, row_names(y))


def prepared(
    clf: ImageClassifier, X: Any, y: Any, X_val: Any = None, y_val: Any = None, verified: Any = None,
    y_given: Any = None, observer: Observer | None = None, start: dict[str, torch.Tensor] | None = None,
) -> tuple[ImageRounds, Labels]:  # fmt: skip
    """The rounds of a fit, not yet run, and its labels; refuses bad input."""
    images = as_images(X)
    labels = labels_of_rows(clf, y, images.shape[0], "images")
    checked = check_verified(verified, y_given, [labels])[0]
    recipe, curator = recipe_of(clf), resolve_curator(clf.curator, "images")
    checkpoint = None if clf.checkpoint is None else output_file("checkpoint", clf.checkpoint)
    plan = CurationPlan(
        clf.warm_up_steps, clf.n_rounds, pseudo_labels=clf.curate_pseudo_labels, pilot_steps=clf.pilot_steps
    )
    device = _distributed.join(device_of(clf.device))
    scaling = _brought_scaling(recipe.network, labels.classes.size, images.shape, device)
    pool = ImagePool.of(images, labels.codes, labels.classes.size, device, clf.stream, scaling)
    n_steps = clf.pretrain_steps
    if n_steps is None:  # published curators are trained as published
        is_default = isinstance(curator, ImageAuto) and curator.has_pilots
        n_steps = usual_pretrain_steps(recipe, len(images)) if is_default else 0
    run = ImageRounds(
        pool,
        replace(recipe, pretrain_steps=n_steps, start=start),
        plan,
        curator,
        _distributed.agreed(draw_seed(check_random_state(clf.random_state)), device),
        validation=_validation(X_val, y_val, labels, images.shape[3], device),
        observer=observer,
        path=checkpoint,
        verified=checked,
    )
    return run, labels


def keep(clf: ImageClassifier, run: ImageRounds, labels: Labels, index: pd.Index | None) -> None:
    """Give the classifier what was learned."""
    clf.classes_, clf.curator_ = labels.classes, run.curator
    clf.network_, clf.scaling_ = run.training.averaged, run.pool.scaling
    clf.pretrained_weights_ = run.recipe.start
    clf.views_ = averaged_views(run.recipe.augmentation.flip) if clf.average_views else AS_IT_IS
    clf.image_size_ = (run.pool.images.shape[1], run.pool.images.shape[2])
    clf.history_ = pd.DataFrame(run.history)
    p = run.training.probabilities()
    is_pseudo = ~run.is_given & run.training.is_sure(p) & run.useful
    final = np.where(run.is_given, run.labels, np.where(is_pseudo, p.argmax(axis=1), UNLABELED))
    clf.samples_ = samples_frame(
        labels.decode_or_none,
        given=run.labels,
        final=final,
        rounds=np.where(run.is_given, 0, np.where(is_pseudo, clf.n_rounds, -1)),
        confidence=run.confidence,
        aleatoric=run.aleatoric,
        useful=run.useful & (run.is_given | is_pseudo),
        p_wrong=run.p_wrong,
        check_gain=_check_gain(run, labels.classes.size),
        verified=run.verified.mask,
        suggested=_suggested(run, p),
        index=index,
    )
    clf.transduction_ = labels.decode(final)
    checkpoints = pd.MultiIndex.from_tuples(list(run.curves), names=["round", "checkpoint"])
    clf.label_curves_ = pd.DataFrame(run.curves, clf.samples_.index[run.is_given], checkpoints)


def _suggested(run: ImageRounds, p: Array) -> Array:
    """Another class for each suspect; where none is, by the pilots, for each label that is more probably wrong."""
    best, doubted = p.argmax(axis=1), run.is_given & ~run.useful
    if not doubted.any() and run.unseen is not None:
        best[run.rows], doubted = run.unseen.argmax(axis=1), run.is_given & (run.p_wrong > MORE_LIKELY)
    return np.where(doubted & (best != run.labels), best, UNLABELED)


def _check_gain(run: ImageRounds, n_classes: int) -> Array:
    """What a look at each label is worth; NaN without beliefs."""
    gain, given = np.full(run.p_wrong.shape, np.nan), run.is_given
    if not np.isnan(run.p_wrong[given]).any():
        gain[given] = check_gain(run.p_wrong[given], run.labels[given], run.verified.mask[given], n_classes)
    return gain


def device_of(device: str | torch.device | None) -> torch.device:
    """The device of this name; None for a GPU if there is one."""
    if device is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        found = torch.device(device)
    except RuntimeError:
        raise InputError(f"device={device!r} is not known to PyTorch; use 'cpu', or 'cuda' for a GPU.") from None
    if found.type == "cuda" and not torch.cuda.is_available():
        raise InputError(
            f"device={device!r} needs a GPU, and PyTorch finds none here; leave device out to use the CPU."
        )
    return found


def _validation(
    X: Any, y: Any, labels: Labels, n_channels: int, device: torch.device
) -> tuple[torch.Tensor, Array] | None:
    if X is None:
        return None
    truth, classes = true_labels(y, labels.classes), labels.classes.tolist()
    codes = np.array([classes.index(label) if label in classes else UNLABELED for label in truth.tolist()])
    return on_host(as_images(X, n_channels)).to(device), codes


def _brought_scaling(
    network: str | Callable[[int, int], torch.nn.Module], n_classes: int, shape: tuple[int, ...], device: torch.device
) -> Scaling | None:
    """The scaling of pixels that a network of the user's was trained with, where it says so; checks the network."""
    if isinstance(network, str) and network in NETWORKS:
        return None
    brought = build_network(network, n_classes, shape[3], seed=0)
    check_answers(brought, n_classes, shape[1:])
    moments = getattr(brought, "pixel_scaling", None)
    if moments is None:
        return None
    return Scaling(*(torch.as_tensor(m, dtype=torch.float32, device=device) for m in moments))
