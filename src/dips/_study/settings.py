"""The settings of a study: one record, the same for the command line, a config file and Python."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import pandas as pd

from dips._estimators.learners import resolve_labeler
from dips._estimators.suspicion import ORDERS
from dips._files.declared import read_types
from dips._files.label_words import ways_to_divide
from dips._study.metrics import COST, find_metric
from dips._tools.wording import option
from dips.backbones._registry import default_names
from dips.curators import Curator
from dips.curators._choose import resolve_curator
from dips.exceptions import SettingsError

KEPT = ("plain", "curated", "pseudo", "curated_pseudo", "network")  # names of the models that are compared
_NUMBERS: dict[str, tuple[type, Callable[[Any], bool], str]] = {
    "holdout": (Real, lambda share: 0.05 <= share <= 0.5, "is the share of labels held out, from 0.05 to 0.5"),
    "rounds": (Integral, lambda n: n >= 2, "must be 2 or more, because the last one makes no pseudo-labels"),
    "max_unlabeled": (Integral, lambda n: n >= 1, "must be a whole number of at least 1"),
    "time_limit": (Real, lambda minutes: minutes > 0, "is in minutes and above 0"),
    "jobs": (Integral, lambda n: n != 0, "is the number of folds trained at once, or -1 for all cores"),
    "seed": (Integral, lambda seed: 0 <= seed < 2**32, "must be a whole number from 0 to 4294967295"),
    "skip_rows": (Integral, lambda n: n >= 0, "is the number of lines above the header"),
    "skip_below": (
        Integral,
        lambda n: n >= 0,
        "is the number of rows to leave out below the header",
    ),
}
_MAY_BE_NONE = ("time_limit", "jobs", "skip_rows")
_COLUMNS, _LABELS = ("id", "drop"), ("unlabeled_mark", "keep_label", "trust_label")  # one, or several


@dataclass(frozen=True)
class Settings:
    """Everything that decides the result of a study, besides the data; :func:`dips.fit` says what each setting means.

    None stands for what is detected or not limited, and in `map_label` for a text such as ``<=50K=low``, which labels
    will divide. :meth:`checked` settings hold plain data, ready for JSON.
    """

    target: str
    id: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    type: Mapping[str, str] = field(default_factory=dict)
    group: str | None = None
    unlabeled_mark: tuple[str, ...] = ()
    merge_labels: bool | None = None
    map_label: Mapping[str, str | None] = field(default_factory=dict)
    sheet: str | int | None = None
    skip_rows: int | None = None
    skip_below: int = 0
    verified: str | None = None
    corrections: str | None = None
    reviewer_error: float | None = None
    trust_label: tuple[str, ...] = ()
    class_frequency: Mapping[str, float] = field(default_factory=dict)
    keep_label: tuple[str, ...] = ()
    positive: str | None = None
    metric: str = "accuracy"
    costs: Mapping[str, float] = field(default_factory=dict)
    keep: str | None = None
    backbone: str = "xgboost"
    labeler: str = "auto"
    curator: str = "auto"
    rounds: int = 5
    holdout: float = 0.2
    max_unlabeled: int = 100_000
    time_limit: float | None = None
    seed: int = 0
    jobs: int | None = None
    order: str = "wrong"

    @classmethod
    def of(cls, target: str, **given: Any) -> Settings:
        """Return checked settings from what people write: one name or several, a mapping or texts such as ``Y=yes``."""
        return cls(target, **given).checked()

    def checked(self) -> Settings:
        """Return the settings with names as they are known; refuse unknown ones before anything is read."""
        return replace(self, **self._listed())._checked()

    def _listed(self) -> dict[str, Any]:
        """Several names as tuples, and series, as of value_counts, as mappings."""
        columns = {name: several(getattr(self, name)) for name in _COLUMNS}
        labels = {name: tuple(map(_written, several(getattr(self, name)))) for name in _LABELS}
        series = {name: value.to_dict() for name, value in vars(self).items() if isinstance(value, pd.Series)}
        return series | columns | labels

    def _checked(self) -> Settings:
        self._check_names()
        self._check_numbers()
        self._check_order()
        self._check_reviewer_error()
        self._check_curator_believes()
        return Settings(**asdict(self) | self._as_plain_data() | {"metric": find_metric(self.metric)})

    def _check_names(self) -> None:
        if not isinstance(self.target, str):
            raise SettingsError(
                f"target is the name of a column, as text; got {self.target!r}, so write '{self.target}'."
            )
        try:
            resolve_labeler(self.labeler, resolve_curator(self.curator, "tables"), curate="both")
        except (ValueError, TypeError) as error:
            raise SettingsError(str(error)) from None
        if self.curator == "none":
            raise SettingsError(
                f"{option('curator', 'none')} judges no label; leave it out, the plain model is compared anyway."
            )
        if self.backbone not in default_names():
            raise SettingsError(
                f"{option('backbone', self.backbone)} is not known; choose one of {', '.join(default_names())}."
            )

    def _check_numbers(self) -> None:
        for name, (kind, fits, rule) in _NUMBERS.items():
            value = getattr(self, name)
            if value is None and name in _MAY_BE_NONE:
                continue
            if not (isinstance(value, kind) and fits(value)):
                raise SettingsError(f"{option(name)} {rule}; got {value!r}.")

    def _as_plain_data(self) -> dict[str, Any]:
        merge, names = merged_names(self.merge_labels, self.map_label)
        return {
            "corrections": path_of("corrections", self.corrections),
            "type": read_types(self.type),
            "merge_labels": merge,
            "map_label": names,
            "costs": self._checked_costs(),
            "class_frequency": self._checked_frequencies(),
            "keep": self._checked_keep(),
        }

    def _checked_costs(self) -> dict[str, float]:
        costs = _numbers_by_label("costs", self.costs, "LABEL=COST")
        for name, cost in costs.items():
            if not 0 < cost < float("inf"):
                raise SettingsError(f"{option('costs')} must be above 0; that of {name!r} is {cost:g}.")
        if find_metric(self.metric) == COST and not costs:
            wanted = option("costs", ("LABEL", 5))
            raise SettingsError(
                f"{option('metric', COST)} needs to know what it costs to miss a row of a class; add {wanted}."
            )
        return costs

    def _checked_frequencies(self) -> dict[str, float]:
        shares = _numbers_by_label("class_frequency", self.class_frequency, "LABEL=SHARE")
        for name, share in shares.items():
            if not 0 < share < 1:
                raise SettingsError(
                    f"{option('class_frequency')} is a share, above 0 and below 1; that of {name!r} is {share:g}."
                )
        return shares

    def _checked_keep(self) -> str | None:
        if self.keep is None:
            return None
        keep = self.keep.strip().lower().replace("-", "_")
        if keep not in KEPT:
            raise SettingsError(f"{option('keep', self.keep)} is not a model; choose one of {', '.join(KEPT)}.")
        return keep

    def _check_order(self) -> None:
        if self.order not in ORDERS:
            raise SettingsError(f"{option('order', self.order)} is not known; choose one of {', '.join(ORDERS)}.")

    def _check_reviewer_error(self) -> None:
        error = self.reviewer_error
        if error is not None and not 0 <= error < 0.5:
            raise SettingsError(
                f"{option('reviewer_error')} is the share of wrong answers, from 0 to below 0.5; got {error!r}."
            )

    def _check_curator_believes(self) -> None:
        """Refuse settings of beliefs where the curator has none."""
        given = [option("order", "useful")] if self.order == "useful" else []
        given += [option(n) for n in ("reviewer_error", "trust_label", "class_frequency") if getattr(self, n)]
        if given and not believes(self.curator):
            raise SettingsError(
                f"{given[0]} needs a curator that estimates p_wrong, and {self.curator!r} does not; leave one of the "
                "two out."
            )

    def make_curator(self) -> Curator:
        """Return the curator, told how often reviewers err."""
        curator = resolve_curator(self.curator, "tables")
        if self.reviewer_error:
            curator.set_params(reviewer_error=self.reviewer_error)
        return curator

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}


def believes(curator: str) -> bool:
    """Whether the curator of this name judges by beliefs."""
    return resolve_curator(curator, "tables").believes


def several(names: Any) -> tuple[str, ...]:
    """Return names as a tuple; a text, a number and an array without a dimension are one name, None is none."""
    if names is None:
        return ()
    if getattr(names, "ndim", None) == 0:
        names = names.item()
    return tuple(names) if isinstance(names, Iterable) and not isinstance(names, str) else (names,)


def _written(label: Any) -> str:
    """Return a label as it is written in a table: 1.0 is 1."""
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


def merged_names(
    merge: bool | Mapping[str, str] | None, names: Mapping[str, str | None] | Iterable[str]
) -> tuple[bool | None, dict[str, str | None]]:
    """Return whether to merge spellings, and other names for labels; a mapping says which to merge.

    A text that can be divided in several ways has no value yet: labels will tell.
    """
    given = names.items() if isinstance(names, Mapping) else [(text, None) for text in several(names)]
    open_ones = [old for old, new in given if new is None and len(ways_to_divide(str(old))) > 1]
    told = [(old, new) for old, new in given if old not in open_ones]
    settled = _pairs("map_label", {old: new for old, new in told if new is not None})
    others = settled | _pairs("map_label", [old for old, new in told if new is None]) | dict.fromkeys(open_ones)
    return (None, {**merge, **others}) if isinstance(merge, Mapping) else (merge, others)


def path_of(name: str, given: Any) -> str | None:
    """Return the path of a file; data in memory is refused."""
    if given is None or isinstance(given, str | Path):
        return None if given is None else str(given)
    kind = type(given).__name__
    raise SettingsError(f"{option(name)} takes a file, so that the study can be repeated; save the {kind} first.")


def _pairs(
    name: str, given: Mapping[str, Any] | Iterable[str], form: str = "OLD=NEW", at_last: bool = False
) -> dict[str, str]:
    """Return a mapping, from one or from texts such as ``Y=yes``, divided at the first "=" or at the last."""
    if isinstance(given, Mapping):
        return {_written(old): str(new) for old, new in given.items()}
    texts = [pair if isinstance(pair, str) else repr(pair) for pair in several(given)]
    pairs = [pair.rpartition("=") if at_last else pair.partition("=") for pair in texts]
    for old, mark, new in pairs:
        if not (old and mark and new):
            raise SettingsError(f"{option(name)} takes {form}; got {old + mark + new!r}.")
    named = {old: new for old, _, new in pairs}
    twice = next((old for old, _, new in pairs if named[old] != new), None)
    if twice is not None:
        values = " and ".join(new for old, _, new in pairs if old == twice)
        raise SettingsError(f"{option(name)} gives {twice!r} more than one value: {values}; leave all but one out.")
    return named


def _numbers_by_label(name: str, given: Mapping[str, float] | Iterable[str], form: str) -> dict[str, float]:
    pairs = _pairs(name, given, form, at_last=True)  # a label such as "<=50K" has one, a number has none
    try:
        return {label: float(number) for label, number in pairs.items()}
    except ValueError:
        raise SettingsError(f"{option(name)} takes {form} with a number; got {given!r}.") from None


def read_config(path: Path, more: Iterable[str] = ()) -> dict[str, Any]:
    """Settings from a TOML file, or from the config.json of a run folder; some have `more` than those of tables.

    Refuses unknown names, so that a typo is not ignored.
    """
    if not path.exists():
        raise SettingsError(f"There is no config file {path}.")
    if not path.is_file():
        raise SettingsError(f"{path} is not a plain file; settings are a TOML file, or the config.json of a run.")
    try:
        if path.suffix == ".json":
            record = json.loads(path.read_text(encoding="utf-8"))
            files = {k: record[k] for k in ("data", "unlabeled") if None not in record.get(k, [None])}
            record = record.get("settings", {}) | files  # tables that were in memory have no name
        else:
            record = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, AttributeError, TypeError, RecursionError) as error:
        raise SettingsError(f"{path} is not a readable {path.suffix.lstrip('.') or 'TOML'} file: {error}.") from error
    known = {f.name for f in fields(Settings)} | {"data", "unlabeled", *more}
    record = {k.replace("-", "_"): v for k, v in record.items() if v is not None}
    unknown = sorted(set(record) - known)
    if unknown:
        raise SettingsError(
            f"{path} sets {unknown[0]!r}, which is not a setting; choose one of {', '.join(sorted(known))}."
        )
    return record
