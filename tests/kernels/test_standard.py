"""Each kernel against its formula, its diagonal and its scales."""

import numpy as np
import pytest
from grids import in_one_test
from scipy.sparse import csr_matrix
from scipy.spatial.distance import pdist
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel

from nearlinear.kernels import Custom, Gaussian, Linear, OnColumns, Polynomial
from nearlinear.kernels.pairs import Pairs
from nearlinear.kernels.row_scales import RowScales
from nearlinear.kernels.standard import Precomputed

# Ours, and scikit-learn's.
KERNELS = {
    "linear": (Linear(), linear_kernel),
    "degree 1": (Polynomial(1, 0.3, 0.0), lambda X, Z: 0.3 * linear_kernel(X, Z)),
    "degree 2": (Polynomial(2, 0.3), lambda X, Z: polynomial_kernel(X, Z, 2, 0.3, 1.0)),
    "degree 5": (Polynomial(5, 0.2, 0.5), lambda X, Z: polynomial_kernel(X, Z, 5, 0.2, 0.5)),
    "wide Gaussian": (Gaussian(0.02), lambda X, Z: rbf_kernel(X, Z, 0.02)),
    "narrow Gaussian": (Gaussian(3.0), lambda X, Z: rbf_kernel(X, Z, 3.0)),
}
each_kernel = pytest.mark.parametrize("kernel, expected", KERNELS.values(), ids=KERNELS)
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


@each_kernel
@each_dtype
@each_mixture
def test_a_block_is_that_of_scikit_learn(X, Z, kernel, expected, as_left, as_right, dtype):
    X, Z = X.astype(dtype), Z.astype(dtype)
    block = kernel(as_left(X), as_right(Z))
    exact = expected(X.astype(np.float64), Z.astype(np.float64))
    # squares of size ten, to the fifth power
    np.testing.assert_allclose(block, exact, rtol=200 * np.finfo(dtype).eps, atol=1e-4 * _of(dtype))
    assert type(block) is np.ndarray
    assert block.dtype == dtype


@each_kernel
@each_dtype
@each_form
def test_a_gram_matrix_is_that_of_scikit_learn(X, kernel, expected, as_rows, dtype):
    X = X.astype(dtype)
    gram = kernel(as_rows(X))
    exact = expected(X.astype(np.float64), X.astype(np.float64))
    np.testing.assert_allclose(gram, exact, rtol=200 * np.finfo(dtype).eps, atol=1e-4 * _of(dtype))
    assert gram.dtype == dtype


@each_kernel
@each_dtype
@each_form
def test_the_diagonal_is_that_of_the_gram_matrix(X, kernel, expected, as_rows, dtype):
    rows = as_rows(X.astype(dtype))
    diagonal = kernel.diagonal(rows)
    np.testing.assert_allclose(diagonal, np.diag(kernel(rows)), rtol=50 * np.finfo(dtype).eps)
    assert diagonal.shape == (30,)
    assert diagonal.dtype == dtype


@each_kernel
@each_form
def test_a_gram_matrix_is_positive_semi_definite(X, kernel, expected, as_rows):
    gram = kernel(as_rows(X))
    values = np.linalg.eigvalsh(gram)
    assert values[0] > -1e-13 * values[-1]
    np.testing.assert_allclose(gram, gram.T, rtol=1e-12)


@each_kernel
def test_a_kernel_leaves_what_others_share_alone(X, Z, kernel, expected):
    shared = Pairs(X, Z)
    before = shared.products.copy(), shared.squared_distances.copy()
    first = kernel.from_pairs(shared)
    first *= 7.0
    np.testing.assert_array_equal(shared.products, before[0])
    np.testing.assert_array_equal(shared.squared_distances, before[1])
    np.testing.assert_allclose(kernel.from_pairs(shared), expected(X, Z), rtol=1e-10)


@each_kernel
def test_rows_of_whole_numbers_have_the_kernel_of_the_same_real_ones(kernel, expected):
    X = np.arange(12).reshape(4, 3) % 5
    real = X.astype(np.float64)
    np.testing.assert_allclose(kernel(X), expected(real, real), rtol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(X), np.diag(expected(real, real)), rtol=1e-12)


def test_gaussians_of_float32_rows_far_from_the_origin_are_accurate(rng):
    X = (rng.standard_normal((40, 5)) + 1e4).astype(np.float32)
    np.testing.assert_allclose(Gaussian(0.3)(X), rbf_kernel(X.astype(float), gamma=0.3), atol=1e-5)


def test_a_width_is_a_multiple_of_the_root_of_the_median_squared_distance(X):
    kernel = Gaussian(width=2.0).for_rows(X)
    assert kernel.gamma == pytest.approx(1.0 / (4.0 * np.median(pdist(X, "sqeuclidean"))))


def test_a_polynomial_takes_its_scale_from_the_mean_squared_norm(X):
    kernel = Polynomial(3, coef0=0.5).for_rows(X)
    assert kernel.gamma == pytest.approx(1.0 / (X**2).sum(axis=1).mean())
    assert (kernel.degree, kernel.coef0) == (3, 0.5)


