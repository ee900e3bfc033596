"""How good the network is on real tables, as it trains."""

from __future__ import annotations

import numpy as np
import torch

from dips.network._cells import encode
from dips.network._model import Network, answers
from dips.network._prior._draws import Draws, take_columns
from dips.network._tasks import LABELS, NOISE, RealTable, Task, make_task, mean_of, means_by, scores_of


@torch.no_grad()
def answer(
    model: Network, table: RealTable, task: Task, device: torch.device, dtype: torch.dtype, draws: int = 1
) -> np.ndarray:
    """Probabilities of every row's true class, (n, C), averaged over random names and orders of columns."""
    classes, levels = int(task.given.max()) + 1, int(np.nanmax(table.values[:, table.categorical], initial=1)) + 1
    source = Draws(device, 0)
    order = source.order(draws, task.values.shape[1])
    values = take_columns(torch.as_tensor(task.values, device=device).expand(draws, -1, -1), order)
    flags = torch.as_tensor(table.categorical, device=device)[order]
    given = torch.as_tensor(task.given, device=device).expand(draws, -1)
    cells = encode(values, flags, given, classes, task.context, levels, source, model.settings).to(dtype)
    logits = answers(model(cells, task.context), len(task.given))
    return logits.softmax(-1).mean(0).cpu().numpy().astype(np.float64)


def evaluate(
    model: Network, tables: list[RealTable], device: torch.device, dtype: torch.dtype, thorough: bool = False
) -> dict:
    """Mean scores over all tasks, by labels and noise, and by table."""
    seeds, draws = (3, 4) if thorough else (1, 1)
    rows = []
    for table in tables:
        for labels in LABELS:
            for noise in NOISE:
                if labels + 150 > len(table.classes):
                    continue
                for seed in range(seeds):
                    task = make_task(table, labels, noise, seed)
                    p = answer(model, table, task, device, dtype, draws)
                    rows.append((table.name, f"{labels}/{noise:g}", scores_of(task, p)))
    return {"mean": mean_of([row[2] for row in rows]), "by_task": means_by(rows, 1), "by_table": means_by(rows, 0)}
