"""Gram matrices of gated kernels against Σ_q w_q (γ_q γ_qᵀ) ∘ K_m written out."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from scipy.sparse import csr_matrix, issparse

from nearlinear.kernels import Gaussian, Linear, OnColumns, Polynomial, Scaled, grams
from nearlinear.kernels.gated_grams import GatedGrams, GatedRowsSum, gates_of, with_gates
from nearlinear.kernels.grams import Grams
from nearlinear.kernels.pairs import Pairs

N_ROWS = 40
KERNELS = (Gaussian(0.4), Linear(), OnColumns(Scaled(Polynomial(2, 0.5), 0.3), (1, 3)))
OWNERS = (1, 0, 2, 0, 1, 1)  # several gates to a kernel, in no order
N_COMPONENTS = len(OWNERS)
WEIGHTS = {
    "all": np.array([0.5, 1.0, 2.0, 0.1, 0.7, 3.0]),
    "some": np.array([0.0, 1.0, 0.0, 3.0, 0.0, 0.2]),
    "none": np.zeros(N_COMPONENTS),
}
each_weights = pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
each_form = pytest.mark.parametrize("as_rows", [np.asarray, csr_matrix], ids=["dense", "sparse"])
each_dtype = pytest.mark.parametrize("dtype", [np.float32, np.float64])
each_memory = pytest.mark.parametrize(
    "n_kept", [0, 2, 3], ids=["nothing kept", "two kept", "all kept"]
)
each_share = pytest.mark.parametrize("share", [1.0, 0.3])


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    """Tiles of 8 × 8 rows, so that forty rows have many."""
    monkeypatch.setattr(grams, "_TILE", 64)


@pytest.fixture
def X(rng):
    rows = rng.standard_normal((N_ROWS, 4))
    rows[rows < -0.7] = 0.0
    return rows


@pytest.fixture
def gates(rng):
    """Between nought and one; some components are shut for some rows."""
    values = rng.random((N_ROWS, N_COMPONENTS))
    values[values < 0.2] = 0.0
    return values


@pytest.fixture
def matrices(X, gates):
    """(γ_q γ_qᵀ) ∘ K_m of every component."""
    squares = ((X[:, None] - X) ** 2).sum(axis=2)
    some = X[:, [1, 3]]
    kernels = [np.exp(-0.4 * squares), X @ X.T, 0.3 * (0.5 * some @ some.T + 1.0) ** 2]
    return np.array([np.outer(g, g) * kernels[m] for g, m in zip(gates.T, OWNERS)])


def make(X, gates, n_kept=3, **options):
    found = Grams(KERNELS, X, max_bytes=1e9, **options)
    found.keep(range(n_kept))
    return GatedGrams(found, OWNERS, gates)


def some_coefficients(rng, share):
    return rng.standard_normal(N_ROWS) * (rng.random(N_ROWS) < share)


def close(dtype):
    """Sums of a hundred numbers of size ten."""
    eps = np.finfo(dtype).eps
    return {"rtol": 100 * eps, "atol": 2000 * eps}


@each_form
@each_memory
@each_weights
def test_a_weighted_sum_is_the_plain_one(X, gates, matrices, as_rows, n_kept, weights):
    found = make(as_rows(X), gates, n_kept).weighted(weights)
    np.testing.assert_allclose(found, np.tensordot(weights, matrices, 1), atol=1e-11)


@each_form
@each_dtype
@each_memory
def test_a_weighted_sum_keeps_its_precision_and_its_symmetry(
    X, gates, matrices, as_rows, dtype, n_kept
):
    found = make(as_rows(X.astype(dtype)), gates, n_kept).weighted(WEIGHTS["all"])
    np.testing.assert_allclose(found, np.tensordot(WEIGHTS["all"], matrices, 1), **close(dtype))
    np.testing.assert_array_equal(found, found.T)
    assert found.dtype == dtype


@each_memory
def test_a_weighted_sum_is_written_where_asked(X, gates, matrices, n_kept):
    out = np.full((N_ROWS, N_ROWS), np.nan)
    found = make(X, gates, n_kept).weighted(np.ones(N_COMPONENTS), out=out)
    assert found is out
    np.testing.assert_allclose(out, matrices.sum(axis=0), atol=1e-11)


@each_form
@each_memory
@each_share
def test_images_are_the_plain_products_at_the_rows_in_use(
    X, gates, matrices, rng, as_rows, n_kept, share
):
    coef, which = some_coefficients(rng, share), np.array([5, 0, 3, 2])
    found = make(as_rows(X), gates, n_kept).products(coef, which)
    np.testing.assert_allclose(found, (matrices[which] @ coef)[:, coef != 0.0], atol=1e-11)
    assert found.dtype == np.float64


@each_form
@each_memory
@each_share
def test_products_are_the_plain_ones(X, gates, matrices, rng, as_rows, n_kept, share):
    coef, which = some_coefficients(rng, share), np.array([4, 3, 1])
    rows = rng.permutation(N_ROWS)[:17]
    found = make(as_rows(X), gates, n_kept).products(coef, which, rows)
    np.testing.assert_allclose(found, (matrices[which] @ coef)[:, rows], atol=1e-11)


@each_form
@each_memory
@each_share
def test_quadratics_are_the_plain_ones(X, gates, matrices, rng, as_rows, n_kept, share):
    coef, which = some_coefficients(rng, share), np.array([2, 5, 0])
    found = make(as_rows(X), gates, n_kept).quadratics(coef, which)
    np.testing.assert_allclose(found, matrices[which] @ coef @ coef, rtol=1e-9)


@each_form
@each_memory
@each_share
def test_pulls_are_products_without_the_rows_own_gate(X, gates, rng, as_rows, n_kept, share):
    coef = some_coefficients(rng, share)
    found = make(as_rows(X), gates, n_kept).ungated_products(coef)
    expected = [KERNELS[m](X) @ (coef * gates[:, q]) for q, m in enumerate(OWNERS)]
    np.testing.assert_allclose(found, np.array(expected)[:, coef != 0.0], atol=1e-11)
    assert found.shape == (N_COMPONENTS, np.count_nonzero(coef))


def test_pulls_are_derivatives_of_half_the_quadratics_by_the_gates(X, gates, rng):
    coef, step = rng.standard_normal(N_ROWS), 1e-5
    pulls = coef * make(X, gates).ungated_products(coef)
    for i, q in [(0, 0), (7, 3), (39, 5)]:
        values = []
        for sign in (1.0, -1.0):
            moved = gates.copy()
            moved[i, q] += sign * step
            values.append(0.5 * make(X, moved).quadratics(coef, [q])[0])
        assert (values[0] - values[1]) / (2 * step) == pytest.approx(pulls[q, i], rel=1e-6)


@each_memory
def test_no_coefficients_have_no_products(X, gates, n_kept):
    found, coef, which = make(X, gates, n_kept), np.zeros(N_ROWS), np.array([0, 4])
    np.testing.assert_array_equal(found.quadratics(coef, which), np.zeros(2))
    np.testing.assert_array_equal(found.products(coef, which, np.arange(5)), np.zeros((2, 5)))
    assert found.products(coef, which).shape == (2, 0)
    assert found.ungated_products(coef).shape == (N_COMPONENTS, 0)


@each_memory
def test_a_component_that_is_shut_for_all_rows_has_no_share(X, gates, rng, n_kept):
    gates[:, 3] = 0.0
    found, coef = make(X, gates, n_kept), rng.standard_normal(N_ROWS)
    assert found.quadratics(coef, np.array([3, 1]))[0] == 0.0
    assert not found.products(coef, np.array([3])).any()
    assert not found.weighted(np.eye(N_COMPONENTS)[3]).any()


@each_form
@each_dtype
@each_memory
def test_columns_are_those_of_all_matrices(X, gates, matrices, as_rows, dtype, n_kept):
    rows = np.array([7, 0, 39, 7])
    found = make(as_rows(X.astype(dtype)), gates, n_kept).columns(rows)
    np.testing.assert_allclose(found, matrices[:, :, rows], **close(dtype))
    assert found.dtype == dtype


@each_form
def test_diagonals_are_those_of_all_matrices(X, gates, matrices, as_rows):
    found = make(as_rows(X), gates).diagonals()
    np.testing.assert_allclose(found, np.diagonal(matrices, axis1=1, axis2=2), rtol=1e-12)


@each_form
def test_single_precision_is_near_double(X, gates, matrices, rng, as_rows):
    found, coef = make(as_rows(X.astype(np.float32)), gates), rng.standard_normal(N_ROWS)
    which = np.arange(N_COMPONENTS)
    plain = matrices @ coef
    np.testing.assert_allclose(found.products(coef, which), plain, **close(np.float32))
    np.testing.assert_allclose(found.quadratics(coef, which), plain @ coef, rtol=1e-3)


@each_form
@each_dtype
@each_memory
def test_the_number_of_threads_does_not_change_a_bit(X, gates, rng, as_rows, dtype, n_kept):
    rows = as_rows(X.astype(dtype))
    one, two = (make(rows, gates, n_kept, n_jobs=n_jobs) for n_jobs in (1, 2))
    coef, which = some_coefficients(rng, 0.7), rng.permutation(N_COMPONENTS)
    np.testing.assert_array_equal(one.weighted(WEIGHTS["all"]), two.weighted(WEIGHTS["all"]))
    np.testing.assert_array_equal(one.products(coef, which), two.products(coef, which))
    np.testing.assert_array_equal(one.ungated_products(coef), two.ungated_products(coef))
    np.testing.assert_array_equal(one.columns([3, 9]), two.columns([3, 9]))


def test_components_and_rows_are_counted(X, gates):
    found = make(X, gates)
    assert (found.n_kernels, found.n_rows) == (N_COMPONENTS, N_ROWS)


@dataclass
class Counted:
    """A kernel that counts how often it was asked."""

    kernel: object
    is_cheap: bool = True
    calls: list = field(default_factory=list)

    def from_pairs(self, pairs):
        self.calls.append(pairs.shape)
        return self.kernel.from_pairs(pairs)


def test_new_gates_are_served_by_the_matrices_of_the_old_ones(X, gates, rng):
    kernels = [Counted(kernel) for kernel in KERNELS]
    base = Grams(kernels, X, max_bytes=1e9)
    GatedGrams(base, OWNERS, gates).keep(np.arange(N_COMPONENTS))
    for kernel in kernels:
        assert kernel.calls
        kernel.calls.clear()
    for _ in range(2):
        found = GatedGrams(base, OWNERS, rng.random(gates.shape))
        found.weighted(WEIGHTS["all"])
        found.ungated_products(rng.standard_normal(N_ROWS))
        found.columns(np.arange(3))
    assert not any(kernel.calls for kernel in kernels)


def test_to_keep_components_keeps_their_kernels_only(X, gates):
    kernels = [Counted(kernel) for kernel in KERNELS]
    GatedGrams(Grams(kernels, X, max_bytes=1e9), OWNERS, gates).keep(np.array([1, 2, 3]))
    assert [bool(kernel.calls) for kernel in kernels] == [True, False, True]


def test_a_kernel_of_several_components_is_evaluated_once_a_tile(X, gates, rng):
    kernel = Counted(Gaussian(0.4))
    found = GatedGrams(Grams([kernel], X), [0, 0, 0], gates[:, :3])
    found.weighted(np.ones(3))
    assert len(kernel.calls) == 5 * 6 / 2
    kernel.calls.clear()
    found.ungated_products(rng.standard_normal(N_ROWS))
    assert sum(height * width for height, width in kernel.calls) == N_ROWS**2


@pytest.mark.parametrize("which", [[0, 1, 2, 3, 4, 5], [4, 0, 3], [2]], ids=["all", "some", "one"])
@each_form
@each_dtype
def test_the_mixture_is_the_kernel_of_the_weighted_sum(X, gates, matrices, as_rows, dtype, which):
    found = make(as_rows(X.astype(dtype)), gates)
    weights = WEIGHTS["all"][which]
    kernel = found.mixture(weights, np.array(which))
    gram = kernel(found.X)
    np.testing.assert_allclose(gram, np.tensordot(weights, matrices[which], 1), **close(dtype))
    assert gram.dtype == dtype
    np.testing.assert_allclose(
        kernel.diagonal(found.X), np.diag(gram), rtol=100 * np.finfo(dtype).eps
    )


@each_form
def test_landmarks_of_a_mixture_are_its_own_rows(X, gates, as_rows):
    found = make(as_rows(X), gates)
    kernel = found.mixture(WEIGHTS["all"], np.arange(N_COMPONENTS))
    block = kernel(found.X[3:9], found.landmarks[20:33])
    np.testing.assert_allclose(block, found.weighted(WEIGHTS["all"])[3:9, 20:33], atol=1e-12)


def plain_block(X, Z, left, right):
    """2 γ_2 γ'_2 ⟨x, z⟩ + γ_0 γ'_0 k + ½ γ_1 γ'_1 k with a Gaussian k, pair by pair."""
    found = np.empty((len(X), len(Z)))
    for i, x in enumerate(X):
        for j, z in enumerate(Z):
            shares = left[i] * right[j]
            gaussian = np.exp(-0.4 * ((x - z) ** 2).sum())
            found[i, j] = 2.0 * shares[2] * (x @ z) + (shares[0] + 0.5 * shares[1]) * gaussian
    return found


