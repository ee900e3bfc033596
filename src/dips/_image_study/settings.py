"""The settings of a study of images: one record, the same for the command line, a config file and Python."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from numbers import Real
from pathlib import Path
from typing import Any

from dips._study.settings import merged_names, path_of, several
from dips._tools.wording import option
from dips.exceptions import SettingsError
from dips.vision._networks import check_network

FILE = "file"  # what the column of file names is called in the account
LABEL = "label"  # what the labels of a folder per class are called
_FEW_STEPS, _ENOUGH_STEPS = 2_000, 8_000


@dataclass(frozen=True)
class ImageSettings:
    """Everything that decides the result of a study of images, besides the images.

    :func:`dips.fit_images` says what each setting means; None stands for what is chosen by the images or the steps.
    """

    labels: str | None = None
    target: str = LABEL
    id: str | None = None
    unlabeled_mark: tuple[str, ...] = ()
    keep_label: tuple[str, ...] = ()
    merge_labels: bool | None = None
    map_label: Mapping[str, str | None] = field(default_factory=dict)
    verified: str | None = None
    corrections: str | None = None
    network: str = "fast"
    curator: str = "auto"
    steps: int = 20_000
    rounds: int | None = None
    size: int | None = None
    skip_damaged: bool = False
    skip_missing: bool = False
    holdout: float = 0.2
    seed: int = 0

    @classmethod
    def of(cls, **given: Any) -> ImageSettings:
        """Return checked settings from what people write: one name or several, a mapping or texts such as ``Y=yes``."""
        merge, names = merged_names(given["merge_labels"], given["map_label"])
        listed = {name: several(given[name]) for name in ("unlabeled_mark", "keep_label")}
        files = {name: path_of(name, given[name]) for name in ("labels", "corrections")}
        return cls(**given | listed | files | {"merge_labels": merge, "map_label": names})

    def __post_init__(self) -> None:
        self._check_names()
        self._check_numbers()
        check_network(self.network)
        if self.curator == "none":
            raise SettingsError(
                f"{option('curator', 'none')} judges no label, so there is nothing to report; choose another."
            )
        if self.verified is not None and self.labels is None:
            raise SettingsError(
                f"{option('verified')} names a column of the table of labels; name that table with {option('labels')}."
            )
        for name in ("labels", "corrections"):
            path = getattr(self, name)
            if path is not None and not Path(path).is_file():
                raise SettingsError(f"{option(name)} names {path}, which is not a file.")

    def _check_names(self) -> None:
        """Refuse objects now: a run folder could not keep them, which would show after the training only."""
        for name in ("target", "id", "verified", "network", "curator"):
            value = getattr(self, name)
            if not isinstance(value, str | None):
                kind = type(value).__name__
                raise SettingsError(f"{name} takes a name here; got an object of type {kind}.")

    def _check_numbers(self) -> None:
        for name, least in (("steps", 1), ("rounds", 1), ("size", 8), ("seed", 0)):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, int) and least <= value < 2**32):
                raise SettingsError(f"{option(name)} must be a whole number of at least {least}; got {value!r}.")
        if not (isinstance(self.holdout, Real) and 0 <= self.holdout <= 0.5):
            raise SettingsError(
                f"{option('holdout')} is the share of labels held out, from 0 to 0.5; got {self.holdout!r}."
            )

    @property
    def n_rounds(self) -> int:
        """How many rounds."""
        usual = 20 if self.steps >= _FEW_STEPS else 5
        return min(self.steps, self.rounds or usual)

    @property
    def warm_up_steps(self) -> int:
        """Steps on the labeled images alone."""
        return max(1, min(1_000, self.steps // 4))

    @property
    def pilot_steps(self) -> int | None:
        """Steps of each training by which the default estimates the noise; None for its own choice."""
        return None if self.steps >= _ENOUGH_STEPS else max(1, self.steps // 4)

    def to_json(self) -> dict[str, Any]:
        """Plain data, as the options of the command line take it."""
        record = {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}
        return record | {"id": [] if self.id is None else [self.id]}
