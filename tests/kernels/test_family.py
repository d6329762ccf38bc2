"""Families of kernels, names, and kernels with the scales of the rows."""

import numpy as np
import pytest
from grids import in_one_test
from scipy.sparse import csr_matrix
from scipy.spatial.distance import pdist

from nearlinear.kernels import (
    Custom,
    Family,
    GatedSum,
    Gaussian,
    Linear,
    OnColumns,
    Polynomial,
    Scaled,
    UnitDiagonal,
    bank,
)
from nearlinear.kernels.family import fix_kernels, parse_kernels
from nearlinear.kernels.standard import Precomputed

each_form = pytest.mark.parametrize("as_rows", [np.asarray, csr_matrix], ids=["dense", "sparse"])
each_dtype = pytest.mark.parametrize("dtype", [np.float32, np.float64])


@pytest.fixture
def X(rng):
    return rng.standard_normal((30, 3)) * [1.0, 10.0, 0.1]


def function(X, Z):
    return X @ Z.T


def test_a_family_lives_on_all_columns_first_and_then_on_each():
    pair = (Linear(), Gaussian())
    each = [OnColumns(kernel, (d,)) for d in range(3) for kernel in pair]
    assert Family(pair).members(3) == list(pair)
    assert Family(pair, "each").members(3) == each
    assert Family(pair, "both").members(3) == [*pair, *each]


@in_one_test("columns", ["every", None, 3])
def test_a_family_on_other_columns_is_refused(columns):
    with pytest.raises(ValueError, match=f"'all', 'each' or 'both' columns, not {columns!r}"):
        Family((Linear(),), columns)


@pytest.mark.parametrize("n_features", [1, 2, 7])
def test_the_bank_has_thirteen_kernels_on_all_columns_and_on_each(n_features):
    assert len(bank().members(n_features)) == 13 * (n_features + 1)
    assert len(bank(columns="all").members(n_features)) == 13
    assert len(bank(columns="each").members(n_features)) == 13 * n_features


def test_the_bank_has_ten_widths_and_three_degrees():
    kernels = bank(columns="all").members(4)
    widths = [kernel.width for kernel in kernels[:10]]
    np.testing.assert_allclose(np.diff(np.log(widths)), np.log(100.0) / 9)
    assert (widths[0], widths[-1]) == pytest.approx((0.1, 10.0))
    assert kernels[10:] == [Polynomial(1), Polynomial(2), Polynomial(3)]
    assert all(kernel.gamma is None for kernel in kernels)


def test_widths_and_degrees_of_the_bank_can_be_chosen():
    kernels = bank(widths=(0.5, 2.0), degrees=(4,), columns="all").members(4)
    assert kernels == [Gaussian(width=0.5), Gaussian(width=2.0), Polynomial(4)]


def test_one_width_is_that_of_the_rows():
    assert bank(widths=1, degrees=(), columns="all").members(4) == [Gaussian(width=1.0)]


def test_no_widths_leave_polynomials():
    assert bank(widths=0, degrees=(2,), columns="all").members(4) == [Polynomial(2)]


def test_a_number_of_widths_may_come_from_numpy():
    assert bank(widths=np.int64(4)) == bank(widths=4)


@pytest.mark.parametrize(
    "name, kernel",
    [
        ("linear", Linear()),
        ("poly", Polynomial()),
        ("gaussian", Gaussian()),
        ("rbf", Gaussian()),
    ],
)
def test_a_name_stands_for_a_kernel(name, kernel):
    assert parse_kernels(name, 4) == [kernel]


def test_the_names_of_families_stand_for_their_members():
    assert parse_kernels("bank", 4) == bank().members(4)
    assert parse_kernels("gaussians", 4) == bank(columns="all").members(4)[:10]


def test_kernels_may_be_written_in_all_ways_at_once():
    family = Family((Linear(),), "each")
    composite = GatedSum((Linear(),), function)
    found = parse_kernels(["rbf", Polynomial(3), family, (function, composite)], 2)
    each = [OnColumns(Linear(), (0,)), OnColumns(Linear(), (1,))]
    assert found == [Gaussian(), Polynomial(3), *each, Custom(function), composite]


@in_one_test("kernels", [Linear(), [Linear()], (Linear(),), iter([Linear()])])
def test_one_kernel_needs_no_list(kernels):
    assert parse_kernels(kernels, 2) == [Linear()]


def test_the_same_kernel_may_be_there_twice():
    assert parse_kernels(["linear", Linear()], 2) == [Linear(), Linear()]


