"""The page: one file, no request, nothing from the data is run, and it says what the numbers say."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest

from dips._report import render
from dips._report.charts import nice_ticks
from dips._report.page import inert_json
from dips._report.words import headline, next_steps

from .pages import HOSTILE, hostile, large, ordinary

_VOID = {"meta", "input", "br", "img", "link", "hr", "wbr"}


class Outline(HTMLParser):
    """Elements, attributes and scripts of a page; complains where tags do not match."""

    def __init__(self, page):
        super().__init__()
        self.open, self.elements, self.scripts = [], [], []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return ordinary(tmp_path_factory.mktemp("page"))


@pytest.fixture(scope="module")
def page(run):
    return run.report.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def attacked(tmp_path_factory):
    return hostile(tmp_path_factory.mktemp("hostile"))


def test_the_page_asks_nothing_of_anybody(page):
    for tag, attributes in Outline(page).elements:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "form")
        assert "src" not in attributes
        assert attributes.get("href", "#").startswith("#")
    css = re.search(r"<style>(.*?)</style>", page, re.DOTALL).group(1)
    assert "url(" not in css
    assert "@import" not in css


def test_only_the_script_of_the_package_may_run(page):
    outline = Outline(page)
    data, script = outline.scripts
    policy = next(a["content"] for t, a in outline.elements if a.get("http-equiv") == "Content-Security-Policy")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert json.loads(data)["classes"] == ["ill", "well"]


def test_the_data_makes_no_element_no_attribute_and_no_script(attacked):
    page = attacked.report.read_text(encoding="utf-8")
    outline = Outline(page)
    assert len(outline.scripts) == 2
    assert all(not name.startswith("on") for _, attributes in outline.elements for name in attributes)
    assert not any(tag == "img" for tag, _ in outline.elements)
    data = json.loads(outline.scripts[0])
    assert data["classes"] == sorted([HOSTILE[1], HOSTILE[5]])
    assert "<" not in outline.scripts[0]
    assert "49" not in re.search(r"<tbody>.*?\{\{ 7", page, re.DOTALL).group(0)[-8:]  # no template in the template


def test_the_account_of_hostile_data_is_defused(attacked):
    text = (attacked.folder / "samples.csv").read_text(encoding="utf-8")
    assert not re.search(r'(^|,)"?=HYPERLINK', text, re.MULTILINE)


@pytest.mark.parametrize("text", HOSTILE)
def test_inert_json_holds_no_tag_and_comes_back_whole(text):
    written = inert_json({text: [text]})
    assert json.loads(written) == {text: [text]}
    assert not set("<>&\u2028\u2029") & set(written)


def test_the_page_is_small(page, attacked):
    assert len(page.encode()) < 500_000
    assert attacked.report.stat().st_size < 500_000


def test_many_rows_stay_small_and_are_said_to_be_a_sample(tmp_path):
    page = large(tmp_path).read_text(encoding="utf-8")
    assert len(page.encode()) < 500_000
    points = json.loads(Outline(page).scripts[0])["points"]
    assert points["n_judged"] == 30_000
    assert len(points["row"]) <= 2_500
    assert points["grid"] is not None


def test_the_words_follow_the_numbers(run, page):
    m = run.metrics
    assert "110 labeled rows and 50 without a label" in page
    assert f"{m['labels']['n_suspects']} are suspect and listed below" in page
    assert "The held-out labels come from the same table, so some of them may be wrong too" in page


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0.01, 0.05, "better than the plain model by 3.0 points (+1.0 to +5.0 points)"),
        (-0.01, 0.05, "not clearly different from the plain model"),
        (-0.05, -0.01, "worse than the plain model there"),
    ],
)
def test_a_gain_is_only_called_one_if_its_interval_says_so(run, low, high, words):
    summary = json.loads(json.dumps(run.summary))
    for model in summary["models"]:
        model["chosen"] = model["name"] == "curated"
        model["test"]["accuracy"]["gain"] = {"value": (low + high) / 2, "low": low, "high": high}
    assert words in headline(summary)["model"]


def with_gain(run, metric, low, high):
    """The summary of a run whose kept model gains this much."""
    summary = json.loads(json.dumps(run.summary)) | {"metric": metric}
    for model in summary["models"]:
        for score in model["test"].values():
            score["gain"] = {"value": (low + high) / 2, "low": low, "high": high}
        model["test"]["roc_auc"]["low"] = 0.6
    return summary


def test_a_model_that_did_worse_is_not_recommended_without_a_word(run):
    better, worse = (" ".join(next_steps(with_gain(run, "accuracy", *gain))) for gain in ((0.1, 0.2), (-0.2, -0.1)))
    assert "dips predict RUN" in better
    assert "dips predict RUN" not in worse
    assert "its accuracy is clearly worse than the plain model's" in worse
    assert "keep the plain model with `keep='plain'`" in worse


def test_a_smaller_loss_is_not_shown_with_a_sign_that_says_the_opposite(run):
    page = render(with_gain(run, "log_loss", 0.1, 0.2))
    assert ", 0.150 better than plain" in page
    assert "0.150 against plain" not in page


def test_commands_are_shown_as_something_to_type(page):
    assert "<code>dips review RUN</code>" in page
    assert "<code>dips predict RUN new.csv -o predictions.csv</code>" in page


def test_a_page_can_be_written_again_from_the_folder(run, page):
    assert render(run.summary) == page


def test_curves_are_those_the_confidence_was_measured_on(run):
    points = run.summary["points"]
    n = points["n_curve"]
    curves = [c / 255 for c in base64.b64decode(points["curves"])]
    assert n == points["n_checkpoints"] == 12  # so few that all are kept
    for i, confidence in enumerate(points["confidence"]):
        assert sum(curves[i * n : (i + 1) * n]) / n == pytest.approx(confidence / 1000, abs=0.003)


def test_typical_rows_are_there_for_both_classes(run):
    points = run.summary["points"]
    ages = [column["name"] for column in points["values"]].index("age")
    ill, well = (float(points["typical"][c][ages]) for c in (0, 1))
    assert ill > 55 > well


def test_ticks_are_round_numbers_inside():
    for low, high in ((0.613, 0.752), (0, 1180), (-0.03, 0.02), (0.99, 0.999), (0, 1)):
        ticks = nice_ticks(low, high)
        assert 2 <= len(ticks) <= 9
        assert all(low <= t <= high for t in ticks)


def test_no_line_ends_between_a_number_and_its_percent_sign(page):
    text = re.sub(r"(?s)<(script|style|svg).*?</\1>|<[^>]*>", "", page)
    assert re.search(r"\d(\u00a0|&nbsp;)% of the labels", text)
    assert re.findall(r".{20}\d %.{20}", text) == []


def test_the_suspects_are_counted_once(run):
    step = {
        "n_given": 20,
        "n_pseudo": 5,
        "n_proposed": 5,
        "n_new_suspects": 7_777,
        "n_useful_again": 6_666,
        "n_left": 0,
    }
    rounds = run.summary["rounds"] | {"history": [{"round": 0} | step, {"round": 1} | step]}
    page = render(run.summary | {"rows": run.summary["rows"] | {"pseudo": 5}, "rounds": rounds})
    assert "How the training set grew" in page
    shown = page.partition('<section id="rounds">')[2].partition("</section>")[0]
    assert "7,777" not in shown
    assert "6,666" not in shown
