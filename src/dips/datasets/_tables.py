"""The paper's tables, one declaration each: `PUBLIC` ones are downloaded, `PRIVATE` ones read from a user's own copy.

Heart disease is not in the paper; it is prepared as is usual.
"""

from __future__ import annotations

from dips.datasets._declaration import ANY_OTHER, Declaration, Source
from dips.datasets._download import Remote

_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
_AUTHORS = "https://raw.githubusercontent.com/seedatnabeel/DIPS/main/data"

_ADULT_COLUMNS = [
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship"),
    *("race", "sex", "capital-gain", "capital-loss", "hours-per-week", "country", "salary"),
]
_MUSHROOM_COLUMNS = [
    *("class", "cap-shape", "cap-surface", "cap-color", "bruises", "odor", "gill-attachment", "gill-spacing"),
    *("gill-size", "gill-color", "stalk-shape", "stalk-root", "stalk-surface-above-ring", "stalk-surface-below-ring"),
    *("stalk-color-above-ring", "stalk-color-below-ring", "veil-type", "veil-color", "ring-number", "ring-type"),
    *("spore-print-color", "population", "habitat"),
]
_CREDIT_COLUMNS = (
    *("LIMIT_BAL", "SEX", "EDUCATION", "MARRIAGE", "AGE", "PAY_0", "PAY_2", "PAY_3", "PAY_4", "PAY_5", "PAY_6"),
    *(f"BILL_AMT{i}" for i in range(1, 7)),
    *(f"PAY_AMT{i}" for i in range(1, 7)),
    "default.payment.next.month",
)
_HEART_COLUMNS = [
    *("age", "sex", "cp", "trestbps", "chol", "fbs", "restecg", "thalach", "exang", "oldpeak", "slope", "ca", "thal"),
    "num",
]
_HEART_SITES = {"cleveland": "cleveland", "hungarian": "hungarian", "switzerland": "switzerland", "va": "va_long_beach"}
_USE = ("CL0", "CL1", "CL2", "CL3", "CL4", "CL5", "CL6")  # never, over a decade ago, ..., in the last day
_DRUGS = (
    *("Alcohol", "Amphet", "Amyl", "Benzos", "Cannabis", "Coke", "Crack", "Ecstasy", "Heroin", "Ketamine", "Legalh"),
    *("LSD", "Meth", "Mushrooms", "VSA"),
)

ADULT = Declaration(
    name="adult",
    title="Adult income (UCI, training part)",
    file="adult",
    source=Source(
        files=(Remote(f"{_UCI}/adult/adult.data", "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"),),
        read={"names": _ADULT_COLUMNS},
    ),
    label="salary",
    classes={" <=50K": 1, " >50K": 0},
    features=12,
    unknown=" ?",
    drop=("education", "occupation"),
    flags=("capital-gain", "capital-loss"),
    codes={
        "sex": {" Male": 1, " Female": 0},
        "marital-status": {
            **dict.fromkeys([" Married-AF-spouse", " Married-civ-spouse"], 0),
            **dict.fromkeys([" Divorced", " Married-spouse-absent", " Never-married", " Separated", " Widowed"], 1),
        },
        "relationship": {
            " Unmarried": 0,
            " Wife": 1,
            " Husband": 2,
            " Not-in-family": 3,
            " Own-child": 4,
            " Other-relative": 5,
        },
        "race": {" White": 0, " Amer-Indian-Eskimo": 1, " Asian-Pac-Islander": 2, " Black": 3, " Other": 4},
        "workclass": {
            **dict.fromkeys([" Federal-gov", " Local-gov", " State-gov"], 0),
            " Private": 1,
            **dict.fromkeys([" Self-emp-inc", " Self-emp-not-inc"], 2),
            **dict.fromkeys([" Without-pay", " Never-worked"], 3),
        },
        "country": {" United-States": 1, ANY_OTHER: 0},
    },
    renamed={"workclass": "employment"},
    paper_rows=19_907,
)

