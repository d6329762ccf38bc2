"""Scores from support rows against the plain double sum."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from nearlinear.kernels import Custom, Gaussian, Linear, OnColumns, Polynomial, Scaled, UnitDiagonal
from nearlinear.kernels.standard import Precomputed
from nearlinear.predictors import kernel_expansion
from nearlinear.predictors.kernel_expansion import KernelExpansion

KERNELS = (Gaussian(0.4), Scaled(Polynomial(2, 0.5), 0.3), OnColumns(Linear(), (2,)))
each_dtype = pytest.mark.parametrize("dtype", [np.float32, np.float64])
each_size = pytest.mark.parametrize("n_outputs", [1, 3], ids=["binary", "three classes"])
each_form = pytest.mark.parametrize("as_rows", [np.asarray, csr_matrix], ids=["dense", "sparse"])


@pytest.fixture
def X(rng):
    rows = rng.standard_normal((40, 4))
    rows[rows < -0.7] = 0.0
    return rows


def make(n_outputs=1, n_support=21, dtype=np.float64, as_support=np.asarray):
    rng = np.random.default_rng(7)
    support = rng.standard_normal((n_support, 4))
    support[support < -0.7] = 0.0
    return KernelExpansion(
        KERNELS,
        as_support(support.astype(dtype)),
        rng.standard_normal((len(KERNELS), n_support, n_outputs)).astype(dtype),
        rng.standard_normal(n_outputs).astype(dtype),
        4,
    )


def plain(predictor, X):
    """Σ_m Σ_j c_mj k_m(x_j, x) + b, one term after the other."""
    formulas = (
        lambda x, z: np.exp(-0.4 * ((x - z) ** 2).sum()),
        lambda x, z: 0.3 * (0.5 * (x @ z) + 1.0) ** 2,
        lambda x, z: x[2] * z[2],
    )
    scores = np.tile(predictor.biases.astype(np.float64), (len(X), 1))
    for i, x in enumerate(X.astype(np.float64)):
        for formula, coefficients in zip(formulas, predictor.coefficients):
            for z, coefficient in zip(predictor.support.astype(np.float64), coefficients):
                scores[i] += coefficient * formula(x, z)
    return scores


@each_size
@each_dtype
def test_scores_are_the_plain_double_sum(X, n_outputs, dtype):
    predictor, rows = make(n_outputs, dtype=dtype), X.astype(dtype)
    scores = predictor(rows)
    # sixty terms of size ten
    np.testing.assert_allclose(scores, plain(predictor, rows), atol=1000 * np.finfo(dtype).eps)
    assert scores.shape == (40, n_outputs)
    assert scores.dtype == dtype


@each_size
@each_dtype
@pytest.mark.parametrize(
    "as_rows, as_support",
    [(csr_matrix, np.asarray), (np.asarray, csr_matrix), (csr_matrix, csr_matrix)],
    ids=["sparse-dense", "dense-sparse", "sparse-sparse"],
)
def test_sparse_rows_score_as_dense_ones(X, n_outputs, dtype, as_rows, as_support):
    rows = X.astype(dtype)
    expected = make(n_outputs, dtype=dtype)(rows)
    scores = make(n_outputs, dtype=dtype, as_support=as_support)(as_rows(rows))
    np.testing.assert_allclose(scores, expected, atol=1000 * np.finfo(dtype).eps)
    assert type(scores) is np.ndarray


@each_size
@each_form
@pytest.mark.parametrize("block, strip", [(1, 1), (7, 512), (256, 4), (40, 21), (13, 20)])
def test_blocks_and_strips_do_not_change_the_scores(
    X, n_outputs, as_rows, block, strip, monkeypatch
):
    predictor = make(n_outputs)
    expected = plain(predictor, X)
    monkeypatch.setattr(kernel_expansion, "TILE", block * strip)
    monkeypatch.setattr(kernel_expansion, "STRIP", strip)
    np.testing.assert_allclose(predictor(as_rows(X)), expected, atol=1e-11)


@each_size
@each_form
def test_the_number_of_threads_does_not_change_a_bit(X, n_outputs, as_rows, monkeypatch):
    monkeypatch.setattr(kernel_expansion, "TILE", 7 * 16)
    predictor = make(n_outputs, as_support=as_rows)
    np.testing.assert_array_equal(predictor(as_rows(X), n_jobs=2), predictor(as_rows(X)))


@pytest.mark.parametrize("seed", range(5))
def test_random_machines_score_as_the_sum_of_their_gram_blocks(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    monkeypatch.setattr(kernel_expansion, "TILE", int(rng.integers(1, 400)))
    monkeypatch.setattr(kernel_expansion, "STRIP", int(rng.integers(1, 20)))
    n_support, n_outputs = rng.integers(1, 40), rng.integers(1, 4)
    kernels = [UnitDiagonal(Polynomial(2, 0.3)), Gaussian(1.0), OnColumns(Gaussian(0.2), (1, 0))]
    X, support = rng.standard_normal((30, 3)), rng.standard_normal((n_support, 3))
    coefficients = rng.standard_normal((3, n_support, n_outputs))
    biases = rng.standard_normal(n_outputs)
    predictor = KernelExpansion(tuple(kernels), support, coefficients, biases, 3)
    expected = biases + sum(k(X, support) @ c for k, c in zip(kernels, coefficients))
    np.testing.assert_allclose(predictor(X), expected, atol=1e-11)


@each_form
def test_a_machine_without_support_rows_scores_its_bias(X, as_rows):
    predictor = make(3, n_support=0)
    np.testing.assert_array_equal(predictor(as_rows(X)), np.tile(predictor.biases, (40, 1)))


@each_form
def test_no_rows_have_no_scores(X, as_rows):
    assert make(3)(as_rows(X[:0])).shape == (0, 3)


def test_functions_of_the_user_see_rows_first_and_support_second(X):
    support = X[:3]
    kernel = Custom(lambda X, Z: np.tile(Z[:, 0], (X.shape[0], 1)))  # reads the second only
    predictor = KernelExpansion((kernel,), support, np.ones((1, 3, 1)), np.zeros(1), 4)
    np.testing.assert_allclose(predictor(X), np.full((40, 1), support[:, 0].sum()))


def test_precomputed_kernels_name_their_support_by_number(rng):
    stack, coefficients = rng.standard_normal((9, 12, 2)), rng.standard_normal((2, 3, 2))
    numbers, biases = np.array([[11], [0], [5]]), rng.standard_normal(2)
    predictor = KernelExpansion((Precomputed(0), Precomputed(1)), numbers, coefficients, biases, 12)
    expected = biases + np.einsum("ijm,mjo->io", stack[:, [11, 0, 5]], coefficients)
    np.testing.assert_allclose(predictor(stack), expected, atol=1e-12)


@each_size
def test_cost_counts_products_with_support_rows_and_kernels(n_outputs):
    # each of 21 support rows: 4 products, 1 on a column alone, 3 kernels and their coefficients
    work = 21 * (4 + 1 + 3 * (1 + n_outputs))
    cost = make(n_outputs).cost
    assert cost.multiply_adds == work
    assert cost.times_linear == pytest.approx(work / (4 * n_outputs))


def test_cost_counts_products_that_kernels_share_once():
    kernels = (
        Gaussian(0.4),
        Gaussian(0.8),
        OnColumns(Gaussian(0.4), (1, 3)),
        Scaled(OnColumns(Linear(), (1, 3)), 2.0),
        UnitDiagonal(OnColumns(Linear(), (0,))),
    )
    predictor = KernelExpansion(kernels, np.ones((6, 4)), np.ones((5, 6, 2)), np.ones(2), 4)
    assert predictor.cost.multiply_adds == 6 * (4 + 2 + 1 + 5 * (1 + 2))


def test_cost_of_kernels_on_single_columns_leaves_the_others_out():
    kernels = (OnColumns(Linear(), (0,)),)
    predictor = KernelExpansion(kernels, np.ones((6, 4)), np.ones((1, 6, 1)), np.ones(1), 4)
    assert predictor.cost.multiply_adds == 6 * (1 + 1 + 1)


@each_dtype
def test_bytes_are_those_of_the_arrays(dtype):
    numbers = 21 * 4 + 3 * 21 * 3 + 3  # support rows, coefficients, biases
    assert make(3, dtype=dtype).cost.n_bytes == numbers * np.dtype(dtype).itemsize


def test_bytes_of_sparse_support_rows_are_those_of_its_entries():
    entries = int((make().support != 0).sum())
    expected = entries * (8 + 4) + 22 * 4 + (3 * 21 + 1) * 8
    assert make(as_support=csr_matrix).cost.n_bytes == expected
