"""Corrections from a file to a study: what is verified stays, and two runs are compared on the same rows."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest

from dips import audit, fit
from dips._cli.app import run as dips
from dips._report import render_difference
from dips._study.between import compare_runs
from dips._study.data import read_data
from dips._study.inspecting import inspect
from dips._study.run import Run
from dips._study.settings import Settings
from dips.exceptions import DataError, SettingsError
from tests.patients import patients

TABLE, WRONG = patients(400, 300, 0.2)
OTHER = {"ill": "well", "well": "ill"}


def checked(rows):
    """What somebody who knows the truth says of some rows."""
    given = TABLE["outcome"][rows]
    labels = [OTHER[label] if WRONG[row] else "keep" for row, label in given.items()]
    return pd.DataFrame({"patient": TABLE["patient"][rows], "label": labels, "reviewer": "AK"})


@pytest.fixture(scope="module")
def place(tmp_path_factory, quick):
    place = tmp_path_factory.mktemp("review")
    TABLE.to_csv(place / "patients.csv", index=False)
    return place


@pytest.fixture(scope="module")
def before(place):
    return fit(place / "patients.csv", "outcome", place / "before", rounds=2)


@pytest.fixture(scope="module")
def after(place, before):
    looked = before.suspects()["row"].to_numpy()[:30] - 1
    held_out = before.held_out["row"].to_numpy()[:40] - 1
    lines = checked(sorted({*looked, *held_out}))
    lines.iloc[-1, 1] = "unlabeled"
    lines.to_csv(place / "corrections.csv", index=False)
    return fit(place / "patients.csv", "outcome", place / "after", rounds=2, corrections=str(place / "corrections.csv"))


def test_corrections_become_verified_labels(place, before, after):
    lines = pd.read_csv(place / "corrections.csv").set_index("patient")["label"]
    samples = after.samples.set_index("patient")
    verified = lines.index[lines != "unlabeled"]
    assert set(samples.index[samples["verified"]]) == set(verified)
    assert (samples.loc[verified, "p_wrong"] == 0).all()
    assert not after.suspects()["patient"].isin(verified).any()
    truth = TABLE["outcome"].where(~pd.Series(WRONG), TABLE["outcome"].map(OTHER)).set_axis(TABLE["patient"])
    assert samples.loc[verified, "given_label"].tolist() == truth[verified].tolist()
    assert (samples.loc[lines.index[lines == "unlabeled"], "source"] != "given").all()
    assert after.config["corrections"]["rows"] == len(lines)
    assert any("Verified labels: " in note for note in after.summary["notes"])


def test_the_report_says_what_was_corrected_and_what_looks_wrong_of_the_rest(place, after):
    lines = pd.read_csv(place / "corrections.csv")
    checked = {"n": int((lines["label"] != "unlabeled").sum()), "corrected": int(lines["label"].isin(OTHER).sum())}
    assert after.metrics["labels"]["checked"] == checked
    n_left = after.metrics["rows"]["labeled"] - checked["n"]
    said = after.summary["headline"]["labels"]
    assert said.startswith(f"{checked['n']} labels were checked, and {checked['corrected']} corrected.")
    assert f"of the {n_left} unchecked labels" in said
    assert f"of the {n_left} unchecked labels" in after.report.read_text(encoding="utf-8").split('class="cards"')[1]
    is_open = (after.samples["source"] == "given") & ~after.samples["verified"]
    left_wrong = WRONG[np.flatnonzero(is_open)].mean()
    low, high = after.metrics["labels"]["share_wrong_interval"]
    assert low <= left_wrong <= high


def test_corrections_leave_the_held_out_rows_as_they_are(before, after):
    kept = after.samples.loc[after.samples["source"] == "given", "row"]
    assert set(after.held_out["row"]) == set(before.held_out["row"]) & set(kept)


def test_scores_on_verified_labels_stand_apart(before, after):
    assert after.metrics["rows"]["test_verified"] >= 30
    assert set(after.metrics["test_verified"]) == set(after.metrics["test"])
    assert any("held-out rows whose label is verified" in sentence for sentence in after.summary["scores"])
    assert before.metrics["test_verified"] == {}


def test_two_runs_are_compared_on_the_same_rows(before, after):
    comparison = compare_runs(before, after)
    assert comparison["n_held_out"] == len(after.held_out)
    assert comparison["scores"]["all"]["before"]["accuracy"]["gain"]["value"] == 0
    assert comparison["scores"]["verified"]["n"] == after.held_out["verified"].sum()
    fates = comparison["suspects"]["fates"]
    assert sum(fates.values()) == comparison["suspects"]["n_gone"] >= 20
    assert set(fates) <= {
        "corrected to ill",
        "corrected to well",
        "verified as right",
        "unlabeled",
        "no longer suspect",
    }
    stayed = len(after.suspects()) - comparison["suspects"]["n_new"]
    assert comparison["suspects"]["n_stayed"] == stayed == len(before.suspects()) - comparison["suspects"]["n_gone"]


def test_the_page_of_two_runs_names_the_models_as_the_report_does_and_cuts_no_line(before, after):
    comparison = compare_runs(before, after)
    page = render_difference(comparison)
    for run, about in zip((before, after), comparison["runs"], strict=True):
        kept = next(m["title"] for m in run.summary["models"] if m["chosen"])
        assert about["kept"] == kept
        assert f"<td>{kept}</td>" in page
    assert "before: all rows that both held out</text>" in page
    comparison["scores"] |= dict.fromkeys(("verified", "others"), comparison["scores"]["all"])
    assert "after: without a verified label</text>" in render_difference(comparison)


def test_compare_prints_a_table_and_writes_a_page(before, after, tmp_path, capsys):
    assert dips(["compare", str(before.folder), str(after.folder)]) == 0
    out = capsys.readouterr().out
    assert all(words in out for words in ("before", "after", "log loss", "suspects are gone", "compare.html"))
    page = (after.folder / "compare.html").read_text()
    assert "<script" not in page
    assert "Suspects that are gone" in page
    assert dips(["compare", str(before.folder), str(after.folder), "--json", "-o", str(tmp_path / "c.html")]) == 0
    assert json.loads(capsys.readouterr().out)["scores"]["all"]["n"] == len(after.held_out)


def test_a_run_is_not_compared_with_itself(before, tmp_path, capsys):
    (tmp_path / "link").symlink_to(before.folder)
    for same in (before.folder, tmp_path / "link"):
        assert dips(["compare", str(before.folder), str(same)]) == 3
        assert "is compared with itself; name the run before" in capsys.readouterr().err


def test_a_comparison_is_written_over_an_old_one_if_asked(before, after, tmp_path, capsys):
    page = tmp_path / "c.html"
    page.write_text("old")
    command = ["compare", str(before.folder), str(after.folder), "-o", str(page)]
    assert dips(command) == 4
    assert "exists already" in capsys.readouterr().err
    assert dips([*command, "--force"]) == 0
    assert page.read_text().startswith("<!")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("samples.parquet", b"PAR1 is not enough"),
        ("held_out.parquet", None),
        ("metrics.json", b'{"labels": 5}'),
        ("report.json", b'{"classes": "ill"}'),
        ("config.json", b'{"settings": []}'),
    ],
)
def test_a_run_whose_files_were_changed_is_one_sentence(before, after, tmp_path, capsys, name, content):
    shutil.copytree(before.folder, tmp_path / "changed")
    if content is None:
        before.samples[["row"]].to_parquet(tmp_path / "changed" / name)
    else:
        (tmp_path / "changed" / name).write_bytes(content)
    assert dips(["compare", str(tmp_path / "changed"), str(after.folder), "-o", str(tmp_path / "c.html")]) in (3, 5)
    said = capsys.readouterr().err
    assert said.startswith("dips: ")
    assert "bug" not in said
    assert not (tmp_path / "c.html").exists()


def test_runs_that_count_costs_are_compared_by_them(place, before, after, tmp_path):
    costly = {"metric": "cost", "costs": {"ill": 5}, "corrections": place / "corrections.csv", "rounds": 2}
    run = fit(place / "patients.csv", "outcome", tmp_path / "costly", **costly, time_limit=1e-6)
    assert run.metrics["test_verified"]["plain"]["cost"]["value"] > 0
    comparison = compare_runs(before, run)
    assert comparison["scores"]["verified"]["after"]["cost"]["gain"]
    assert "cost per row *" in render_difference(comparison)
    assert comparison["caution"].startswith("The two runs do not decide by the same costs. Here both answer as")


def test_without_verified_labels_the_rows_that_have_none_are_not_scored_again(before, tmp_path):
    shutil.copytree(before.folder, tmp_path / "again")
    assert compare_runs(before, Run(tmp_path / "again"))["scores"]["others"] is None


def test_a_run_says_what_it_is(before):
    n_suspects = len(before.suspects())
    assert repr(before).startswith(f"Run in {before.folder}: 300 labels, {n_suspects} suspect; see suspects()")


def test_a_run_that_costs_decide_is_described_by_the_labels_that_it_predicts(place, tmp_path):
    costly = {"metric": "cost", "costs": {"ill": 3}, "keep": "plain", "time_limit": 1e-6}
    run = fit(place / "patients.csv", "outcome", tmp_path / "costly", **costly)
    labels = run.held_out["given_label"]
    predicted = np.where(3 * run.held_out["p(ill)"] >= run.held_out["p(well)"], "ill", "well")
    assert run.metrics["test"]["plain"]["accuracy"]["value"] == pytest.approx((predicted == labels).mean())
    assert run.metrics["recall"]["plain"]["ill"] == pytest.approx((predicted == labels)[labels == "ill"].mean())
    assert np.trace(run.summary["quality"]["confusion"]) == (predicted == labels).sum()
    baseline = run.metrics["baseline"]
    assert baseline["label"] == "ill"
    assert baseline["cost"] == pytest.approx((labels == "well").mean())
    assert baseline["accuracy"] == pytest.approx((labels == "ill").mean())


def test_runs_on_other_tables_are_refused(before, tmp_path):
    shutil.copytree(before.folder, tmp_path / "other")
    settings = before.config["settings"] | {"target": "ward"}
    (tmp_path / "other" / "config.json").write_text(json.dumps(before.config | {"settings": settings}))
    with pytest.raises(DataError, match="compare two runs on one table"):
        compare_runs(before, Run(tmp_path / "other"))


def test_rows_that_only_a_number_names_may_be_others_in_another_table(place, before, after, tmp_path):
    assert compare_runs(before, after)["caution"] is None
    nameless, runs = TABLE.drop(columns="patient"), []
    for name, table in {"first": nameless, "sorted": nameless.sort_values("age")}.items():
        table.to_csv(tmp_path / f"{name}.csv", index=False)
        runs.append(fit(tmp_path / f"{name}.csv", "outcome", tmp_path / name, holdout=0.5, time_limit=1e-6))
    comparison = compare_runs(*runs)
    assert comparison["suspects"]["keys"] == ["row"]
    assert "rows are matched by their number" in render_difference(comparison)


def test_runs_without_answers_for_held_out_rows_are_refused(before, tmp_path):
    shutil.copytree(before.folder, tmp_path / "old")
    (tmp_path / "old" / "held_out.parquet").unlink()
    with pytest.raises(DataError, match="make it again with dips fit --config"):
        compare_runs(Run(tmp_path / "old"), before)


def test_runs_that_held_out_too_few_rows_are_compared_by_their_suspects(before, after, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr("dips._study.between.ENOUGH", 1_000)
    comparison = compare_runs(before, after)
    assert set(comparison["scores"].values()) == {None}
    page = render_difference(comparison)
    assert f"held out {len(after.held_out)} rows, and 1000 are needed" in page
    assert 'id="scores"' not in page
    assert "Suspects that are gone" in page
    assert dips(["compare", str(before.folder), str(after.folder), "-o", str(tmp_path / "c.html")]) == 0
    assert "There are no scores" in capsys.readouterr().out


def test_a_column_says_what_is_verified(place):
    marked = TABLE.assign(checked=["yes" if i % 7 == 0 and i < 300 else None for i in range(400)])
    judged = audit(marked, "outcome", verified="checked")
    assert judged.samples["verified"].sum() == 43
    assert judged.samples.loc[judged.samples["verified"], "useful"].all()
    assert "checked" not in {c.name for c in judged.findings.schema.used}


def test_a_column_that_does_not_say_it_is_refused():
    with pytest.raises(DataError, match=r"holds '\w+' in row 1; its cells are yes or no"):
        audit(TABLE, "outcome", verified="ward")
    with pytest.raises(DataError, match=r"^verified names 'nothing'"):
        audit(TABLE, "outcome", verified="nothing")
    with pytest.raises(DataError, match=r"Row 301 is marked .* but has no label \(99 more like it\); write"):
        audit(TABLE.assign(checked=1), "outcome", verified="checked")


def test_inspect_refuses_a_column_that_does_not_say_it_too():
    problem = inspect(TABLE.assign(checked=1), "outcome", verified="checked").problem
    assert problem.startswith("Row 301 is marked as verified in 'checked', but has no label")


@pytest.mark.parametrize("more", [TABLE[:20].assign(checked="yes"), TABLE[:20]], ids=["marked", "without the column"])
def test_of_unlabeled_tables_it_is_not_read_what_is_verified(more):
    labeled = TABLE[:300].assign(checked=["yes", "no"] * 150)
    study = read_data(labeled, Settings.of("outcome", verified="checked"), more)
    assert study.table.n_rows == 320
    assert study.verified.mask.sum() == 150


def test_corrections_that_leave_a_class_without_labels_are_refused(tmp_path):
    few = TABLE[:60].copy()
    ill = few.index[few["outcome"] == "ill"]
    pd.DataFrame({"row": ill[:-3] + 1, "label": "well"}).to_csv(tmp_path / "c.csv", index=False)
    with pytest.raises(DataError, match="'ill' of 'outcome' after the corrections has 3 labeled rows"):
        audit(few, "outcome", corrections=str(tmp_path / "c.csv"))


def test_corrections_that_are_no_file_are_refused():
    with pytest.raises(SettingsError, match=r"corrections takes a file, .*; save the DataFrame first"):
        audit(TABLE, "outcome", corrections=checked([0, 1]))


def test_audit_takes_the_options_of_a_review(place, before, tmp_path, capsys):
    checked(before.suspects()["row"].to_numpy()[:5] - 1).to_csv(tmp_path / "c.csv", index=False)
    options = ["--corrections", str(tmp_path / "c.csv"), "--order", "useful", "--json"]
    assert dips(["audit", str(place / "patients.csv"), "-t", "outcome", "--id", "patient", *options]) == 0
    suspects = pd.DataFrame(json.loads(capsys.readouterr().out)["suspects"])
    assert suspects["check_gain"].is_monotonic_decreasing
    assert not suspects["row"].isin(before.suspects()["row"][:5]).any()


def test_the_order_is_a_choice(before):
    assert before.suspects("useful")["check_gain"].is_monotonic_decreasing
    assert before.suspects("wrong")["p_wrong"].is_monotonic_decreasing
    with pytest.raises(SettingsError, match="order='best' is not known; choose one of wrong, useful"):
        audit(TABLE, "outcome", order="best")
    with pytest.raises(SettingsError, match="needs a curator that estimates p_wrong, and 'dips' does not"):
        audit(TABLE, "outcome", order="useful", curator="dips")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"reviewer_error": 0.5}, "share of wrong answers, from 0 to below 0.5; got 0.5"),
        ({"reviewer_error": 0.1, "curator": "dips"}, "needs a curator that estimates p_wrong, and 'dips' does not"),
    ],
)
def test_a_reviewer_error_that_makes_no_sense_is_refused(settings, message):
    with pytest.raises(SettingsError, match=message):
        audit(TABLE, "outcome", **settings)


def test_nothing_of_the_data_becomes_markup_on_the_page(before, after):
    hostile = "<img src=x onerror=alert(1)>"
    comparison = compare_runs(before, after)
    comparison |= {"target": hostile}
    comparison["suspects"]["gone"][0] |= {"name": hostile, "given_label": hostile, "fate": hostile}
    page = render_difference(comparison)
    assert "<img" not in page
    assert "&lt;img" in page


def test_without_an_id_rows_go_by_their_number_which_is_said_and_checked(tmp_path):
    table = TABLE.drop(columns=["patient", "seen"])
    listed = audit(table, target="outcome").suspects()[["row", "given_label"]].head(5)
    listed.assign(label="keep").to_csv(tmp_path / "corrections.csv", index=False)
    told = {"target": "outcome", "corrections": tmp_path / "corrections.csv"}
    notes = audit(table, **told).findings.notes
    assert any("tells its rows by their number alone, so they must be those that were checked" in n for n in notes)
    with pytest.raises(DataError, match="Rows are found by their number here, so the table must be the one that was"):
        audit(table.sort_values("age", ignore_index=True), **told)


def test_labels_that_got_another_name_since_the_review_are_known_by_both(tmp_path):
    label = TABLE["outcome"].mask(TABLE.index % 3 == 0, TABLE["outcome"].str.upper())
    lines = pd.DataFrame({"row": [1, 2, 3, 4], "given_label": label[:4], "label": ["WELL", "keep", "ill", "healthy"]})
    lines.to_csv(tmp_path / "corrections.csv", index=False)
    names = {"WELL": "healthy", "well": "healthy"}
    told = {"corrections": tmp_path / "corrections.csv", "merge_labels": True, "map_label": names}
    study = read_data(TABLE.drop(columns="patient").assign(outcome=label), Settings("outcome", **told).checked())
    given = names.get(label[1], "ill")
    assert study.target.names(study.target.codes[:4]) == ["healthy", given, "ill", "healthy"]
    assert study.verified.mask.nonzero()[0].tolist() == [0, 1, 2, 3]


def test_with_an_id_nothing_is_said_of_numbers(place, after):
    assert not any("number alone" in note for note in after.summary["notes"])
