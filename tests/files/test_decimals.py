"""What 4.129 is, where every mark stands before three digits: the other columns of the file tell, and it is said."""

import json

import numpy as np
import pandas as pd
import pytest

from dips._files import Preparation, read_table, understand
from dips._tools.wording import command_line

COUNTS = [f"{n:,}".replace(",", ".") for n in range(500, 40_000, 977)]  # 500, 1.477, …
WEIGHTS = [f"{50 + k / 7:.1f}".replace(".", ",") for k in range(len(COUNTS))]
GUESS = "1.477 is read with a decimal point; --type x=number:comma if thousands are meant"
TOLD = "1.477 is read as 1477, since 'weight' has decimal commas; --type x=number:point if that is wrong"


def understood(types=None, **cells):
    table = read_table(pd.DataFrame(cells))
    with command_line():
        schema = understand(table, types=types)
    return schema, table


def column(cells=COUNTS, types=None, **others):
    """Return the column x as it was understood beside others, and its values."""
    schema, table = understood(types, x=cells, **others)
    return schema.columns[0], schema.columns[0].values(table.columns["x"])


def test_a_point_before_three_digits_sets_thousands_apart_where_others_have_decimal_commas():
    alone, values = column()
    assert (alone.note, values[1]) == (GUESS, 1.477)
    beside, values = column(weight=WEIGHTS)
    assert (beside.note, values[:2].tolist()) == (TOLD, [500, 1477])


def test_a_comma_before_three_digits_is_decimal_where_others_have_decimal_commas():
    cells = [cell.replace(".", ",") for cell in COUNTS]
    assert column(cells)[1][1] == 1477
    beside, values = column(cells, weight=WEIGHTS)
    assert values[1] == 1.477
    assert beside.note.startswith("1,477 is read as 1.477, since 'weight' has decimal commas; --type x=number:point")


@pytest.mark.parametrize(
    "others",
    [
        {"weight": WEIGHTS, "price": [f"{k}.5" for k in range(len(COUNTS))]},
        {"price": [f"{k}.5" for k in range(len(COUNTS))]},
        {"day": ["03.04.2024"] * len(COUNTS), "n": [str(k) for k in range(len(COUNTS))]},
        {"weight": [f"{cell}0.1" for cell in COUNTS]},
    ],
    ids=["both marks", "points", "no decimals", "no numbers"],
)
def test_columns_that_do_not_tell_leave_the_guess(others):
    assert column(**others)[0].note == GUESS


def test_a_guess_and_cells_that_are_no_numbers_are_both_said():
    lost = "2 cells are not numbers, such as 'k.A.'; read as missing"
    cells = [*COUNTS[:-2], "k.A.", "k.A."]
    assert column(cells)[0].note == f"{GUESS}; {lost}"
    beside, values = column(cells, weight=WEIGHTS)
    assert beside.note == f"{TOLD}; {lost}"
    assert values[1] == 1477
    assert column([*WEIGHTS[:-2], "k.A.", "k.A."])[0].note == f"decimal commas; {lost}"
    assert column([*WEIGHTS[:-2], "k.A.", "k.A."])[0].example == "50,0"
    in_cells = [f"{cell} mg" for cell in COUNTS]
    assert column(in_cells, weight=WEIGHTS)[1][1] == 1477


def test_rare_thousands_are_read_so_too():
    cells = ["7"] * 3_000 + ["1.477", "812"]
    _, values = column(cells, weight=["66,7", "66,8"] * 1_501)
    assert values[-2] == 1477


def test_the_user_may_say_otherwise():
    assert column(types={"x": "number:point"}, weight=WEIGHTS)[1][1] == 1.477
    declared, values = column(types={"x": "number"}, weight=WEIGHTS)
    assert (declared.note, values[1]) == (f"as declared; {TOLD}", 1477)
    assert column(types={"x": "number"})[0].note == f"as declared; {GUESS}"


def test_a_new_table_is_read_as_in_training():
    schema, table = understood(x=COUNTS, weight=WEIGHTS)
    preparation = Preparation(schema).learn(table)
    stored = Preparation.from_parts(json.loads(json.dumps(preparation.to_json())), preparation.arrays())
    new = read_table(pd.DataFrame({"x": ["7.269", "812", "k.A."], "weight": ["66.7", "70", "71.5"]}))
    expected = np.array([[7269, 66.7], [812, 70], [np.nan, 71.5]], dtype=np.float32)
    assert np.array_equal(stored.encode(new), expected, equal_nan=True)
