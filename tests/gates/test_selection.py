"""Selection of the smallest entries of each column, against a full stable sort."""

import numpy as np
import pytest

from nearlinear.gates.selection import smallest_in_columns

pytestmark = pytest.mark.passes


def assert_selected(values, n_smallest):
    expected = np.argsort(values, axis=0, kind="stable")[:n_smallest].T
    numbers, smallest = smallest_in_columns(values, n_smallest)
    np.testing.assert_array_equal(numbers, expected)
    # float64 gives up the bits that the row number takes: 2⁻⁵² for each row
    rtol = 0 if values.dtype == np.float32 else 2.3e-16 * 2 * len(values)
    np.testing.assert_allclose(smallest, np.take_along_axis(values.T, expected, axis=1), rtol=rtol)
    assert smallest.dtype == values.dtype


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_smallest", range(1, 21))
def test_entries_selected_are_those_of_a_full_sort(rng, n_smallest, dtype):
    assert_selected(rng.standard_normal((25, 70)).astype(dtype), n_smallest)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_smallest", [3, 8, 11])
def test_of_equal_entries_the_upper_one_wins(rng, n_smallest, dtype):
    assert_selected(rng.integers(-2, 3, size=(30, 66)).astype(dtype), n_smallest)


@pytest.mark.parametrize("n_columns", [1, 3, 63, 64, 65, 128, 130])
@pytest.mark.parametrize("n_smallest", [2, 9])
def test_any_number_of_columns_is_served(rng, n_columns, n_smallest):
    assert_selected(rng.standard_normal((10, n_columns)), n_smallest)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_rows", [1, 2, 7, 8, 9, 16, 17])
def test_all_rows_can_be_selected(rng, n_rows, dtype):
    assert_selected(rng.standard_normal((n_rows, 5)).astype(dtype), n_rows)


@pytest.mark.parametrize("n_smallest", [1, 8])
def test_numbers_of_many_rows_come_back_whole(rng, n_smallest):
    assert_selected(rng.standard_normal((600, 2)), n_smallest)


@pytest.mark.parametrize("n_smallest", [4, 11])
def test_all_magnitudes_and_signs_are_ordered(n_smallest):
    column = [1e300, -1e-300, 3.0, np.inf, -7.0, 1e-300, -1e300, 0.0, 2.5, -2.5, -np.inf]
    assert_selected(np.array(column)[:, None], n_smallest)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_smallest", [3, 9])
def test_row_numbers_exist_even_where_nothing_can_be_compared(n_smallest, dtype):
    # Products of huge rows overflow to NaN; a row number past the end would then be read.
    numbers, _ = smallest_in_columns(np.full((9, 2), np.nan, dtype=dtype), n_smallest)
    assert numbers.min() >= 0
    assert numbers.max() < 9


def test_float32_is_compared_to_its_last_bit():
    values = np.array([[np.nextafter(np.float32(1), np.float32(2))], [1.0]], dtype=np.float32)
    assert_selected(values, 2)
