"""The network in a study: when it is asked, what it reads, and what is said where it is kept."""

import numpy as np
import pytest

from dips import load_model
from dips._data.spans import Spans
from dips._report.words import how_chosen, rows_in_model
from dips._study import fit
from dips._study.candidates import BY_NAME, NETWORK
from dips._study.compare import Comparison
from dips._study.examples import Examples
from dips._study.settings import Settings
from dips._tools.wording import command_line
from tests.patients import patients

TABLE, _ = patients()
RNG = np.random.default_rng(0)
ASKED = BY_NAME[NETWORK]


def examples(n, n_columns=3, n_classes=2, spans=None):
    return Examples(RNG.normal(size=(n, n_columns)).astype(np.float32), np.arange(n) % n_classes, spans=spans)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return fit(TABLE, target="outcome", out=tmp_path_factory.mktemp("network") / "run", keep="network", rounds=2)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (examples(1_000), ""),
        (examples(1_001), "the network was made for at most 1,000 labels, and there are 1,001"),
        (examples(60, n_columns=49), "the network was made for at most 48 prepared columns, and there are 49"),
        (examples(60, n_classes=11), "the network was made for at most 10 classes, and there are 11"),
        (examples(60, n_columns=49, spans=Spans(np.array([0, 9]), np.array([True, False]))), ""),
    ],
)
def test_it_is_asked_up_to_what_it_was_made_for(table, said):
    assert ASKED.why_not(table, np.arange(len(table.X)), np.arange(0)) == said


def test_the_rows_held_out_count_as_labels_too():
    table = examples(1_100)
    assert ASKED.why_not(table, np.arange(880), np.arange(0)).endswith("there are 1,100")
    known = Examples(table.X, np.where(np.arange(1_100) < 1_000, table.codes, -1))
    assert ASKED.why_not(known, np.arange(800), np.arange(1_000, 1_100)) == ""


def test_what_it_reads_is_in_the_account():
    table = examples(600)
    model = ASKED.fit(table, np.arange(100), np.arange(100, 600), Settings(target=""))
    assert model.samples_["source"].tolist() == ["given"] * 100 + ["unlabeled"] * 500
    assert model.samples_["useful"][:100].all()
    assert model.samples_["useful"][100:].sum() == 40  # of the unlabeled rows, a sample; 400 but in quick studies


def test_labels_of_unlabeled_rows_are_not_seen():
    table, labeled, others = examples(90), np.arange(60), np.arange(60, 90)
    other = Examples(table.X, np.where(np.arange(90) < 60, table.codes, 1 - table.codes))
    one, two = (ASKED.fit(each, labeled, others, Settings(target="")) for each in (table, other))
    np.testing.assert_array_equal(one.predict_proba(table.X), two.predict_proba(table.X))


def test_it_is_kept_unless_another_is_clearly_better():
    comparison = Comparison()
    comparison.of_folds = {name: [] for name in ("plain", "curated", "curated_pseudo")}
    assert comparison.usual == "curated_pseudo"
    comparison.of_folds["network"] = []
    assert comparison.usual == "network"


def test_a_run_that_keeps_it_answers_as_before_and_holds_rows(run):
    assert run.metrics["chosen"] == run.metrics["usual"] == "network"
    p = run.predict_proba(TABLE.drop(columns="outcome"))
    np.testing.assert_array_equal(load_model(run.folder / "model").predict_proba(TABLE), p)
    page = run.report.read_text()
    assert "The network then read the held-out rows, too" in page
    assert "Whoever has the folder can read them" in page
    assert "the network is kept unless another one is better" in page


@pytest.mark.parametrize(("n_unlabeled", "model"), [(9, "curated_pseudo"), (0, "curated")])
def test_the_advice_names_a_trained_model_that_can_be_kept(n_unlabeled, model):
    summary = {"rows": {"unlabeled": n_unlabeled}, "models": [{"name": "network", "chosen": True}]}
    assert f"keep='{model}' keeps a trained model" in rows_in_model(summary)
    with command_line():
        assert f"--keep {model} keeps a trained model" in rows_in_model(summary)


@pytest.mark.parametrize(
    ("others", "said"),
    [
        ([], "the plain model was the only one"),
        ([{"name": "pseudo", "test": {}}], "the plain model was the only one"),
        ([{"name": "pseudo", "test": {"accuracy": 0.5}}], "the plain model is kept unless another one is better"),
    ],
)
def test_where_the_time_was_short_the_plain_model_is_the_usual_one(others, said):
    plain = {"name": "plain", "title": "plain", "usual": True, "test": {"accuracy": 0.5}}
    assert said in how_chosen({"rows": {"unlabeled": 9}, "models": [plain, *others]})


def test_a_trained_model_holds_no_rows(tmp_path):
    page = fit(TABLE, target="outcome", out=tmp_path / "run", keep="curated", rounds=2).report.read_text()
    assert "Whoever has the folder" not in page