@pytest.mark.parametrize("kernels", ["gausian", ["linear", "gausian"]])
def test_an_unknown_name_is_answered_with_the_known_ones(kernels):
    sentence = "no kernel named 'gausian'; there are 'affine', 'bank', 'gaussian', 'gaussians'"
    with pytest.raises(ValueError, match=sentence):
        parse_kernels(kernels, 2)


@in_one_test("kernels", [[], (), ["linear", []]])
def test_an_empty_list_of_kernels_is_refused(kernels):
    with pytest.raises(ValueError, match="kernels is empty; give at least one kernel"):
        parse_kernels(kernels, 2)


def test_an_empty_family_is_refused():
    with pytest.raises(ValueError, match="at least one kernel"):
        parse_kernels(bank(widths=0, degrees=()), 2)


@in_one_test("kernels", [None, 3, ["linear", 0.5]])
def test_what_is_no_kernel_is_refused_by_its_value(kernels):
    wrong = kernels[-1] if isinstance(kernels, list) else kernels
    with pytest.raises(ValueError, match=f"kernels holds {wrong!r}, which is no kernel"):
        parse_kernels(kernels, 2)


def test_a_kernel_without_its_brackets_is_refused():
    with pytest.raises(ValueError, match="which is no kernel"):
        parse_kernels([Linear(), Gaussian], 2)


@each_form
def test_kernels_take_their_scales_from_the_rows(X, as_rows):
    free = [Gaussian(width=2.0), Linear(), OnColumns(Gaussian(), (1,))]
    fixed, kept = fix_kernels(free, as_rows(X), None)
    medians = [np.median(pdist(rows, "sqeuclidean")) for rows in (X, X[:, [1]])]
    assert fixed[0].gamma == pytest.approx(0.25 / medians[0])
    assert fixed[1] == Linear()
    assert fixed[2].kernel.gamma == pytest.approx(1.0 / medians[1])
    np.testing.assert_array_equal(kept, [0, 1, 2])


@each_dtype
@each_form
def test_normalized_by_trace_kernels_have_a_mean_diagonal_of_one(X, as_rows, dtype):
    rows = as_rows(X.astype(dtype))
    fixed, kept = fix_kernels(bank(columns="both").members(3), rows, "trace")
    means = [kernel.diagonal(rows).mean() for kernel in fixed]
    np.testing.assert_allclose(means, np.ones(52), rtol=1e-5)
    np.testing.assert_array_equal(kept, np.arange(52))


def test_normalized_by_trace_kernels_are_multiples_of_the_first_ones(X):
    [fixed], _ = fix_kernels([Polynomial(3, 0.5)], X, "trace")
    assert isinstance(fixed, Scaled)
    gram = Polynomial(3, 0.5)(X)
    np.testing.assert_allclose(fixed(X), gram / np.diag(gram).mean(), rtol=1e-12)


@each_form
def test_normalized_by_diagonal_kernels_have_a_unit_diagonal(X, as_rows):
    free = [Linear(), Polynomial(3), OnColumns(Linear(), (0,))]
    fixed, _ = fix_kernels(free, as_rows(X), "diagonal")
    for kernel in fixed:
        np.testing.assert_allclose(np.diag(kernel(as_rows(X))), np.ones(30), rtol=1e-12)
        assert isinstance(kernel, UnitDiagonal)


@each_dtype
@each_form
def test_normalized_by_variance_kernels_have_images_of_variance_one(X, as_rows, dtype):
    rows = as_rows(X.astype(dtype))
    fixed, kept = fix_kernels([*bank(columns="both").members(3), Linear()], rows, "variance")
    center = np.eye(30) - 1.0 / 30.0
    variances = [np.trace(center @ kernel(rows) @ center) / 29.0 for kernel in fixed]
    # a Gaussian ten times as wide as the rows is one minus little, in float32 a few digits less
    np.testing.assert_allclose(variances, np.ones(53), rtol=1e-9 if dtype == np.float64 else 1e-3)
    np.testing.assert_array_equal(kept, np.arange(53))


def test_normalized_by_variance_linear_kernels_have_columns_of_variance_one(X):
    [fixed], _ = fix_kernels([OnColumns(Linear(), (1,))], X + 5.0, "variance")
    assert fixed.factor == pytest.approx(1.0 / X[:, 1].var(ddof=1))


def test_normalized_by_variance_constant_kernels_have_a_mean_diagonal_of_one(X):
    X[:, 1] = 7.0
    [fixed], _ = fix_kernels([OnColumns(Linear(), (1,))], X, "variance")
    np.testing.assert_allclose(fixed(X), np.ones((30, 30)), rtol=1e-12)


