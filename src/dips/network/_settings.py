"""Every number that shapes the network, the synthetic tables and the training, in one place."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

USUAL_CONTEXT = 256  # rows at which the learned sharpening of attention is neutral
N_FITS = 3  # regressions that give hints
NEVER = -1e4  # logit of a class that no label names


@dataclass(frozen=True)
class ModelSettings:
    """Sizes of the network.

    Price of an answer on a processor, in multiply-adds counted twice: a token of a row costs 24 width² a layer in
    products and 4 × keys × width in attention along its column. 5,000 rows of 20 columns, two to a token, and two
    classes are 60,000 tokens; at width 192, 6 layers and 1,000 context rows 0.6 TFLOP, and 1.1 billion exponentials:
    5 to 8 seconds on two cores at 100 to 150 GFLOP/s. The weights are 12 width² a layer: 2.7 million, 5.4 MB in half
    precision.
    """

    width: int = 192
    layers: int = 6
    row_heads: int = 6
    column_heads: int = 3
    expansion: int = 2
    columns_per_token: int = 2
    code_width: int = 16  # numbers in the random code of a level, a token or a class
    waves: tuple[int, ...] = (1, 2, 4)  # frequencies in which a value's rank is written
    hints: bool = True  # the classes' tokens begin with what simple regressions make of the labels
    trees: bool = True  # and, where they do, with what a small forest makes of them
    packed_tokens: int = 96  # short rows are laid side by side up to this length for attention; 0: one row at a time

    @property
    def cell_width(self) -> int:
        """How many numbers describe one cell."""
        return 5 + 2 * len(self.waves) + self.code_width

    @property
    def mark_width(self) -> int:
        """How many numbers describe a row to the token of a class: is it labeled, with this class, and the hints."""
        return 2 + 2 * (N_FITS + self.trees) * self.hints

    def tokens_of(self, n_columns: int) -> int:
        """How many tokens the columns of a row take."""
        return -(-n_columns // self.columns_per_token)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> ModelSettings:
        """Settings out of a JSON object, which knows no tuples, and where it is old, no hints or none of trees."""
        return cls(**{"hints": False, "trees": False} | _tuples(values))


@dataclass(frozen=True)
class PriorSettings:
    """Shapes and shares of the synthetic tables; a shape is shared by a batch, everything else is drawn per table."""

    labeled: tuple[int, ...] = (16, 24, 32, 48, 64, 96, 128, 192, 256, 400, 640, 1000)
    unlabeled: tuple[int, ...] = (0, 0, 48, 96, 192, 400, 800, 1496)
    queries: tuple[int, ...] = (64, 128, 192)
    columns: tuple[int, ...] = (2, 3, 4, 5, 6, 8, 8, 10, 12, 12, 14, 16, 20, 20, 24, 30, 40)
    classes: tuple[int, ...] = (2, 2, 2, 2, 2, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 10)
    max_cells: int = 60_000  # rows × columns of one table
    max_levels: int = 48
    sharpness: tuple[float, float] = (0.7, 30.0)  # how surely the highest score decides, from overlap to crisp
    interval_noise: tuple[float, float] = (0.02, 1.2)  # the same where intervals of one score are the classes
    simple: float = 0.35  # share of tables whose scores are a plain sum over columns
    dense: float = 0.25  # share of tables in which every column matters
    clean: float = 0.25  # share of tables whose labels are all right
    max_noise: float = 0.46  # share of wrong labels with two classes
    max_noise_many: float = 0.60  # and with more


@dataclass(frozen=True)
class TrainingSettings:
    """How the network is trained: the rate rises, stays, and falls only in a piece that is told to end."""

    seed: int = 13
    tokens_per_step: int = 200_000
    steps_per_draw: int = 8  # batches made at once, so that launches do not count
    draws_in_hand: int = 12  # draws whose batches are shuffled, so that steps in a row differ in shape
    shapes_in_deck: int = 128
    passes_of_deck: int = 12
    row_kernel: bool = True  # on a GPU, our own attention along rows in place of the library's
    optimizer: str = "muon"  # or "adamw", for every weight
    muon_rate: float = 2e-3
    adam_rate: float = 8e-4
    weight_decay: float = 0.05
    warmup_steps: int = 500
    clip: float = 1.0
    ema: float = 0.999
    labeled_weight: float = 0.5
    curriculum_steps: int = 0  # steps over which labels, noise and classes go from easy to the full prior


@dataclass(frozen=True)
class NetworkSettings:
    """All settings of one network."""

    model: ModelSettings = field(default_factory=ModelSettings)
    prior: PriorSettings = field(default_factory=PriorSettings)
    training: TrainingSettings = field(default_factory=TrainingSettings)

    def save(self, path: Path) -> None:
        """Write the settings as JSON."""
        path.write_text(json.dumps(asdict(self), indent=1) + "\n")

    @classmethod
    def load(cls, path: Path) -> NetworkSettings:
        """Read settings that :meth:`save` wrote."""
        parts = json.loads(path.read_text())
        return cls(
            ModelSettings.from_json(parts["model"]),
            PriorSettings(**_tuples(parts["prior"])),
            TrainingSettings(**parts["training"]),
        )


def _tuples(values: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}


TINY = NetworkSettings(
    ModelSettings(width=32, layers=2, row_heads=2, column_heads=1, packed_tokens=32),
    PriorSettings(labeled=(16, 32), unlabeled=(0, 32), queries=(16,), columns=(3, 4), classes=(2, 3), max_levels=6),
    TrainingSettings(tokens_per_step=3_000, steps_per_draw=2, draws_in_hand=2, warmup_steps=20, ema=0.98),
)  # for rehearsals on a processor
