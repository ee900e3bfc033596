"""How often ``dips fit`` keeps the right model, by several ways to choose, where the labels to choose by are dirty too.

    DIPS_DATA=FOLDER python -m dips.network._real_tables TABLES     # writes TABLES/tables.npz
    python benchmarks/keel_tables.py TABLES/keel.npz
    python benchmarks/choosing.py TABLES/tables.npz TABLES/keel.npz [--seeds 1] [--jobs 2]

For each table, number of labels and share of flipped ones, the candidates answer for the labeled rows out of fold and
for rows whose true labels are known. A rule sees only the former; it is judged by the latter. What was trained is kept
in results/choosing, so that rules can be compared again; with --stored only what is there is used.
"""

from __future__ import annotations

import argparse
import warnings
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from common import show
from joblib import Parallel, delayed
from rich.console import Console
from rich.progress import track

from dips._beliefs.hypotheses import symmetric_noise
from dips._beliefs.noise import calibrate_panels
from dips._data.spans import Spans
from dips._files import Preparation, read_table, understand
from dips._study.candidates import CANDIDATES, JUDGE, NETWORK
from dips._study.compare import Comparison, choose, gains_over_usual
from dips._study.examples import Examples
from dips._study.metrics import METRICS
from dips._study.settings import Settings
from dips._study.splits import HoldOut, validation_folds
from dips._study.truth import Truth, believed_truth
from dips._tools.arrays import Array
from dips.network._tasks import RealTable, make_task, read_tables

PLACE = Path(__file__).parents[1] / "results" / "choosing"
SIZES, NOISES = (100, 400), (0.0, 0.2, 0.4)
N_UNLABELED = 400


def path_of(table: str, n: int, noise: float, seed: int) -> Path:
    """Where the answers of one cell are kept."""
    return PLACE / f"{table}-{n}-{noise:g}-{seed}.npz"


def prepared(table: RealTable, values: Array) -> tuple[Array, Spans]:
    """The rows as a study prepares them: levels have columns of their own."""
    frame = pd.DataFrame(values.astype(float)).add_prefix("column ")
    for j in np.flatnonzero(table.categorical):
        levels = frame.iloc[:, j]
        frame[frame.columns[j]] = levels.map("level {:.0f}".format).where(levels.notna(), None)
    read = read_table(frame)
    preparation = Preparation(understand(read)).learn(read)
    return preparation.encode(read), preparation.spans


def answers(table: RealTable, n: int, noise: float, seed: int) -> None:
    """Keep labels, beliefs, and the probabilities of every candidate: out of fold and on the test rows."""
    warnings.filterwarnings("ignore")
    task = make_task(table, n, noise, seed, N_UNLABELED)
    n_classes = int(task.true[:n].max()) + 1
    if np.unique(task.given).size < n_classes or np.bincount(task.given).min() < 2:
        return  # dirt left a class without labels to validate with
    X, spans = prepared(table, task.values)
    codes = np.concatenate([task.given, np.full(task.true.size - n, -1)])
    examples, settings = Examples(X, codes, spans=spans), Settings(target="", seed=seed)
    labeled, unlabeled, test = np.split(np.arange(task.true.size), [n, task.context])
    folds = validation_folds(codes, HoldOut(labeled, test, unlabeled), settings)
    by_name = {"labels": task.given, "truth": task.true[:n], "y_test": task.true[test]}
    by_name["validated"] = np.concatenate([validate for _, validate in folds])
    by_name["belief"] = believed_truth(examples, labeled, n_classes, settings)
    for candidate in CANDIDATES:
        models = [candidate.fit(examples, rows, unlabeled, settings) for rows, _ in [*folds, (labeled, test)]]
        of_folds = [model.predict_proba(X[rows]) for model, (_, rows) in zip(models, folds, strict=False)]
        by_name |= {
            f"{candidate.name}_folds": np.concatenate(of_folds),
            f"{candidate.name}_test": models[-1].predict_proba(X[test]),
        }
        if candidate == JUDGE:
            by_name["rate"] = np.array([models[-1].curator_.noise_rate_, *models[-1].curator_.noise_interval_])
    PLACE.mkdir(parents=True, exist_ok=True)
    np.savez(path_of(table.name, n, noise, seed), **by_name)


def kept(by_name: dict[str, Array], by_belief: bool, usual: str, without: str = "") -> str:
    """The candidate that a study keeps, by accuracy on labels as given or on what is believed of them."""
    rows, n_classes = by_name["validated"], by_name["belief"].shape[1]
    truth = Truth(by_name["belief"][rows]) if by_belief else Truth.given(by_name["labels"][rows], n_classes)
    comparison = Comparison()
    comparison.of_folds = {c.name: [by_name[f"{c.name}_folds"]] for c in CANDIDATES if c.name != without}
    comparison.validate([truth], "accuracy", 1)
    if usual == "best":
        return max(comparison.validation, key=comparison.validation.__getitem__)
    return choose(gains_over_usual(comparison, [truth], Settings(target=""), 1, usual))


