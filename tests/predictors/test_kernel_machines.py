"""Scores of machines that share support rows, against the plain double sum."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from nearlinear.kernels import Gaussian, Linear, OnColumns, Polynomial, Scaled
from nearlinear.predictors import kernel_expansion
from nearlinear.predictors.kernel_expansion import KernelExpansion

KERNELS = (Gaussian(0.4), Scaled(Polynomial(2, 0.5), 0.3), OnColumns(Linear(), (2,)))
OWNERS = (1, 0, 2, 1)
each_dtype = pytest.mark.parametrize("dtype", [np.float32, np.float64])
each_form = pytest.mark.parametrize("as_rows", [np.asarray, csr_matrix], ids=["dense", "sparse"])


@pytest.fixture
def X(rng):
    rows = rng.standard_normal((40, 4))
    rows[rows < -0.7] = 0.0
    return rows


def make(n_support=21, dtype=np.float64, as_support=np.asarray, owners=OWNERS, kernels=KERNELS):
    rng = np.random.default_rng(7)
    support = rng.standard_normal((n_support, 4))
    support[support < -0.7] = 0.0
    return KernelExpansion(
        kernels,
        as_support(support.astype(dtype)),
        rng.standard_normal((len(owners), n_support)).astype(dtype),
        rng.standard_normal(len(owners)).astype(dtype),
        4,
        owners,
    )


def plain(predictor, X):
    """Σ_j c_qj k(x_j, x) + b_q, one term after the other."""
    formulas = (
        lambda x, z: np.exp(-0.4 * ((x - z) ** 2).sum()),
        lambda x, z: 0.3 * (0.5 * (x @ z) + 1.0) ** 2,
        lambda x, z: x[2] * z[2],
    )
    scores = np.tile(predictor.biases.astype(np.float64), (len(X), 1))
    for i, x in enumerate(X.astype(np.float64)):
        for q, m in enumerate(predictor.owners):
            for z, coefficient in zip(predictor.support, predictor.coefficients[q]):
                scores[i, q] += coefficient * formulas[m](x, z.astype(np.float64))
    return scores


@each_dtype
def test_scores_are_the_plain_double_sum(X, dtype):
    predictor, rows = make(dtype=dtype), X.astype(dtype)
    scores = predictor(rows)
    # twenty terms of size ten
    np.testing.assert_allclose(scores, plain(predictor, rows), atol=1000 * np.finfo(dtype).eps)
    assert scores.shape == (40, 4)
    assert scores.dtype == predictor.dtype == dtype


@each_dtype
@pytest.mark.parametrize(
    "as_rows, as_support",
    [(csr_matrix, np.asarray), (np.asarray, csr_matrix), (csr_matrix, csr_matrix)],
    ids=["sparse-dense", "dense-sparse", "sparse-sparse"],
)
def test_sparse_rows_score_as_dense_ones(X, dtype, as_rows, as_support):
    rows = X.astype(dtype)
    scores = make(dtype=dtype, as_support=as_support)(as_rows(rows))
    np.testing.assert_allclose(scores, make(dtype=dtype)(rows), atol=1000 * np.finfo(dtype).eps)
    assert type(scores) is np.ndarray
    assert scores.dtype == dtype


@each_form
@pytest.mark.parametrize("block, strip", [(1, 1), (7, 512), (256, 4), (40, 21), (13, 20)])
def test_blocks_and_strips_do_not_change_the_scores(X, as_rows, block, strip, monkeypatch):
    predictor = make()
    monkeypatch.setattr(kernel_expansion, "TILE", block * strip)
    monkeypatch.setattr(kernel_expansion, "STRIP", strip)
    np.testing.assert_allclose(predictor(as_rows(X)), plain(predictor, X), atol=1e-11)


@each_form
@each_dtype
def test_the_number_of_threads_does_not_change_a_bit(X, as_rows, dtype, monkeypatch):
    monkeypatch.setattr(kernel_expansion, "TILE", 7 * 16)
    predictor, rows = make(dtype=dtype, as_support=as_rows), as_rows(X.astype(dtype))
    np.testing.assert_array_equal(predictor(rows, n_jobs=2), predictor(rows))


@each_form
def test_machines_without_support_rows_score_their_biases(X, as_rows):
    predictor = make(n_support=0)
    np.testing.assert_array_equal(predictor(as_rows(X)), np.tile(predictor.biases, (40, 1)))


@each_form
def test_no_rows_have_no_scores(X, as_rows):
    assert make()(as_rows(X[:0])).shape == (0, 4)


@dataclass
class Counted:
    """A kernel that counts the entries it was asked for."""

    kernel: object
    sizes: list = field(default_factory=list)

    def from_pairs(self, pairs):
        self.sizes.append(pairs.shape[0] * pairs.shape[1])
        return self.kernel.from_pairs(pairs)


def test_a_kernel_of_several_components_is_evaluated_once(X):
    kernel = Counted(Gaussian(0.4))
    make(owners=(0, 0, 0), kernels=(kernel,))(X)
    assert sum(kernel.sizes) == 40 * 21


@pytest.fixture
def machines(rng, X):
    """Kernels of which one has no component, and coefficients of which some rows have none."""
    kernels, owners = (Polynomial(3, 0.2), *KERNELS), np.array([3, 1, 3])
    coefficients = rng.standard_normal((3, 40))
    coefficients[:, ::3] = 0.0
    coefficients[0, 1], coefficients[1, 2] = 0.0, 0.0  # used by the others
    return kernels, owners, coefficients, rng.standard_normal(3)


@each_form
def test_machines_on_all_rows_score_as_the_plain_sum(X, rng, machines, as_rows):
    kernels, owners, coefficients, biases = machines
    predictor = KernelExpansion.of_machines(kernels, owners, as_rows(X), coefficients, biases, 4)
    Z = rng.standard_normal((9, 4))
    expected = [
        kernels[m](Z, X) @ coef + bias for m, coef, bias in zip(owners, coefficients, biases)
    ]
    np.testing.assert_allclose(predictor(as_rows(Z)), np.transpose(expected), atol=1e-11)


def test_machines_of_no_coefficients_keep_no_row(X, machines):
    kernels, owners, coefficients, biases = machines
    predictor = KernelExpansion.of_machines(
        kernels, owners, X, np.zeros_like(coefficients), biases, 4
    )
    assert predictor.n_support == 0
    np.testing.assert_array_equal(predictor(X), np.tile(biases, (40, 1)))


def test_cost_counts_products_with_support_rows_kernels_and_components():
    # each of 21 support rows: 4 products, 1 on a column alone, 3 kernels, 4 coefficients
    cost = make().cost
    assert cost.multiply_adds == 21 * (4 + 1 + 3 + 4)
    assert cost.times_linear == pytest.approx(21 * 12 / 4)


def test_cost_grows_with_the_support_rows():
    assert make(n_support=42).cost.multiply_adds == 2 * make(n_support=21).cost.multiply_adds


def test_a_component_more_costs_its_coefficients_only():
    few, many = make(owners=OWNERS), make(owners=(*OWNERS, 1))
    assert many.cost.multiply_adds - few.cost.multiply_adds == 21
    assert many.cost.n_bytes - few.cost.n_bytes == (21 + 1) * 8


@each_dtype
def test_bytes_are_those_of_the_arrays(dtype):
    numbers = 21 * 4 + 4 * 21 + 4  # support rows, coefficients, biases
    assert make(dtype=dtype).cost.n_bytes == numbers * np.dtype(dtype).itemsize


def test_bytes_of_sparse_support_rows_are_those_of_its_entries():
    entries = int((make().support != 0).sum())
    expected = entries * (8 + 4) + 22 * 4 + (4 * 21 + 4) * 8
    assert make(as_support=csr_matrix).cost.n_bytes == expected
