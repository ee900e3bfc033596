"""Which labels to look at first; no unlabeled rows, no held-out part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dips._files.prepare import Preparation
from dips._report import render, summarize
from dips._study.account import account_of, noise_estimate, suspects_of
from dips._study.candidates import BY_NAME, JUDGE, PLAIN
from dips._study.data import read_data
from dips._study.findings import Findings
from dips._study.settings import Settings
from dips._tools.files import without_nan, write_whole


@dataclass(frozen=True)
class LabelAudit:
    """What an audit found.

    Attributes
    ----------
    samples : data frame, a row a row of the input
    share_wrong : estimated share of wrong labels, where the curator estimates it
    """

    samples: pd.DataFrame
    share_wrong: float | None
    findings: Findings

    def suspects(self) -> pd.DataFrame:
        """Given labels to look at first."""
        return suspects_of(self.samples)

    def write_report(self, path: Path | str) -> None:
        """Write the page."""
        write_whole(Path(path), render(without_nan(summarize(self.findings))).encode())


def audit(
    data: Any,
    target: str,
    *,
    say: Callable[[str, float], None] = lambda what, share: None,
    config: dict[str, Any] | None = None,
    **settings: Any,
) -> LabelAudit:
    """Judge every label of a table by how it is learned.

    Parameters
    ----------
    data : path, table, or a list of them
    target : str
        The column with the labels.
    **settings
        Any of :class:`~dips._study.settings.Settings`.
    say, config
        Told how far the work is; what to note down of the command. For programs around this one.

    Examples
    --------
    >>> import pandas as pd
    >>> from dips.datasets import flip_labels, make_quadrants
    >>> from dips._study import audit
    >>> X, y = make_quadrants(300, random_state=0)
    >>> noisy, flipped = flip_labels(y, 0.1, random_state=0)
    >>> found = audit(pd.DataFrame(X, columns=["a", "b"]).assign(side=noisy), target="side")
    >>> bool(flipped[found.suspects()["row"][:20] - 1].mean() > 0.8)
    True
    """
    chosen = Settings(target=target, **settings).checked()
    say("reading", 0.0)
    study = read_data(data, chosen)
    say("judging labels", 0.2)
    preparation = Preparation(study.schema).learn(study.table)
    X, labeled = preparation.encode(study.table), np.flatnonzero(study.target.is_labeled)
    judge, first = (c.fit(X, study.target.codes, labeled, labeled[:0], chosen) for c in (JUDGE, BY_NAME[PLAIN]))
    account = account_of(judge, study.table, study.target, study.ids)
    found = Findings(
        study=study,
        settings=chosen,
        preparation=preparation,
        X=X,
        judge=judge,
        first=first,
        account=account,
        noise_rate=noise_estimate(judge),
        config=config or {},
    )
    return LabelAudit(account, found.noise_rate, found)