def test_one_row_has_no_variance_and_kernels_a_diagonal_of_one(X):
    [fixed], _ = fix_kernels([Linear()], X[:1], "variance")
    np.testing.assert_allclose(fixed(X[:1]), [[1.0]])


def test_without_normalization_kernels_stay_as_they_are(X):
    given = [Linear(), Gaussian(0.5), Polynomial(2, 0.5)]
    assert fix_kernels(given, X, None)[0] == given


@each_form
@pytest.mark.parametrize("normalization", ["variance", "trace", "diagonal", None])
def test_kernels_that_vanish_are_left_out_with_a_warning(X, as_rows, normalization):
    X[:, 1] = 0.0
    given = [OnColumns(Linear(), (d,)) for d in (1, 0, 1, 2)]
    with pytest.warns(UserWarning, match="2 of 4 kernels are zero on the training rows"):
        fixed, kept = fix_kernels(given, as_rows(X), normalization)
    np.testing.assert_array_equal(kept, [1, 3])
    seen = [np.flatnonzero(np.diag(kernel(np.eye(3)))).tolist() for kernel in fixed]
    assert seen == [[0], [2]]


@in_one_test("normalization", ["variance", "trace", "diagonal", None])
def test_kernels_that_all_vanish_are_refused(normalization):
    with pytest.raises(ValueError, match="Every kernel is zero on the training rows"):
        fix_kernels([Linear(), OnColumns(Linear(), (0,))], np.zeros((9, 2)), normalization)


@in_one_test("normalization", ["variance", "trace", "diagonal"])
def test_a_column_in_small_units_is_not_taken_for_zero(rng, normalization):
    X = rng.standard_normal((30, 2)) * [1.0, 5e-7]  # the second in meters, of the size of light
    given = [OnColumns(Linear(), (0,)), OnColumns(Linear(), (1,))]
    _, kept = fix_kernels(given, X, normalization)
    np.testing.assert_array_equal(kept, [0, 1])


def test_small_rows_are_not_taken_for_zero(rng):
    [fixed], _ = fix_kernels([Linear()], 1e-100 * rng.standard_normal((9, 2)), "trace")
    assert np.isfinite(fixed.factor)


def test_a_diagonal_that_overflows_is_refused_in_a_sentence():
    X = np.full((5, 2), 1e25, dtype=np.float32)
    with (
        np.errstate(over="ignore"),
        pytest.raises(ValueError, match="diagonal of NaN or infinity; scale the features"),
    ):
        fix_kernels([Linear(), Gaussian(1.0)], X, "trace")


def test_a_mean_diagonal_in_float32_is_taken_in_double_precision():
    # the sum of these is beyond float32
    X = np.full((60, 1), 1e19, dtype=np.float32)
    [fixed], _ = fix_kernels([Linear()], X, "trace")
    np.testing.assert_allclose(fixed.diagonal(X), np.ones(60), rtol=1e-5)


def test_precomputed_kernels_are_normalized_by_trace(rng):
    stack = np.stack([np.eye(6) * 4.0, np.zeros((6, 6)), np.ones((6, 6))], axis=2)
    with pytest.warns(UserWarning, match="1 of 3 kernels are zero"):
        fixed, kept = fix_kernels([Precomputed(m) for m in range(3)], stack, "trace")
    numbers = np.arange(6)[:, None]
    np.testing.assert_allclose(fixed[0](stack, numbers), np.eye(6))
    np.testing.assert_allclose(fixed[1](stack, numbers), np.ones((6, 6)))
    np.testing.assert_array_equal(kept, [0, 2])


def test_precomputed_kernels_are_normalized_by_variance(rng):
    X = rng.standard_normal((12, 3)) * [1.0, 10.0, 0.1]
    stack = np.stack([np.outer(column, column) for column in X.T], axis=2)
    kernels = [Precomputed(m) for m in range(3)]
    fixed, _ = fix_kernels(kernels, stack, "variance")
    np.testing.assert_allclose([k.factor for k in fixed], 1.0 / X.var(axis=0, ddof=1))


def test_a_bank_on_a_million_columns_is_refused():
    with pytest.raises(ValueError, match=r"each of 1000000 columns has 13000000 kernels"):
        parse_kernels("bank", 1_000_000)


@pytest.mark.parametrize("n_widths", [-1, 1001, 10**9, 2**63])
def test_a_number_of_widths_out_of_range_is_refused(n_widths):
    with pytest.raises(ValueError, match=f"bank: widths must be from 0 to 1000, got {n_widths}"):
        bank(n_widths)