@pytest.mark.parametrize("kernel", [Gaussian(width=0.7), Polynomial(3)], ids=str)
def test_relative_scales_do_not_depend_on_units(X, kernel):
    ours, theirs = kernel.for_rows(X)(X), kernel.for_rows(1e3 * X)(1e3 * X)
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)


@pytest.mark.parametrize("kernel", [Gaussian(width=0.7), Polynomial(3)], ids=str)
@each_dtype
@each_form
def test_scales_are_the_same_for_all_forms_of_the_rows(X, kernel, as_rows, dtype):
    found = kernel.for_rows(as_rows(X.astype(dtype)))
    assert found.gamma == pytest.approx(kernel.for_rows(X).gamma, rel=1e-5)
    assert found == kernel.for_rows(RowScales(as_rows(X.astype(dtype))))


@pytest.mark.parametrize("kernel", [Gaussian(), Polynomial()], ids=str)
def test_taking_scales_leaves_the_first_kernel_as_it_was(X, kernel):
    kernel.for_rows(X)
    assert kernel.gamma is None


@pytest.mark.parametrize(
    "kernel",
    [Linear(), Gaussian(0.5), Gaussian(0.5, width=3.0), Polynomial(2, 0.5), Custom(linear_kernel)],
)
def test_a_kernel_with_its_own_scale_keeps_it(X, kernel):
    assert kernel.for_rows(X) == kernel


@pytest.mark.parametrize("kernel", [Gaussian(), Polynomial()], ids=str)
def test_a_kernel_without_a_scale_says_how_to_get_one(X, kernel):
    sentence = r"has no gamma yet: give it one, or take kernel.for_rows\(X\)"
    with pytest.raises(ValueError, match=sentence):
        kernel(X)


def test_the_diagonal_of_a_polynomial_needs_a_scale_too(X):
    with pytest.raises(ValueError, match="has no gamma yet"):
        Polynomial().diagonal(X)


@in_one_test("degree", [0, -1, 1.5, "2", 1001, 10**9, 2**63])
def test_a_degree_that_is_not_a_whole_number_above_zero_is_refused(degree):
    with pytest.raises(
        ValueError, match=f"degree must be an integer from 1 to 1000, got {degree!r}"
    ):
        Polynomial(degree)


def test_a_whole_degree_may_be_written_as_a_float(X):
    np.testing.assert_array_equal(Polynomial(3.0, 0.5)(X), Polynomial(3, 0.5)(X))


@in_one_test("gamma", [0.0, -1.0, np.nan])
def test_a_gamma_that_is_not_above_zero_is_refused(gamma):
    with pytest.raises(ValueError, match="Polynomial needs gamma above 0"):
        Polynomial(2, gamma)
    with pytest.raises(ValueError, match="Gaussian: gamma must be finite and > 0"):
        Gaussian(gamma)


@in_one_test("width", [0.0, -1.0, np.nan, 1e300, 1e-300, 10**400])
def test_a_width_that_is_not_above_zero_is_refused(width):
    with pytest.raises(ValueError, match=r"Gaussian: width must be in \[1e-100, 1e\+100\]"):
        Gaussian(width=width)


def test_columns_that_rows_do_not_have_are_refused(X):
    with pytest.raises(ValueError, match="OnColumns: no column 99 in X of"):
        OnColumns(Polynomial(), (0, 99)).for_rows(X)


def test_a_negative_constant_is_refused():
    with pytest.raises(ValueError, match=r"coef0 of 0 or more, not 0.5 and -1.0"):
        Polynomial(2, 0.5, -1.0)


@in_one_test(
    "make",
    [
        lambda: Polynomial(2, 0.5, np.nan),
        lambda: Polynomial(2, 0.5, np.inf),
        lambda: Polynomial(2, np.inf),
        lambda: Gaussian(np.inf),
        lambda: Gaussian(width=np.inf),
    ],
)
def test_parameters_that_are_not_finite_are_refused(make):
    with pytest.raises(ValueError, match=r"needs|must be"):
        make()


@pytest.mark.parametrize("degree", [np.nan, np.inf])
def test_a_degree_that_is_not_finite_is_refused_in_a_sentence(degree):
    with pytest.raises(ValueError, match="degree must be an integer"):
        Polynomial(degree)


@each_mixture
@pytest.mark.parametrize("columns", [(1,), (3, 0)])
def test_a_kernel_on_columns_sees_no_others(X, Z, as_left, as_right, columns):
    for kernel in (Linear(), Polynomial(2, 0.5), Gaussian(0.5)):
        block = OnColumns(kernel, columns)(as_left(X), as_right(Z))
        seen = kernel(X[:, list(columns)], Z[:, list(columns)])
        np.testing.assert_allclose(block, seen, atol=1e-12)


@each_form
def test_the_diagonal_on_columns_is_that_of_the_gram_matrix(X, as_rows):
    kernel, rows = OnColumns(Polynomial(2, 0.5), (3, 0)), as_rows(X)
    np.testing.assert_allclose(kernel.diagonal(rows), np.diag(kernel(rows)), rtol=1e-12)


