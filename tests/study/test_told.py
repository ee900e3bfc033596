"""Studies hear what is known of the errors: from Python, from the command line, and from a file of settings."""

import json

import numpy as np
import pandas as pd
import pytest

from dips import audit, fit
from dips._cli.app import run as dips
from dips._data.known import Known
from dips._study.settings import Settings
from dips._study.told import told_notes
from dips.exceptions import UserError
from tests.cli.words import said
from tests.patients import patients

TABLE, _ = patients(noise=0.0)
MISSED = (TABLE["outcome"] == "ill") & (TABLE.index % 3 == 0)
SHARE = float((TABLE["outcome"].dropna() == "ill").mean())
TABLE.loc[MISSED, "outcome"] = "well"
TOLD = {"trust_label": "ill", "class_frequency": {"ill": SHARE}}


def test_an_audit_doubts_no_trusted_label_and_says_what_it_was_told():
    judged = audit(TABLE, "outcome", **TOLD)
    assert set(judged.suspects()["given_label"]) == {"well"}
    assert judged.share_wrong == pytest.approx(MISSED.mean() * len(TABLE) / TABLE["outcome"].notna().sum(), abs=0.07)
    notes = judged.findings.notes
    assert "Taken to be never wrong: the label ill (trust_label)." in notes
    (shares,) = [note for note in notes if note.startswith("Shares of the classes, as told: ill ")]
    assert shares.endswith("are labeled so) (class_frequency).")


def test_shares_near_all_are_written_out():
    known = Known(np.zeros(2, dtype=bool), np.array([0.003, 0.997]))
    (note,) = told_notes(known, (np.arange(1_000) >= 4).astype(int), ["ill", "well"])
    assert "ill 0.3 % (0.4 % are labeled so), well 99.7 % (99.6 % are labeled so)" in note


def test_a_fit_tells_all_of_its_models_and_remembers(tmp_path):
    run = fit(TABLE, "outcome", out=tmp_path / "run", rounds=2, **TOLD)
    of_ill = run.samples[run.samples["given_label"] == "ill"]
    assert of_ill["useful"].all()
    assert (of_ill["p_wrong"].astype(float) == 0).all()
    stored = json.loads((run.folder / "config.json").read_text())["settings"]
    assert (stored["trust_label"], stored["class_frequency"]) == (["ill"], {"ill": SHARE})
    assert Settings.of(**stored).class_frequency == {"ill": SHARE}


def test_what_all_labels_allow_is_not_refused_on_some_of_them(tmp_path):
    half_a_row = 0.5 / TABLE["outcome"].notna().sum()
    run = fit(TABLE, "outcome", out=tmp_path / "run", rounds=2, class_frequency={"ill": 1.2 * half_a_row})
    assert "curated" in run.metrics["test"]


def test_the_network_takes_part_where_it_can_be_told(tmp_path):
    trusting, told = (
        fit(TABLE, "outcome", out=tmp_path / name, rounds=2, **what)
        for name, what in (("trusting", {"trust_label": "ill"}), ("told", TOLD))
    )
    assert "cannot be told that a label is never wrong" in trusting.metrics["skipped"]["network"]
    assert "network" not in trusting.metrics["test"]
    assert "network" in told.metrics["test"]


