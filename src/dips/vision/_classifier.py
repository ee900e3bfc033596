"""ImageClassifier: FixMatch or FreeMatch on useful labels, as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from dips._data.containers import row_names
from dips._data.labels import UNLABELED, Labels, labels_of_rows, true_labels
from dips._data.verified import check_verified
from dips._estimators.samples import samples_frame
from dips._tools.arrays import Array
from dips._tools.checkpoints import output_file
from dips._tools.sklearn_compat import Interval, fit_context
from dips.curators import Curator
from dips.curators._choose import resolve_curator
from dips.exceptions import InputError
from dips.vision import _distributed
from dips.vision._augment import Augmentation
from dips.vision._fixmatch import FixMatch
from dips.vision._freematch import FreeMatch
from dips.vision._image_pool import ImagePool, on_host
from dips.vision._images import as_images
from dips.vision._method import Method
from dips.vision._networks import NETWORKS
from dips.vision._observer import FitObserver
from dips.vision._optimizer import Schedule
from dips.vision._report import write_report, write_review
from dips.vision._rounds import CurationPlan, ImageRounds
from dips.vision._training import Recipe, predict
from dips.vision._turns import interleave

METHODS: dict[str, Callable[..., Method]] = {"fixmatch": FixMatch, "freematch": FreeMatch}
_MAX_SEED = 2**31 - 1
_POSITIVE = [Interval(Integral, 1, None, closed="left")]


class ImageClassifier(ClassifierMixin, BaseEstimator):
    """Semi-supervised learning from images of which few are labeled, some of them wrongly.

    First short trainings, each without a part of the labels, say how many of them are wrong. Where none are shown to
    be, FixMatch or FreeMatch is trained on all labels, as if there were no curator. Otherwise every label is judged by
    how it was learned, in a warm-up on the labeled images alone and then after each round of the training, so that a
    suspect may become useful. Labels are always judged by the averaged network in evaluation mode, on images without
    augmentation.

    Parameters
    ----------
    network : str or callable, default="fast"
        "fast", "wrn-28-2", "wrn-28-8", "tiny", or a function of (n_classes, n_channels) that returns a module.
    method : str or Method, default="fixmatch"
        "fixmatch", "freematch", or an object with settings.
    curator : str, Curator or callable, default="auto"
        Judges the labels: "auto" (:class:`~dips.curators.ImageAuto`), "percentile" (the authors' rule for images),
        the name of any other curator that judges images, such as "dips" or "none", an object with settings, or a
        function of :class:`~dips.curators.Evidence` that returns a mask.
    n_steps : int, default=20_000
        Number of training steps.
    n_rounds : int, default=20
        Number of rounds. Labels are judged at the start and after each round but the last.
    warm_up_steps : int, default=1000
        Number of training steps on the labeled images alone, for curators that begin with them.
    pilot_steps : int, optional
        Number of training steps of each pilot, by which the default estimates the noise; None takes a tenth of
        `n_steps`, and at least 2,000.
    batch_size, unlabeled_ratio : int, default=64 and 7
        Labeled images per step, and unlabeled images for each labeled one.
    lr : float, default=0.06
        Initial learning rate of SGD with Nesterov's momentum and a cosine schedule. The FixMatch paper has 0.03.
    curate_pseudo_labels : bool, default=False
        Judge pseudo-labels too, and train only on the useful ones.
    augmentation : Augmentation, optional
        How images are varied; turn flips off for letters.
    device : str, optional
        Where to train; None takes a GPU if there is one.
    compiled : bool, optional
        Whether to compile the step; None does so on a GPU.
    stream : bool, optional
        Whether images stay where they are, such as in a memory map, and each step's are sent to the device while it
        trains on the last ones; None does so where they would take more than half of the memory there. On a CPU the
        results are the same.
    checkpoint : path, optional
        A file written after every round. If it exists, training continues from it, to the same result.
    log : path, optional
        A file to which JSON lines are added: loss, share of pseudo-labels used, accuracy on the validation images.
    random_state : int, RandomState or None, default=None
    verbose : int, default=0
        Above 0, progress bars on a terminal, with images per second and the time left.

    Attributes
    ----------
    network_, scaling_ : the averaged network, and the scaling of its input
    classes_ : the classes
    history_ : data frame, one row per round; round 0 is the curation at the start
    samples_ : data frame, one row per image, with the columns of :class:`~dips.PseudoLabelClassifier`. A pseudo-label
        is one that the last network is confident enough to train on; its confidence is missing unless it was judged
    transduction_ : the label each image ended with; images that were never labeled keep the mark of the input
    curator_ : the curator, with what it learned
    label_curves_ : data frame, one row per labeled image and one column per checkpoint (its round and number), with the
        probability of the given label; round 0 is before the training, and the last round is not watched

    Notes
    -----
    Several GPUs: start the script with ``torchrun --nproc-per-node=N``. Each process trains on its share of every
    batch, all end with the same network, and the first one writes the files.

    Examples
    --------
    >>> import numpy as np
    >>> from dips.vision import ImageClassifier
    >>> rng = np.random.RandomState(0)
    >>> y = np.arange(60) % 2
    >>> X = rng.randint(0, 100, (60, 8, 8, 3), dtype=np.uint8) + (100 * y[:, None, None, None]).astype(np.uint8)
    >>> clf = ImageClassifier("tiny", curator="none", n_steps=20, n_rounds=2, batch_size=8, random_state=0)
    >>> clf.fit(X, np.where(np.arange(60) < 20, y, -1)).score(X, y) > 0.9
    True
    """

    _parameter_constraints = {
        "network": [str, callable],
        "method": [str, Method],
        "curator": [str, Curator, callable],
        "n_steps": _POSITIVE,
        "n_rounds": _POSITIVE,
        "warm_up_steps": _POSITIVE,
        "pilot_steps": [*_POSITIVE, None],
        "batch_size": _POSITIVE,
        "unlabeled_ratio": _POSITIVE,
        "lr": [Interval(Real, 0, None, closed="neither")],
        "curate_pseudo_labels": ["boolean"],
        "augmentation": [Augmentation, None],
        "device": [str, torch.device, None],
        "compiled": ["boolean", None],
        "stream": ["boolean", None],
        "checkpoint": [str, Path, None],
        "log": [str, Path, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        network: str | Callable[[int, int], torch.nn.Module] = "fast",
        *,
        method: str | Method = "fixmatch",
        curator: str | Curator | Callable[..., Any] = "auto",
        n_steps: int = 20_000,
        n_rounds: int = 20,
        warm_up_steps: int = 1000,
        pilot_steps: int | None = None,
        batch_size: int = 64,
        unlabeled_ratio: int = 7,
        lr: float = 0.06,
        curate_pseudo_labels: bool = False,
        augmentation: Augmentation | None = None,
        device: str | torch.device | None = None,
        compiled: bool | None = None,
        stream: bool | None = None,
        checkpoint: str | Path | None = None,
        log: str | Path | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.network = network
        self.method = method
        self.curator = curator
        self.n_steps = n_steps
        self.n_rounds = n_rounds
        self.warm_up_steps = warm_up_steps
        self.pilot_steps = pilot_steps
        self.batch_size = batch_size
        self.unlabeled_ratio = unlabeled_ratio
        self.lr = lr
        self.curate_pseudo_labels = curate_pseudo_labels
        self.augmentation = augmentation
        self.device = device
        self.compiled = compiled
        self.stream = stream
        self.checkpoint = checkpoint
        self.log = log
        self.random_state = random_state
        self.verbose = verbose

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, X_val: Any = None, y_val: Any = None, verified: Any = None) -> ImageClassifier:
        """Learn from labeled and unlabeled images.

        Parameters
        ----------
        X : (n, height, width, channels) uint8, or (n, height, width) if gray
        y : (n,)
            Unlabeled images are marked by -1 or a missing value.
        X_val, y_val : images and labels, optional
            Validation images. Their accuracy goes to the log and to ``history_``; nothing is chosen by it.
        verified : mask (n,), optional
            Labels that somebody has checked: never suspects, and trained on in every round.
        """
        images = as_images(X)
        labels = labels_of_rows(self, y, images.shape[0], "images")
        is_verified = check_verified(verified, None, [labels])[0].mask
        recipe, curator = self._recipe(), resolve_curator(self.curator, "images")
        checkpoint = None if self.checkpoint is None else output_file("checkpoint", self.checkpoint)
        log = None if self.log is None else output_file("log", self.log)
        plan = CurationPlan(
            self.warm_up_steps, self.n_rounds, pseudo_labels=self.curate_pseudo_labels, pilot_steps=self.pilot_steps
        )
        device = _distributed.join(_device(self.device))
        pool = ImagePool.of(images, labels.codes, labels.classes.size, device, self.stream)
        seed = _distributed.agreed(int(check_random_state(self.random_state).randint(_MAX_SEED)), device)
        validation = _validation(X_val, y_val, labels, images.shape[3], device)
        with FitObserver(bool(self.verbose), recipe.images_per_step, log) as observer:
            rounds = ImageRounds(
                pool,
                recipe,
                plan,
                curator,
                seed,
                validation=validation,
                observer=observer,
                path=checkpoint,
                is_verified=is_verified,
            )
            interleave([rounds.proceed()])
        self._keep(rounds, labels, row_names(y))
        return self

    def predict_proba(self, X: Any) -> Array:
        """Class probabilities (n, C), in the order of ``classes_``."""
        check_is_fitted(self)
        images = as_images(X, self.scaling_.mean.numel())
        return predict(self.network_, self.scaling_, on_host(images))

    def predict(self, X: Any) -> Array:
        """Most probable class."""
        p = self.predict_proba(X)
        return self.classes_[p.argmax(axis=1)]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy; every image must have a label."""
        check_is_fitted(self)
        return float(accuracy_score(true_labels(y, self.classes_), self.predict(X), sample_weight=sample_weight))

    def write_report(
        self, path: str | Path, X: Any, *, class_names: Sequence[str] | None = None, title: str = "images"
    ) -> None:
        """Write a page from which to relabel: one HTML file that opens without a network.

        Parameters
        ----------
        path : path
            The file to write.
        X : (n, height, width, channels) uint8, or (n, height, width) if gray
            The fitted images in the same order. They are only shown, so a larger or a colored version may be used. The
            page holds small copies of those that it lists or draws: keep it as private as the images.
        class_names : sequence of str, optional
            Names of the classes, in the order of ``classes_``; by default, the classes themselves.
        title : str
            What the page is about.
        """
        check_is_fitted(self)
        write_report(self, output_file("path", path), X, class_names, title)

    def write_review(
        self, folder: str | Path, X: Any, *, class_names: Sequence[str] | None = None, title: str = "images"
    ) -> None:
        """Write a folder that ``dips review`` opens: suspects one by one, beside the images most like them.

        Parameters
        ----------
        folder : path
            The folder to make. It holds all images: keep it as private as they are.
        X : (n, height, width, channels) uint8, or (n, height, width) if gray
            The fitted images in the same order, or a larger or a colored version of them.
        class_names : sequence of str, optional
            Names of the classes, in the order of ``classes_``; by default, the classes themselves.
        title : str
            What the review is about.
        """
        check_is_fitted(self)
        write_review(self, Path(folder), X, class_names, title)

    def _recipe(self) -> Recipe:
        if isinstance(self.network, str) and self.network not in NETWORKS:
            raise InputError(f"network={self.network!r} is not known; there are {', '.join(NETWORKS)}.")
        if isinstance(self.method, str) and self.method not in METHODS:
            raise InputError(f"method={self.method!r} is not known; there are {', '.join(METHODS)}.")
        return Recipe(
            self.network,
            METHODS[self.method]() if isinstance(self.method, str) else self.method,
            Schedule(self.n_steps, lr=self.lr),
            self.batch_size,
            self.unlabeled_ratio,
            Augmentation() if self.augmentation is None else self.augmentation,
            self.compiled,
        )

    def _keep(self, run: ImageRounds, labels: Labels, index: pd.Index | None) -> None:
        self.classes_, self.curator_ = labels.classes, run.curator
        self.network_, self.scaling_ = run.training.averaged, run.pool.scaling
        self.history_ = pd.DataFrame(run.history)
        p = run.training.probabilities()
        is_pseudo = ~run.is_given & run.training.is_sure(p) & run.useful
        final = np.where(run.is_given, run.labels, np.where(is_pseudo, p.argmax(axis=1), UNLABELED))
        has_suggestion = run.is_given & ~run.useful & (p.argmax(axis=1) != run.labels)
        self.samples_ = samples_frame(
            labels.decode_or_none,
            given=run.labels,
            final=final,
            rounds=np.where(run.is_given, 0, np.where(is_pseudo, self.n_rounds, -1)),
            confidence=run.confidence,
            aleatoric=run.aleatoric,
            useful=run.useful & (run.is_given | is_pseudo),
            p_wrong=run.p_wrong,
            verified=run.is_verified,
            suggested=np.where(has_suggestion, p.argmax(axis=1), UNLABELED),
            index=index,
        )
        self.transduction_ = labels.decode(final)
        checkpoints = pd.MultiIndex.from_tuples(list(run.curves), names=["round", "checkpoint"])
        self.label_curves_ = pd.DataFrame(run.curves, self.samples_.index[run.is_given], checkpoints)


def _device(device: str | torch.device | None) -> torch.device:
    if device is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return torch.device(device)


def _validation(
    X: Any, y: Any, labels: Labels, n_channels: int, device: torch.device
) -> tuple[torch.Tensor, Array] | None:
    if X is None:
        return None
    truth, classes = true_labels(y, labels.classes), labels.classes.tolist()
    codes = np.array([classes.index(label) if label in classes else UNLABELED for label in truth.tolist()])
    return torch.as_tensor(as_images(X, n_channels), device=device), codes
