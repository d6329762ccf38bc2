"""Scaled kernels and sums of kernels."""

import numpy as np
import pytest
from grids import in_one_test
from scipy.sparse import csr_matrix

from nearlinear.kernels import (
    Custom,
    GatedSum,
    Gaussian,
    Linear,
    OnColumns,
    Polynomial,
    Product,
    Scaled,
    UnitDiagonal,
    WeightedSum,
)
from nearlinear.kernels.pairs import Pairs
from nearlinear.kernels.standard import Precomputed

PARTS = (Gaussian(0.4), Linear(), OnColumns(Polynomial(2, 0.5), (1, 3)))
WEIGHTS = (0.5, 0.0, 2.0)
DIRECTIONS = np.random.default_rng(5).standard_normal((4, 3))


def gate(X):
    """Softmax of a linear score."""
    scores = np.exp(X @ DIRECTIONS.astype(X.dtype))
    return scores / scores.sum(axis=1, keepdims=True)


KERNELS = {
    "scaled": Scaled(Gaussian(0.4), 3.0),
    "unit diagonal": UnitDiagonal(Polynomial(3, 0.5)),
    "weighted": WeightedSum(PARTS, WEIGHTS),
    "product": Product(PARTS),
    "gated": GatedSum(PARTS, gate),
    "unit diagonal of a gated sum": UnitDiagonal(GatedSum(PARTS, gate)),
    "weighted gated sums": WeightedSum((GatedSum(PARTS, gate), Scaled(Linear(), 0.1)), (1.0, 3.0)),
}
each_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
each_dtype = pytest.mark.parametrize("dtype", [np.float32, np.float64])
each_form = pytest.mark.parametrize("as_rows", [np.asarray, csr_matrix], ids=["dense", "sparse"])


@pytest.fixture
def X(rng):
    rows = rng.standard_normal((30, 4))
    rows[rows < -0.7] = 0.0
    return rows


@pytest.fixture
def Z(rng):
    return rng.standard_normal((17, 4)) + 0.5


@each_kernel
@each_form
def test_a_gram_matrix_is_positive_semi_definite(X, kernel, as_rows):
    gram = kernel(as_rows(X))
    values = np.linalg.eigvalsh(gram)
    assert values[0] > -1e-13 * values[-1]
    np.testing.assert_allclose(gram, gram.T, rtol=1e-12, atol=1e-13)


@each_kernel
@each_dtype
@each_form
def test_the_diagonal_is_that_of_the_gram_matrix(X, kernel, as_rows, dtype):
    rows = as_rows(X.astype(dtype))
    diagonal = kernel.diagonal(rows)
    np.testing.assert_allclose(diagonal, np.diag(kernel(rows)), rtol=50 * np.finfo(dtype).eps)
    assert diagonal.shape == (30,)
    assert diagonal.dtype == dtype


@each_kernel
def test_blocks_are_the_same_for_all_forms_of_the_rows(X, Z, kernel):
    expected = kernel(X, Z)
    for left, right in [(X, csr_matrix(Z)), (csr_matrix(X), Z), (csr_matrix(X), csr_matrix(Z))]:
        np.testing.assert_allclose(kernel(left, right), expected, rtol=1e-12, atol=1e-12)


@each_kernel
def test_blocks_keep_the_precision_of_the_rows(X, Z, kernel):
    block = kernel(X.astype(np.float32), Z.astype(np.float32))
    np.testing.assert_allclose(block, kernel(X, Z), rtol=1e-4, atol=1e-5)
    assert block.dtype == np.float32


@each_kernel
def test_a_composite_leaves_what_others_share_alone(X, Z, kernel):
    shared = Pairs(X, Z)
    before = shared.products.copy(), shared.squared_distances.copy()
    first = kernel.from_pairs(shared)
    np.testing.assert_array_equal(kernel.from_pairs(shared), first)
    np.testing.assert_array_equal(shared.products, before[0])
    np.testing.assert_array_equal(shared.squared_distances, before[1])


def test_a_scaled_kernel_is_a_multiple(X, Z):
    np.testing.assert_allclose(Scaled(Gaussian(0.4), 2.5)(X, Z), 2.5 * Gaussian(0.4)(X, Z))


def test_a_unit_diagonal_divides_by_the_roots(X, Z):
    kernel = Polynomial(3, 0.5)
    roots = np.sqrt(np.outer(kernel.diagonal(X), kernel.diagonal(Z)))
    np.testing.assert_allclose(UnitDiagonal(kernel)(X, Z), kernel(X, Z) / roots, rtol=1e-12)
    np.testing.assert_array_equal(UnitDiagonal(kernel).diagonal(X), np.ones(30))


@each_form
def test_rows_of_length_zero_stay_zero_beside_a_unit_diagonal(X, Z, as_rows):
    X[3], Z[5] = 0.0, 0.0
    kernel = UnitDiagonal(Linear())
    block = kernel(as_rows(X), as_rows(Z))
    others = kernel(as_rows(np.delete(X, 3, axis=0)), as_rows(np.delete(Z, 5, axis=0)))
    assert not block[3].any()
    assert not block[:, 5].any()
    np.testing.assert_allclose(np.delete(np.delete(block, 3, 0), 5, 1), others, atol=1e-12)
    np.testing.assert_array_equal(kernel.diagonal(as_rows(X)), np.arange(30) != 3)


def test_a_unit_diagonal_does_not_depend_on_the_factor(X, Z):
    tiny = UnitDiagonal(Scaled(Polynomial(2, 0.5), 1e-30))
    np.testing.assert_allclose(tiny(X, Z), UnitDiagonal(Polynomial(2, 0.5))(X, Z), rtol=1e-12)


