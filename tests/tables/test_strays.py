"""One text in a column of numbers makes texts of all: it is told."""

import warnings

import numpy as np
import pandas as pd
import pytest

from nearlinear import TableEncoder


def ages(n_rows=40, **cells):
    """A column of numbers as texts, with other cells in some rows."""
    found = [str(20 + k % 2) for k in range(n_rows)]
    for row, cell in cells.items():
        found[int(row.removeprefix("row"))] = cell
    return pd.DataFrame({"age": found, "width": np.arange(n_rows) % 5.0})


def test_a_slip_is_named_by_column_and_row():
    words = "^Column 'age': 39 of 40 cells are numbers, row 2 has 'fiftynine'; it is treated as tex"
    with pytest.warns(UserWarning, match=words):
        TableEncoder().fit(ages(row2="fiftynine"))
    mixed = [[float(k % 6), k % 5] for k in range(30)]  # of numbers, as lists have them
    mixed[7][0], mixed[9][0] = "?", None
    with pytest.warns(UserWarning, match=r"^Column 0: 28 of 29 cells are numbers, row 7 has '\?'"):
        TableEncoder().fit(mixed)


def test_blocks_tell_it_without_a_row():
    X, y = ages(row2="fiftynine"), np.arange(40) % 2
    with pytest.warns(UserWarning, match="39 of 40 cells are numbers, 'fiftynine' is none; it is"):
        TableEncoder().fit([(X[k : k + 10], y[k : k + 10]) for k in range(0, 40, 10)])


def test_texts_that_are_meant_are_not_told():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TableEncoder().fit(ages(row1="07", row2="B3"))  # codes
        TableEncoder().fit(ages(**{f"row{k}": "none" for k in range(5)}))  # more than a tenth
        TableEncoder().fit(ages(9, row2="x"))  # a few numbers are no evidence
        frame = ages(row2="fiftynine")
        TableEncoder().fit(frame.assign(age=frame["age"].astype("category")))
