"""How much is trained. Where labels are few, more teachers and folds pay; where they abound, they only cost."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Effort:
    """How many models are trained, on how many rows.

    Attributes
    ----------
    n_folds : folds in which every teacher is trained
    helpers : teachers besides the backbone, by name
    again : teachers that are asked again without the labels that look wrong; if none, there is no second round
    max_rows, max_rows_helper : the most rows that one backbone, or one helper, is trained on
    n_student : rows besides the labeled ones that the student learns from, synthetic ones where there are too few
    share_of_trees : of a full forest
    graph : whether the graph is a teacher if there are more unlabeled rows than labels
    network : whether the network is a teacher
    """

    n_folds: int
    helpers: tuple[str, ...]
    again: tuple[str, ...]
    max_rows: int
    max_rows_helper: int
    n_student: int = 0
    share_of_trees: float = 1.0
    graph: bool = False
    network: bool = False

    @classmethod
    def for_labels(cls, n: int, n_folds: int | None = None, network: bool = False) -> Effort:
        """Return the effort for n labels."""
        helpers, again = ("stiff linear", "linear", "trees", "stiff trees"), ("backbone", "linear", "trees")
        if n < 1_000:
            return cls(n_folds or 5, helpers, (*again, "graph"), 20_000, 4_000, 1_000, graph=True, network=network)
        if n < 10_000:
            n_student = 1_000 if n < 2_000 else 0
            return cls(n_folds or 3, helpers, again, 20_000, 4_000, n_student, share_of_trees=0.25, network=network)
        # so that an audit costs about three fits
        return cls(n_folds or 2, ("linear",), (), 15_000, 2_000, network=network)