def test_a_unit_diagonal_on_columns_is_that_of_the_columns(X, Z):
    inside, outside = (
        UnitDiagonal(OnColumns(Linear(), (2,))),
        OnColumns(UnitDiagonal(Linear()), (2,)),
    )
    signs = np.sign(np.outer(X[:, 2], Z[:, 2]))
    np.testing.assert_allclose(inside(X, Z), signs, rtol=1e-12)
    np.testing.assert_allclose(outside(X, Z), signs, rtol=1e-12)


def test_a_weighted_sum_is_the_sum_of_its_parts(X, Z):
    expected = sum(weight * part(X, Z) for part, weight in zip(PARTS, WEIGHTS))
    np.testing.assert_allclose(WeightedSum(PARTS, WEIGHTS)(X, Z), expected, rtol=1e-12)


def test_a_kernel_of_weight_zero_is_not_evaluated(X, Z):
    def broken(X, Z):
        raise AssertionError("evaluated")

    kernel = WeightedSum((Linear(), Custom(broken)), (1.0, 0.0))
    np.testing.assert_allclose(kernel(X, Z), Linear()(X, Z))
    np.testing.assert_allclose(kernel.diagonal(X), Linear().diagonal(X))


@each_dtype
def test_a_sum_without_weights_is_zero(X, Z, dtype):
    kernel = WeightedSum((Linear(), Gaussian(0.5)), (0.0, 0.0))
    block = kernel(X.astype(dtype), Z.astype(dtype))
    np.testing.assert_array_equal(block, np.zeros((30, 17), dtype=dtype))
    assert block.dtype == dtype


def test_a_sum_needs_one_weight_for_each_kernel(X):
    with pytest.raises(ValueError, match="one weight of 0 or more for each of its 2 kernels"):
        WeightedSum((Linear(), Gaussian(0.5)), (1.0,))(X)


@in_one_test("factor", [-1.0, np.nan, np.inf])
def test_a_kernel_is_not_scaled_below_zero(factor):
    with pytest.raises(ValueError, match="Scaled needs a factor of 0 or more"):
        Scaled(Linear(), factor)


def test_a_gated_sum_weighs_each_kernel_by_both_gates(X, Z):
    left, right = gate(X), gate(Z)
    expected = sum(np.outer(left[:, m], right[:, m]) * k(X, Z) for m, k in enumerate(PARTS))
    np.testing.assert_allclose(GatedSum(PARTS, gate)(X, Z), expected, rtol=1e-12)


def test_a_gated_sum_of_rows_with_themselves_follows_the_same_formula(X):
    left = gate(X)
    expected = sum(np.outer(left[:, m], left[:, m]) * k(X) for m, k in enumerate(PARTS))
    np.testing.assert_allclose(GatedSum(PARTS, gate)(X), expected, rtol=1e-12, atol=1e-14)


def test_a_gated_sum_of_one_kernel_with_an_open_gate_is_that_kernel(X, Z):
    kernel = GatedSum((Gaussian(0.4),), lambda X: np.ones((X.shape[0], 1)))
    np.testing.assert_allclose(kernel(X, Z), Gaussian(0.4)(X, Z))


def test_hard_gates_leave_rows_of_different_components_unrelated(X):
    kernel = GatedSum((Gaussian(0.4), Gaussian(0.4)), lambda X: np.eye(2)[(X[:, 0] > 0.3) * 1])
    other = (X[:, 0] > 0.3)[:, None] != (X[:, 0] > 0.3)
    np.testing.assert_allclose(kernel(X), np.where(other, 0.0, Gaussian(0.4)(X)))


def test_gated_sums_are_kernels_whatever_the_gate(rng):
    for _ in range(20):
        X, width = rng.standard_normal((25, 3)), rng.integers(1, 5)
        directions = 3.0 * rng.standard_normal((3, width))
        parts = tuple(Gaussian(gamma) for gamma in rng.uniform(0.1, 3.0, width))
        gram = GatedSum(parts, lambda X, w=directions: np.tanh(X @ w))(X)
        values = np.linalg.eigvalsh(gram)
        assert values[0] > -1e-13 * values[-1]


def test_composites_take_the_scales_of_their_parts_from_the_rows(X):
    free = (Gaussian(), OnColumns(Polynomial(2), (0,)))
    fixed = tuple(kernel.for_rows(X) for kernel in free)
    assert Scaled(free[0], 2.0).for_rows(X) == Scaled(fixed[0], 2.0)
    assert UnitDiagonal(free[1]).for_rows(X) == UnitDiagonal(fixed[1])
    assert WeightedSum(free, (1.0, 2.0)).for_rows(X) == WeightedSum(fixed, (1.0, 2.0))
    assert GatedSum(free, gate).for_rows(X) == GatedSum(fixed, gate)


def test_a_precomputed_kernel_can_be_scaled_and_summed(rng):
    stack, numbers = rng.standard_normal((6, 6, 2)), np.array([[1], [4]])
    kernel = WeightedSum((Scaled(Precomputed(0), 2.0), Precomputed(1)), (0.5, 3.0))
    expected = stack[:, [1, 4], 0] + 3.0 * stack[:, [1, 4], 1]
    np.testing.assert_allclose(kernel(stack, numbers), expected)
    np.testing.assert_allclose(kernel.diagonal(stack), np.diag(stack[:, :, 0] + 3 * stack[:, :, 1]))
