"""Kernels averaged by both rows' gates, against the formula."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from nearlinear.gates.scores import UnitLength
from nearlinear.kernels import Gaussian, Linear, OnColumns, Polynomial
from nearlinear.kernels.composite import PairwiseNormalizedSum
from nearlinear.kernels.gated_grams import GatedRowsSum, with_gates
from nearlinear.kernels.pairs import Pairs

KERNELS = (Gaussian(0.4), Linear(), OnColumns(Polynomial(2, 0.5), (1, 3)))
SUM = PairwiseNormalizedSum(KERNELS, 4)
each_dtype = pytest.mark.parametrize("dtype", [np.float32, np.float64])
each_form = pytest.mark.parametrize("as_rows", [np.asarray, csr_matrix], ids=["dense", "sparse"])


@pytest.fixture
def gates(rng):
    """Of both sets of rows, between 0.05 and one."""
    return rng.uniform(0.05, 1.0, (30, 3)), rng.uniform(0.05, 1.0, (17, 3))


def plain(X, Z, left, right):
    """Σ_m γ_m γ'_m k_m / Σ_m γ_m γ'_m, one pair after the other."""
    formulas = (
        lambda x, z: np.exp(-0.4 * ((x - z) ** 2).sum()),
        lambda x, z: x @ z,
        lambda x, z: (0.5 * (x[1] * z[1] + x[3] * z[3]) + 1.0) ** 2,
    )
    found = np.empty((len(X), len(Z)))
    for i, x in enumerate(X):
        for j, z in enumerate(Z):
            shares = left[i] * right[j]
            values = np.array([formula(x, z) for formula in formulas])
            found[i, j] = (shares * values).sum() / shares.sum()
    return found


@each_form
@each_dtype
def test_a_block_follows_the_formula(X, Z, gates, as_rows, dtype):
    left, right = gates
    rows = as_rows(with_gates(X.astype(dtype), left))
    block = SUM(rows, as_rows(with_gates(Z.astype(dtype), right)))
    # products of a few numbers, in the precision of the rows
    np.testing.assert_allclose(block, plain(X, Z, left, right), atol=100 * np.finfo(dtype).eps)
    assert block.dtype == dtype


@each_form
def test_rows_among_themselves_follow_the_formula(X, gates, as_rows):
    gram = SUM(as_rows(with_gates(X, gates[0])))
    np.testing.assert_allclose(gram, plain(X, X, gates[0], gates[0]), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(gram, gram.T, rtol=1e-13, atol=1e-14)


@each_form
@each_dtype
def test_the_diagonal_is_that_of_the_gram_matrix(X, gates, as_rows, dtype):
    rows = as_rows(with_gates(X.astype(dtype), gates[0]))
    np.testing.assert_allclose(
        SUM.diagonal(rows), np.diag(SUM(rows)), rtol=50 * np.finfo(dtype).eps
    )


def test_gates_without_a_favorite_average_the_kernels(X, Z):
    block = SUM(with_gates(X, np.full((30, 3), 0.2)), with_gates(Z, np.full((17, 3), 0.7)))
    np.testing.assert_allclose(
        block, np.mean([kernel(X, Z) for kernel in KERNELS], axis=0), atol=1e-12
    )


def test_the_size_of_a_rows_gates_does_not_matter(X, Z, gates, rng):
    left, right = gates
    sizes = rng.uniform(0.1, 10.0, (30, 1))
    np.testing.assert_allclose(
        SUM(with_gates(X, sizes * left), with_gates(Z, right)),
        SUM(with_gates(X, left), with_gates(Z, right)),
        rtol=1e-12,
        atol=1e-13,
    )


def test_one_kernel_alone_is_itself(X, Z, gates):
    kernel = PairwiseNormalizedSum((Gaussian(0.4),), 4)
    block = kernel(with_gates(X, gates[0][:, :1]), with_gates(Z, gates[1][:, :1]))
    np.testing.assert_allclose(block, Gaussian(0.4)(X, Z), rtol=1e-12)


def test_what_other_kernels_share_is_left_alone(X, Z, gates):
    shared = Pairs(with_gates(X, gates[0]), with_gates(Z, gates[1]))
    first = SUM.from_pairs(shared)
    np.testing.assert_array_equal(SUM.from_pairs(shared), first)


def test_it_is_the_same_for_any_training_rows(X):
    assert SUM.for_rows(X) is SUM


def test_a_matrix_may_have_a_negative_eigenvalue_and_that_of_unit_gates_has_not():
    # a constant kernel and one that knows equal rows only: k = (1 1; 1 1) and k = (1 0; 0 1)
    kernels = (Polynomial(1, 1e-12), Gaussian(1e6))
    X = np.arange(3.0)[:, None]
    gates = np.array([[1.0, 0.01], [0.01, 1.0], [1.0, 1.0]])
    pairwise = PairwiseNormalizedSum(kernels, 1)(with_gates(X, gates))
    assert np.linalg.eigvalsh(pairwise)[0] < -0.1
    lengths = UnitLength(lambda X: gates)(X)
    separable = GatedRowsSum(kernels, 1, ((0, 0), (1, 1)), (1.0, 1.0))(with_gates(X, lengths))
    assert np.linalg.eigvalsh(separable)[0] > -1e-12
    np.testing.assert_allclose(np.diag(separable), np.diag(pairwise))
