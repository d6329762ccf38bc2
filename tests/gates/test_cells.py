"""The cell of a row against all distances, and in any company."""

import numpy as np
import pytest

from nearlinear.gates.cells import Cells, by_group


def plain(cells, X):
    """One row after the other, in float64."""
    found = []
    for x in X.astype(np.float64):
        first, last = 0, len(cells)
        if cells.groups is not None:
            group = ((x - cells.groups) ** 2).sum(axis=1).argmin()
            first, last = cells.firsts[group], cells.firsts[group + 1]
        found.append(first + ((x - cells.centers[first:last]) ** 2).sum(axis=1).argmin())
    return found


def make(n_cells, dtype, firsts=None, shift=0.0):
    rng = np.random.default_rng(n_cells)
    centers = (rng.standard_normal((n_cells, 5)) + shift).astype(dtype)
    if firsts is None:
        return Cells(centers)
    groups = (rng.standard_normal((len(firsts) - 1, 5)) + shift).astype(dtype)
    return Cells(centers, groups, np.array(firsts))


CELLS = {
    "one": make(1, np.float64),
    "flat": make(7, np.float64),
    "float32": make(7, np.float32),
    "groups": make(9, np.float32, [0, 1, 6, 9]),
    "far away": make(9, np.float64, [0, 4, 9], shift=1e4),
}


@pytest.mark.passes
@pytest.mark.parametrize("name", CELLS)
def test_a_row_is_in_the_nearest_cell_whatever_rows_come_with_it(name, rng):
    cells = CELLS[name]
    X = (rng.standard_normal((150, 5)) + cells.centers[0]).astype(cells.centers.dtype)
    found = cells(X)
    np.testing.assert_array_equal(found, plain(cells, X))
    for some in (slice(0, 1), slice(3, 90), slice(149, 150), slice(0, 0)):
        np.testing.assert_array_equal(cells(X[some]), found[some])


def test_of_equally_near_cells_the_first_is_taken():
    cells = Cells(np.array([[1.0, 0.0], [-1.0, 0.0]]))
    np.testing.assert_array_equal(cells(np.array([[0.0, 3.0], [2.0, 0.0], [-2.0, 0.0]])), [0, 0, 1])


@pytest.mark.passes
def test_rows_in_the_order_of_their_groups(rng):
    group = rng.integers(0, 5, 40).astype(np.int32)
    order, ends = by_group(group, 6)
    np.testing.assert_array_equal(order, np.argsort(group, kind="stable"))
    np.testing.assert_array_equal(ends, np.searchsorted(np.sort(group), np.arange(7)))