SUM = GatedRowsSum((Gaussian(0.4), Linear()), 4, ((0, 0), (1, 2), (0, 1)), (1.0, 2.0, 0.5))


@each_form
@each_dtype
def test_a_block_of_new_rows_follows_the_formula(X, gates, rng, as_rows, dtype):
    Z, right = rng.standard_normal((11, 4)), rng.random((11, 3))
    left = gates[:, :3]
    rows, others = (
        with_gates(as_rows(part.astype(dtype)), values) for part, values in ((X, left), (Z, right))
    )
    block = SUM(rows, others)
    np.testing.assert_allclose(block, plain_block(X, Z, left, right), **close(dtype))
    assert block.dtype == dtype


@each_form
@each_dtype
def test_the_diagonal_is_that_of_the_gram_matrix(X, gates, as_rows, dtype):
    rows = with_gates(as_rows(X.astype(dtype)), gates[:, :3])
    np.testing.assert_allclose(
        SUM.diagonal(rows), np.diag(SUM(rows)), rtol=100 * np.finfo(dtype).eps
    )


def test_dense_and_sparse_rows_may_be_mixed(X, gates):
    dense, sparse = (with_gates(form(X), gates[:, :3]) for form in (np.asarray, csr_matrix))
    expected = SUM(dense, dense[:9])
    np.testing.assert_allclose(SUM(sparse, dense[:9]), expected, atol=1e-12)
    np.testing.assert_allclose(SUM(dense, sparse[:9]), expected, atol=1e-12)