def test_a_label_may_hold_an_equals_sign():
    told = Settings.of("income", class_frequency=["<=50K=0.76"], costs=[">=100K=3"])
    assert (told.class_frequency, told.costs) == ({"<=50K": 0.76}, {">=100K": 3.0})


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"trust_label": "sick"}, "trust_label names 'sick', which is not a label; choose among ill, well"),
        ({"trust_label": ["ill", "well"]}, "trust_label names every label"),
        ({"class_frequency": ["ill"]}, "class_frequency takes LABEL=SHARE; got 'ill'"),
        ({"class_frequency": ["ill=0.3", "ill=0.4"]}, "class_frequency gives 'ill' more than one value: 0.3 and 0.4"),
        ({"class_frequency": "ill=half"}, "class_frequency takes LABEL=SHARE with a number; got 'ill=half'"),
        ({"class_frequency": {"ill": 30}}, "class_frequency is a share, above 0 and below 1; that of 'ill' is 30"),
        ({"class_frequency": {"ill": 0.5, "well": 0.3}}, "class_frequency must be positive and sum to 1"),
        ({"class_frequency": {"sick": 0.5}}, "class_frequency names 'sick', which is not a label"),
        ({"trust_label": "ill", "curator": "dips"}, "trust_label needs a curator that estimates p_wrong"),
        ({"class_frequency": {"ill": 0.5}, "curator": "dips"}, "class_frequency needs a curator that estimates"),
    ],
)
def test_what_does_not_fit_the_labels_is_refused(told, message):
    with pytest.raises(UserError, match=message):
        audit(TABLE, "outcome", **told)


def test_a_trusted_label_is_right_where_identical_rows_have_another():
    copies = TABLE[TABLE["outcome"] == "ill"].head(6).assign(outcome="well")
    table = pd.concat([TABLE, copies], ignore_index=True).drop(columns="patient")
    told = audit(table, "outcome", trust_label="ill").suspects()
    assert set(told["given_label"]) == {"well"}
    assert set(range(len(TABLE) + 1, len(table) + 1)) <= set(told["row"])


def test_corrections_of_a_trusted_label_are_refused(tmp_path):
    row = int((TABLE["outcome"] == "ill").to_numpy().argmax())
    pd.DataFrame({"row": [row + 1], "label": ["well"]}).to_csv(tmp_path / "corrections.csv", index=False)
    message = f"The label 'ill' is trusted, but that of row {row + 1} was corrected to 'well'"
    with pytest.raises(UserError, match=message):
        audit(TABLE.drop(columns="patient"), "outcome", corrections=tmp_path / "corrections.csv", trust_label="ill")


def test_labels_that_are_numbers_are_named_as_they_are_written():
    numbers = TABLE.assign(outcome=TABLE["outcome"].map({"ill": 1, "well": 0}))
    judged = audit(numbers, "outcome", trust_label="1", class_frequency={"1": SHARE})
    assert set(judged.suspects()["given_label"].astype(float)) == {0.0}
    settings = [
        Settings.of("outcome", trust_label=label, class_frequency=shares)
        for label, shares in ((1, {1: SHARE}), ([1.0], pd.Series({1.0: SHARE})), (np.array([1]), {np.int64(1): SHARE}))
    ]
    assert all(one == Settings.of("outcome", trust_label="1", class_frequency={"1": SHARE}) for one in settings)


def test_the_command_line_takes_the_same(tmp_path, capsys):
    TABLE.to_csv(tmp_path / "table.csv", index=False)
    config = tmp_path / "dips.toml"
    config.write_text(f'target = "outcome"\ntrust_label = ["ill"]\n\n[class_frequency]\nill = {SHARE}\n')
    printed = []
    typed = ["-t", "outcome", "--trust-label", "ill", "--class-frequency", f"ill={SHARE}"]
    for options in (typed, ["--config", str(config)]):
        assert dips(["audit", str(tmp_path / "table.csv"), *options, "--json"]) == 0
        printed.append(json.loads(capsys.readouterr().out))
    assert printed[0] == printed[1]
    assert {suspect["given_label"] for suspect in printed[0]["suspects"]} == {"well"}


def test_the_command_line_says_what_is_wrong_with_it(tmp_path, capsys):
    TABLE.to_csv(tmp_path / "table.csv", index=False)
    assert dips(["audit", str(tmp_path / "table.csv"), "-t", "outcome", "--trust-label", "sick"]) == 3
    assert "--trust-label names 'sick', which is not a label; choose among ill, well" in said(capsys)[1]
