"""Who learns: the rounds of Algorithm 1 for a curator that answers with a mask, a student for one that believes."""

from __future__ import annotations

from typing import Any, Protocol

from dips._beliefs.student import BeliefTraining
from dips._data.known import Known
from dips._data.labels import Labels
from dips._data.verified import Verified
from dips._rounds.plan import RoundPlan
from dips._rounds.rounds import Rounds
from dips._rounds.state import RoundsState
from dips._rounds.training import Trainer
from dips._tools.arrays import Array, Rows
from dips._tools.observer import Observer
from dips.curators import Beliefs, Curator
from dips.exceptions import InputError
from dips.labelers import LABELERS, Labeler


class Learner(Protocol):
    """Learns from given labels, as codes with -1 for unlabeled."""

    def run(self, given: Array, verified: Verified | None = None) -> RoundsState:
        """Return the last model and the account."""
        ...


def resolve_labeler(spec: Any, curator: Curator, curate: str) -> Labeler | None:
    """Return the labeler that a user asked for.

    "auto" leaves it to the curator: one that believes has a distribution for every unlabeled row and needs no labeler;
    for the others it is greedy.
    """
    if isinstance(spec, str) and spec == "auto":
        return None if curator.believes and curate != "neither" else LABELERS.resolve("greedy")
    return LABELERS.resolve(spec)


def check_known(
    curator: Curator, targets: list[Labels], verified: list[Verified], told: Known | None = None
) -> list[Known | None]:
    """Return what is known of the errors in each target: what was told of all labels, or what the curator says.

    What the curator says is refused if these labels do not allow it.
    """
    if told is not None:
        return [told] * len(targets)
    if not isinstance(curator, Beliefs) or (_is_empty(curator.trusted_labels) and curator.class_frequencies is None):
        return [None] * len(targets)
    if len(targets) > 1 and curator.class_frequencies is not None:
        raise InputError(
            f"class_frequencies tells of one label column, and y has {len(targets)}; fit one classifier for each."
        )
    known = [Known.told(curator.trusted_labels, curator.class_frequencies, labels.classes) for labels in targets]
    for each, labels, checked in zip(known, targets, verified, strict=True):
        each.refuse_contradictions(labels.codes, labels.classes, checked)
    return [*known]


def _is_empty(labels: Any) -> bool:
    return getattr(labels, "ndim", 1) > 0 and len(labels) == 0  # an array of one label alone has no length


def make_pseudo_learner(
    trainer: Trainer,
    labeler: Labeler | None,
    curator: Curator,
    plan: RoundPlan,
    observer: Observer,
    known: Known | None,
) -> Learner:
    """Return what learns from labeled and unlabeled rows."""
    if isinstance(curator, Beliefs) and plan.curates:
        return BeliefTraining(trainer, labeler, curator, plan, known, observer=observer)
    return Rounds(trainer, labeler, curator, plan, observer=observer)


def make_curated_learner(trainer: Trainer, curator: Curator, track: Rows, known: Known | None) -> Learner:
    """Return what learns from labeled rows alone: judge the labels, then train once more."""
    if isinstance(curator, Beliefs):
        return BeliefTraining(trainer, None, curator, RoundPlan(), known, track, use_unlabeled=False)
    return Rounds(trainer, None, curator, RoundPlan(), track)