def test_a_gram_matrix_of_gated_rows_is_positive_semi_definite(X, gates):
    values = np.linalg.eigvalsh(SUM(with_gates(X, gates[:, :3])))
    assert values[0] > -1e-13 * values[-1]


def test_a_gated_sum_leaves_what_others_share_alone(X, gates):
    shared = Pairs(with_gates(X, gates[:, :3]))
    first = SUM.from_pairs(shared)
    np.testing.assert_array_equal(SUM.from_pairs(shared), first)


def test_a_gated_sum_is_the_same_for_any_training_rows(X):
    assert SUM.for_rows(X) is SUM


@each_form
@each_dtype
def test_rows_with_gates_are_both_side_by_side(X, gates, as_rows, dtype):
    rows = with_gates(as_rows(X.astype(dtype)), gates)
    assert rows.dtype == dtype
    assert rows.shape == (N_ROWS, 4 + N_COMPONENTS)
    assert issparse(rows) == (as_rows is csr_matrix)
    found = rows.toarray() if issparse(rows) else rows
    np.testing.assert_array_equal(found, np.hstack([X, gates]).astype(dtype))
    np.testing.assert_array_equal(gates_of(rows, 4), gates.astype(dtype))
    assert type(gates_of(rows, 4)) is np.ndarray
