"""Contract checks for labelers, curators and backbones of your own.

They check what every part of dips must do, and raise an ``AssertionError`` with a reason. Run them in the tests of
your own package::

    from dips.testing import check_labeler


    def test_my_labeler_keeps_the_contract():
        check_labeler(MyLabeler())

``LABELER_CHECKS``, ``CURATOR_CHECKS`` and ``BACKBONE_CHECKS`` are the individual checks, for
``pytest.mark.parametrize``. :func:`make_candidates` and :func:`make_evidence` make what a labeler and a curator are
shown, without any training.
"""

from __future__ import annotations

from dips.testing._backbones import BACKBONE_CHECKS, check_backbone
from dips.testing._curators import CURATOR_CHECKS, check_curator, make_evidence, random_trajectories
from dips.testing._labelers import LABELER_CHECKS, check_labeler, make_candidates, random_members

__all__ = [
    "BACKBONE_CHECKS",
    "CURATOR_CHECKS",
    "LABELER_CHECKS",
    "check_backbone",
    "check_curator",
    "check_labeler",
    "make_candidates",
    "make_evidence",
    "random_members",
    "random_trajectories",
]


def __dir__() -> list[str]:
    return sorted(__all__)