AGARICUS = Declaration(
    name="agaricus-lepiota",
    title="Mushroom: habitat (UCI)",
    file="agaricus_lepiota",
    source=Source(
        files=(
            Remote(
                f"{_UCI}/mushroom/agaricus-lepiota.data",
                "e65d082030501a3ebcbcd7c9f7c71aa9d28fdfff463bf4cf4716a3fe13ac360e",
            ),
        ),
        read={"names": _MUSHROOM_COLUMNS},
    ),
    label="habitat",
    features=22,
)

BLOG = Declaration(
    name="blog",
    title="BlogFeedback: is there a comment within a day? (UCI)",
    file="blog_feedback",
    source=Source(
        files=(Remote(f"{_UCI}/00304/BlogFeedback.zip", member="blogData_train.csv"),),
        read={"names": [*(f"f{i}" for i in range(280)), "target_comments_24h"]},
        n_rows=52_397,
    ),
    label="target_comments_24h",
    above=0,
    features=280,
    ignore=("source_day",),
    paper_rows=10_479,
)

COMPAS = Declaration(
    name="compas",
    title="COMPAS: does a defendant re-offend within two years? (ProPublica)",
    file="compas_two_years",
    source=Source(
        files=(
            Remote("https://raw.githubusercontent.com/propublica/compas-analysis/master/compas-scores-two-years.csv"),
        ),
        n_rows=7_214,
    ),
    label="two_year_recid",
    features=13,
    rows=(
        "days_b_screening_arrest.abs() <= 30 and is_recid != -1 and c_charge_degree != 'O' and score_text != 'N/A' "
        "and race in ['African-American', 'Caucasian']"
    ),
    keep=(
        *("sex", "age", "juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count"),
        *("age_cat", "race", "c_charge_degree"),
    ),
    codes={"sex": {"Male": 1, "Female": 0}},
    one_hot=("age_cat", "race", "c_charge_degree"),
)

COVID = Declaration(
    name="covid",
    title="COVID-19 in Brazilian hospitals: death (SIVEP-Gripe)",
    file="covid",
    source=Source(files=(Remote(f"{_AUTHORS}/covid.csv"),), n_rows=6_882),
    label="is_dead",
    features=29,
    drop=("Days_hospital_to_outcome", "Sex", "Race", "SG_UF_NOT"),
    paper_rows=4_542,
)

CREDIT = Declaration(
    name="credit",
    title="Default of credit card clients, Taiwan (UCI)",
    file="credit_default",
    source=Source(openml=42477, names=_CREDIT_COLUMNS),
    label="default.payment.next.month",
    features=23,
    ignore=("ID",),
)

DRUG = Declaration(
    name="drug",
    title="Drug consumption: nicotine in the last decade (Fehrman)",
    file="drug_consumption",
    source=Source(files=(Remote(f"{_AUTHORS}/Drug_Consumption.csv"),), n_rows=1_884),
    label="Nicotine",
    classes={c: int(c not in ("CL0", "CL1")) for c in _USE},
    features=27,
    rows="Semer == 'CL0'",  # Semeron does not exist; people who claim to have used it are left out
    drop=("ID", "Semer", "Caff", "Choc"),
    codes={"Gender": {"M": 1, "F": 0}},
    ranks={
        "Age": ("18-24", "25-34", "35-44", "45-54", "55-64", "65+"),
        "Education": (
            *("Left school before 16 years", "Left school at 16 years", "Left school at 17 years"),
            *("Left school at 18 years", "Some college or university, no certificate or degree"),
            *("Professional certificate/ diploma", "University degree", "Masters degree", "Doctorate degree"),
        ),
        **dict.fromkeys(_DRUGS, _USE),
    },
)