RULES = {  # name: by belief, what is kept unless another is clearly better, who takes no part
    "labels as given; the best": (False, "best"),
    "beliefs; the best": (True, "best"),
    "beliefs; curated and unlabeled, unless; no network": (True, "curated_pseudo", NETWORK),
    "beliefs; curated and unlabeled, unless": (True, "curated_pseudo"),
    "labels as given; the network, unless": (False, NETWORK),
    "beliefs; the network, unless": (True, NETWORK),
}


def judged(by_name: dict[str, Array]) -> list[dict]:
    """One record per rule: how far the kept candidate is behind the truly best one, and ahead of the plain one."""
    y, p = by_name["y_test"], {c.name: by_name[f"{c.name}_test"] for c in CANDIDATES}
    accuracy = {name: 100 * METRICS["accuracy"].score(y, each, 1) for name, each in p.items()}
    loss = {name: METRICS["log_loss"].score(y, each, 1) for name, each in p.items()}
    chosen = {rule: kept(by_name, *how) for rule, how in RULES.items()}
    chosen |= {f"always {c.title}": c.name for c in CANDIDATES}
    return [
        {
            "rule": rule,
            "kept": name,
            "behind": max(accuracy.values()) - accuracy[name],
            "gain": accuracy[name] - accuracy["plain"],
            "log loss": loss[name],
        }
        for rule, name in chosen.items()
    ]


def calibrated(by_name: dict[str, Array]) -> list[dict]:
    """Log loss and calibration error of the default, as it is and calibrated through the estimated noise."""
    y, labels, p = by_name["y_test"], by_name["labels"][by_name["validated"]], by_name["curated_pseudo_test"]
    out_of_fold, estimated = by_name["curated_pseudo_folds"], symmetric_noise(by_name["rate"][0], labels, p.shape[1])
    panel = calibrate_panels([out_of_fold], labels, [estimated], np.random.RandomState(0))[0]
    return [
        {"rule": rule, "log loss": METRICS["log_loss"].score(y, q, 1), "error": error_of(y, q)}
        for rule, q in (("as it is", p), ("calibrated", panel([p])))
    ]


def error_of(y: Array, p: Array) -> float:
    """Expected calibration error of the predicted class in percent, in ten groups by its probability."""
    sure, right = p.max(axis=1), p.argmax(axis=1) == y
    groups = np.minimum((10 * sure).astype(int), 9)
    return 100 * sum(abs((sure - right)[groups == g].sum()) for g in range(10)) / y.size


def of_cells(measure, cells: dict[tuple, dict[str, Array]]) -> pd.DataFrame:
    """Records of all cells, with their table and noise."""
    return pd.DataFrame(
        [
            {"table": table, "noise": noise, **record}
            for (table, _, noise, _), by_name in cells.items()
            for record in measure(by_name)
        ]
    )


def show_rules(records: pd.DataFrame) -> None:
    """Means over tables, each the mean over its cells, and the standard error of the gain over them."""
    records["right"] = 100 * (records["behind"] <= 0.5)
    records["harmed"] = 100 * (records["gain"] < -0.5)
    for title, part in (("clean", records[records["noise"] == 0]), ("dirty", records[records["noise"] > 0])):
        by_table = part.groupby(["rule", "table"], sort=False)[["right", "behind", "gain", "harmed", "log loss"]].mean()
        means = by_table.groupby("rule", sort=False).mean().round(3)
        means["gain"] = means["gain"].map("{:+.2f}".format) + by_table.groupby("rule")["gain"].sem().map(
            " ± {:.2f}".format
        )
        kept = part.groupby(["rule", "kept"], sort=False).size().unstack(fill_value=0)
        n = f"{part['table'].nunique()} tables, {len(part) // part['rule'].nunique()} cells"
        show(f"{title}: {n}; right: within half a point of the best (%)", means.join(kept))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", type=Path, nargs="+", help="files of dips.network._real_tables or keel_tables.py")
    parser.add_argument("--only", nargs="*", help="names of tables")
    parser.add_argument("--labels", type=int, nargs="*", default=SIZES)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--stored", action="store_true", help="train nothing")
    options = parser.parse_args()
    tables = {table.name: table for path in options.tables for table in read_tables(path)}
    names = [name for name in tables if not options.only or name in options.only]
    cells = [
        (name, n, noise, seed)
        for seed, noise, n, name in product(range(options.seeds), NOISES, options.labels, names)
        if n + 150 <= tables[name].classes.size
    ]
    if not options.stored:
        parallel = Parallel(options.jobs, return_as="generator_unordered")
        missing = [cell for cell in cells if not path_of(*cell).exists()]
        done = parallel(delayed(answers)(tables[name], *cell) for name, *cell in missing)
        for _ in track(done, "training", total=len(missing), console=Console(stderr=True)):
            pass
    stored = {cell: dict(np.load(path_of(*cell))) for cell in cells if path_of(*cell).exists()}
    show_rules(of_cells(judged, stored))
    means = of_cells(calibrated, stored).groupby(["rule", "noise"])[["log loss", "error"]].mean().round(3)
    show("Curated and unlabeled, calibrated or not", means)


if __name__ == "__main__":
    main()
