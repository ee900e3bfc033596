"""Tables as people really have them: what would be silently wrong is found, said, and where safe mended."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dips import audit, fit
from dips._files import Preparation, read_table
from dips._report import summarize
from dips._study.baseline import imbalance_notes
from dips._study.data import _source, read_data
from dips._study.duplicates import Duplicates
from dips._study.inspecting import inspect
from dips._study.leaks import Leak, LeakCheck
from dips._study.settings import Settings
from dips._study.splits import hold_out
from dips.exceptions import DataError
from tests.patients import patients

TABLE, _ = patients()
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def test_a_text_is_one_column_to_drop():
    table = TABLE.assign(agent_note="called")
    study = read_data(table, Settings(target="outcome", drop="agent_note").checked())
    assert next(c.kind for c in study.schema.columns if c.name == "agent_note") == "dropped"


def test_a_time_after_the_year_9999_is_a_time_like_any_other(tmp_path):
    table = TABLE[TABLE["outcome"].notna()]
    n = len(table)
    until = pa.array([*range(0, (n - 1) * 10**9, 10**9), 2**60], pa.timestamp("us"))
    columns = pa.Table.from_pandas(table).append_column("until", until)
    values = {shown["name"]: shown for shown in audit(columns, target="outcome").summary["points"]["values"]}
    assert "38504-08-17 21:30" in values["until"]["distinct"]
    judged, path = audit(columns, target="outcome", id="until"), tmp_path / "corrections.csv"
    assert "38504-08-17 21:30:06.846976" in judged.summary["points"]["id"]
    judged.samples.assign(label=["keep" if row == n else None for row in judged.samples["row"]]).to_csv(path)
    again = read_data(columns, Settings(target="outcome", id="until", corrections=str(path)).checked())
    assert again.verified.mask.nonzero()[0].tolist() == [n - 1]


@pytest.mark.parametrize("kind", [pa.date32(), pa.date64()])
def test_days_after_the_year_9999_name_rows_and_groups(kind):
    table = TABLE[TABLE["outcome"].notna()].drop(columns="patient")
    days = pa.array(3_650_000 + np.arange(len(table)) // 2, pa.int32()).cast(pa.date32()).cast(kind)
    columns = pa.Table.from_pandas(table).append_column("day", days)
    assert "11963-05-13" in audit(columns, target="outcome", id="day").samples["day"].astype(str).tolist()
    groups = read_data(columns, Settings(target="outcome", group="day").checked()).groups
    assert np.unique(groups).size == len(table) / 2


def test_in_python_messages_speak_python(tmp_path):
    with pytest.raises(DataError, match=r"^drop names 'agent_note', which is not a column besides the target"):
        fit(TABLE, target="outcome", out=tmp_path / "run", drop="agent_note")


def test_the_user_says_what_a_column_holds():
    table = TABLE.assign(zip=np.random.RandomState(0).randint(10_000, 99_999, len(TABLE)))
    kinds = {
        c.name: c.kind for c in read_data(table, Settings(target="outcome", type={"zip": "number"})).schema.columns
    }
    assert kinds["zip"] == "number"
    with pytest.raises(DataError, match="type names 'zap'"):
        read_data(table, Settings(target="outcome", type={"zap": "number"}))


def test_spellings_of_a_label_are_merged_on_demand():
    table = TABLE.assign(outcome=TABLE["outcome"].mask(TABLE.index < 6, TABLE["outcome"].str.upper()))
    with pytest.raises(DataError, match="use merge_labels=True to merge them"):
        read_data(table, Settings(target="outcome"))
    assert read_data(table, Settings(target="outcome", merge_labels=True)).target.classes == ["ill", "well"]


@pytest.mark.parametrize(("n_capitals", "is_refused"), [(4, True), (20, False)])
def test_inspect_finds_what_there_is_beside_spellings_of_a_label(n_capitals, is_refused):
    table = patients(n_labeled=160)[0].assign(cure=lambda t: (t["outcome"] == "ill") * 1.5)
    capitals = table.index[table["outcome"] == "ill"][:n_capitals]
    table.loc[capitals, "outcome"] = "Ill"
    look = inspect(table, "outcome")
    assert ("look like spellings of one" in (look.problem or "")) == is_refused
    assert list(look.leaks_alone) == ["cure"]


def test_unlabeled_rows_with_a_word_stop_the_run():
    table = TABLE.assign(outcome=TABLE["outcome"].where(TABLE.index < 60, "pending"))
    with pytest.raises(DataError, match="use unlabeled_mark='pending'"):
        read_data(table, Settings(target="outcome"))
    assert read_data(table, Settings(target="outcome", unlabeled_mark=("pending",))).target.is_labeled.sum() == 60


def with_duplicates():
    """300 rows twice, 100 of them with the other label; 40 unlabeled rows identical to labeled ones."""
    frame, _ = patients(1000, 800, noise=0)
    frame = frame.drop(columns="patient")
    again = frame[:300].copy()
    again.loc[:99, "outcome"] = again.loc[:99, "outcome"].map({"ill": "well", "well": "ill"})
    without = frame[300:340].assign(outcome=None)
    return pd.concat([frame, again, without], ignore_index=True)


def test_duplicates_are_counted_listed_and_contrary_labels_are_suspects(tmp_path):
    frame = with_duplicates()
    audited = audit(frame, target="outcome", curator="adaptive")
    notes = " ".join(audited.findings.notes)
    assert "340 rows repeat an earlier one in every column (row 1001, 1002" in notes
    assert "40 unlabeled rows are identical to a labeled one." in notes
    assert "200 labels contradict those of identical rows; they are suspects." in notes
    suspects = audited.suspects().set_index("row")
    assert {*range(1, 101), *range(1001, 1101)} <= set(suspects.index)
    assert suspects.loc[1, "reason"].startswith("row 1001 is identical and has the label")
    points = summarize(audited.findings)["points"]
    assert points["said_first"][points["row"].index(1)] in suspects.loc[1, "reason"]
    assert len(points["said_first"]) == 200


def test_a_table_stacked_on_itself_is_told_from_one_whose_rows_are_often_the_same():
    frame = patients(100, 90)[0].drop(columns="patient")
    settings = Settings(target="outcome")
    for copies in ([frame] * 3, [frame] * 8, [frame, frame, frame[5:]]):
        stacked = read_data(pd.concat(copies, ignore_index=True), settings).duplicates
        assert not stacked.by_nature
        assert stacked.groups is not None
    rng = np.random.RandomState(0)
    few = pd.DataFrame(rng.randint(0, 4, (200, 3)).astype(str), columns=list("abc"))
    assert read_data(few.assign(outcome=rng.choice(["ill", "well"], 200)), settings).duplicates.by_nature


def test_a_rare_class_of_a_few_rows_makes_no_leak():
    frame = patients(160, 160, noise=0)[0].drop(columns="patient")
    labels = np.repeat("well", 160)
    alarms = 0
    for seed in range(10):
        labels[:] = "well"
        labels[np.random.RandomState(seed).choice(160, 6, replace=False)] = "ill"
        study = read_data(frame.assign(outcome=labels), Settings(target="outcome"))
        preparation = Preparation(study.schema).learn(study.table)
        alarms += len(
            LeakCheck(preparation, preparation.encode(study.table), study.target.codes, np.arange(160)).leaks()
        )
    assert alarms == 0


def test_duplicates_are_on_one_side_of_the_split():
    settings = Settings(target="outcome")
    study = read_data(with_duplicates(), settings)
    split = hold_out(study.target, settings, study.groups)
    same = study.duplicates.same
    assert not set(same[split.train]) & set(same[split.test])
    assert not set(same[split.unlabeled_apart_from(split.test)]) & set(same[split.test])


def test_groups_that_identical_rows_would_join_are_kept_whole_instead():
    sites = with_duplicates()
    sites["site"] = (np.arange(len(sites)) + np.arange(len(sites)) // 1000) % 5  # copies are at the next one
    study = read_data(sites, Settings(target="outcome", group="site"))
    assert np.unique(study.groups).size == 5
    assert study.duplicates.repeats.size
    said = "identical rows are in many groups, which are kept whole."
    assert any(note.endswith(said) for note in study.notes)
    assert any(note.endswith(said) for note in inspect(sites, "outcome", group="site").notes)


def test_to_read_a_column_of_mostly_numbers_as_such_is_among_the_options():
    crp = np.where(np.arange(200) % 5, np.arange(200) / 7, np.nan).round(1).astype(object)
    crp[::5] = "neg."
    table = pd.DataFrame({"CRP": crp.astype(str), "x": np.arange(200) % 7, "outcome": np.arange(200) % 2})
    look = inspect(table, "outcome")
    assert "type={'CRP': 'number'}" in look.options
    assert "type={'CRP': 'number'}" not in inspect(table, "outcome", type={"CRP": "number"}).options


def test_rows_that_are_often_the_same_are_no_duplicates():
    rng = np.random.RandomState(0)
    frame = pd.DataFrame(rng.choice(["a", "b"], (300, 4)), columns=list("wxyz"))
    study = read_data(frame.assign(outcome=rng.choice(["ill", "well"], 300)), Settings(target="outcome"))
    assert (study.groups, study.duplicates.notes()) == (None, [])


def test_labels_of_equal_rows_that_differ_as_a_rule_are_no_suspects():
    frame = patients(160, 160, noise=0)[0].drop(columns="patient")
    twins = pd.concat([frame, frame[:60].assign(outcome=frame["outcome"][:60].map({"ill": "well", "well": "ill"}))])
    study = read_data(twins, Settings(target="outcome"))
    assert (len(study.duplicates.contrary), len(study.duplicates.suspects)) == (120, 0)
    assert any("120 labels contradict those of identical rows, as most of these do" in note for note in study.notes)
    assert audit(twins, target="outcome").suspects()["reason"].str.contains("identical").sum() == 0
    few = read_data(twins[: 160 + 7], Settings(target="outcome")).duplicates
    assert len(few.suspects) == len(few.contrary) == 14


def test_inspect_counts_contrary_labels_as_a_study_does():
    frame = patients(160, 160, noise=0)[0].drop(columns="patient").assign(checked="no")
    other = frame[:1].assign(outcome=frame["outcome"].map({"ill": "well", "well": "ill"})[0], checked="yes")
    table = pd.concat([frame, other], ignore_index=True)
    settings = Settings(target="outcome", verified="checked")
    (note,) = (note for note in read_data(table, settings).notes if "contradict" in note)
    assert note.startswith("1 label contradicts")
    assert note in inspect(table, "outcome", verified="checked").notes


def test_three_equal_rows_outvote_the_fourth():
    same, nobody = np.array([0, 0, 0, 0, 1, 1]), np.zeros(6, dtype=bool)
    contrary = Duplicates(same, np.array([1, 1, 1, 0, 0, 0]), by_nature=False, settled=nobody).contrary
    assert contrary.to_dict("records") == [{"row": 3, "code": 1, "other": 0, "share": 0.75}]


def churn(n=1200, flipped=0.08, seed=0):
    """Customers whose churn some columns hint at; one in twelve labels is wrong."""
    rng = np.random.RandomState(seed)
    frame = pd.DataFrame({"tenure": rng.randint(1, 72, n), "charge": rng.normal(60, 20, n).round(2)})
    frame["plan"] = rng.choice(["basic", "plus", "pro"], n)
    left = rng.rand(n) < 1 / (1 + np.exp(frame["tenure"] / 12 - frame["charge"] / 30))
    label = np.where(left ^ (rng.rand(n) < flipped), "left", "stayed")
    return frame, left.to_numpy(), pd.Series(label)


def leaks_of(frame, label, noise=None):
    study = read_data(frame.assign(churn=label), Settings(target="churn"))
    preparation = Preparation(study.schema).learn(study.table)
    rows = np.arange(len(frame))
    check = LeakCheck(preparation, preparation.encode(study.table), study.target.codes, rows)
    return [leak.columns for leak in check.leaks(noise)]


def test_a_leak_of_two_columns_is_found_in_whatever_order_the_rows_are():
    rng = np.random.RandomState(0)
    opened, is_left = rng.normal(size=3_000), rng.rand(3_000) < 0.5
    closed = opened + np.where(is_left, 0.3, -0.3) * rng.rand(3_000)
    frame = pd.DataFrame({f"x{j}": rng.normal(size=3_000) for j in range(4)} | {"opened": opened, "closed": closed})
    for order in (np.arange(3_000), np.argsort(is_left, kind="stable")):
        label = pd.Series(np.where(is_left, "left", "stayed")[order])
        assert leaks_of(frame.iloc[order].reset_index(drop=True), label) == [("opened", "closed")]


def test_a_leak_is_found_although_labels_are_flipped():
    frame, left, label = churn()
    leaking = frame.assign(closed_on=np.where(left, "2024-05-01", None))
    assert leaks_of(frame, label) == []
    assert leaks_of(leaking, label) == [("closed_on",)]
    assert leaks_of(leaking, label, noise=0.08) == [("closed_on",)]


def test_a_noise_that_was_estimated_does_not_make_a_good_column_a_leak():
    frame, left, label = churn()
    hint = np.where(np.random.RandomState(1).rand(len(frame)) < 0.8, left, ~left)
    assert leaks_of(frame.assign(hint=hint), label, noise=0.08) == []


def test_a_leak_of_two_columns_is_found():
    frame, left, label = churn()
    key = np.random.RandomState(1).rand(len(frame)) < 0.5
    half = np.where(key, "even", "odd")
    other = np.where(key ^ left, "a", "b")
    assert leaks_of(frame.assign(half=half), label) == []
    assert leaks_of(frame.assign(half=half, other=other), label) == [("half", "other")]


def test_a_leak_of_two_dates_is_found():
    frame, left, label = churn()
    rng = np.random.RandomState(1)
    ends = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.randint(0, 700, len(frame)), unit="D")
    called = ends + pd.to_timedelta(np.where(left, 1, -1) * rng.randint(1, 40, len(frame)), unit="D")
    assert leaks_of(frame.assign(contract_ends=ends, last_call=called), label) == [("contract_ends", "last_call")]


def test_columns_of_a_table_whose_classes_are_far_apart_are_no_leaks():
    ill = np.arange(200) % 2 == 0
    far_apart = {f"x{k}": 4 * ill + np.random.RandomState(k).normal(size=200) / 4 for k in range(5)}
    assert leaks_of(pd.DataFrame(far_apart), pd.Series(np.where(ill, "left", "stayed"))) == []


def test_where_all_other_columns_do_as_well_a_leak_costs_nothing_to_leave_out():
    assert Leak(("closed",), 0.99, 0.98).sentence().endswith("drop='closed'; the other columns do as well.")
    assert Leak(("closed",), 0.99, 0.8).sentence().endswith("leave it out with drop='closed'.")


@pytest.mark.parametrize("seed", range(3))
def test_columns_that_hint_at_a_rare_class_are_no_leaks(seed):
    rng = np.random.RandomState(seed)
    fraud = rng.permutation(5000) < 75
    hints = {f"late_{k}": np.round(rng.normal(size=5000) + fraud, 1) for k in range(4)}
    hints["amount"] = np.round(rng.normal(size=5000) + 1.5 * fraud, 1)
    assert leaks_of(pd.DataFrame(hints), pd.Series(np.where(fraud, "left", "stayed"))) == []


def payments(seed, n=20_000):
    """Payments of which 1 % are labeled as fraud, and as many frauds are not; a new device is a hint at them."""
    rng = np.random.RandomState(seed)
    frame = pd.DataFrame({"amount": rng.lognormal(3.5, 1.1, n).round(2), "hour": rng.randint(0, 24, n)})
    frame["km"], frame["device"] = rng.exponential(15, n).round(1), rng.choice(["known", "new"], n, p=[0.85, 0.15])
    score = np.log(frame["amount"]) + 1.2 * (frame["hour"] < 6) + 0.03 * frame["km"] + 1.8 * (frame["device"] == "new")
    score += rng.gumbel(0, 0.7, n)
    is_fraud = (score > np.quantile(score, 0.98)).to_numpy()
    return frame, is_fraud, is_fraud & (rng.rand(n) < 0.5)


def columns_of(leaks):
    return [leak.columns for leak in leaks]


@pytest.mark.parametrize("seed", range(4))
def test_the_best_of_several_hints_at_a_rare_class_is_no_leak(seed):
    frame, _, noticed = payments(seed)
    label = pd.Series(np.where(noticed, "fraud", "ok"))
    assert columns_of(inspect(frame.assign(churn=label), "churn").leaks) == []
    for noise in (None, 0.02, 0.1):
        assert leaks_of(frame, label, noise) == []


@pytest.mark.parametrize("wrong", [0.0, 0.005, 0.01])
def test_a_leak_of_a_rare_class_is_found_whether_labels_are_missed_or_flipped(wrong):
    frame, is_fraud, noticed = payments(0)
    frame["charged_back"] = np.where(is_fraud, frame["amount"], 0)
    flipped = is_fraud ^ (np.random.RandomState(0).rand(len(frame)) < wrong)
    label = pd.Series(np.where(flipped if wrong else noticed, "fraud", "ok"))
    assert columns_of(inspect(frame.assign(churn=label), "churn").leaks) == [("charged_back",)]
    for noise in (None, 0.02, 0.1):
        assert leaks_of(frame, label, noise) == [("charged_back",)]


def test_a_leak_of_two_columns_into_a_rare_class_is_found():
    frame, _, noticed = payments(0)
    key = np.random.RandomState(1).rand(len(frame)) < 0.5
    pair = frame.assign(half=np.where(key, "even", "odd"), other=np.where(key ^ noticed, "a", "b"))
    label = pd.Series(np.where(noticed, "fraud", "ok"))
    assert columns_of(inspect(pair.assign(churn=label), "churn").leaks) == [("half", "other")]
    assert leaks_of(pair, label) == [("half", "other")]


def test_leaks_that_say_the_same_are_all_found():
    frame, left, label = churn(flipped=0)
    leaking = frame.assign(closed=np.where(left, "yes", "no"), code=np.where(left, 7, 3))
    assert leaks_of(leaking, label) == [("closed",), ("code",)]


def test_an_audit_says_that_a_column_leaks():
    frame, left, label = churn(500)
    audited = audit(frame.assign(closed=np.where(left, "yes", "no"), churn=label), target="churn")
    assert list(audited.findings.leaks) == ["closed"]
    found = "'closed' predicts the label almost on its own (balanced accuracy "
    assert any(w.startswith(found) for w in audited.findings.warnings)
    assert audited.findings.reading["leaks"][0]["columns"] == ["closed"]


def test_labels_that_are_numbers_are_set_apart_from_their_counts(tmp_path):
    table = rare().assign(fraud=lambda frame: (frame["fraud"] == "yes").astype(int))
    notes = read_data(table, Settings(target="fraud")).label_notes("accuracy")
    assert notes[0].startswith("99.3 % of the labels are 0 (1: 21 rows): ")


def rare(n=3000, n_positive=21, seed=0):
    """21 positives in 3,000, which no column tells apart."""
    rng = np.random.RandomState(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "c"])
    return frame.assign(fraud=np.where(rng.permutation(n) < n_positive, "yes", "no"))


def test_a_rare_class_has_the_baseline_beside_its_scores_and_a_metric_suggested(tmp_path):
    run = fit(rare(), target="fraud", out=tmp_path / "run", rounds=2, time_limit=1e-6)
    notes, warnings = " ".join(run.summary["notes"]), " ".join(run.warnings)
    assert "99.3 % of the labels are 'no' ('yes' 21 rows)" in notes
    assert "metric='average_precision'" in notes
    baseline = run.metrics["baseline"]
    assert baseline["label"] == "no"
    assert (baseline["accuracy"], baseline["balanced_accuracy"]) == (pytest.approx(0.993, abs=0.002), 0.5)
    assert (
        "The kept model does not tell the classes apart: its balanced accuracy on the held-out rows is 50.0 %"
        in warnings
    )


@pytest.mark.parametrize(
    ("rare", "usual", "options"),
    [
        ("fraud", "legal", "metric='average_precision'"),
        ("1", "0", "metric='average_precision'"),
        ("0", "1", "metric='average_precision' and positive='0'"),
    ],
)
def test_the_metric_suggested_for_a_rare_class_is_about_that_class(rare, usual, options):
    frame = pd.DataFrame({"a": np.arange(100.0), "outcome": [rare] * 6 + [usual] * 94})
    target = read_data(frame, Settings(target="outcome")).target
    assert imbalance_notes(target, "accuracy")[0].endswith(f"Decide by {options}.")


def test_a_verified_label_outvotes_rows_that_are_the_same():
    frame = pd.DataFrame({"a": np.arange(20.0)}).sample(60, replace=True, random_state=0, ignore_index=True)
    codes, verified = np.zeros(60, dtype=int), np.zeros(60, dtype=bool)
    same = np.flatnonzero(frame["a"] == frame["a"].mode()[0])
    codes[same[0]], verified[same[0]] = 1, True
    duplicates = Duplicates(frame["a"].to_numpy(int), codes, by_nature=False, settled=verified)
    assert duplicates.contrary["row"].tolist() == same[1:].tolist()
    assert set(duplicates.contrary["code"]) == {1}
    alone = Duplicates(duplicates.same, codes, by_nature=False, settled=np.zeros(60, dtype=bool))
    assert alone.contrary["row"].tolist() == same[:1].tolist()


def test_a_verified_label_is_no_suspect_where_others_contradict_it():
    frame = with_duplicates()
    frame["checked"] = np.where(frame.index < 100, "yes", "no")
    audited = audit(frame, target="outcome", curator="adaptive", verified="checked")
    suspects = set(audited.suspects()["row"])
    assert not suspects & set(range(1, 101))
    assert set(range(1001, 1101)) <= suspects
    assert any("100 labels contradict those of identical rows" in note for note in audited.findings.notes)


def test_corrections_to_a_class_called_none_are_not_lost(tmp_path):
    table = TABLE.assign(outcome=TABLE["outcome"].replace({"well": "None"}).fillna(""))
    first = table.index[table["outcome"] == "ill"][0]
    pd.DataFrame({"row": [first + 1], "label": ["None"]}).to_csv(tmp_path / "corrections.csv", index=False)
    settings = Settings(target="outcome", keep_label=("None",), corrections=str(tmp_path / "corrections.csv")).checked()
    study = read_data(table, settings)
    assert study.target.names(study.target.codes[[first]]) == ["None"]
    assert study.verified.mask[first]


def test_booleans_of_two_files_are_the_same_categories(tmp_path):
    table = TABLE.assign(smokes=np.arange(len(TABLE)) % 3 == 0)
    table.to_parquet(tmp_path / "labeled.parquet")
    table.drop(columns="outcome").to_csv(tmp_path / "more.csv", index=False)
    files = tmp_path / "labeled.parquet", tmp_path / "more.csv"
    study = read_data(files[0], Settings(target="outcome").checked(), files[1])
    assert next(c.n_distinct for c in study.schema.columns if c.name == "smokes") == 2


def test_long_ids_keep_every_digit_where_some_are_missing():
    ids = [None, *(2**53 + 1 + 2 * i for i in range(1, len(TABLE)))]
    columns = pa.Table.from_pandas(TABLE.drop(columns="patient"))
    found = audit(columns.append_column("case", pa.array(ids, pa.int64())), target="outcome", id="case")
    assert found.samples["case"].tolist()[1:] == ids[1:]


def test_a_table_in_memory_is_told_from_others_by_its_checksum():
    table = pa.Table.from_pandas(TABLE)
    others = [
        table.slice(0, 100),
        table.slice(10, 100),
        table.slice(0, 100).rename_columns(["p", *table.column_names[1:]]),
    ]
    checksums = [_source(other, read_table(other))["sha256"] for other in others]
    assert len(set(checksums)) == 3
    again = pa.Table.from_pandas(TABLE).slice(0, 100)
    assert _source(again, read_table(again))["sha256"] == checksums[0]
    in_pieces = pa.concat_tables([table.slice(0, 37), table.slice(37)])
    assert _source(in_pieces, read_table(in_pieces))["sha256"] == _source(table, read_table(table))["sha256"]


def test_a_second_line_of_the_header_is_pointed_out_once(tmp_path):
    rows = "".join(f"{20 + i};{i / 7:.1f};{'ill' if i % 2 else 'well'}\n" for i in range(60))
    (tmp_path / "units.csv").write_text(f"age;crp;outcome\nyears;mg/l;\n{rows}")
    (tmp_path / "one.csv").write_text(f"age;crp;outcome\nn.d.;1.5;\n{rows}")
    said = "Row 1 has words above numbers ('years', 'mg/l'); if it belongs to the header, skip_below=1 leaves it out."
    study = read_data(str(tmp_path / "units.csv"), Settings(target="outcome"))
    for notes in (study.notes, inspect(tmp_path / "units.csv", "outcome").notes):
        assert notes.count(said) == 1
    assert not any("Row 1" in note for note in inspect(tmp_path / "one.csv", "outcome").notes)
