"""Rows that stand for all others."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from nearlinear.kernels.row_order import RowOrder

each_form = pytest.mark.parametrize("as_rows", [np.asarray, csr_matrix], ids=["dense", "sparse"])


@each_form
def test_the_weight_of_the_chosen_rows_is_that_of_all(rng, as_rows):
    X, weight = np.exp(rng.standard_normal((2000, 3))), rng.uniform(0.0, 3.0, 2000)
    rows, chosen = RowOrder.of(as_rows(X)).choose(100, weight)
    assert 50 < len(rows) <= 100
    assert len(np.unique(rows)) == len(rows)
    assert chosen.sum() == pytest.approx(weight.sum())


def test_means_over_the_chosen_rows_are_about_those_over_all(rng):
    X, weight = np.exp(1.5 * rng.standard_normal((5000, 3))), rng.uniform(0.0, 3.0, 5000)
    rows, chosen = RowOrder.of(X).choose(500, weight)
    far = ((X - X.mean(axis=0)) ** 2).sum(axis=1)
    for values in (far, np.sqrt(far)):
        exact = np.average(values, weights=weight)
        assert np.average(values[rows], weights=chosen) == pytest.approx(exact, rel=0.05)


def test_few_rows_are_all_chosen(rng):
    X, weight = rng.standard_normal((20, 3)), rng.uniform(1.0, 2.0, 20)
    rows, chosen = RowOrder.of(X).choose(20, weight)
    np.testing.assert_array_equal(rows, np.arange(20))
    np.testing.assert_array_equal(chosen, weight)


@pytest.mark.parametrize("width", [1, 3])
def test_a_lonely_row_far_out_speaks_for_itself(rng, width):
    X = np.vstack([rng.standard_normal((2000, width)), np.full((1, width), 1e4)])
    rows, chosen = RowOrder.of(X).choose(100, np.ones(2001))
    assert chosen[rows == 2000] == [1.0]


@each_form
def test_rows_that_differ_by_rounding_are_no_new_ones(rng, as_rows):
    X = np.round(rng.standard_normal((200, 4)), 1)
    again = np.vstack([X, X * (1.0 + 1e-13 * rng.standard_normal(X.shape))])
    assert RowOrder.of(as_rows(again)).is_new.sum() == len(np.unique(X, axis=0))


def test_one_row_and_equal_rows_have_an_order():
    for n_rows in (1, 7):
        order = RowOrder.of(np.full((n_rows, 3), 0.1))
        assert sorted(order.rows) == list(range(n_rows))
        assert order.is_new.sum() == 1
