"""Products and squared distances of rows."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix, issparse
from scipy.spatial.distance import cdist

from nearlinear.kernels import Gaussian, Linear, Polynomial, pairs
from nearlinear.kernels.pairs import Pairs, squared_norms

FAR = 1e4
each_dtype = pytest.mark.parametrize("dtype", [np.float32, np.float64])
each_form = pytest.mark.parametrize("as_rows", [np.asarray, csr_matrix], ids=["dense", "sparse"])
each_mixture = pytest.mark.parametrize(
    "as_left, as_right",
    [
        (np.asarray, np.asarray),
        (np.asarray, csr_matrix),
        (csr_matrix, np.asarray),
        (csr_matrix, csr_matrix),
    ],
    ids=["dense-dense", "dense-sparse", "sparse-dense", "sparse-sparse"],
)


@each_dtype
@each_mixture
def test_products_are_those_of_the_rows(X, Z, as_left, as_right, dtype):
    X, Z = X.astype(dtype), Z.astype(dtype)
    found = Pairs(as_left(X), as_right(Z)).products
    np.testing.assert_allclose(found, np.inner(X, Z), atol=20 * np.finfo(dtype).eps)
    assert type(found) is np.ndarray
    assert found.dtype == dtype


@each_dtype
@each_mixture
def test_squared_distances_are_those_of_the_rows(X, Z, as_left, as_right, dtype):
    X, Z = X.astype(dtype), Z.astype(dtype)
    found = Pairs(as_left(X), as_right(Z)).squared_distances
    exact = cdist(X.astype(np.float64), Z.astype(np.float64), "sqeuclidean")
    # differences of squares of size ten
    np.testing.assert_allclose(found, exact, atol=100 * np.finfo(dtype).eps)
    assert type(found) is np.ndarray
    assert found.dtype == dtype


@each_dtype
@each_form
def test_rows_without_partner_are_paired_with_themselves(X, as_rows, dtype):
    rows = as_rows(X.astype(dtype))
    found = Pairs(rows)
    exact = cdist(X, X, "sqeuclidean")
    np.testing.assert_allclose(found.squared_distances, exact, atol=100 * np.finfo(dtype).eps)
    np.testing.assert_allclose(found.products, X @ X.T, atol=20 * np.finfo(dtype).eps)
    assert found.shape == (30, 30)
    assert found.dtype == dtype


def test_a_pair_has_a_row_of_each_side(X, Z):
    assert Pairs(X, Z).shape == (30, 17)
    assert Pairs(Z, csr_matrix(X)).shape == (17, 30)


@each_dtype
@each_form
def test_a_row_is_at_distance_zero_from_itself(X, as_rows, dtype):
    rows = as_rows((X + 3.0).astype(dtype))
    assert not np.diag(Pairs(rows).squared_distances).any()


@each_form
def test_squared_distances_are_never_negative(rng, as_rows):
    for width in (1, 2, 5, 30):
        row = 100.0 * rng.standard_normal((1, width))
        rows = np.repeat(row, 20, axis=0) + 1e-9 * rng.standard_normal((20, width))
        assert Pairs(as_rows(rows), as_rows(rows)).squared_distances.min() >= 0.0


@each_dtype
@each_form
@pytest.mark.parametrize("width", [1, 4, 30])
def test_distances_of_rows_with_themselves_are_symmetric_to_the_last_bit(
    rng, as_rows, dtype, width
):
    rows = as_rows(rng.standard_normal((60, width)).astype(dtype))
    squares = Pairs(rows).squared_distances
    np.testing.assert_array_equal(squares, squares.T)


@each_dtype
@each_form
def test_products_of_rows_with_themselves_are_symmetric_to_the_last_bit(rng, as_rows, dtype):
    products = Pairs(as_rows(rng.standard_normal((60, 30)).astype(dtype))).products
    np.testing.assert_array_equal(products, products.T)


@pytest.mark.parametrize("width", [1, 4, 30])
def test_float32_distances_far_from_the_origin_are_accurate(rng, width):
    # Uncentered products would be off by ‖x‖² ε, which is 6 per column.
    X = (rng.standard_normal((40, width)) + FAR).astype(np.float32)
    Z = (rng.standard_normal((25, width)) + FAR).astype(np.float32)
    exact = cdist(X.astype(np.float64), Z.astype(np.float64), "sqeuclidean")
    np.testing.assert_allclose(Pairs(X, Z).squared_distances, exact, atol=2e-3)


@pytest.mark.parametrize("width", [1, 4, 30])
def test_float32_distances_of_sparse_rows_far_from_the_origin_are_accurate(rng, width):
    X = (rng.standard_normal((40, width)) + FAR).astype(np.float32)
    exact = cdist(X.astype(np.float64), X.astype(np.float64), "sqeuclidean")
    np.testing.assert_allclose(Pairs(csr_matrix(X)).squared_distances, exact, atol=2e-3)


def test_float64_distances_far_from_the_origin_are_accurate(rng):
    X = rng.standard_normal((40, 4)) + 1e9
    exact = cdist(X, X, "sqeuclidean")
    np.testing.assert_allclose(Pairs(X).squared_distances, exact, atol=1e-12)


@each_mixture
@pytest.mark.parametrize("columns", [(2,), (3, 0), (0, 1, 2, 3)])
def test_pairs_on_columns_see_those_only(X, Z, as_left, as_right, columns):
    found = Pairs(as_left(X), as_right(Z)).on(columns)
    X, Z = X[:, list(columns)], Z[:, list(columns)]
    np.testing.assert_allclose(found.products, X @ Z.T, atol=1e-12)
    np.testing.assert_allclose(found.squared_distances, cdist(X, Z, "sqeuclidean"), atol=1e-12)


@each_form
def test_rows_on_columns_stay_paired_with_themselves(X, as_rows):
    squares = Pairs(as_rows(X + 3.0)).on((1, 2)).squared_distances
    assert not np.diag(squares).any()


def test_kernels_share_one_product_and_one_matrix_of_distances(X, Z, monkeypatch):
    calls = []
    plain = pairs._products
    monkeypatch.setattr(pairs, "_products", lambda *sides: calls.append(1) or plain(*sides))
    shared = Pairs(X, Z)
    for kernel in (Gaussian(0.5), Gaussian(2.0), Linear(), Polynomial(2, 0.5), Polynomial(3, 0.5)):
        kernel.from_pairs(shared)
        kernel.from_pairs(shared.on((0, 2)))
    assert len(calls) == 4  # products and distances, on all columns and on two


@each_dtype
@each_form
def test_squared_norms_keep_the_precision_of_the_rows(X, as_rows, dtype):
    norms = squared_norms(as_rows(X.astype(dtype)))
    np.testing.assert_allclose(norms, (X**2).sum(axis=1), rtol=20 * np.finfo(dtype).eps)
    assert norms.shape == (30,)
    assert norms.dtype == dtype


def test_sparse_rows_stay_sparse(X, Z):
    shared = Pairs(csr_matrix(X), csr_matrix(Z)).on((0, 1))
    assert issparse(shared.X)
    assert issparse(shared.Z)
