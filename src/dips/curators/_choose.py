"""The curator that a user asked for, refused where it cannot judge the data at hand."""

from __future__ import annotations

from typing import Any, Literal

from dips._tools.wording import option
from dips.curators import CURATORS
from dips.curators._base import Curator
from dips.exceptions import InputError

Kind = Literal["tables", "images"]
_DEFAULTS: dict[Kind, str] = {"tables": "beliefs", "images": "image_auto"}  # what "auto" means


def curator_names(kind: Kind) -> list[str]:
    """Names of the curators that judge tables, or images; "auto" is the default for these.

    Examples
    --------
    >>> "fine" in curator_names("tables"), "fine" in curator_names("images")
    (True, False)
    """
    return ["auto", *(name for name, cls in CURATORS.by_name().items() if kind in cls.judges)]


def resolve_curator(spec: Any, kind: Kind) -> Curator:
    """Return the curator for a name, an object with settings, or a function; "auto" is the default for this data."""
    default = _DEFAULTS[kind] if isinstance(spec, str) and spec == "auto" else spec
    curator = CURATORS.resolve(default, offered=lambda: curator_names(kind))
    if kind not in curator.judges:
        asked = option("curator", spec) if isinstance(spec, str) else f"curator={type(curator).__name__}"
        raise InputError(
            f"{asked} is for {' and '.join(curator.judges)} and cannot judge {kind}; "
            f"choose among {', '.join(curator_names(kind))}."
        )
    return curator
