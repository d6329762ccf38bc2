"""Sums and products of Gram matrices, kept or computed anew."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from nearlinear.kernels import Custom, Gaussian, Linear, OnColumns, Polynomial, Scaled, grams
from nearlinear.kernels.grams import Grams
from nearlinear.kernels.standard import Precomputed

N_ROWS = 50
KERNELS = (
    Gaussian(0.4),
    Linear(),
    OnColumns(Gaussian(2.0), (1,)),
    Scaled(Polynomial(3, 0.3), 0.2),
)
MATRIX = N_ROWS**2 * 8  # bytes
each_form = pytest.mark.parametrize("as_rows", [np.asarray, csr_matrix], ids=["dense", "sparse"])
each_dtype = pytest.mark.parametrize("dtype", [np.float32, np.float64])
each_memory = pytest.mark.parametrize(
    "n_kept", [0, 2, 4], ids=["nothing kept", "two kept", "all kept"]
)


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    """Tiles of 8 × 8 rows, so that fifty rows have many and the last is narrow."""
    monkeypatch.setattr(grams, "_TILE", 64)


@pytest.fixture
def X(rng):
    rows = rng.standard_normal((N_ROWS, 4))
    rows[rows < -0.7] = 0.0
    return rows


@pytest.fixture
def matrices(X):
    return np.array([kernel(X) for kernel in KERNELS])


def make(X, n_kept=4, **options):
    """The Gram matrices of ``KERNELS``, the first of them kept."""
    found = Grams(KERNELS, X, max_bytes=n_kept * MATRIX, **options)
    found.keep(range(n_kept))
    return found


@dataclass
class Counted:
    """A kernel that counts the entries it was asked for."""

    kernel: object
    is_cheap: bool = True
    sizes: list = field(default_factory=list)

    def from_pairs(self, pairs):
        self.sizes.append(pairs.shape[0] * pairs.shape[1])
        return self.kernel.from_pairs(pairs)

    def asked(self):
        """Whether it was evaluated since the last time."""
        found = bool(self.sizes)
        self.sizes.clear()
        return found


def counted(n_kernels=3, is_cheap=True):
    return [Counted(Gaussian(0.2 * (m + 1)), is_cheap) for m in range(n_kernels)]


def asked(kernels):
    return [kernel.asked() for kernel in kernels]


@each_form
@each_memory
@pytest.mark.parametrize("weights", [[0.5, 1.0, 2.0, 0.1], [0.0, 1.0, 0.0, 3.0], [0.0] * 4])
def test_a_weighted_sum_is_the_plain_one(X, matrices, as_rows, n_kept, weights):
    found = make(as_rows(X), n_kept).weighted(np.array(weights))
    np.testing.assert_allclose(found, np.tensordot(weights, matrices, 1), atol=1e-11)


@each_memory
def test_a_weighted_sum_is_written_where_asked(X, matrices, n_kept):
    out = np.full((N_ROWS, N_ROWS), np.nan)
    found = make(X, n_kept).weighted(np.ones(4), out=out)
    assert found is out
    np.testing.assert_allclose(out, matrices.sum(axis=0), atol=1e-11)


@each_form
@each_dtype
@each_memory
def test_a_weighted_sum_is_symmetric_to_the_last_bit(X, as_rows, dtype, n_kept):
    found = make(as_rows(X.astype(dtype)), n_kept).weighted(np.array([0.3, 0.7, 1.1, 0.2]))
    np.testing.assert_array_equal(found, found.T)


@each_form
@each_memory
@pytest.mark.parametrize("share", [1.0, 0.6, 0.2])
def test_quadratics_are_the_plain_ones(X, rng, matrices, as_rows, n_kept, share):
    coef = np.where(rng.random(N_ROWS) < share, rng.standard_normal(N_ROWS), 0.0)
    which = [3, 0, 2]
    found = make(as_rows(X), n_kept).quadratics(coef, which)
    np.testing.assert_allclose(found, [coef @ matrices[m] @ coef for m in which], rtol=1e-9)


@each_memory
def test_quadratics_of_no_coefficients_are_zero(X, n_kept):
    np.testing.assert_array_equal(make(X, n_kept).quadratics(np.zeros(N_ROWS), [0, 3]), [0.0, 0.0])


@each_form
@each_memory
@pytest.mark.parametrize("share", [1.0, 0.2])
def test_products_are_the_plain_ones(X, rng, matrices, as_rows, n_kept, share):
    coef = np.where(rng.random(N_ROWS) < share, rng.standard_normal(N_ROWS), 0.0)
    which, rows = [2, 0, 3], rng.permutation(N_ROWS)[:23]
    found = make(as_rows(X), n_kept).products(coef, which, rows)
    np.testing.assert_allclose(found, [(matrices[m] @ coef)[rows] for m in which], atol=1e-11)


@each_form
@each_memory
def test_products_with_no_coefficients_are_zero(X, as_rows, n_kept):
    found = make(as_rows(X), n_kept).products(np.zeros(N_ROWS), [0, 1], np.arange(5))
    np.testing.assert_array_equal(found, np.zeros((2, 5)))


def test_products_of_all_rows_with_all_rows_are_the_plain_ones(X, rng, matrices):
    coef, rows = rng.standard_normal(N_ROWS), np.arange(N_ROWS)
    found = make(X, 0).products(coef, range(4), rows)
    np.testing.assert_allclose(found, matrices @ coef, atol=1e-11)


@each_form
@each_memory
@pytest.mark.parametrize("share", [1.0, 0.4])
def test_images_are_the_products_at_the_rows_in_use(X, rng, matrices, as_rows, n_kept, share):
    coef = rng.standard_normal(N_ROWS) * (rng.random(N_ROWS) < share)
    expected = (matrices @ coef)[:, coef != 0.0][[3, 0, 2]]
    found = make(as_rows(X), n_kept).products(coef, np.array([3, 0, 2]))
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


@each_memory
def test_images_do_not_depend_on_threads(X, rng, n_kept):
    coef = rng.standard_normal(N_ROWS)
    one, two = (make(X, n_kept, n_jobs=n).products(coef, np.arange(4)) for n in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_images_of_no_coefficients_are_empty(X):
    assert make(X, 0).products(np.zeros(N_ROWS), np.arange(4)).shape == (4, 0)


@each_form
@each_memory
def test_columns_are_those_of_all_matrices(X, matrices, as_rows, n_kept):
    rows = np.array([7, 0, 49, 7])
    found = make(as_rows(X), n_kept).columns(rows)
    np.testing.assert_allclose(found, matrices[:, :, rows], atol=1e-12)


@each_form
def test_diagonals_are_those_of_all_matrices(X, matrices, as_rows):
    found = make(as_rows(X), 0).diagonals()
    np.testing.assert_allclose(found, np.diagonal(matrices, axis1=1, axis2=2), rtol=1e-12)
    assert found.dtype == np.float64


@each_form
@each_dtype
@each_memory
def test_the_number_of_threads_does_not_change_a_bit(X, rng, as_rows, dtype, n_kept):
    one, two = (make(as_rows(X.astype(dtype)), n_kept, n_jobs=n_jobs) for n_jobs in (1, 2))
    weights, coef, rows = rng.random(4), rng.standard_normal(N_ROWS), rng.permutation(N_ROWS)
    np.testing.assert_array_equal(one.weighted(weights), two.weighted(weights))
    np.testing.assert_array_equal(one.quadratics(coef, range(4)), two.quadratics(coef, range(4)))
    np.testing.assert_array_equal(
        one.products(coef, range(4), rows), two.products(coef, range(4), rows)
    )
    np.testing.assert_array_equal(one.columns(rows[:9]), two.columns(rows[:9]))


def test_random_sums_and_quadratics_are_the_plain_ones():
    for seed in range(25):
        rng = np.random.default_rng(seed)
        n_rows, n_kernels = rng.integers(1, 40), rng.integers(1, 6)
        X = rng.standard_normal((n_rows, rng.integers(1, 5)))
        kernels = [Gaussian(gamma) for gamma in rng.uniform(0.1, 2.0, n_kernels)]
        matrices = np.array([kernel(X) for kernel in kernels])
        found = Grams(kernels, X, max_bytes=rng.integers(0, 5) * 8 * n_rows**2)
        for _ in range(4):
            found.keep(np.flatnonzero(rng.random(n_kernels) < 0.5))
            weights = rng.random(n_kernels) * (rng.random(n_kernels) < 0.7)
            coef = rng.standard_normal(n_rows) * (rng.random(n_rows) < rng.random())
            coef[rng.integers(n_rows)] = 1.0
            which = rng.permutation(n_kernels)[: rng.integers(1, n_kernels + 1)]
            rows = rng.permutation(n_rows)[: rng.integers(1, n_rows + 1)]
            total = np.tensordot(weights, matrices, 1)
            plain = matrices[which] @ coef
            np.testing.assert_allclose(found.weighted(weights), total, atol=1e-12)
            np.testing.assert_allclose(found.quadratics(coef, which), plain @ coef, rtol=1e-8)
            np.testing.assert_allclose(
                found.products(coef, which, rows), plain[:, rows], atol=1e-11
            )


def test_what_is_kept_is_not_computed_anew(X):
    kernels = counted()
    found = Grams(kernels, X, max_bytes=3 * MATRIX)
    found.keep([0, 2])
    assert asked(kernels) == [True, False, True]
    found.weighted(np.ones(3))
    assert asked(kernels) == [False, True, False]
    found.quadratics(np.ones(N_ROWS), [0, 1, 2])
    assert asked(kernels) == [False, True, False]
    found.products(np.ones(N_ROWS), [0, 1, 2], np.arange(5))
    assert asked(kernels) == [False, True, False]
    found.keep([0, 2])
    assert asked(kernels) == [False, False, False]


def test_kernels_of_weight_zero_are_not_computed(X):
    kernels = counted()
    Grams(kernels, X).weighted(np.array([1.0, 0.0, 0.0]))
    assert asked(kernels) == [True, False, False]


def test_only_rows_with_coefficients_are_compared(X):
    kernels, coef = counted(1), np.zeros(N_ROWS)
    coef[[3, 40]] = 1.0
    Grams(kernels, X).quadratics(coef, [0])
    assert sum(kernels[0].sizes) == 2 * 2


def test_one_triangle_of_tiles_is_computed(X):
    kernels = counted(1)
    Grams(kernels, X).weighted(np.ones(1))
    diagonal = 6 * 64 + 2 * 2  # tiles of 8 rows, and a last one of 2
    assert sum(kernels[0].sizes) == (N_ROWS**2 + diagonal) / 2


@pytest.mark.parametrize(
    "max_bytes, n_fit", [(0, 0), (MATRIX - 1, 0), (MATRIX, 1), (2.9 * MATRIX, 2), (1e9, 3)]
)
def test_as_many_matrices_are_kept_as_fit(X, max_bytes, n_fit):
    kernels = counted()
    found = Grams(kernels, X, max_bytes=max_bytes)
    found.keep([2, 0, 1])
    asked(kernels)
    found.weighted(np.ones(3))
    fits = [2, 0, 1][:n_fit]
    assert asked(kernels) == [m not in fits for m in range(3)]


def test_what_is_no_longer_wanted_is_forgotten_and_makes_room(X):
    kernels = counted()
    found = Grams(kernels, X, max_bytes=MATRIX)
    for m in (0, 1, 2, 0, 1):
        found.keep([m])
        asked(kernels)
        found.weighted(np.ones(3))
        assert asked(kernels) == [other != m for other in range(3)]


def test_keeping_nothing_forgets_all(X):
    kernels = counted()
    found = Grams(kernels, X, max_bytes=3 * MATRIX)
    found.keep([0, 1, 2])
    found.keep([])
    asked(kernels)
    found.weighted(np.ones(3))
    assert asked(kernels) == [True, True, True]


def test_what_is_kept_stays_when_more_is_wanted_than_fits(X):
    kernels = counted()
    found = Grams(kernels, X, max_bytes=2 * MATRIX)
    found.keep([2])
    found.keep([0, 1, 2])
    asked(kernels)
    found.weighted(np.ones(3))
    assert asked(kernels) == [False, True, False]


def test_kept_matrices_do_not_change_when_a_sum_is_written_to(X, matrices):
    found = make(X, 4)
    found.weighted(np.array([1.0, 0.0, 0.0, 0.0]))[:] = 7.0
    np.testing.assert_allclose(found.weighted(np.eye(4)[0]), matrices[0], atol=1e-12)


@pytest.mark.parametrize(
    "limit, dtype, expected",
    [
        (N_ROWS, np.float64, np.float64),
        (N_ROWS - 1, np.float64, np.float32),
        (N_ROWS, np.float32, np.float32),
    ],
)
def test_sums_of_many_rows_are_kept_in_single_precision(X, monkeypatch, limit, dtype, expected):
    monkeypatch.setattr(grams, "DOUBLE_ROWS", limit)
    found = make(X.astype(dtype), 0)
    assert found.dtype == expected
    assert found.weighted(np.ones(4)).dtype == expected
    assert found.columns(np.arange(3)).dtype == expected


def test_the_precision_can_be_chosen(X, monkeypatch):
    monkeypatch.setattr(grams, "DOUBLE_ROWS", 3)
    assert make(X, 0, dtype=np.float64).weighted(np.ones(4)).dtype == np.float64


@each_form
def test_single_precision_is_near_double(X, rng, matrices, as_rows, monkeypatch):
    monkeypatch.setattr(grams, "DOUBLE_ROWS", 3)
    found, coef = make(as_rows(X), 0), rng.standard_normal(N_ROWS)
    np.testing.assert_allclose(
        found.weighted(np.ones(4)), matrices.sum(axis=0), rtol=1e-4, atol=1e-4
    )
    np.testing.assert_allclose(
        found.quadratics(coef, range(4)), [coef @ gram @ coef for gram in matrices], rtol=1e-4
    )
    np.testing.assert_allclose(
        found.products(coef, range(4), np.arange(9)), (matrices @ coef)[:, :9], atol=1e-3
    )


def test_in_single_precision_only_expensive_kernels_are_kept(X):
    kernels = [*counted(2), *counted(1, is_cheap=False)]
    found = Grams(kernels, X.astype(np.float32), max_bytes=1e9)
    found.keep([0, 1, 2])
    assert asked(kernels) == [False, False, True]
    found.weighted(np.ones(3))
    assert asked(kernels) == [True, True, False]


def test_in_single_precision_twice_as_many_expensive_kernels_fit(X):
    kernels = counted(3, is_cheap=False)
    found = Grams(kernels, X.astype(np.float32), max_bytes=MATRIX)
    found.keep([0, 1, 2])
    asked(kernels)
    found.weighted(np.ones(3))
    assert asked(kernels) == [False, False, True]


@each_dtype
def test_functions_of_the_user_are_called_once_when_kept(X, dtype):
    calls = []

    def function(X, Z):
        calls.append(1)
        return X @ Z.T

    found = Grams([Custom(function)], X.astype(dtype), max_bytes=MATRIX)
    found.keep([0])
    calls.clear()
    total = found.weighted(np.ones(1))
    assert not calls
    np.testing.assert_allclose(total, X @ X.T, atol=50 * np.finfo(dtype).eps)


@pytest.mark.parametrize("n_kept", [0, 2])
def test_precomputed_matrices_are_weighed_like_others(X, rng, matrices, n_kept):
    stack = np.ascontiguousarray(matrices[:2].transpose(1, 2, 0))
    numbers, coef = np.arange(N_ROWS)[:, None], rng.standard_normal(N_ROWS)
    kernels = [Precomputed(0), Scaled(Precomputed(1), 2.0)]
    found = Grams(kernels, stack, max_bytes=1e9, landmarks=numbers)
    found.keep(range(n_kept))
    exact, rows = matrices[:2] * np.array([1.0, 2.0])[:, None, None], np.array([4, 41, 0])
    np.testing.assert_allclose(
        found.weighted(np.array([0.5, 3.0])), 0.5 * exact[0] + 3.0 * exact[1], atol=1e-11
    )
    np.testing.assert_allclose(found.quadratics(coef, [0, 1]), exact @ coef @ coef, rtol=1e-9)
    np.testing.assert_allclose(
        found.products(coef, [0, 1], rows), (exact @ coef)[:, rows], atol=1e-11
    )
    np.testing.assert_allclose(found.columns(rows), exact[:, :, rows], atol=1e-12)
    np.testing.assert_allclose(found.diagonals(), np.diagonal(exact, axis1=1, axis2=2), rtol=1e-12)


def some_factors(rng):
    """One, three and no vectors for three of the kernels; none for the other."""
    return {
        0: rng.standard_normal((N_ROWS, 1)),
        3: rng.random((N_ROWS, 3)),
        1: np.ones((N_ROWS, 0)),
    }


def modulate(matrices, factors):
    return sum((factor @ factor.T) * matrices[m] for m, factor in factors.items())


@each_form
@each_memory
def test_a_modulated_sum_is_the_plain_one(X, rng, matrices, as_rows, n_kept):
    factors = some_factors(rng)
    found = make(as_rows(X), n_kept).modulated(factors)
    np.testing.assert_allclose(found, modulate(matrices, factors), atol=1e-10)


@each_memory
def test_a_modulated_sum_is_written_where_asked(X, rng, matrices, n_kept):
    factors, out = some_factors(rng), np.full((N_ROWS, N_ROWS), np.nan)
    found = make(X, n_kept).modulated(factors, out=out)
    assert found is out
    np.testing.assert_allclose(out, modulate(matrices, factors), atol=1e-10)


@each_form
@each_dtype
@each_memory
def test_a_modulated_sum_is_symmetric_to_the_last_bit(X, rng, as_rows, dtype, n_kept):
    factors = {m: factor.astype(dtype) for m, factor in some_factors(rng).items()}
    found = make(as_rows(X.astype(dtype)), n_kept).modulated(factors)
    np.testing.assert_array_equal(found, found.T)
    assert found.dtype == dtype


@each_memory
def test_a_sum_modulated_by_nothing_is_zero(X, n_kept):
    np.testing.assert_array_equal(make(X, n_kept).modulated({}), np.zeros((N_ROWS, N_ROWS)))


@each_memory
def test_a_sum_modulated_by_roots_of_weights_is_the_weighted_one(X, n_kept):
    weights, found = np.array([0.5, 1.0, 2.0, 0.1]), make(X, n_kept)
    factors = {m: np.full((N_ROWS, 1), weight**0.5) for m, weight in enumerate(weights)}
    np.testing.assert_allclose(found.modulated(factors), found.weighted(weights), atol=1e-12)


def test_kept_matrices_do_not_change_when_a_sum_is_modulated(X, rng, matrices):
    found = make(X, 4)
    found.modulated({m: rng.random((N_ROWS, 2)) for m in range(4)})[:] = 7.0
    np.testing.assert_allclose(found.weighted(np.ones(4)), matrices.sum(axis=0), atol=1e-11)


@each_form
@each_memory
@pytest.mark.parametrize("share", [1.0, 0.2])
def test_products_with_a_matrix_for_each_kernel_are_the_plain_ones(
    X, rng, matrices, as_rows, n_kept, share
):
    which, rows = [2, 0, 3], rng.permutation(N_ROWS)[:23]
    coefs = [rng.standard_normal((N_ROWS, width)) for width in (1, 4, 2)]
    for coef in coefs:  # rows without a coefficient differ from kernel to kernel
        coef[rng.random(N_ROWS) >= share] = 0.0
    found = make(as_rows(X), n_kept).products_of_many(coefs, which, rows)
    assert len(found) == 3
    for m, coef, product in zip(which, coefs, found):
        np.testing.assert_allclose(product, (matrices[m] @ coef)[rows], atol=1e-11)
        assert product.dtype == np.float64


@each_memory
def test_products_with_matrices_of_zeros_are_zero(X, n_kept):
    coefs = [np.zeros((N_ROWS, 2)), np.zeros((N_ROWS, 3))]
    found = make(X, n_kept).products_of_many(coefs, [0, 1], np.arange(5))
    np.testing.assert_array_equal(found[0], np.zeros((5, 2)))
    np.testing.assert_array_equal(found[1], np.zeros((5, 3)))


@each_memory
def test_products_at_no_rows_are_empty(X, rng, n_kept):
    coefs = [rng.standard_normal((N_ROWS, 2))]
    found = make(X, n_kept).products_of_many(coefs, [1], np.arange(0))
    assert [product.shape for product in found] == [(0, 2)]


@each_form
@each_dtype
@each_memory
def test_modulated_sums_and_products_do_not_depend_on_threads(X, rng, as_rows, dtype, n_kept):
    one, two = (make(as_rows(X.astype(dtype)), n_kept, n_jobs=n_jobs) for n_jobs in (1, 2))
    factors = {m: factor.astype(dtype) for m, factor in some_factors(rng).items()}
    np.testing.assert_array_equal(one.modulated(factors), two.modulated(factors))
    coefs, rows = [rng.standard_normal((N_ROWS, 3))] * 4, rng.permutation(N_ROWS)
    products = [each.products_of_many(coefs, range(4), rows) for each in (one, two)]
    np.testing.assert_array_equal(*products)


def test_modulated_sums_products_and_columns_read_what_is_kept(X):
    kernels = counted()
    found = Grams(kernels, X, max_bytes=3 * MATRIX)
    found.keep([0, 2])
    asked(kernels)
    found.modulated({m: np.ones((N_ROWS, 2)) for m in range(3)})
    assert asked(kernels) == [False, True, False]
    found.products_of_many([np.ones((N_ROWS, 2))] * 3, [0, 1, 2], np.arange(5))
    assert asked(kernels) == [False, True, False]
    found.columns(np.arange(5))
    assert asked(kernels) == [False, True, False]
    found.keep([0, 1, 2])
    asked(kernels)
    found.columns(np.arange(5))
    assert asked(kernels) == [False, False, False]


def test_kernels_without_a_factor_are_not_computed(X):
    kernels = counted()
    Grams(kernels, X).modulated({1: np.ones((N_ROWS, 2))})
    assert asked(kernels) == [False, True, False]


def test_columns_of_kept_matrices_may_be_written_to(X, matrices):
    found = make(X, 4)
    found.columns(np.arange(N_ROWS))[:] = 7.0
    np.testing.assert_allclose(found.weighted(np.ones(4)), matrices.sum(axis=0), atol=1e-11)


@each_dtype
@pytest.mark.parametrize("which", [[0, 1, 2, 3], [3, 0], [2]], ids=["all", "some", "one"])
def test_a_mixture_is_the_kernel_of_the_weighted_sum(X, matrices, dtype, which):
    found = make(X.astype(dtype), 2)
    weights = np.array([0.5, 1.0, 2.0, 0.1])[which]
    gram = found.mixture(weights, np.array(which))(found.X)
    eps = np.finfo(dtype).eps
    np.testing.assert_allclose(
        gram, np.tensordot(weights, matrices[which], 1), rtol=100 * eps, atol=500 * eps
    )
    assert gram.dtype == dtype
