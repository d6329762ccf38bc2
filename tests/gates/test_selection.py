"""Selection of the smallest offsets[j] − cross[j] of each row, against a full stable sort."""

import numpy as np
import pytest
from grids import in_one_test

from nearlinear.gates.selection import smallest_in_columns, smallest_of_rows

pytestmark = pytest.mark.passes


def from_products(values, n_smallest):
    """Entries as given products and no offsets: 0 − (−v)."""
    return smallest_in_columns(-values, np.zeros(len(values), values.dtype), n_smallest)


def from_rows(values, n_smallest):
    """Entries as the coordinates of rows: 0 − ⟨−v, e_j⟩."""
    directions = np.eye(len(values), dtype=values.dtype)
    offsets = np.zeros(len(values), values.dtype)
    return smallest_of_rows(np.ascontiguousarray(-values.T), directions, offsets, n_smallest)


def assert_selected(select, values, n_smallest):
    expected = np.argsort(values, axis=0, kind="stable")[:n_smallest].T
    numbers, smallest = select(values, n_smallest)
    np.testing.assert_array_equal(numbers, expected)
    # float64 gives up the bits that the number takes: 2⁻⁵² for each entry
    rtol = 0 if values.dtype == np.float32 else 2.3e-16 * 2 * len(values)
    np.testing.assert_allclose(smallest, np.take_along_axis(values.T, expected, axis=1), rtol=rtol)
    assert smallest.dtype == values.dtype


both_ways = pytest.mark.parametrize("select", [from_products, from_rows])


@both_ways
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@in_one_test("n_smallest", range(1, 21))
def test_entries_selected_are_those_of_a_full_sort(rng, select, n_smallest, dtype):
    assert_selected(select, rng.standard_normal((25, 70)).astype(dtype), n_smallest)


@both_ways
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_smallest", [3, 8, 11])
def test_of_equal_entries_the_first_wins(rng, select, n_smallest, dtype):
    values = rng.integers(-2, 3, size=(30, 66)).astype(dtype)
    values += 0  # no −0, which comes before 0
    assert_selected(select, values, n_smallest)


@both_ways
@in_one_test("n_rows", [1, 3, 63, 64, 65, 130, 256, 300, 600])
@pytest.mark.parametrize("n_smallest", [2, 9])
def test_any_number_of_rows_is_served(rng, select, n_rows, n_smallest):
    assert_selected(select, rng.standard_normal((10, n_rows)), n_smallest)


@both_ways
@in_one_test("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_entries", [1, 2, 7, 8, 9, 16, 17])
def test_all_entries_can_be_selected(rng, select, n_entries, dtype):
    assert_selected(select, rng.standard_normal((n_entries, 5)).astype(dtype), n_entries)


@pytest.mark.parametrize("n_smallest", [1, 8])
def test_numbers_of_many_entries_come_back_whole(rng, n_smallest):
    assert_selected(from_products, rng.standard_normal((600, 2)), n_smallest)


@pytest.mark.parametrize("n_smallest", [4, 11])
def test_all_magnitudes_and_signs_are_ordered(n_smallest):
    column = [1e300, -1e-300, 3.0, np.inf, -7.0, 1e-300, -1e300, 0.0, 2.5, -2.5, -np.inf]
    assert_selected(from_products, np.array(column)[:, None], n_smallest)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_smallest", [3, 9])
def test_numbers_exist_even_where_nothing_can_be_compared(n_smallest, dtype):
    # Products of huge rows overflow to NaN; a number past the end would then be read.
    numbers, _ = from_products(np.full((9, 2), np.nan, dtype=dtype), n_smallest)
    assert numbers.min() >= 0
    assert numbers.max() < 9


def test_float32_is_compared_to_its_last_bit():
    values = np.array([[np.nextafter(np.float32(1), np.float32(2))], [1.0]], dtype=np.float32)
    assert_selected(from_products, values, 2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_smallest", [5, 12])
def test_offsets_and_directions_make_the_entries(rng, n_smallest, dtype):
    X, directions = rng.standard_normal((80, 6)), rng.standard_normal((20, 6))
    offsets = rng.standard_normal(20)
    numbers, smallest = smallest_of_rows(
        X.astype(dtype), directions.astype(dtype), offsets.astype(dtype), n_smallest
    )
    entries = offsets - X @ directions.T
    np.testing.assert_array_equal(numbers, np.argsort(entries, axis=1)[:, :n_smallest])
    np.testing.assert_allclose(
        smallest, np.sort(entries, axis=1)[:, :n_smallest], atol=100 * np.finfo(dtype).eps
    )
