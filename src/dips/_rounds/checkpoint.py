"""The state of a long run, saved after every round so that a killed run can continue: models, rules, counts, seeds.

The file holds no rows and nothing about single rows, so it is as small as the models.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator

from dips._data.containers import table_bytes
from dips._rounds.rules import Rule, Verdict
from dips._rounds.selection import Cut
from dips._rounds.state import RoundsState
from dips._tools.arrays import Array
from dips._tools.checkpoints import as_text, learned, read_checkpoint, relearn, restoring
from dips._tools.files import write_whole
from dips._tools.packing import packed
from dips._version import __version__
from dips.backbones import Backbone
from dips.backbones._registry import storable

if TYPE_CHECKING:
    from dips._rounds.rule_rounds import RuleRounds

_OF_GIVEN = ("useful", "confidence", "aleatoric", "history")


@dataclass(frozen=True)
class Checkpoint:
    """The file of one run.

    Attributes
    ----------
    path : the file
    described : what must be the same for a run to go on from it
    """

    path: Path
    described: str

    def save(self, rounds: RuleRounds, state: RoundsState) -> None:
        """Write the state after a round."""
        kept = {
            "described": self.described,
            "given": {name: getattr(state, name) for name in _OF_GIVEN},
            "rules": [_of_rule(rule) for rule in rounds.rules.rules],
            "counts": vars(rounds.counts),
            "curator": learned(rounds.curator),
            "random": rounds.trainer.rng.get_state(),
        }
        write_whole(self.path, packed(kept))

    def restore(self, rounds: RuleRounds, state: RoundsState) -> None:
        """Continue from the file, if there is one; reading it runs no code."""
        kept = read_checkpoint(self.path, self.described)
        if kept is None:
            return
        with restoring(self.path):
            for name in _OF_GIVEN:
                setattr(state, name, kept["given"][name])
            rounds.trainer.rng = np.random.RandomState()
            rounds.trainer.rng.set_state(kept["random"])
            relearn(rounds.curator, kept["curator"])
            rounds.counts = type(rounds.counts)(**kept["counts"])
            for stored in kept["rules"]:
                rounds.rules = rounds.rules.followed_by(_to_rule(stored, rounds))


def check_storable(estimator: BaseEstimator) -> tuple[Backbone, str]:
    """Return the backbone of an estimator and its file; refuse one whose models cannot be kept without pickle."""
    return storable(estimator, "leave checkpoint= out")


def describe(settings: dict[str, Any], tables: Sequence[Any], fingerprint: str, libraries: Sequence[str]) -> str:
    """Describe what must be the same for a run to go on.

    Parameters
    ----------
    settings : by name; a generator of random numbers counts by its state
    tables : of the labeled rows: their values, labels, weights, what was verified, and the groups they are in
    fingerprint : of the unlabeled rows
    libraries : whose versions matter, besides this package's
    """
    digest = hashlib.sha256()
    for table in tables:
        digest.update(b"none" if table is None else table_bytes(table))
    versions = {"dips": __version__} | {name: version(name) for name in libraries}
    texts = [f"{name}={_setting(value)}" for name, value in settings.items()]
    texts += [f"{name}=={number}" for name, number in versions.items()]
    return " ".join([*texts, f"labeled={digest.hexdigest()[:16]}", f"unlabeled={fingerprint}"])


def _setting(value: Any) -> str:
    if isinstance(value, np.random.RandomState):
        return hashlib.sha256(packed(value.get_state())).hexdigest()[:16]
    return as_text(value)


def _of_rule(rule: Rule) -> dict[str, Any]:
    assert rule.cut is not None
    verdict = rule.verdict
    return {
        "model": _model_bytes(rule.look.estimator),
        "totals": list(rule.totals),
        "cut": vars(rule.cut),
        "verdict": verdict and {"keeps_all": verdict.keeps_all, "rescued": verdict.rescued and vars(verdict.rescued)},
    }


def _to_rule(stored: dict[str, Any], rounds: RuleRounds) -> Rule:
    look, totals = rounds.look(_loaded(stored["model"], rounds)), list(stored["totals"])
    choose = rounds.labeler.rule(lambda function: totals.pop(0))
    verdict = stored["verdict"]
    if verdict is not None:
        rescued = verdict["rescued"]
        verdict = Verdict(bool(verdict["keeps_all"]), rescued and Cut(**rescued))
    return Rule(look, choose, tuple(stored["totals"]), Cut(**stored["cut"]), verdict)


def _model_bytes(estimator: BaseEstimator) -> Array:
    """Return the model in its library's own form."""
    backbone, file_name = check_storable(estimator)
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / file_name
        backbone.save(estimator, path)
        return np.frombuffer(path.read_bytes(), np.uint8)


def _loaded(stored: Array, rounds: RuleRounds) -> BaseEstimator:
    trainer = rounds.trainer
    backbone, file_name = check_storable(trainer.estimator)
    unfitted = backbone.clone(trainer.estimator)
    if backbone.threads:
        unfitted.set_params(**{backbone.threads: 1})
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / file_name
        path.write_bytes(stored.tobytes())
        backbone.check_file(path, trainer.pool.n_columns or None, trainer.n_classes)
        return backbone.load(path, unfitted)
