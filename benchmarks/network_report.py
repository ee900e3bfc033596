"""Print what ``benchmarks/network.py --out`` wrote: ``python benchmarks/network_report.py SCORES.jsonl ...``.

Mean scores of every model by labels and noise, and by table; then the network against the best of the supervised models
and against the default of this package. Only tasks that every model could fit are counted. ``--network`` names the
model that the others are compared with. ``--baseline xgboost`` prints instead what every model gains over that one, on
the tasks that it could fit.
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path

import numpy as np
import pandas as pd

PACKAGES = ("self-training", "CleanLearning")  # other packages' ways with dirty labels
SCORES = ("accuracy", "log_loss", "auc", "auc_wrong")
UNITS = {"accuracy": 100.0, "log_loss": 1.0, "auc": 100.0}


def read(paths):
    """Records of several files, one for each model and task."""
    return [json.loads(line) for path in paths for line in path.read_text().splitlines()]


def draw_of(record):
    """What tells one task from another."""
    return tuple(record.get(name) for name in ("table", "kind", "task", "unlabeled", "seed"))


def complete(records):
    """Records of the tasks that every model could fit."""
    fitted, models = defaultdict(set), {record["model"] for record in records}
    for record in records:
        fitted[draw_of(record)].add(record["model"])
    return [record for record in records if fitted[draw_of(record)] == models]


def mean(records, score):
    """Mean of a score over the records that have it."""
    values = [record[score] for record in records if not np.isnan(record.get(score, np.nan))]
    return float(np.mean(values)) if values else float("nan")


def show(records, key):
    """Print mean scores of the models, one block per table or task."""
    groups = defaultdict(list)
    for record in records:
        groups[record[key] if key else "all", record["model"]].append(record)
    print(f"\n{key or 'all':24}{'model':22}" + "".join(f"{score:>10}" for score in SCORES))
    for (group, model), members in groups.items():
        values = [mean(members, score) for score in SCORES]
        print(f"{group:24}{model:22}" + "".join(f"{'':>10}" if np.isnan(v) else f"{v:10.3f}" for v in values))


def is_clean(record):
    """Has the task no wrong label?"""
    return record["task"].endswith("/0")


def rivals_of(records, network):
    """Models that the network is compared with: the supervised ones, those calibrated, and the default."""
    others = sorted({record["model"] for record in records if not record["model"].startswith("network")} - {network})
    curated = [[model] for model in others if model.startswith("curated")]
    supervised = [model for model in others if not model.startswith("curated") and model not in PACKAGES]
    calibrated = [model for model in supervised if model.endswith(", sigmoid")]
    return [names for names in (supervised, calibrated, *curated) if names]


def gain(records, score, network, others):
    """The best of the others in the mean, its score, and how far the network is ahead: mean over tables, error."""
    sign = -1 if score == "log_loss" else 1
    means = {model: mean([r for r in records if r["model"] == model], score) for model in others}
    best = max(others, key=lambda model: sign * means[model])
    ahead = []
    for table in dict.fromkeys(record["table"] for record in records):
        mine, its = (
            mean([r for r in records if r["table"] == table and r["model"] == model], score)
            for model in (network, best)
        )
        ahead.append(mine - its)
    error = np.std(ahead, ddof=1) / len(ahead) ** 0.5 if len(ahead) > 1 else float("nan")
    return best, means[best], float(np.mean(ahead)), error


def show_gains(records, network):
    """Print how far the network is ahead, for clean and for dirty labels."""
    for name, part in (("clean", filter(is_clean, records)), ("dirty", filter(lambda r: not is_clean(r), records))):
        members = list(part)
        for others in rivals_of(members, network):
            for score, unit in UNITS.items():
                best, its, ahead, error = gain(members, score, network, others)
                share = f"  {100 * ahead / its:+.1f} %" if score == "log_loss" else ""
                print(f"{name:8}{score:10}against {best:22}{unit * ahead:+8.3f} ± {unit * error:.3f}{share}")


def differences(records, baseline):
    """What each model gains over one of them, in each cell (table, labels and noise): means over samples of rows."""
    if baseline not in {record["model"] for record in records}:
        raise SystemExit(f"No record is of {baseline!r}.")
    frame = pd.DataFrame(records).assign(draw=[draw_of(record) for record in records])
    both = frame.merge(frame[frame["model"] == baseline][["draw", *UNITS]], on="draw", suffixes=("", "_before"))
    gains = {score: both[score] - both[f"{score}_before"] for score in UNITS}
    cells = both[["model", "table", "task"]].assign(**gains, before=both["log_loss_before"])
    return cells[cells["model"] != baseline].groupby(["model", "table", "task"], as_index=False, sort=False).mean()


def show_differences(records, baseline):
    """Print what every model gains: means over tables, and in how many cells it does harm."""
    cells = differences(records, baseline)
    print(f"gains over {baseline}, errors over tables; cells that lose half a point of accuracy, .01 of log loss")
    clean = cells["task"].str.endswith("/0")
    for name, part in (("clean", cells[clean]), ("dirty", cells[~clean])):
        for model, its in part.groupby("model", sort=False):
            of_table = 100 * its.groupby("table")[["accuracy", "auc"]].mean()
            mean, error, share = of_table.mean(), of_table.sem(), its["log_loss"].sum() / its["before"].sum()
            harmed, less_sure = (its["accuracy"] < -0.005).sum(), (its["log_loss"] > 0.01).sum()
            print(
                f"{name:6}{model:22}accuracy {mean['accuracy']:+.2f} ± {error['accuracy']:.2f}  log loss {share:+.1%}  "
                f"AUC {mean['auc']:+.2f} ± {error['auc']:.2f}  harmed {harmed}, {less_sure} of {len(its)}"
            )


def report(records, network="network", baseline=None):
    """Print everything."""
    if baseline is not None:
        show_differences(records, baseline)
        return
    records = complete(records)
    for key in (None, "task", "table"):
        show(records, key)
    if network in {record["model"] for record in records}:
        print()
        show_gains(records, network)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scores", type=Path, nargs="+")
    parser.add_argument("--network", default="network", help="the model to compare the others with")
    parser.add_argument("--baseline", help="print instead what every model gains over this one, such as xgboost")
    options = parser.parse_args()
    report(read(options.scores), options.network, options.baseline)


if __name__ == "__main__":
    main()
