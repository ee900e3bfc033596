"""Which ingredient buys what, at small scale: ``python benchmarks/network_ablations.py TABLES/tables.npz``.

A small network is trained on synthetic tables with all ingredients, and anew without each of them: the same seed, the
same steps. All are asked about the same synthetic tables, which have every ingredient, and about real ones (100 and 400
labels, 0, 20 and 40 % of them wrong), and how much worse than with all ingredients they are there, with its standard
error over tables. A minute a line on a GPU, many on a processor. ``--out`` keeps the scores of every task, so that
``--read`` can put several runs together.
"""

import argparse
import json
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

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
SCORES = ("accuracy", "log_loss", "auc")
SMALL = NetworkSettings(
    ModelSettings(width=96, layers=3, row_heads=3, column_heads=3),
    PriorSettings(
        labeled=(32, 64, 128, 256, 400),
        unlabeled=(0, 64, 128),
        queries=(64,),
        columns=(4, 8, 12, 20, 30),
        classes=(2, 2, 2, 2, 3, 5, 7),
        simple=0.3,
        clean=0.22,
    ),
    TrainingSettings(
        tokens_per_step=40_000, steps_per_draw=8, draws_in_hand=4, warmup_steps=100, ema=0.99, shapes_in_deck=32
    ),
)


def nothing_but(draws, tables, shape):
    """Correlated columns alone, no causes and no clusters."""
    x, _ = _tables.correlated(draws, tables, shape.rows, shape.columns)
    return x, x.new_zeros(tables, shape.rows, shape.classes), draws.chance(tables, 1, p=0.0)


def no_cell(draws, rank, *_):
    return torch.zeros_like(rank, dtype=torch.bool)


def no_column(draws, tables, columns):
    return torch.zeros(tables, columns, dtype=torch.bool, device=draws.device)


def as_they_are(draws, latent, rank):
    return latent


WITHOUT = {
    "(all ingredients)": ({}, []),
    "wrong labels": ({"clean": 1.0}, []),
    "clean tables": ({"clean": 0.0}, []),
    "errors that are not even": ({}, [(_noise, "SHARES", (1.0, 0.0, 0.0, 0.0, 0.0))]),
    "unlabeled rows": ({"unlabeled": (0,)}, []),
    "more than two classes": ({"classes": (2,)}, []),
    "categories": ({}, [(_tables, "categorical_columns", no_column)]),
    "missing cells": ({}, [(_tables, "missing", no_cell)]),
    "skewed and counted columns": ({}, [(_tables, "warped", as_they_are)]),
    "rows from other sources": ({}, [(_tables, "shifted", lambda draws, latent, source: latent)]),
    "causes and clusters": ({}, [(_tables, "_latent", nothing_but)]),
    "functions but sums": ({"simple": 1.0}, []),
    "tables where all columns matter": ({"dense": 0.0}, []),
}  # what is left out: settings that change, and parts of the prior that are replaced


def trained(changes, replaced, steps, seed):
    """A small network after so many steps on tables without an ingredient."""
    training = replace(SMALL.training, seed=seed)
    trainer = NetworkTrainer(replace(SMALL, prior=replace(SMALL.prior, **changes), training=training), DEVICE)
    with ExitStack() as stack:
        for module, name, replacement in replaced:
            stack.enter_context(patch.object(module, name, replacement))
        while trainer.place.step < steps:
            trainer.steps(min(1.0, 2 * (1 - trainer.place.step / steps)))  # the rate falls in the second half
    return trainer.averaged()


@torch.no_grad()
def loss_on_all(model, draws=40):
    """Mean loss of rows without label on the same synthetic tables with all ingredients, clean and dirty."""
    losses = []
    for number in range(draws):
        shape, _ = draw_shape(99, number, SMALL)
        source = Draws(DEVICE, 10**6 + number)
        tables = make_tables(source, 12, shape, SMALL.prior)
        cells = encode_tables(tables, shape, source, SMALL)
        loss, counts = losses_by_row(
            model(cells, shape.context), tables.true, tables.chances, cells.present, shape.labeled
        )
        by_table = loss[:, shape.labeled :].sum(1) / counts[:, shape.labeled :].sum(1).clamp_min(1)
        losses += zip((tables.noise == 0).tolist(), by_table.tolist(), strict=True)
    clean, loss = map(np.array, zip(*losses, strict=True))
    return {"synthetic, clean": loss[clean].mean(), "synthetic, dirty": loss[~clean].mean()}


def scores_on_real(model, tables, seeds=2):
    """Mean scores by table."""
    scores = {}
    for table in tables:
        tasks = [
            make_task(table, labels, noise, seed)
            for labels in (100, 400)
            for noise in NOISE
            for seed in range(seeds)
            if labels + 150 <= len(table.classes)
        ]
        by_task = [scores_of(task, answer(model, table, task, DEVICE, torch.float32)) for task in tasks]
        scores[table.name] = {name: float(np.nanmean([by[name] for by in by_task])) for name in SCORES}
    return scores


def report(records):
    """Each ingredient's line: losses and scores, means over seeds, and what leaving it out costs on real tables."""
    heads = ("synthetic, clean", "synthetic, dirty", *SCORES)
    print(f"{'without':32}{'seeds':>6}" + "".join(f"{head:>18}" for head in heads) + "   difference over tables")
    whole = {record["seed"]: record for record in records if record["without"] == "(all ingredients)"}
    for name in dict.fromkeys(record["without"] for record in records):
        runs = [record for record in records if record["without"] == name]
        means = [np.mean([run[head] for run in runs]) for head in heads[:2]]
        means += [np.mean([score[head] for run in runs for score in run["real"].values()]) for head in SCORES]
        line = f"{name:32}{len(runs):>6}" + "".join(f"{mean:18.4f}" for mean in means)
        for head in SCORES:
            less = [_less(run, whole[run["seed"]], head) for run in runs if run["seed"] in whole]
            by_table = np.mean(less, axis=0) if less else np.zeros(2)
            line += f"{by_table.mean():+10.4f} ± {by_table.std(ddof=1) / len(by_table) ** 0.5:.4f}"
        print(line)


def _less(run, whole, score):
    """Differences by table of one run to the one with all ingredients and the same seed."""
    return [run["real"][table][score] - whole["real"][table][score] for table in whole["real"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", type=Path, help="a file of dips.network._real_tables")
    parser.add_argument("--steps", type=int, default=3_000)
    parser.add_argument("--seeds", type=int, nargs="*", default=[0])
    parser.add_argument("--only", nargs="*", choices=WITHOUT, help="what to leave out, if not everything in turn")
    parser.add_argument("--out", type=Path, help="keep the scores as JSON lines")
    parser.add_argument("--read", type=Path, nargs="*", default=[], help="only report what --out kept")
    options = parser.parse_args()
    torch.set_num_threads(1)
    records = [json.loads(line) for path in options.read for line in path.read_text().splitlines()]
    tables = read_tables(options.tables)
    for seed in options.seeds if not records else ():
        for name in options.only or WITHOUT:
            model = trained(*WITHOUT[name], options.steps, seed)
            about = {"without": name, "seed": seed, "steps": options.steps}
            records.append(about | loss_on_all(model) | {"real": scores_on_real(model, tables)})
            if options.out:
                with options.out.open("a") as file:
                    file.write(json.dumps(records[-1]) + "\n")
    report(records)


if __name__ == "__main__":
    main()
