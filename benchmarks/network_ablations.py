"""Which ingredient buys what, at small scale: ``python benchmarks/network_ablations.py TABLES/tables.npz --steps 600``.

A small network is trained on made-up tables with all ingredients, and anew without each of them: the same seed, as many
steps. All are asked about the same made-up tables, which have every ingredient, and about real ones (100 labels, 0, 20
and 40 % of them wrong). On a processor, minutes a line; a network of this size has learned little by then.
"""

import argparse
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import torch

from dips.network._evaluate import answer
from dips.network._loss import losses_by_row
from dips.network._prior import _noise, _tables
from dips.network._prior._draws import Draws
from dips.network._prior._tables import make_tables
from dips.network._settings import ModelSettings, NetworkSettings, PriorSettings, TrainingSettings
from dips.network._tasks import NOISE, make_task, read_tables, scores_of
from dips.network._training import NetworkTrainer, draw_shape, encode_tables

CPU = torch.device("cpu")
SMALL = NetworkSettings(
    ModelSettings(width=48, layers=3, row_heads=3, column_heads=3),
    PriorSettings(
        labeled=(32, 64, 128), unlabeled=(0, 64, 128), queries=(64,), columns=(4, 8, 12), classes=(2, 2, 2, 3, 5)
    ),
    TrainingSettings(tokens_per_step=8_000, steps_per_draw=4, draws_in_hand=4, warmup_steps=50, ema=0.99),
)


def nothing_but(draws, tables, shape):
    """Correlated columns alone, no causes and no clusters."""
    x = _tables.correlated(draws, tables, shape.rows, shape.columns)
    return x, x.new_zeros(tables, shape.rows, shape.classes), draws.chance(tables, 1, p=0.0)


def no_cell(draws, rank, *_):
    return torch.zeros_like(rank, dtype=torch.bool)


def no_column(draws, tables, columns):
    return torch.zeros(tables, columns, dtype=torch.bool)


WITHOUT = {
    "(all ingredients)": ({}, []),
    "wrong labels": ({"clean": 1.0}, []),
    "clean tables": ({"clean": 0.0}, []),
    "errors that are not even": ({}, [(_noise, "SHARES", (1.0, 0.0, 0.0, 0.0, 0.0))]),
    "unlabeled rows": ({"unlabeled": (0,)}, []),
    "more than two classes": ({"classes": (2,)}, []),
    "categories": ({}, [(_tables, "categorical_columns", no_column)]),
    "missing cells": ({}, [(_tables, "missing", no_cell)]),
    "rows from other sources": ({}, [(_tables, "shifted", lambda draws, latent, source: latent)]),
    "causes and clusters": ({}, [(_tables, "_latent", nothing_but)]),
    "functions but sums": ({"simple": 1.0}, []),
}  # what is left out: settings that change, and parts of the prior that are replaced


def trained(changes, replaced, steps, seed):
    """A small network after so many steps on tables without an ingredient."""
    training = replace(SMALL.training, seed=seed)
    trainer = NetworkTrainer(replace(SMALL, prior=replace(SMALL.prior, **changes), training=training), CPU)
    with ExitStack() as stack:
        for module, name, replacement in replaced:
            stack.enter_context(patch.object(module, name, replacement))
        while trainer.place.step < steps:
            trainer.steps(min(1.0, 2 * (1 - trainer.place.step / steps)))  # the rate falls in the second half
    return trainer.averaged()


@torch.no_grad()
def loss_on_all(model, draws=40):
    """Mean loss of rows without label on the same made-up tables with all ingredients, clean and dirty."""
    losses = []
    for number in range(draws):
        shape, _ = draw_shape(99, number, SMALL)
        source = Draws(CPU, 10**6 + number)
        tables = make_tables(source, 12, shape, SMALL.prior)
        cells = encode_tables(tables, shape, source, SMALL)
        loss, counts = losses_by_row(
            model(cells, shape.context), tables.true, tables.chances, cells.present, shape.labeled
        )
        by_table = loss[:, shape.labeled :].sum(1) / counts[:, shape.labeled :].sum(1).clamp_min(1)
        losses += zip((tables.noise == 0).tolist(), by_table.tolist(), strict=True)
    clean, loss = map(np.array, zip(*losses, strict=True))
    return loss[clean].mean(), loss[~clean].mean()


def scores_on_real(model, tables):
    """Accuracy, log loss and area under the curve, means over real tables."""
    scores = []
    for table in tables:
        for noise in NOISE:
            task = make_task(table, 100, noise, seed=0)
            by_name = scores_of(task, answer(model, table, task, CPU, torch.float32))
            scores.append([by_name[name] for name in ("accuracy", "log_loss", "auc")])
    return np.nanmean(scores, axis=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", type=Path, help="a file of dips.network._real_tables")
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", choices=WITHOUT, help="what to leave out, if not everything in turn")
    options = parser.parse_args()
    torch.set_num_threads(1)
    tables = read_tables(options.tables)
    heads = ("made-up, clean", "made-up, dirty", "accuracy", "log loss", "area")
    print(f"{'without':28}" + "".join(f"{head:>16}" for head in heads))
    for name in options.only or WITHOUT:
        model = trained(*WITHOUT[name], options.steps, options.seed)
        values = (*loss_on_all(model), *scores_on_real(model, tables))
        print(f"{name:28}" + "".join(f"{value:16.4f}" for value in values), flush=True)


if __name__ == "__main__":
    main()
