"""The public tables of the paper, read from a folder of Parquet files and prepared as the paper does.

The folder is the environment variable DIPS_DATA, or `data` beside the repository.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from dips.tables import TableEncoder

SHARE = {"adult": 0.66, "covid": 0.66}  # the authors draw this share of the rows first; other tables are whole


def folder() -> Path:
    """Where the Parquet files are."""
    found = Path(os.environ.get("DIPS_DATA", Path(__file__).parents[1] / "data"))
    if not (found / "adult.parquet").exists():
        raise SystemExit(f"No tables in {found}: set DIPS_DATA to the folder that holds adult.parquet and the others.")
    return found


def adult(t: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series]:
    """12 features, `?` rows dropped, income up to 50K is 1."""
    t = t[~t.isin([" ?"]).any(axis=1)]
    X = t.drop(columns=["salary", "education", "occupation", "workclass"])
    X["country"] = (t["country"] == " United-States").astype(int)
    X["marital-status"] = t["marital-status"].str.contains("Married").astype(int)
    X["capital-gain"] = (t["capital-gain"] > 0).astype(int)
    X["capital-loss"] = (t["capital-loss"] > 0).astype(int)
    groups = {
        " Private": "private",
        " Self-emp-not-inc": "self",
        " Self-emp-inc": "self",
        " Federal-gov": "government",
        " Local-gov": "government",
        " State-gov": "government",
    }
    X["employment"] = t["workclass"].map(groups).fillna("none")
    return X, (t["salary"] == " <=50K").astype(int)


def agaricus(t: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series]:
    """22 features, seven habitats."""
    return t.drop(columns="habitat"), t["habitat"]


def blog(t: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series]:
    """280 features; is there a comment within a day?"""
    return t.drop(columns=["target_comments_24h", "source_day"]), (t["target_comments_24h"] > 0).astype(int)


def compas(t: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series]:
    """The 5,278 rows of OpenML 42192."""
    kept = t["days_b_screening_arrest"].abs().le(30) & t["is_recid"].ne(-1) & t["c_charge_degree"].ne("O")
    kept &= t["score_text"].ne("N/A") & t["race"].isin(["African-American", "Caucasian"])
    t = t[kept]
    numbers = ["age", "juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count"]
    return t[[*numbers, "sex", "age_cat", "race", "c_charge_degree"]], t["two_year_recid"]


def covid(t: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series]:
    """29 features, death in hospital."""
    return t.drop(columns=["is_dead", "Days_hospital_to_outcome", "Sex", "Race", "SG_UF_NOT"]), t["is_dead"]


def credit(t: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series]:
    """23 features, default next month."""
    label = "default.payment.next.month"
    return t.drop(columns=label), t[label]


def drug(t: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series]:
    """27 features, has ever used nicotine beyond a decade ago."""
    t = t[t["Semer"] == "CL0"]
    X = t.drop(columns=["ID", "Nicotine", "Semer", "Caff", "Choc"], errors="ignore")
    return X, (~t["Nicotine"].isin(["CL0", "CL1"])).astype(int)


def german(t: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series]:
    """24 numeric features, bad credit."""
    return t.drop(columns="class"), (t["class"] == 2).astype(int)


def higgs(t: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series]:
    """23 features, background or signal."""
    left_out = ["EventId", "Weight", "Label", "DER_deltaeta_jet_jet", "DER_mass_jet_jet", "DER_prodeta_jet_jet"]
    left_out += ["DER_lep_eta_centrality", "PRI_jet_subleading_pt", "PRI_jet_subleading_eta", "PRI_jet_subleading_phi"]
    return t.drop(columns=left_out), (t["Label"] == "b").astype(int)


def heart(t: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series]:
    """Four hospitals pooled, any heart disease."""
    return t.drop(columns=["num", "site"]), (t["num"] > 0).astype(int)


TABLES: dict[str, tuple[str, Callable[[pd.DataFrame], tuple[pd.DataFrame, pd.Series]]]] = {
    "adult": ("adult", adult),
    "agaricus": ("agaricus_lepiota", agaricus),
    "blog": ("blog_feedback", blog),
    "compas": ("compas_two_years", compas),
    "covid": ("covid", covid),
    "credit": ("credit_default", credit),
    "drug": ("drug_consumption", drug),
    "german": ("german_credit_numeric", german),
    "heart": ("heart_disease_4sites", heart),
    "higgs": ("higgs_atlas", higgs),
}


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Features as numbers and labels as codes."""
    file, prepare = TABLES[name]
    X, y = prepare(pd.read_parquet(folder() / f"{file}.parquet"))
    return TableEncoder().fit_transform(X), np.unique(y, return_inverse=True)[1]


def split(X: np.ndarray, y: np.ndarray, seed: int, share: float = 1.0) -> tuple[np.ndarray, ...]:
    """Rows labeled, unlabeled and for the test, as the authors split: 20 % test, a tenth of the rest labeled."""
    rows = np.arange(y.size)
    if share < 1:
        rows = pd.Series(rows).sample(frac=share, random_state=seed).to_numpy()
    train, test = train_test_split(rows, test_size=0.2, random_state=seed)
    labeled, unlabeled = train_test_split(train, train_size=0.1, random_state=seed)
    return labeled, unlabeled, test