GERMAN = Declaration(
    name="german",
    title="German credit, numeric (UCI Statlog)",
    file="german_credit_numeric",
    source=Source(
        files=(Remote(f"{_UCI}/statlog/german/german.data-numeric"),),
        read={"names": [*(f"A{i}" for i in range(1, 25)), "class"], "sep": r"\s+"},
        n_rows=1_000,
    ),
    label="class",
    classes={1: 0, 2: 1},
    features=24,
    paper_rows=1.0,  # all of them, in another order
)

HIGGS = Declaration(
    name="higgs",
    title="ATLAS Higgs challenge: signal or background (CERN)",
    file="higgs_atlas",
    source=Source(
        files=(Remote("https://opendata.cern.ch/record/328/files/atlas-higgs-challenge-2014-v2.csv.gz"),),
        rows="KaggleSet == 't'",
        n_rows=250_000,
    ),
    label="Label",
    classes={"s": 0, "b": 1},
    features=23,
    drop=(
        *("EventId", "Weight", "DER_deltaeta_jet_jet", "DER_mass_jet_jet", "DER_prodeta_jet_jet"),
        *("DER_lep_eta_centrality", "PRI_jet_subleading_pt", "PRI_jet_subleading_eta", "PRI_jet_subleading_phi"),
    ),
    ignore=("KaggleSet", "KaggleWeight"),
    paper_rows=25_000,
)

HEART = Declaration(
    name="heart",
    title="Heart disease at four sites in three countries (UCI)",
    file="heart_disease_4sites",
    source=Source(
        files=tuple(
            Remote(f"{_UCI}/heart-disease/processed.{part}.data", adds={"site": site})
            for part, site in _HEART_SITES.items()
        ),
        read={"names": _HEART_COLUMNS, "na_values": "?"},
        n_rows=920,
    ),
    label="num",
    above=0,
    features=13,
    zero_is_missing=("chol",),
    group="site",
)

_PROSTATE = {
    "mortCancer": "0 or 1: died of the cancer (the label)",
    "age": "years",
    "psa": "ng/ml",
    "comorbidities": "how many",
    "treatment_CM": "0 or 1: conservative management",
    "treatment_Primary hormone therapy": "0 or 1",
    "treatment_Radical Therapy-RDx": "0 or 1: radiotherapy",
    "treatment_Radical therapy-Sx": "0 or 1: surgery",
    **{f"grade_{i}.0": "0 or 1: this Gleason grade group" for i in range(1, 6)},
    **{f"stage_{i}": "0 or 1: this clinical stage" for i in range(1, 5)},
}
_PROSTATE_FEATURES = tuple(c for c in _PROSTATE if c != "mortCancer" and not c.startswith("grade_"))


def _prostate(name: str, title: str, balanced: int) -> Declaration:
    return Declaration(
        name=name,
        title=title,
        file=name,
        label="mortCancer",
        features=12,
        keep=_PROSTATE_FEATURES,
        from_one_hot={"grade": tuple(f"grade_{i}.0" for i in range(1, 6))},
        balanced=balanced,
        columns=_PROSTATE,
    )


SEER = _prostate("seer", "SEER: prostate cancer, United States (private)", 10_000)
CUTRACT = _prostate("cutract", "CUTRACT: prostate cancer, United Kingdom (private)", 1_000)
MAGGIC = Declaration(
    name="maggic",
    title="MAGGIC: heart failure (private)",
    file="maggic",
    label="death_all",
    features=29,
    ignore=("days_to_fu",),
    paper_rows=0.66,
    columns={"death_all": "0 or 1: died (the label); every other column is a number and a feature, 29 in all"},
)

PUBLIC = {t.name: t for t in (ADULT, AGARICUS, BLOG, COMPAS, COVID, CREDIT, DRUG, GERMAN, HIGGS, HEART)}
PRIVATE = {t.name: t for t in (SEER, CUTRACT, MAGGIC)}
TABLES = PUBLIC | PRIVATE