@each_form
def test_a_kernel_on_columns_takes_its_scale_from_them(X, as_rows):
    X[:, 1] *= 1e3
    kernel = OnColumns(Gaussian(), (0, 2)).for_rows(as_rows(X))
    exact = np.median(pdist(X[:, [0, 2]], "sqeuclidean"))
    assert kernel.kernel.gamma == pytest.approx(1.0 / exact)
    assert kernel.columns == (0, 2)


@each_form
@pytest.mark.parametrize("value", [0.0, 0.1, -1e3])
def test_on_a_constant_column_all_rows_are_equal(X, as_rows, value):
    X[:, 2] = value
    gram = OnColumns(Gaussian(), (2,)).for_rows(as_rows(X))(as_rows(X))
    np.testing.assert_array_equal(gram, np.ones((30, 30)))


def test_columns_of_columns_are_counted_among_the_first(X):
    nested = OnColumns(OnColumns(Linear(), (1,)), (3, 2))
    np.testing.assert_allclose(nested(X), np.outer(X[:, 2], X[:, 2]), atol=1e-12)


def test_columns_may_be_given_as_a_list(X):
    listed, expected = OnColumns(Linear(), [0, 2]), OnColumns(Linear(), (0, 2))
    np.testing.assert_array_equal(listed(X), expected(X))
    assert listed.for_rows(X) == expected


def cauchy(X, Z):
    return 1.0 / (1.0 + ((X[:, None] - Z[None]) ** 2).sum(axis=-1))


def inner(X, Z):
    return (X @ Z.T).toarray()


@each_dtype
def test_a_function_of_the_user_is_a_kernel(X, Z, dtype):
    X, Z = X.astype(dtype), Z.astype(dtype)
    block = Custom(cauchy)(X, Z)
    np.testing.assert_array_equal(block, cauchy(X, Z))
    assert block.dtype == dtype


def test_a_function_of_the_user_gets_sparse_rows_as_they_are(X, Z):
    found = Custom(inner)(csr_matrix(X), csr_matrix(Z))
    np.testing.assert_allclose(found, X @ Z.T, atol=1e-12)
    diagonal = Custom(inner).diagonal(csr_matrix(X))
    np.testing.assert_allclose(diagonal, (X**2).sum(axis=1), atol=1e-12)


@pytest.mark.parametrize("n_rows", [1, 63, 64, 65, 100])
def test_the_diagonal_of_a_function_is_found_in_blocks(rng, n_rows):
    X = rng.standard_normal((n_rows, 3))
    found = Custom(linear_kernel).diagonal(X)
    np.testing.assert_allclose(found, (X**2).sum(axis=1), rtol=1e-12)


def test_blocks_of_a_function_can_be_written_to(X):
    gram = np.eye(30)
    gram.flags.writeable = False
    block = Custom(lambda X, Z: gram)(X)
    block *= 2.0
    np.testing.assert_array_equal(gram, np.eye(30))


def short(X, Z):
    return np.ones(X.shape[0])


def test_a_function_that_returns_the_wrong_shape_is_named(X, Z):
    sentence = r"kernel short returned an array of shape \(30,\) for 30 and 17 rows"
    with pytest.raises(ValueError, match=sentence):
        Custom(short)(X, Z)


def test_a_function_that_mixes_up_its_sides_is_refused(X, Z):
    with pytest.raises(ValueError, match=r"of shape \(17, 30\) for 30 and 17 rows"):
        Custom(lambda X, Z: Z @ X.T)(X, Z)


@in_one_test("value", [np.nan, np.inf, -np.inf])
def test_a_function_that_returns_no_finite_numbers_is_refused(X, Z, value):
    def broken(X, Z):
        block = X @ Z.T
        block[3, 5] = value
        return block

    with pytest.raises(ValueError, match="returned NaN or infinity"):
        Custom(broken)(X, Z)


def test_a_precomputed_kernel_is_a_layer_of_the_stack(rng):
    stack, numbers = rng.standard_normal((6, 10, 3)), np.array([[4], [0], [9]])
    for layer in range(3):
        block = Precomputed(layer)(stack, numbers)
        np.testing.assert_array_equal(block, stack[:, [4, 0, 9], layer])
        block *= 2.0  # a new array
    assert not np.array_equal(block, Precomputed(2)(stack, numbers))


def test_the_diagonal_of_a_precomputed_kernel_is_that_of_its_layer(rng):
    stack = rng.standard_normal((7, 7, 2))
    before = stack.copy()
    found = Precomputed(1).diagonal(stack)
    np.testing.assert_array_equal(found, np.diag(stack[:, :, 1]))
    found *= 2.0
    np.testing.assert_array_equal(stack, before)


def test_a_precomputed_kernel_takes_nothing_from_the_rows(rng):
    assert Precomputed(1).for_rows(rng.standard_normal((7, 7, 2))) == Precomputed(1)


def _of(dtype):
    """Values of Gaussians far out are tiny; they need not be right to many digits."""
    return 1.0 if dtype == np.float32 else 1e-8
