"""Columns as real tables have them: understood, or the guess is said with the option that overrules it."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dips._files import DataError, Preparation, read_table, understand
from dips._files.columns import Column
from dips._files.declared import read_types
from dips._report.points import in_short
from dips._tools.wording import command_line
from dips.exceptions import SettingsError

RNG = np.random.RandomState(0)


def column(cells, name="x", **settings):
    """Return the column as it was understood, and its values."""
    table = read_table(pd.DataFrame({name: cells}))
    with command_line():
        understood = understand(table, **settings).columns[0]
    return understood, understood.values(table.columns[name]) if understood.is_used else None


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["$1,526.12", "$326.93", "$12.00", "-$3.50"], [1526.12, 326.93, 12, -3.5]),
        (["1.526,12", "326,93-", "12,00 EUR", "3,50- EUR"], [1526.12, -326.93, 12, -3.5]),
        (["1.526,12 €", "326,93 €", "12,00 €", "3,5 €"], [1526.12, 326.93, 12, 3.5]),
        (["EUR 1 526,12", "326,93", "12,00", "3,5"], [1526.12, 326.93, 12, 3.5]),
        (["76.2%", "3 %", "100%", "12.5%"], [76.2, 3, 100, 12.5]),
        (["1,526", "12,000,000", "7", "412"], [1526, 12_000_000, 7, 412]),
        (["1'526.50", "326.93", "12", "7"], [1526.5, 326.93, 12, 7]),
        (["(1,200.50)", "300.25", "12", "7"], [-1200.5, 300.25, 12, 7]),
        (["1,5E+03", "2,25", "3", "4"], [1500, 2.25, 3, 4]),
        (["1,5", "2,25", "1,526", "0,5"], [1.5, 2.25, 1.526, 0.5]),
    ],
)
def test_numbers_with_signs_and_groups(cells, values):
    understood, read = column(cells)
    assert understood.kind == "number"
    assert read.tolist() == values


def test_rare_groups_of_thousands_are_not_missing():
    understood, read = column([f"{i}.25" for i in range(60)] + ["1,526.12", "12,000.50"])
    assert understood.kind == "number"
    assert read[-2:].tolist() == [1526.12, 12000.5]


def test_a_comma_before_three_digits_is_said_to_be_a_guess():
    understood, read = column(["1,526", "2,104", "7,300"])
    assert read.tolist() == [1526, 2104, 7300]
    assert understood.note == "1,526 is read as thousands: a guess; --type x=number:comma if it is a decimal comma"
    assert column(["1,526", "2,104", "7,300"], types={"x": "number:comma"})[1].tolist() == [1.526, 2.104, 7.3]


def test_several_currencies_are_said():
    assert "several units ($, €)" in column(["$5", "$6", "7 €"])[0].note


def test_icd_codes_half_of_them_numeric_are_categories():
    codes = RNG.choice(["250.00", "401.9", "428.0", "414.01", "V45.81", "E885.9", "V58.61", "I10"], 300)
    assert column(codes, "diagnosis")[0].kind == "category"


def test_icd_codes_nearly_all_numeric_are_categories_too_and_said():
    codes = np.append(RNG.choice(["250.00", "401.9", "428.0", "414.01"], 290), ["V45.81", "E885.9"] * 5)
    understood, read = column(codes, "diagnosis")
    assert understood.kind == "category"
    assert understood.note.endswith("read as categories; --type diagnosis=number if that is wrong")
    assert read.null_count == 0


def test_icd_codes_that_are_all_numeric_are_known_by_their_name():
    assert column(["250.00", "401.9", "428.0", "414.01"] * 20, "icd9_main")[0].kind == "category"


@pytest.mark.parametrize("name", ["zip", "ZipCode", "billing_zip", "icd9_1"])
def test_codes_without_a_leading_zero_are_known_by_their_name(name):
    zips = RNG.randint(10_000, 99_999, 587)
    for cells in (zips, zips.astype(str)):
        understood, _ = column(cells, name)
        assert understood.kind == "category"
        assert "codes, judging by the name" in understood.note
        assert f"--type {name}=number" in understood.note


def test_zip_codes_with_a_leading_zero_are_codes_and_said():
    understood, _ = column([f"{z:05d}" for z in RNG.randint(500, 99_999, 587)], "postal")
    assert understood.kind == "category" or understood.kind == "id"
    assert "--type postal=" in understood.note


@pytest.mark.parametrize(
    ("cells", "date_format"),
    [
        (["08.02.22", "31.12.21", "01.03.22"], "%d.%m.%y"),
        (["08 February 2022", "31 December 2021"], "%d %B %Y"),
        (["February 8, 2022", "December 31, 2021"], "%B %d, %Y"),
        (["08-Feb-2022", "31-Dec-2021"], "%d-%b-%Y"),
        (["03/2022", "3/2022", "03/2022"], "%m/%Y"),
        (["2/18/22", "12/31/21"], "%m/%d/%y"),
        (["20220208", "20211231"], "%Y%m%d"),
        (["31/12/2021 5:30 PM", "08/02/2022 8:00 AM"], "%d/%m/%Y %I:%M %p"),
        (["12/31/2021 5:30:00 PM", "2/8/2022 8:00:12 AM"], "%m/%d/%Y %I:%M:%S %p"),
        (["08.02.22", "31.12.21", "08 February 2022"], "%d.%m.%y|%d %B %Y"),
    ],
)
def test_dates_in_other_forms(cells, date_format):
    understood, read = column(cells, "seen")
    assert (understood.kind, understood.date_format) == ("date", date_format)
    assert read.notna().all()
    assert "read as" in understood.note
    assert set(read.dt.strftime("%Y-%m-%d")) <= {"2022-02-08", "2021-12-31", "2022-03-01", "2022-02-18"}


def test_an_ambiguous_day_is_said_to_be_a_guess_with_the_option():
    understood, read = column(["03/04/2020", "05/06/2020", "07/07/2020"], "seen")
    assert understood.note == (
        "03/04/2020 is read day first, as 2020-04-03: a guess; --type seen=date:month-first if that is wrong"
    )
    told, other = column(["03/04/2020", "05/06/2020", "07/07/2020"], "seen", types={"seen": "date:month-first"})
    assert (read[0].month, other[0].month, told.date_format) == (4, 3, "%m/%d/%Y")


def test_another_column_of_the_file_tells_the_order_of_day_and_month():
    table = read_table(pd.DataFrame({"seen": ["03/04/2020", "05/06/2020"], "left": ["03/28/2020", "05/30/2020"]}))
    seen = understand(table).columns[0]
    assert seen.date_format == "%m/%d/%Y"
    assert "'left' has the same order" in seen.note


def test_cells_that_are_not_dates_are_said():
    understood, _ = column([f"2022-02-{i:02d}" for i in range(1, 26)] + ["spring"], "seen")
    assert "1 cell is not a date ('spring'); read as missing" in understood.note


@pytest.mark.parametrize(
    ("told", "cells", "kind"),
    [
        ("category", [1, 2, 3], "category"),
        ("number", ["1", "x", "3"], "number"),
        ("text", ["a b", "c", "d"], "text"),
        ("id", [5.5, 6, 7], "id"),
        ("ignore", [1, 2, 3], "dropped"),
        ("date:%Y", ["2020", "2021", "2022"], "date"),
    ],
)
def test_the_user_has_the_last_word(told, cells, kind):
    assert column(cells, types={"x": told})[0].kind == kind


@pytest.mark.parametrize("told", ["category", "number", "text", "date"])
def test_an_empty_column_is_left_out_whatever_is_said_of_it(told):
    assert column([None, None], types={"x": told})[0].kind == "empty"


def test_a_type_that_no_cell_has_is_refused():
    with pytest.raises(DataError, match=r"'x' is declared as numbers, but holds none \(row 1 has 'a'\); declare"):
        column(["a", "b"], types={"x": "number"})
    with pytest.raises(DataError, match="'x' is declared as numbers, but holds none; declare another"):
        column(["NA", "?"], types={"x": "number"})
    with pytest.raises(DataError, match="'x' is declared as dates, but the format of cells such as 'a'"):
        column(["a", "b"], types={"x": "date"})


@pytest.mark.parametrize("types", ["zip", "zip=codes", "=number", "zip=number:german"])
def test_types_that_are_not_understood_are_refused(types):
    with pytest.raises(SettingsError, match=r"write COLUMN=category\|number\|pair\|date\|text\|id\|ignore") as refused:
        read_types([types])
    assert str(refused.value).startswith(f"type='{types}' is not understood")


def test_codes_stored_with_gaps_are_the_codes_of_the_training():
    table = read_table(pd.DataFrame({"zip": ["90210", "10115", "90210"]}))
    preparation = Preparation(understand(table, types={"zip": "category"})).learn(table)
    new = read_table(pd.DataFrame({"zip": [90210.0, 10115.0, None]}))
    assert np.array_equal(preparation.encode(new)[:2], preparation.encode(table)[:2])


def test_a_new_table_may_have_decimal_commas_where_the_training_table_had_points():
    doses = np.round(RNG.normal(size=40), 3)
    table = read_table(pd.DataFrame({"dose": [f"{d}" for d in doses]}))
    preparation = Preparation(understand(table)).learn(table)
    new = read_table(pd.DataFrame({"dose": [f"{d}".replace(".", ",") for d in doses]}))
    assert preparation.check(new) == [
        "Column 'dose': decimal commas here, and decimal points in training; read as such."
    ]
    assert np.array_equal(preparation.encode(new), preparation.encode(table))
    back = Preparation(understand(new)).learn(new)
    assert np.array_equal(back.encode(table), preparation.encode(table))


NOTES = ["wants to cancel the contract", "asked about the last bill", "moved house, new address", "happy, no questions"]


def test_notes_are_text_and_their_words_become_numbers_without_pickle():
    rng = np.random.RandomState(0)  # its own, or it would depend on the tests that ran before
    notes = [f"{rng.choice(NOTES)}; called {i} times, agent {i % 17}" for i in range(300)]
    table = read_table(pd.DataFrame({"agent_note": notes}))
    preparation = Preparation(understand(table)).learn(table)
    assert preparation.schema.columns[0].kind == "text"
    X = preparation.encode(table)
    cancels = np.array([note.startswith("wants") for note in notes])
    best = max(abs(np.corrcoef(x, cancels)[0, 1]) for x in X.T if x.std() > 0)
    assert best > 0.7
    again = Preparation.from_parts(preparation.to_json(), preparation.arrays())
    assert (again.encode(table) == X).all()


def test_short_notes_are_text_too():
    words = ["cough", "chest pain", "fever", "nausea", "dizzy", "rash", "back pain"]
    notes = [f"{RNG.choice(words)} {RNG.choice(words)} {i}" for i in range(100)]
    assert column(notes, "complaint")[0].kind == "text"


def test_a_form_of_dates_that_cannot_be_read_is_refused():
    for form in ("%Q", "%d.%d.%Y", "%"):
        with pytest.raises(SettingsError, match="is not understood"):
            read_types([f"seen=date:{form}"])
    assert read_types(["seen=date:%H:%M %d/%m/%y"]) == {"seen": "date:%H:%M %d/%m/%y"}


def test_infinite_cells_do_not_make_categories_of_numbers():
    finite = RNG.normal(size=180).round(3)
    understood, read = column([*map(str, finite), *["inf", "-inf", "Infinity", "inf"] * 5])
    assert understood.kind == "number"
    assert understood.note == "20 cells are not numbers, such as 'inf'; read as missing"
    assert read[:180].tolist() == finite.tolist()
    assert np.isnan(read[180:]).all()
    assert column(["inf", "-inf"] * 20)[0].kind == "category"


def test_categories_that_may_be_none_have_options_that_can_be_typed():
    cells = [f"{i % 120} {'abc'[i % 3]}" for i in range(200)]
    note = column(cells, name="ward")[0].note
    assert note.endswith("; --type ward=text or --type ward=ignore if they are not")


def test_numbers_too_many_of_which_are_something_else_are_said_to_be_categories():
    cells = [f"{n / 10:.1f}".replace(".", ",") for n in RNG.permutation(450)] + ["neg."] * 50
    understood, _ = column(cells, "crp")
    assert understood.kind == "category"
    assert understood.note == (
        "90 % of its cells are numbers, but some are not, such as 'neg.', so it is read as categories; --type "
        "crp=number reads the others as missing"
    )
    told, values = column(cells, "crp", types={"crp": "number"})
    assert told.kind == "number"
    assert np.isnan(values).sum() == 50


@pytest.mark.parametrize(
    ("cells", "name"),
    [
        ([f"{n:05}" for n in range(0, 40_000, 400)] * 2, "area"),
        ([str(n) for n in range(250, 350)] * 2 + [f"V{n}" for n in range(40)], "icd9"),
        ([*map(str, range(15)), "many"] * 9, "children"),
        ([f"{n}-{n + 9}" for n in range(60)] * 3 + ["7"] * 100, "ages"),
    ],
    ids=["begin with 0", "codes by their name", "few", "mostly words"],
)
def test_categories_that_are_not_meant_as_numbers_are_not_said_to_be(cells, name):
    understood, _ = column(cells, name)
    assert understood.kind == "category"
    assert "are numbers, but some" not in understood.note


def test_categories_that_look_like_spellings_of_one_are_pointed_out_and_kept_apart():
    understood, _ = column(["male"] * 9 + ["Male "] * 6 + ["female"] * 8 + ["MALE"])
    assert understood.note == (
        "'male' (9), 'Male' (6), 'MALE' (1) look like spellings of one category, and are learned as several; "
        "write them alike"
    )
    assert (understood.kind, understood.n_distinct) == ("category", 4)
    many, _ = column([f"ward {k}" for k in range(40)] * 5 + ["Ward 3"])
    assert "'ward 3' (5), 'Ward 3' (1)" in many.note


@pytest.mark.parametrize(
    ("cells", "values", "unit"),
    [
        (["70 kg", "81.5kg", "1,064 KG", "7 kg"], [70, 81.5, 1064, 7], "kg"),
        (["31,2 kg/m²", "22,5 kg/m²", "28 kg/m²"], [31.2, 22.5, 28], "kg/m²"),
        (["36.6 °C", "37.0 °C", "41.25 °C"], [36.6, 37, 41.25], "°C"),
        (["120 mm Hg", "95 mm Hg", None], [120, 95, np.nan], "mm Hg"),
    ],
)
def test_numbers_in_one_unit_are_read(cells, values, unit):
    understood, read = column(cells)
    assert (understood.kind, understood.unit) == ("number", unit)
    assert understood.note == f"numbers in {unit}; --type x=category if that is wrong"
    np.testing.assert_array_equal(read, values)


def test_numbers_in_two_units_are_not_mixed():
    cells = [f"{n} kg" for n in range(50, 90)] * 2 + [f"{n} lb" for n in range(110, 130)]
    understood, _ = column(cells, "weight")
    assert understood.kind == "category"
    assert "80 % of its cells are numbers, but some are not, such as '110 lb'" in understood.note
    told, values = column(cells, "weight", types={"weight": "number"})
    assert (told.unit, np.isnan(values).sum(), values[0]) == ("kg", 20, 50)


@pytest.mark.parametrize("share", [0.02, 0.1, 0.5, 0.9, 0.98])
@pytest.mark.parametrize("unit", ["mmHg", " mmHg", " yrs."])
def test_numbers_that_leave_out_the_unit_of_the_others_are_in_it(unit, share):
    n_with, numbers = int(100 * share), [60 + 37 * k % 100 for k in range(100)]
    cells = [f"{n}{unit}" for n in numbers[:n_with]] + [str(n) for n in numbers[n_with:]]
    understood, values = column(cells * 2)
    assert (understood.kind, values.tolist()) == ("number", numbers * 2)
    said = f"numbers in {unit.strip()}, left out in {200 - 2 * n_with} of 200 cells, such as '{numbers[n_with]}'"
    assert understood.note == f"{said}; --type x=category if that is wrong"
    assert column(cells * 2, types={"x": "number"})[0].note == f"as declared; {said}"
    assert understood.values(pa.chunked_array([["80", f"80{unit}", "80 kPa"]])).tolist()[:2] == [80, 80]
    assert "1 cell is not a number ('80 kPa' in row 3)" in understood.check(pa.chunked_array([["80", "81", "80 kPa"]]))


def test_people_see_a_cell_that_could_not_be_read_as_it_is_written():
    for cells, kind in (
        (["7.5", "8", "neg.", None], "number"),
        (["3.5.24", "2024-04-02", "spring", None], "date:%Y-%m-%d"),
    ):
        understood, _ = column(cells, types={"x": kind})
        assert in_short(understood, pa.chunked_array([cells]))[1:4] == [cells[1], cells[2], ""]


def test_numbers_of_another_size_than_those_with_a_unit_may_be_in_another():
    heights = [f"{n / 100} m" for n in range(150, 190)] + [str(n) for n in range(150, 190)]
    assert column(heights)[0].kind == "category"


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([f"{n}P" for n in range(1000, 1100)], "id"),
        (["3a", "3b", "4a"] * 9, "category"),
        (["1", "2", "2a", "3", "3a"] * 30, "category"),
        (["B12", "B13"] * 9, "category"),
    ],
)
def test_names_and_codes_are_not_taken_for_numbers_in_a_unit(cells, kind):
    assert column(RNG.permutation(cells))[0].kind == kind


def test_a_new_table_may_leave_the_unit_out_but_not_change_it():
    training, _ = column(["70 kg", "81.5 kg", "64 kg"], "weight")
    assert training.values(pa.chunked_array([["70", "81.5"]])).tolist() == [70, 81.5]
    assert training.check(pa.chunked_array([[70.0, 81.5]])) == ""
    with pytest.raises(DataError, match=r"such as '150 lb' in row 1; write them as in training \(70 kg\)"):
        training.check(pa.chunked_array([["150 lb", "170 lb"]]))


def test_the_index_that_pandas_stores_with_a_filtered_frame_is_not_learned_from(tmp_path):
    frame = pd.DataFrame({"age": range(40, 90), "ward": ["a", "b"] * 25})
    frame[frame["age"] % 3 > 0].to_parquet(tmp_path / "some.parquet")
    columns = understand(read_table(tmp_path / "some.parquet")).columns
    assert [(c.name, c.kind) for c in columns] == [("age", "number"), ("ward", "category"), ("__index_level_0__", "id")]
    assert columns[-1].note.startswith("the index of a pandas frame, so left out")


@pytest.mark.parametrize("name", ["column_1", "Unnamed: 0", "Unnamed: 0.1", "level_0"])
def test_the_index_of_a_shuffled_frame_without_a_name_is_not_learned_from(name):
    assert column(RNG.permutation(200), name)[0].kind == "id"
    assert column(RNG.permutation(200) % 150, name)[0].kind == "number"


def test_a_grade_with_a_minus_is_no_negative_number():
    assert column(["1", "2-", "2", "3-"] * 20)[0].kind == "category"


def test_times_of_day_may_say_so():
    for cells in (["5:30 PM", "12:15 am", "12:00 p.m.", "11:45:00 AM"], ["17:30 Uhr", "0:15 Uhr", "12:00", "11:45 h"]):
        assert column(cells)[1].tolist() == [17.5, 0.25, 12, 11.75]


def test_times_are_read_as_hours():
    understood, values = column(["03:30", "23:45", None, "0:06:36"])
    assert understood.note == "times such as 03:30, read as hours; --type x=category if that is wrong"
    np.testing.assert_allclose(values, [3.5, 23.75, np.nan, 0.11])
    for stored in (pa.array([12_600, 85_500], pa.time32("s")), pa.array([12_600_000, 85_500_000], pa.duration("ms"))):
        assert understood.values(pa.chunked_array([stored])).tolist() == [3.5, 23.75]
        assert understood.check(pa.chunked_array([stored])) == ""
        guessed = understand(read_table(pa.table({"x": stored}))).columns[0]
        assert (guessed.kind, guessed.decimal, guessed.note) == ("number", ":", "times, read as hours")
    with pytest.raises(DataError, match=r"write them as in training \(03:30\)"):
        understood.check(pa.chunked_array([["3.5", "4.5"]]))
    with pytest.raises(DataError, match="held numbers in training, but time32"):
        Column("x", "number").check(pa.chunked_array([pa.array([1], pa.time32("s"))]))


def test_missing_words_do_not_change_how_numbers_are_read():
    column = Column("price", "number", decimal=",", grouped=True)
    cells = pa.chunked_array([["NA", "1.234", "2.345", "-"]])
    assert column.values(cells)[1:3].tolist() == [1234, 2345]
    assert column.check(cells) == ""


def test_na_among_codes_of_two_letters_is_said_to_be_missing():
    understood, read = column(["DE", "NA", "ZA", "FR", "NA", None] * 10, "country")
    assert understood.note == "'NA' (20 cells) is read as missing; if it is a code, as Namibia's is, write another: NAM"
    assert read.null_count == 30


@pytest.mark.parametrize("cells", [["yes", "NA", "no"], ["M", "F", "NA"], ["DE", "FR", "ZA", None], ["AB", "0", "NA"]])
def test_na_elsewhere_is_missing_without_a_word(cells):
    assert column(cells * 10)[0].note == ""
