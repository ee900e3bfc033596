"""Which labels to look at first; without unlabeled or held-out rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dips._estimators.plots import draw_calibration
from dips._files.prepare import Preparation
from dips._report import TableFindings, summarize
from dips._report.segments import class_warnings
from dips._review.notebook import NotebookReview
from dips._study.account import account_of
from dips._study.candidates import BY_NAME, JUDGE, PLAIN
from dips._study.data import StudyData, read_data
from dips._study.judging import share_wrong, uneven_values, watched_model
from dips._study.leaks import LeakCheck
from dips._study.outliers import find_outliers
from dips._study.pictured import Audited
from dips._study.reviewing import review_findings
from dips._study.settings import Settings
from dips._study.warning_log import TableWarnings, WarningLog, caught_warnings, issue
from dips._tools.files import without_nan
from dips._tools.observer import Observer
from dips._tools.shares import calibration_of
from dips._tools.wording import counted
from dips.exceptions import InputError


@dataclass(frozen=True, repr=False)
class LabelAudit(Audited):
    """The labels of a table, judged.

    A notebook shows it as a short page; :meth:`plot_map`, :meth:`plot_curves` and :meth:`plot_calibration` draw with
    matplotlib.

    Attributes
    ----------
    findings : what the page is made from
    samples : data frame, one row per input row
    share_wrong : estimated share of wrong labels among those that nobody has checked, where the curator estimates it
    interval : lowest and highest share that explain the labels nearly as well, where the curator gives them
    """

    findings: TableFindings

    def __repr__(self) -> str:
        target = self.findings.target
        found = f"{counted(int(target.counts.sum()), 'label')}, {len(self.suspects()):,} suspect"
        return f"Audit of {target.name!r}: {found}; see suspects(), samples and write_report()"

    @property
    def samples(self) -> pd.DataFrame:
        """The account of every row."""
        return self.findings.account

    @cached_property
    def summary(self) -> dict[str, Any]:
        """What the page shows, as plain data."""
        return without_nan(summarize(self.findings))

    def review(self, folder: Path | str | None = None, *, reviewer: str = "", blinded: bool = False) -> NotebookReview:
        """Look at the suspects one by one, in a notebook.

        Shows the page of ``dips review`` in a frame. Where its libraries are missing (extra ``review``), or the browser
        cannot reach this machine, there is a table that can be edited. What was decided is in ``corrections()``.

        Parameters
        ----------
        folder : path, optional
            Where decisions are kept. The same folder continues a review. By default it is a temporary one.
        reviewer : str
            Who looks; by default the page asks.
        blinded : bool
            Hide given and suggested labels until one has answered.
        """
        return review_findings(self.findings, folder, reviewer, blinded)

    def plot_calibration(self, ax: Any = None) -> Any:
        """Draw what models that had not seen the rows said against the labels; return the axes."""
        answers, target = getattr(self.findings.judge.curator_, "answers_", None), self.findings.target
        if answers is None:
            raise InputError("This curator has no out-of-fold probabilities; use curator='auto'.")
        is_positive = target.codes[target.is_labeled] == target.positive
        lines = {"out of fold": calibration_of(answers[:, target.positive], is_positive)}
        return draw_calibration(lines, str(target.classes[target.positive]), ax)


def audit(
    data: Any,
    target: str,
    *,
    id: str | Sequence[str] = (),
    drop: str | Sequence[str] = (),
    type: Mapping[str, str] | Sequence[str] = (),
    group: str | None = None,
    unlabeled_mark: str | Sequence[str] = (),
    merge_labels: bool | Mapping[str, str] | None = None,
    map_label: Mapping[str, str] | Sequence[str] = (),
    sheet: str | int | None = None,
    skip_rows: int | None = None,
    skip_below: int = 0,
    verified: str | None = None,
    corrections: Path | str | None = None,
    reviewer_error: float | None = None,
    trust_label: str | Sequence[str] = (),
    class_frequency: Mapping[str, float] | Sequence[str] = (),
    keep_label: str | Sequence[str] = (),
    positive: str | None = None,
    backbone: str = "xgboost",
    curator: str = "auto",
    seed: int = 0,
    jobs: int | None = None,
    order: str = "wrong",
    command: str | None = None,
    observer: Observer | None = None,
) -> LabelAudit:
    """Find the labels of a table that look wrong, with how likely that is and why.

    Parameters
    ----------
    data : path, table, or a list of them
    target : str
        The column with the labels.
    id, drop, type, group, unlabeled_mark, merge_labels, map_label, sheet, skip_rows, skip_below, keep_label, positive
        How to read the table; see :func:`fit`.
    verified, corrections, reviewer_error
        Labels that somebody has checked; see :func:`fit`.
    trust_label, class_frequency
        What is known of the errors; see :func:`fit`.
    backbone, curator : str
        By name; "auto" is the default curator of the estimators.
    seed : int
        Seed of everything random.
    jobs : int, optional
        How many folds are trained in parallel.
    order : str
        Which suspects come first: those most probably "wrong", or those most "useful" to check.
    command : str, optional
        The command line to show in the report.
    observer : Observer, optional
        Receives stages and warnings while the audit runs; without one, warnings are Python warnings.

    Examples
    --------
    >>> import pandas as pd
    >>> from dips.datasets import flip_labels, make_quadrants
    >>> from dips import audit
    >>> X, y = make_quadrants(300, random_state=0)
    >>> noisy, flipped = flip_labels(y, 0.1, random_state=0)
    >>> judged = audit(pd.DataFrame(X, columns=["a", "b"]).assign(side=noisy), target="side")
    >>> bool(flipped[judged.suspects()["row"][:20] - 1].mean() > 0.8)
    True
    """
    observer = observer or TableWarnings()
    checked = Settings.of(
        target, id=id, drop=drop, type=type, group=group, unlabeled_mark=unlabeled_mark, merge_labels=merge_labels,
        map_label=map_label, sheet=sheet, skip_rows=skip_rows, skip_below=skip_below, verified=verified,
        corrections=corrections, reviewer_error=reviewer_error, trust_label=trust_label,
        class_frequency=class_frequency, keep_label=keep_label,
        positive=positive, backbone=backbone, curator=curator, seed=seed, jobs=jobs, order=order,
    )  # fmt: skip
    observer.message("reading", 0.0)
    study = read_data(data, checked)
    observer.on_data(study, study.leaks_alone)
    observer.message("judging labels", 0.2)
    findings = _judged(study, checked, command)
    issue(findings.warnings, observer)
    return LabelAudit(findings)


def _judged(study: StudyData, settings: Settings, command: str | None) -> TableFindings:
    """Judge the labels, and look for what else is doubtful."""
    log = WarningLog(study.target.classes)
    preparation = Preparation(study.schema).learn(study.table)
    X, labeled = preparation.encode(study.table), np.flatnonzero(study.target.is_labeled)
    with caught_warnings() as messages:
        rows = (study.examples(X), labeled, labeled[:0], settings)
        judge = JUDGE.fit(*rows)
        watched = watched_model(judge, partial(BY_NAME[PLAIN].fit, *rows))
    log.add(JUDGE.title, messages)
    uneven = uneven_values(judge, study, settings.seed)
    noise_rate, noise_interval = share_wrong(judge, uneven, study.n_corrected)
    study.leaks = LeakCheck(preparation, X, study.target.codes, labeled, settings.seed, study.groups).leaks(noise_rate)
    account = account_of(
        judge, study.table, study.target, study.ids, duplicates=study.duplicates, uneven=uneven, order=settings.order
    )
    return TableFindings(
        **study.to_report(),
        account=account,
        noise_rate=noise_rate,
        noise_interval=noise_interval,
        X=X,
        judge=judge,
        watched=watched,
        metric=settings.metric,
        settings=settings.to_json(),
        config={"command": command} if command else {},
        leaks=study.leaks_alone,
        reading=study.to_json(),
        uneven=uneven,
        outliers=find_outliers(study.table, study.schema),
        warnings=[
            *log.sentences(with_models=False),
            *class_warnings(account, study.target.classes),
            *(leak.sentence() for leak in study.leaks),
        ],
    )
