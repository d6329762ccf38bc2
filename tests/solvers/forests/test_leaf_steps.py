"""Compiled passes over the leaves of a tree, against NumPy."""

import numpy as np
import pytest
from scipy.optimize import brentq

from nearlinear.solvers.forests import leaf_steps

pytestmark = pytest.mark.passes
N_ROWS, N_LEAVES = 700, 3  # more rows in a leaf than a tile has


@pytest.fixture
def rows(rng):
    leaf = rng.integers(0, N_LEAVES, N_ROWS).astype(np.int32)
    g, h = rng.standard_normal(N_ROWS), rng.uniform(0.0, 1.0, N_ROWS)
    return leaf, g, h, rng.standard_normal((N_ROWS, 2)).astype(np.float32)


def test_sums_by_leaf(rows):
    leaf, g, h, Z = rows
    sums, slopes = np.zeros((N_LEAVES, 2)), np.zeros((N_LEAVES, 3))
    leaf_steps.add_by_leaf(leaf, g, h, sums)
    leaf_steps.add_slopes_by_leaf(leaf, g, Z, slopes)
    for number in range(N_LEAVES):
        own = leaf == number
        np.testing.assert_allclose(sums[number], [g[own].sum(), h[own].sum()])
        np.testing.assert_allclose(slopes[number], np.c_[np.ones(N_ROWS), Z][own].T @ g[own])


def test_rows_are_sorted_by_leaf(rows):
    leaf = rows[0]
    order, bounds = np.empty(N_ROWS, dtype=np.int32), np.empty(N_LEAVES + 1, dtype=np.int64)
    leaf_steps.rows_by_leaf(leaf, N_LEAVES, order, bounds)
    np.testing.assert_array_equal(order, np.argsort(leaf, kind="stable"))
    np.testing.assert_array_equal(bounds, np.searchsorted(leaf[order], range(N_LEAVES + 1)))


@pytest.mark.parametrize("grows", [True, False])
def test_a_linear_step_is_newtons_times_the_least_of_its_bound(rng, rows, grows):
    leaf, g, h, Z = rows
    order, bounds = np.empty(N_ROWS, dtype=np.int32), np.empty(N_LEAVES + 1, dtype=np.int64)
    leaf_steps.rows_by_leaf(leaf, N_LEAVES, order, bounds)
    models, grown = rng.standard_normal((2, N_LEAVES, 3))
    before, moves, lam = models.copy(), np.full(N_ROWS, np.nan), 0.7
    squares = leaf_steps.linear_moves(
        order, bounds, 0, N_LEAVES, g, h, Z, models, grown, lam, grows, moves
    )
    expected = 0.0
    for number in range(N_LEAVES):
        own = leaf == number
        z = np.c_[np.ones(N_ROWS), Z][own].astype(float)
        b = z.T @ g[own] + lam * (before[number] - grown[number])
        d = np.linalg.solve(z.T @ (h[own, None] * z) + lam * np.eye(3), b)
        along, step = z @ d, 1.0
        if grows:
            r, curve = np.abs(along).max(), h[own] @ along**2

            def rise(a, b=b, d=d, r=r, curve=curve):
                return -b @ d + curve * np.expm1(a * r) / r + lam * a * d @ d

            step = brentq(rise, 0, 1, xtol=1e-14)
        np.testing.assert_allclose(models[number], before[number] - step * d, rtol=1e-9)
        np.testing.assert_allclose(moves[own], -step * along, rtol=1e-7, atol=1e-12)
        expected += b @ b
    assert squares == pytest.approx(expected)


@pytest.mark.parametrize("curve, slope", [(2.0, 5.0), (1e-12, 40.0), (0.0, 3.0), (4.0, 0.0)])
def test_the_least_of_the_bound(curve, slope):
    found = leaf_steps.least_of_bound(curve, 0.3, slope)
    assert curve * np.expm1(found) + 0.3 * found == pytest.approx(slope, rel=1e-9)
