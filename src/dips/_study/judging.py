"""What the model that judges the labels says of all of them: how many are wrong, and where they gather."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from dips._report.segments import UnevenValues, find_uneven_values
from dips._study.data import StudyData


def watched_model(judge: Any, fit_plain: Callable[[], Any]) -> Any:
    """Return the model in whose training the confidence in given labels was measured.

    A judge that believes watches the last model, all others the first one, on labels as they were given.
    """
    return judge if judge.curator_.believes else fit_plain()


def share_wrong(
    judge: Any, uneven: UnevenValues | None, n_corrected: int | None = None
) -> tuple[float | None, tuple[float, float] | None]:
    """Return the share of labels that look wrong, and the lowest and highest that explain them nearly as well.

    It is that of the labels that nobody has checked. Either is None where the curator does not estimate it. It takes
    wrong labels to be spread evenly; where they are not, as `uneven` says, its estimate is too low.

    Parameters
    ----------
    n_corrected : how many of the checked labels were wrong; None where nobody says what they were
    """
    estimate, interval = (getattr(judge.curator_, name, None) for name in ("noise_rate_", "noise_interval_"))
    verified = judge.samples_["verified"]
    if verified.all():  # somebody has checked them, so there is nothing to estimate
        return None, None
    of_rest = _among_unchecked(judge, verified, n_corrected)
    if estimate is None or interval is None:
        return (None if estimate is None else of_rest(estimate)), None
    if uneven is not None and not uneven.is_sample and not verified.any():  # all labels were tested
        instead = uneven.share_wrong(len(judge.samples_))
        if instead is not None and instead[0] > estimate:
            return instead
    return of_rest(estimate), (of_rest(interval[0]), of_rest(interval[1]))


def _among_unchecked(judge: Any, verified: pd.Series, n_corrected: int | None) -> Callable[[float], float]:
    """Turn a share of all labels into that of the labels that nobody has checked.

    A curator that believes tells the share of all labels as they were given; the wrong ones that were found are among
    them. If nobody says what the checked labels were, it tells that of the others. Other curators see corrected labels.
    """
    n, n_open = len(verified), int((~verified).sum())
    n_found = n_corrected if judge.curator_.believes else 0
    if n_found is None:
        return float
    return lambda share: float(np.clip((share * n - n_found) / n_open, 0, 1))


def uneven_values(judge: Any, study: StudyData, seed: int) -> UnevenValues | None:
    """Values at which labels are wrong more often than difficulty explains.

    None where the curator has no answers, or where somebody told which way labels are wrong: the test takes any label
    to be as easily wrong as any other.
    """
    answers = getattr(judge.curator_, "answers_", None)
    if answers is None or study.known is not None:
        return None
    labeled = np.flatnonzero(study.target.is_labeled)
    is_open = ~study.verified.mask[labeled]  # what somebody has checked is not doubted again
    rows = labeled[is_open]
    return find_uneven_values(study.table, study.schema, rows, study.target.codes[rows], answers[is_open], seed)
