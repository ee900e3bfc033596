"""Public tables made messy in the ways real ones are, and every guess checked against what was there before.

    python benchmarks/messy.py [TABLE ...]

Tables are scikit-learn's own and, where ``DIPS_DATA`` names their folder, those of ``dips.datasets``. Each is written
as a file with a title above its header, amounts, percentages, decimal commas, dates, codes, notes, repeated ids and
repeated rows; its labels in several spellings, with a word for "no label", and with a leak behind 8 % of wrong labels.
``dips inspect`` then reads it. A guess is *right*, *said* (not right, but announced with the option that overrules it),
or *WRONG*. About a minute on one core; nothing is trained.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn import datasets as of_sklearn

from dips._files.columns import Column
from dips._files.read import read_table
from dips._study.inspecting import Inspection, inspect
from dips.datasets import flip_labels

ROWS = 1_500
TARGETS = {
    "adult": "salary",
    "agaricus_lepiota": "habitat",
    "blog_feedback": None,
    "compas_two_years": "two_year_recid",
    "covid": "is_dead",
    "credit_default": "default.payment.next.month",
    "drug_consumption": "Gender",
    "german_credit": "class",
    "heart_disease_4sites": "sex",
    "higgs_atlas": "Label",
}
RIGHT, SAID, WRONG = "right", "said", "WRONG"
FORMS = ("%d.%m.%y", "%d %B %Y", "%m/%d/%Y", "%Y-%m-%d", "%d-%b-%Y", "%B %d, %Y", "%Y%m%d", "%d/%m/%Y %H:%M")
WORDS = ("unknown", "pending", "not reviewed", "n.a.", "TBD", "unlabeled")
NOTES = ("called about the bill", "asked for a later date", "no change since the last visit", "was sent home")


def tables() -> dict[str, tuple[pd.DataFrame, pd.Series]]:
    """Columns and labels of each table, by name."""
    by_name = {}
    for name in ("iris", "wine", "breast_cancer", "digits"):
        bunch = getattr(of_sklearn, f"load_{name}")(as_frame=True)
        by_name[name] = bunch.data, pd.Series(np.asarray(bunch.target_names)[bunch.target]).astype(str)
    folder = Path(os.environ.get("DIPS_DATA", "/nowhere"))
    for name, target in TARGETS.items():
        if (folder / f"{name}.parquet").exists():
            frame = pd.read_parquet(folder / f"{name}.parquet")
            label = frame["target_comments_24h"] > 0 if target is None else frame[target].astype(str).str.strip()
            by_name[name] = frame.drop(columns=[target or "target_comments_24h"]), label.astype(str)
    return by_name


def drawn(frame: pd.DataFrame, label: pd.Series, seed: int) -> tuple[pd.DataFrame, pd.Series]:
    """Some of the rows, with classes that have enough of them."""
    keep = label.isin(label.value_counts().loc[lambda n: n >= 0.02 * len(label)].index)
    rows = frame[keep].sample(min(ROWS, int(keep.sum())), random_state=seed).index
    clean = frame.loc[rows].reset_index(drop=True)
    several = [c for c in clean if len(clean[c].dropna().unique()) > 1]
    return clean[several], label.loc[rows].reset_index(drop=True)


class Mess:
    """A table that is made messy, with the truth about every column that was touched."""

    def __init__(self, frame: pd.DataFrame, label: pd.Series, seed: int) -> None:
        self.rng = np.random.RandomState(seed)
        self.frame, self.label = frame.copy(), label
        self.expected: dict[str, tuple[str, Callable[[Column, Any], bool]]] = {}
        numeric = frame.select_dtypes("number")
        self.numeric = [c for c in numeric if numeric[c].nunique() > 20]

    def written(self) -> pd.DataFrame:
        """Return the table with columns written as people write them, and columns that tables often have."""
        for write, how in ((_dollars, "amounts"), (_comma, "decimal comma"), (_percent, "percentages")):
            values = self.rng.gamma(2, 700, len(self.frame)).round(2)
            name = self.numeric.pop() if self.numeric else how
            if name in self.frame and self.frame[name].notna().all():
                values = self.frame[name].to_numpy(dtype=float).round(2)
            self.frame[name] = [write(v) for v in values]
            self.expected[name] = how, _same_numbers(values)
        days = pd.Timestamp("2019-01-01") + pd.to_timedelta(self.rng.randint(0, 1_400, len(self.frame)), unit="D")
        form = FORMS[self.rng.randint(len(FORMS))]
        self.frame["visited"] = days.strftime(form)
        self.expected["visited"] = "dates", _same_days(days)
        first_days = pd.to_datetime([f"2020-{m}-{d}" for m, d in self.rng.randint(1, 13, (len(self.frame), 2))])
        self.frame["called"] = first_days.strftime("%m/%d/%Y")
        self.expected["called"] = "ambiguous dates", _same_days(first_days)
        zips = self.rng.randint(501, 99_950, len(self.frame))
        name = ("zip", "PostalCode", "plz")[self.rng.randint(3)]
        self.frame[name] = [f"{z:05d}" for z in zips] if self.rng.rand() < 0.5 else np.maximum(zips, 10_000)
        self.expected[name] = "zip codes", lambda column, values: column.kind == "category"
        codes = [f"{c:.2f}" for c in self.rng.uniform(1, 999, 30)] + [f"V{c}" for c in self.rng.randint(10, 99, 10)]
        self.frame["icd"] = self.rng.choice(codes, len(self.frame))
        self.expected["icd"] = "ICD codes", lambda column, values: column.kind == "category"
        self.frame["note"] = [f"{self.rng.choice(NOTES)}, {self.rng.choice(NOTES)} ({i})" for i in self.frame.index]
        self.expected["note"] = "notes", lambda column, values: column.kind == "text"
        self.frame["patient_id"] = self.rng.randint(10_000, 10_000 + len(self.frame) // 3, len(self.frame))
        return self.frame

    def judge_columns(self, inspection: Inspection) -> dict[str, str]:
        """Compare what was understood with what was written."""
        verdicts = {}
        for column in inspection.schema.columns:
            if column.name in self.expected:
                how, is_right = self.expected[column.name]
                values = column.values(inspection.look.table.columns[column.name]) if column.is_used else None
                verdicts[how] = RIGHT if is_right(column, values) else SAID if "type" in column.note else WRONG
        verdicts["repeated ids"] = RIGHT if "patient_id" in inspection.repeated_ids else WRONG
        return verdicts

    def judge_others(self, inspection: Inspection, clean: pd.DataFrame) -> str:
        """Columns that nobody touched are what they were: numbers, texts, or said to be something else."""
        wrong = []
        for column in inspection.schema.columns:
            if column.name in self.expected or column.name not in clean:
                continue
            is_number = pd.api.types.is_numeric_dtype(clean[column.name])
            fits = ("number", "id") if is_number else ("category", "text", "id", "date")
            if column.kind not in fits and not column.note:
                wrong.append(column.name)
        return f"{WRONG}: {wrong[:3]}" if wrong else RIGHT


def _dollars(value: float) -> str:
    return f"${value:,.2f}" if value >= 0 else f"-${-value:,.2f}"


def _comma(value: float) -> str:
    return f"{value:.2f}".replace(".", ",")


def _percent(value: float) -> str:
    return f"{value:.2f}%"


def _same_numbers(truth: Any) -> Callable[[Column, Any], bool]:
    return lambda column, values: column.kind == "number" and np.allclose(values[: len(truth)], truth)


def _same_days(truth: Any) -> Callable[[Column, Any], bool]:
    def is_right(column: Column, values: Any) -> bool:
        return column.kind == "date" and bool((values.dt.normalize().to_numpy()[: len(truth)] == truth).all())

    return is_right


def read(frame: pd.DataFrame, label: Any, place: Path, preamble: str = "", **settings: Any) -> Inspection:
    path = place / "table.csv"
    delimiter = ";" if preamble else ","
    path.write_text(preamble + frame.assign(answer=label).to_csv(index=False, sep=delimiter), encoding="utf-8")
    return inspect(path, "answer", **settings)


def check(name: str, frame: pd.DataFrame, label: pd.Series, place: Path, seed: int) -> dict[str, str]:
    """Return the verdict on every guess."""
    clean, label = drawn(frame, label, seed)
    mess = Mess(clean, label, seed)
    messy, rng = mess.written(), np.random.RandomState(seed)
    inspection = read(messy, label, place, "Export of the clinic\nmade on 2024-03-01\n\n")
    is_whole = inspection.n_rows == len(messy) and not inspection.problem
    verdicts = {"title above the header": RIGHT if is_whole else WRONG}
    verdicts |= mess.judge_columns(inspection)
    verdicts["other columns"] = mess.judge_others(inspection, clean)
    verdicts["decimals elsewhere"] = _other_decimals(clean, label, place)
    verdicts["spellings of a label"] = _spellings(clean, label, place, rng)
    verdicts["a word for no label"] = _no_label(clean, label, place, rng)
    verdicts["repeated rows"] = _repeated(clean, label, place, rng)
    verdicts["a leak, 8 % flipped"] = _leak(clean, label, place, seed)
    verdicts["no leak invented"] = RIGHT if not inspection.leaks else f"{SAID}: {inspection.leaks[0].columns[0]}"
    return verdicts


def _other_decimals(clean: pd.DataFrame, label: pd.Series, place: Path) -> str:
    floats = [c for c in clean.select_dtypes("float") if (clean[c].dropna() % 1 != 0).any()]
    if not floats:
        return "–"
    column = read(clean, label, place).schema
    commas = clean[floats[0]].map(lambda v: "" if pd.isna(v) else f"{v!r}".replace(".", ","))
    path = place / "new.csv"
    pd.DataFrame({floats[0]: commas, "more": "x"}).to_csv(path, index=False, sep=";")
    understood = next(c for c in column.columns if c.name == floats[0])
    if not understood.is_used:
        return SAID
    values = understood.values(read_table(path).columns[floats[0]])
    return RIGHT if np.allclose(values, clean[floats[0]].to_numpy(), equal_nan=True) else WRONG


def _spellings(clean: pd.DataFrame, label: pd.Series, place: Path, rng: np.random.RandomState) -> str:
    texts = label.map(lambda v: f"class {v}" if len(v) < 4 else v)
    some = rng.permutation(len(texts))[: max(8, len(texts) // 50)]
    written = texts.copy()
    written.iloc[some] = [t.upper() if k % 2 else f" {t.title()}." for k, t in enumerate(texts.iloc[some])]
    refused = read(clean, written, place)
    said = (refused.problem or "") + " ".join(refused.notes)
    merged = read(clean, written, place, merge_labels=True)
    is_merged = merged.target is not None and len(merged.target.classes) == texts.nunique()
    return RIGHT if "merge_labels" in said and is_merged else WRONG


def _no_label(clean: pd.DataFrame, label: pd.Series, place: Path, rng: np.random.RandomState) -> str:
    word = WORDS[rng.randint(len(WORDS))]
    inspection = read(clean, label.where(rng.rand(len(label)) < 0.3, word), place)
    return RIGHT if f"unlabeled_mark='{word}'" in (inspection.problem or "") else WRONG


def _repeated(clean: pd.DataFrame, label: pd.Series, place: Path, rng: np.random.RandomState) -> str:
    again = rng.permutation(len(clean))[: len(clean) // 10]
    other = rng.permutation(label.iloc[again].to_numpy())
    both = pd.concat([clean, clean.iloc[again]], ignore_index=True)
    duplicates = read(both, np.concatenate([label, other]), place).duplicates
    if duplicates is None or duplicates.by_nature:
        return f"{SAID}: rows are often the same"
    return RIGHT if duplicates.repeats.size >= again.size and len(duplicates.contrary) else WRONG


def _leak(clean: pd.DataFrame, label: pd.Series, place: Path, seed: int) -> str:
    noisy, _ = flip_labels(label.to_numpy().astype(object), 0.08, random_state=seed)
    codes = pd.factorize(label)[0] * 10 + 100
    inspection = read(clean.assign(settled=codes), noisy, place)
    return RIGHT if ("settled",) in [leak.columns for leak in inspection.leaks] else WRONG


def main() -> None:
    wanted, records = sys.argv[1:], {}
    for seed, (name, (frame, label)) in enumerate(tables().items()):
        if wanted and name not in wanted:
            continue
        with tempfile.TemporaryDirectory() as place:
            records[name] = check(name, frame, label, Path(place), seed)
        print(name, json.dumps(records[name]), flush=True)
    print(f"\n{in_short(records)}")
    verdicts = [v for r in records.values() for v in r.values() if v != "–"]
    n_wrong = sum(v.startswith(WRONG) for v in verdicts)
    print(f"\n{len(records)} tables, {len(verdicts)} guesses, {n_wrong} wrong and not announced.")
    sys.exit(n_wrong > 0)


def in_short(records: dict[str, dict[str, str]]) -> str:
    """One line per guess: for how many tables it was right, and for which it was not."""
    lines = ["| guess | right | said | wrong, not announced |", "| --- | --- | --- | --- |"]
    for guess in next(iter(records.values())):
        verdicts = {name: r[guess] for name, r in records.items() if r.get(guess, "–") != "–"}
        right = sum(v == RIGHT for v in verdicts.values())
        said, wrong = ([_named(n, v) for n, v in verdicts.items() if v.startswith(kind)] for kind in (SAID, WRONG))
        listed = "all" if len(said) == len(verdicts) else ", ".join(said)
        lines.append(f"| {guess} | {right} of {len(verdicts)} | {listed} | {', '.join(wrong)} |")
    return "\n".join(lines)


def _named(table: str, verdict: str) -> str:
    _, _, about = verdict.partition(": ")
    return f"{table} ({about})" if about else table


if __name__ == "__main__":
    main()
