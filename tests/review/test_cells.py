"""What a reviewer sees of a row."""

import numpy as np
import pandas as pd

from dips._files import read_table, understand
from dips._review.cells import TableCells

NOTES = [f"patient {k} came in with chest pain after {k} days of fever; " * 3 for k in range(40)]


def cells_of(frame, types):
    table = read_table(frame)
    n = table.n_rows
    schema = understand(table, types=types)
    return TableCells(table.columns, schema, np.arange(n), np.arange(n) % 2, np.ones(n, dtype=bool), 2, [], [])


def test_a_free_text_is_shown_whole():
    shown = cells_of(pd.DataFrame({"note": NOTES}), {"note": "text"})
    assert shown.of(3)["values"] == [NOTES[3].strip()]


def test_a_cell_that_models_cannot_read_is_shown_as_it_is_written_and_is_not_unusual():
    shown = cells_of(pd.DataFrame({"crp": [*("12.5", "7") * 30, "neg."]}), {"crp": "number"})
    assert shown.of(60) == {"values": ["neg."], "unusual": [[]]}
