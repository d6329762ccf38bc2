"""A few texts in a column of numbers are missing cells, and told."""

import warnings

import numpy as np
import pandas as pd
import pytest

from nearlinear import TableEncoder


def ages(n_rows=40, **cells):
    """A column of numbers as texts, with other cells in some rows."""
    found = [str(20 + k % 3) for k in range(n_rows)]
    for row, cell in cells.items():
        found[int(row.removeprefix("row"))] = cell
    return pd.DataFrame({"age": found, "width": np.arange(n_rows) % 5.0})


def in_blocks(X):
    y = np.arange(len(X)) % 2
    return [(X[k : k + 10], y[k : k + 10]) for k in range(0, len(X), 10)]


@pytest.mark.parametrize("as_source", [lambda X: X, in_blocks])
@pytest.mark.filterwarnings("ignore:Column 'age'")
def test_slips_are_missing_in_the_fit_and_in_new_rows(as_source):
    slips, gaps = ages(row2="fiftynine", row5="?"), ages(row2=None, row5=None)
    found, wanted = (TableEncoder().fit(as_source(X)) for X in (slips, gaps))
    assert found.strays_ == {"age": 2} and wanted.strays_ == {}
    assert found.columns_ == wanted.columns_
    new = ages(row0="sixty", row1="inf", row3="1_0", row4=" 2e1 ")
    known = ages(row0=None, row1=None, row3=None, row4="20")
    np.testing.assert_array_equal(found.transform(new), wanted.transform(known))
    with pytest.raises(ValueError, match="Row 0 has 'sixty' in column 'age'"):
        wanted.transform(new)  # a column without slips has none in new rows


def test_a_slip_is_named_by_column_and_row():
    words = "^Column 'age': 39 of 40 cells are numbers, row 2 has 'fiftynine'; cells that are none"
    with pytest.warns(UserWarning, match=words):
        TableEncoder().fit(ages(row2="fiftynine"))
    mixed = [[float(k % 6), k % 5] for k in range(30)]  # of numbers, as lists have them
    mixed[7][0], mixed[9][0] = "?", None
    with pytest.warns(UserWarning, match=r"^Column 0: 28 of 29 cells are numbers, row 7 has '\?'"):
        assert TableEncoder().fit(mixed).strays_ == {"x0": 1}
    with pytest.warns(UserWarning, match="39 of 40 cells are numbers, 'fiftynine' is none; cells"):
        TableEncoder().fit(in_blocks(ages(row2="fiftynine")))


def test_texts_that_are_meant_stay_texts():
    frame = ages(row2="fiftynine")
    for meant in (
        ages(row1="07", row2="B3"),  # codes
        ages(**{f"row{k}": "none" for k in range(5)}),  # more than a tenth
        ages(9, row2="x"),  # a few numbers are no evidence
        frame.assign(age=frame["age"].astype("category")),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert TableEncoder().fit(meant).kinds_ == ["text", "number"]
