"""ImageClassifier: FreeMatch or FixMatch on useful labels, as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from dips._data.labels import true_labels
from dips._tools.arrays import Array
from dips._tools.checkpoints import output_file
from dips._tools.sklearn_compat import Interval, fit_context
from dips._tools.warnings import warn
from dips.curators import Curator
from dips.vision import _distributed
from dips.vision._augment import Augmentation
from dips.vision._duration import warn_if_long
from dips.vision._fitting import complete, device_of, prepared, recipe_of
from dips.vision._image_pool import on_host
from dips.vision._images import as_images
from dips.vision._method import Method
from dips.vision._observer import FitObserver
from dips.vision._report import write_report, write_review
from dips.vision._saved import load_into, save
from dips.vision._training import predict

_POSITIVE = [Interval(Integral, 1, None, closed="left")]


class ImageClassifier(ClassifierMixin, BaseEstimator):
    """Semi-supervised learning from images of which few are labeled, some of them wrongly.

    First the network learns from the images alone, without labels. Then short trainings that each leave out a part of
    the labels estimate how many labels are wrong. If none are shown to be, FreeMatch or FixMatch is trained on all
    labels, as if there were no curator. Otherwise every label is judged by how it was learned, in a warm-up on the
    labeled images alone and then after each round of the training, so a suspect may become useful again. Labels are
    always judged by the averaged network in evaluation mode, on images without augmentation.

    Parameters
    ----------
    network : str or callable, default="fast"
        "fast", "wrn-28-2", "wrn-28-8", "tiny"; "torchvision:MODEL" or "timm:MODEL" if these are installed, followed by
        ":pretrained" for their trained weights; or a function of (n_classes, n_channels) that returns a module. If the
        module has a ``pixel_scaling``, (mean, deviation) of each channel's bytes, images are scaled by it.
    method : str or Method, default="freematch"
        "freematch", "fixmatch", or an object with settings.
    curator : str, Curator or callable, default="auto"
        Judges the labels: "auto" (:class:`~dips.curators.ImageAuto`), "percentile" (the authors' rule for images),
        the name of any other curator that judges images, such as "dips" or "none", an object with settings, or a
        function of :class:`~dips.curators.Evidence` that returns a mask.
    n_steps : int, default=20_000
        Number of training steps.
    n_rounds : int, default=20
        Number of rounds. Labels are judged at the start and after each round but the last.
    warm_up_steps : int, default=1000
        Number of training steps on the labeled images alone, for curators that begin with a warm-up.
    pretrain_steps : int, optional
        Number of training steps before any label is looked at, in which the network learns which two views are of the
        same image. None takes as many as `n_steps`, but at most 400 passes over the images; and 0 for other curators
        than the default, and for networks that are not of this package. The default keeps what was learned only if
        the labels can be predicted better with it.
    pilot_steps : int, optional
        Number of training steps of each pilot, the short trainings by which the default estimates the noise; None
        takes a tenth of `n_steps`, but at least 2,000 and at most 4,000.
    batch_size, unlabeled_ratio : int, default=64 and 7
        Labeled images per step, and unlabeled images for each labeled one.
    lr : float, default=0.06
        Initial learning rate of SGD with Nesterov's momentum and a cosine schedule. The FixMatch paper has 0.03.
    curate_pseudo_labels : bool, default=False
        Judge pseudo-labels too, and train only on the useful ones.
    augmentation : Augmentation, optional
        How images are varied; turn flips off for letters.
    average_views : bool, default=True
        Average predictions over six views of an image: as it is, shifted by a pixel, and each of these mirrored unless
        `augmentation` has no flips. Costs six predictions and no training.
    device : str, optional
        Where to train; None takes a GPU if there is one.
    compiled : bool, optional
        Whether to compile the step; None does so on a GPU.
    stream : bool, optional
        Whether images stay where they are, such as in a memory map, and those of the next step are sent to the device
        while it trains on the last ones. None does so if they would take more than half of the device's memory. On a
        CPU the results are the same.
    checkpoint : path, optional
        A file written every few minutes in pretraining and pilots, and then after every round. If it exists, training
        continues from it, with the same result.
    log : path, optional
        A file to which JSON lines are added: loss, share of pseudo-labels used, accuracy on the validation images.
    random_state : int, RandomState or None, default=None
    verbose : int, default=0
        Above 0, progress bars on a terminal, with images per second and the time left.

    Attributes
    ----------
    network_, scaling_, views_ : the averaged network, the scaling of its input, and the views that are averaged
    pretrained_weights_ : by name, what the network learned from the images alone; None if that was of no help
    image_size_ : height and width of the fitted images
    classes_ : the classes
    history_ : data frame, one row per round; round 0 is the curation at the start
    samples_ : data frame, one row per image
        The columns are those of :class:`~dips.PseudoLabelClassifier`. A pseudo-label is one that the last network is
        confident enough to train on; its confidence is missing unless it was judged.
    transduction_ : the label each image ended with; images that were never labeled keep the mark of the input
    curator_ : the curator, with what it learned
    label_curves_ : data frame, one row per labeled image, one column per checkpoint (its round and number)
        Probabilities of the given labels. Round 0 is before the training, and the last round is not watched.

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
        "pretrain_steps": [Interval(Integral, 0, None, closed="left"), None],
        "pilot_steps": [*_POSITIVE, None],
        "batch_size": _POSITIVE,
        "unlabeled_ratio": _POSITIVE,
        "lr": [Interval(Real, 0, None, closed="neither")],
        "curate_pseudo_labels": ["boolean"],
        "augmentation": [Augmentation, None],
        "average_views": ["boolean"],
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
        method: str | Method = "freematch",
        curator: str | Curator | Callable[..., Any] = "auto",
        n_steps: int = 20_000,
        n_rounds: int = 20,
        warm_up_steps: int = 1000,
        pretrain_steps: int | None = None,
        pilot_steps: int | None = None,
        batch_size: int = 64,
        unlabeled_ratio: int = 7,
        lr: float = 0.06,
        curate_pseudo_labels: bool = False,
        augmentation: Augmentation | None = None,
        average_views: bool = True,
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
        self.pretrain_steps = pretrain_steps
        self.pilot_steps = pilot_steps
        self.batch_size = batch_size
        self.unlabeled_ratio = unlabeled_ratio
        self.lr = lr
        self.curate_pseudo_labels = curate_pseudo_labels
        self.augmentation = augmentation
        self.average_views = average_views
        self.device = device
        self.compiled = compiled
        self.stream = stream
        self.checkpoint = checkpoint
        self.log = log
        self.random_state = random_state
        self.verbose = verbose

    @fit_context(prefer_skip_nested_validation=False)
    def fit(
        self, X: Any, y: Any, X_val: Any = None, y_val: Any = None, verified: Any = None, y_given: Any = None
    ) -> ImageClassifier:
        """Learn from labeled and unlabeled images.

        Parameters
        ----------
        X : (n, height, width, channels) uint8, or (n, height, width) if gray
        y : (n,)
            Unlabeled images are marked by -1 or a missing value.
        X_val, y_val : images and labels, optional
            Validation images. Their accuracy goes to the log and to ``history_``; it decides nothing.
        verified : mask (n,), optional
            Labels that somebody has checked: never suspects, and trained on in every round.
        y_given : as y, optional
            The labels before any was checked. How often the verified ones changed says how many of the others are
            wrong.
        """
        log = None if self.log is None else output_file("log", self.log)
        _distributed.join(device_of(self.device))  # of several processes, only the first shows and logs anything
        with FitObserver(bool(self.verbose), recipe_of(self).images_per_step, log) as observer:
            run, labels = prepared(self, X, y, X_val, y_val, verified, y_given, observer)
            warn_if_long(run)
            complete(self, run, labels, y)
        return self

    def save(self, path: str | Path) -> None:
        """Write the fitted network and all that predictions need as a safetensors file; reading it runs no code.

        :func:`~dips.vision.load_classifier` reads it. The account in ``samples_`` is not part of it.

        Parameters
        ----------
        path : path
            The file to write, such as ``network.safetensors``.
        """
        check_is_fitted(self)
        save(self, output_file("path", path))

    def predict_proba(self, X: Any) -> Array:
        """Class probabilities (n, C), in the order of ``classes_``."""
        check_is_fitted(self)
        images = as_images(X, self.scaling_.mean.numel())
        if images.shape[1:3] != self.image_size_:
            now, then = _by(images.shape[1:3]), _by(self.image_size_)
            warn(f"The network was trained on images of {then} pixels; these have {now}. Resize them.")
        return predict(self.network_, self.scaling_, on_host(images), views=self.views_)

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
        """Write a page to relabel from: one HTML file that opens offline.

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


def _by(size: tuple[int, ...]) -> str:
    return " by ".join(map(str, size))


def load_classifier(
    path: str | Path,
    network: Callable[[int, int], torch.nn.Module] | None = None,
    *,
    device: str | torch.device | None = None,
) -> ImageClassifier:
    """Read a classifier that :meth:`ImageClassifier.save` wrote; it predicts, and reading it runs no code.

    Parameters
    ----------
    path : path
        The file.
    network : callable, optional
        The function that makes the network; needed if the network was your own.
    device : str, optional
        Where to predict; None takes a GPU if there is one.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> X = np.random.RandomState(0).randint(0, 256, (20, 8, 8, 3), dtype=np.uint8)
    >>> clf = ImageClassifier("tiny", curator="none", n_steps=2, n_rounds=1, batch_size=4, device="cpu")
    >>> clf = clf.fit(X, np.arange(20) % 2)
    >>> with tempfile.TemporaryDirectory() as place:
    ...     clf.save(f"{place}/network.safetensors")
    ...     same = load_classifier(f"{place}/network.safetensors", device="cpu")
    >>> bool((same.predict_proba(X) == clf.predict_proba(X)).all())
    True
    """
    clf = ImageClassifier(device=device)
    load_into(clf, Path(path), network, device_of(device))
    return clf
