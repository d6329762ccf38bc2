"""Typical sizes of rows: what they are, and that no rounding, order or copy of rows moves them."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.spatial.distance import pdist

from nearlinear.estimators._base.rows import canonical_order
from nearlinear.kernels.family import bank, fix_kernels
from nearlinear.kernels.row_scales import RowScales

FAR = 1e4
each_dtype = pytest.mark.parametrize("dtype", [np.float32, np.float64])
each_form = pytest.mark.parametrize("as_rows", [np.asarray, csr_matrix], ids=["dense", "sparse"])


def skewed(rng, n_rows):
    """A few rows hold most of the variance."""
    return np.exp(1.5 * rng.standard_normal((n_rows, 3)))


def canonical(X):
    """Rows in the order in which estimators see them: by a hash of their bits."""
    return X[canonical_order(X, np.zeros(X.shape[0]))[0]]


@each_dtype
@each_form
def test_the_typical_squared_distance_is_the_median_of_all_pairs(X, as_rows, dtype):
    scales = RowScales(as_rows(X.astype(dtype)))
    exact = np.median(pdist(X.astype(dtype).astype(np.float64), "sqeuclidean"))
    assert scales.squared_distance == pytest.approx(exact, rel=1e-12)
    assert isinstance(scales.squared_distance, float)


def test_the_typical_distance_of_rows_in_float32_does_not_suffer_far_away(rng):
    X = (rng.standard_normal((40, 4)) + FAR).astype(np.float32)
    exact = np.median(pdist(X.astype(np.float64), "sqeuclidean"))
    for rows in (X, csr_matrix(X)):
        assert RowScales(rows).squared_distance == pytest.approx(exact, rel=1e-5)


@each_form
def test_on_columns_where_most_rows_are_equal_the_typical_distance_is_their_mean(as_rows):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        width = rng.integers(1, 40)
        X = np.repeat(rng.standard_normal((1, width)), 40, axis=0)
        X[:5] += rng.standard_normal((5, width))
        whole = np.column_stack([X, np.arange(40.0)])
        found = RowScales(as_rows(whole)).on(tuple(range(width))).squared_distance
        assert found == pytest.approx(pdist(X, "sqeuclidean").mean(), rel=1e-9)


@each_form
def test_where_all_rows_are_equal_the_typical_distance_is_one(as_rows):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = np.repeat(100.0 * rng.standard_normal((1, rng.integers(1, 40))), 30, axis=0)
        assert RowScales(as_rows(X)).squared_distance == 1.0


@each_form
def test_one_row_has_a_typical_distance_of_one(X, as_rows):
    assert RowScales(as_rows(X[:1])).squared_distance == 1.0


def test_the_distance_of_two_rows_is_their_typical_one():
    assert RowScales(np.array([[0.0, 0.0], [3.0, 4.0]])).squared_distance == pytest.approx(25.0)


@each_form
def test_of_many_rows_some_give_about_the_typical_distance_of_all(rng, as_rows):
    X = skewed(rng, 3000)
    exact = np.median(pdist(X, "sqeuclidean"))
    assert RowScales(as_rows(X)).squared_distance == pytest.approx(exact, rel=0.02)


@each_dtype
@each_form
def test_the_mean_squared_norm_is_that_of_the_rows(X, as_rows, dtype):
    found = RowScales(as_rows(X.astype(dtype))).mean_squared_norm
    assert found == pytest.approx((X**2).sum(axis=1).mean(), rel=1e-6)


@each_form
def test_rows_of_zeros_have_a_mean_squared_norm_of_one(as_rows):
    assert RowScales(as_rows(np.zeros((5, 3)))).mean_squared_norm == 1.0


@each_form
def test_scales_on_columns_are_those_of_these_columns(X, as_rows):
    scales = RowScales(as_rows(X)).on((1, 3))
    seen = X[:, [1, 3]]
    assert scales.squared_distance == pytest.approx(np.median(pdist(seen, "sqeuclidean")))
    assert scales.mean_squared_norm == pytest.approx((seen**2).sum(axis=1).mean())


@each_form
def test_a_constant_column_has_a_typical_distance_of_one(X, as_rows):
    X[:, 2] = 0.1
    assert RowScales(as_rows(X)).on((2,)).squared_distance == 1.0


def test_scales_are_taken_as_they_are(X):
    scales = RowScales(X)
    assert RowScales.of(scales) is scales
    assert RowScales.of(X).X is X


def default_scales(X):
    """All that kernels take from the rows: widths, and divisors by the variance of their images."""
    scales = RowScales(X)
    kernels, _ = fix_kernels(bank(widths=(0.1, 1.0, 10.0)).members(X.shape[1]), X, "variance")
    gammas = [getattr(kernel.kernel, "kernel", kernel.kernel).gamma for kernel in kernels]
    factors = [kernel.factor for kernel in kernels]
    return np.array([scales.squared_distance, scales.mean_squared_norm, *gammas, *factors])


def nudged(X, rng):
    return X * (1.0 + 1e-13 * rng.standard_normal(X.shape))


CHANGES = {
    "last digits": nudged,
    "float32": lambda X, rng: X.astype(np.float32),
    "order": lambda X, rng: X[rng.permutation(len(X))],
    "copies": lambda X, rng: np.vstack([X, X[::3]]),
    "copies and last digits": lambda X, rng: nudged(np.vstack([X, X[::3]]), rng),
    "sparse": lambda X, rng: csr_matrix(X),
}
SETS = {
    "skewed": lambda rng: skewed(rng, 3000),
    "even": lambda rng: rng.standard_normal((3000, 3)),
    "one column": lambda rng: skewed(rng, 3000)[:, :1],
    "few values": lambda rng: rng.integers(0, 9, (3000, 4)) * [1.0, 0.3, 20.0, 5.0] / 7.0,
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("rows", SETS)
def test_default_scales_do_not_hang_on(rng, rows, change):
    X = SETS[rows](rng)
    before, after = (
        default_scales(canonical(rows)) for rows in (X, CHANGES[change](X, rng))
    )  # fmt: skip
    np.testing.assert_allclose(after, before, rtol=0.01)


def test_one_row_less_moves_the_typical_distance_by_little(rng):
    X = skewed(rng, 3000)
    whole, less = (RowScales(rows).squared_distance for rows in (X, X[1:]))
    assert less == pytest.approx(whole, rel=0.03)


def test_equal_rows_count_once(rng):
    X = rng.standard_normal((20, 3))
    many = np.vstack([X, np.repeat(X[:1], 500, axis=0)])
    assert RowScales(many).squared_distance == pytest.approx(RowScales(X).squared_distance)
    assert RowScales(many).mean_squared_norm == pytest.approx(RowScales(X).mean_squared_norm)
