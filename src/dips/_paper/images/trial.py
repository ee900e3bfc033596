"""An image trial: one method with one curator, on one image set, with one seed."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any

from dips import __version__
from dips._paper.engine.job import beyond_defaults, hashed, version_of
from dips._paper.images import sets

VERSION = 2  # raise it when the same settings mean something else; every trial is then run again


@dataclass(frozen=True)
class ImageTrial:
    """Settings of a trial, as plain data. Those at their default are not part of the key, so new ones can be added.

    Attributes
    ----------
    data : an image set
    seed : of the labels that are shown, the noise and the training
    noise : the name of a set of human labels, or a share of symmetric noise
    n_labeled : labels that are shown
    method : "fixmatch" or "freematch"
    memory : of FreeMatch's thresholds; None takes its usual one
    curator : "none", "percentile" (the authors' rule), "auto" (the default), "dips", "small_loss", ...
    network, n_steps, lr, batch_size, unlabeled_ratio : as in :class:`dips.vision.ImageClassifier`
    warm_up_steps, rounds, checkpoints : when labels are judged; the accuracy is recorded at every checkpoint
    pretrained : whether the network learns from the images alone first, as it does by default
    max_images : at most so many training images, and test images
    """

    data: str
    seed: int
    noise: str | float
    n_labeled: int
    method: str = "fixmatch"
    memory: float | None = None
    curator: str = "none"
    network: str = "fast"
    n_steps: int = 26_000
    lr: float = 0.06
    warm_up_steps: int = 1000
    rounds: int = 20
    checkpoints: int = 5
    batch_size: int = 64
    unlabeled_ratio: int = 7
    pretrained: bool = False
    max_images: int | None = None

    def settings(self) -> dict[str, Any]:
        """What differs from the defaults."""
        return beyond_defaults(self)

    def key(self) -> str:
        """A hash of the settings, the images, the versions of what computes, and the device."""
        return hashed(
            {
                "version": VERSION,
                "settings": self.settings(),
                "data": sets.fingerprint(self.data),
                "libraries": self.libraries(),
                "device": _device_name(),
            }
        )

    def libraries(self) -> dict[str, str]:
        """Versions of what the outcome depends on."""
        return {"dips": __version__} | {name: version_of(name) for name in ("numpy", "torch")}

    def run(self) -> dict[str, Any]:
        """Train and measure, on a GPU if there is one."""
        from dips.vision._turns import outcome_of

        return outcome_of(self.proceed())

    def proceed(self) -> Generator[None, None, dict[str, Any]]:
        """Do what :meth:`run` does, yielding after every few steps, so that several trials can share one GPU."""
        import torch

        from dips._paper.images.measures import noisy_labels, some_of, train_and_measure
        from dips.curators._choose import resolve_curator
        from dips.vision._fitting import METHODS
        from dips.vision._optimizer import Schedule
        from dips.vision._pretraining import usual_pretrain_steps
        from dips.vision._rounds import CurationPlan
        from dips.vision._training import Recipe

        data = some_of(sets.read(self.data), self.max_images)
        method = METHODS[self.method](**({} if self.memory is None else {"memory": self.memory}))
        schedule = Schedule(self.n_steps, lr=self.lr)
        recipe = Recipe(self.network, method, schedule, self.batch_size, self.unlabeled_ratio)
        if self.pretrained:
            recipe = replace(recipe, pretrain_steps=usual_pretrain_steps(recipe, len(data.X_train)))
        outcome = yield from train_and_measure(
            data,
            noisy_labels(data, self.noise, self.n_labeled, self.seed),
            recipe,
            CurationPlan(self.warm_up_steps, self.rounds, self.checkpoints),
            resolve_curator(self.curator, "images"),
            self.seed,
            torch.device("cuda" if torch.cuda.is_available() else "cpu"),
        )
        return outcome | {"device": _device_name(), "libraries": self.libraries()}

    def test_over_train(self, outcome: dict[str, Any]) -> float:
        """0: the test images are the same for every seed, and few of the others are labeled."""
        return 0.0


def _device_name() -> str:
    import torch

    return torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU"
