"""Fused sums of Gaussians against the plain formula, in any company of rows."""

from dataclasses import replace

import numpy as np
import pytest

from nearlinear.explain.explain import explain
from nearlinear.gates.cells import Cells
from nearlinear.kernels import Gaussian
from nearlinear.predictors.decay import decay, exponential_numbers
from nearlinear.predictors.gaussian_cells import GaussianCells
from nearlinear.predictors.kernel_expansion import KernelExpansion

D = 5
each_dtype = pytest.mark.parametrize("dtype", [np.float32, np.float64])
each_size = pytest.mark.parametrize("n_outputs", [1, 3], ids=["one output", "three outputs"])


def make(dtype=np.float64, n_outputs=1, n_groups=None, shift=0.0):
    rng = np.random.default_rng(3)
    starts = np.array([0, 3, 3, 7, 8])  # the second cell is a constant
    centers = rng.standard_normal((4, D)) + shift
    landmarks = np.repeat(centers, np.diff(starts), axis=0) + rng.standard_normal((8, D))
    groups = None if n_groups is None else (rng.standard_normal((2, D)) + shift).astype(dtype)
    firsts = None if n_groups is None else np.array([0, 1, 4])
    arrays = (landmarks, starts, rng.standard_normal((8, n_outputs, D)))
    arrays = (*arrays, rng.standard_normal((8, n_outputs)), rng.standard_normal((4, n_outputs)))
    arrays = (array if array is starts else array.astype(dtype) for array in arrays)
    return GaussianCells(Cells(centers.astype(dtype), groups, firsts), 0.3, *arrays)


def wide(predictor):
    """The same numbers in float64."""
    cells = predictor.cells
    groups = None if cells.groups is None else cells.groups.astype(np.float64)
    names = ("landmarks", "slopes", "offsets", "biases")
    return replace(
        predictor, cells=Cells(cells.centers.astype(np.float64), groups, cells.firsts),
        **{name: getattr(predictor, name).astype(np.float64) for name in names},
    )  # fmt: skip


@pytest.mark.passes
@each_dtype
@each_size
@pytest.mark.parametrize("n_groups", [None, 2])
@pytest.mark.parametrize("shift", [0.0, 100.0])
def test_scores_are_those_of_the_formula(rng, dtype, n_outputs, n_groups, shift):
    predictor = make(dtype, n_outputs, n_groups, shift)
    X = (rng.standard_normal((150, D)) + shift).astype(dtype)
    scores, expected = predictor(X), wide(predictor).plain(X.astype(np.float64))
    assert scores.dtype == dtype
    # a float32 that is 100 away has lost seven bits
    room = (40 if shift == 0.0 else 4000) * np.finfo(dtype).eps * np.abs(expected).max()
    np.testing.assert_allclose(scores, expected, atol=room, rtol=0)


@each_dtype
@each_size
def test_a_row_has_the_same_bits_in_any_company_and_on_any_thread(rng, dtype, n_outputs):
    predictor, X = make(dtype, n_outputs), rng.standard_normal((9000, D)).astype(dtype)
    scores = predictor(X)
    for some in (slice(0, 1), slice(5, 200), slice(4000, 9000), slice(0, 0)):
        np.testing.assert_array_equal(predictor(X[some]), scores[some])
    np.testing.assert_array_equal(predictor(X, n_jobs=2), scores)


@each_size
def test_an_explanation_adds_up_to_the_score(rng, n_outputs):
    predictor, X = make(n_outputs=n_outputs), rng.standard_normal((50, D))
    found = explain(predictor, X)
    total = np.einsum("iod,id->io", found.coefficients, X) + found.intercepts
    np.testing.assert_allclose(total, predictor.plain(X), atol=1e-12)
    is_constant = predictor.cells(X) == 1
    assert np.all(found.active[is_constant] == -1)
    assert np.all(found.coefficients[is_constant] == 0.0)


def test_without_slopes_one_cell_is_a_kernel_expansion(rng):
    X, landmarks = rng.standard_normal((40, D)), rng.standard_normal((6, D))
    offsets, bias = rng.standard_normal((6, 2)), rng.standard_normal(2)
    cells = Cells(np.zeros((1, D)))
    slopes, starts = np.zeros((6, 2, D)), np.array([0, 6])
    predictor = GaussianCells(cells, 0.3, landmarks, starts, slopes, offsets, bias[None])
    machine = KernelExpansion((Gaussian(0.3),), landmarks, offsets[None], bias, D)
    np.testing.assert_allclose(predictor(X), machine(X), atol=1e-12)
    assert cells.multiply_adds == 0


def test_cost_counts_the_way_to_the_cell_and_its_landmarks():
    # four centers; of the fullest cell four landmarks, each a distance and a slope
    assert make().cost.multiply_adds == 4 * D + 4 * 2 * (D + 1)
    assert make(n_groups=2).cost.multiply_adds == (2 + 3) * D + 4 * 2 * (D + 1)
    numbers = 4 * D + 8 * D + 8 * D + 8 + 4
    assert make(np.float32).cost.n_bytes == 4 * numbers + 5 * 8


# --- the pass for one Gaussian in single precision ----------------------------------------------


@pytest.mark.passes
@each_size
@pytest.mark.parametrize("shift", [0.0, 100.0])
def test_one_gaussian_in_single_precision_scores_as_in_double(rng, n_outputs, shift):
    support = (rng.standard_normal((70, D)) + shift).astype(np.float32)
    X = (rng.standard_normal((150, D)) + shift).astype(np.float32)
    coefficients = rng.standard_normal((1, 70, n_outputs)).astype(np.float32)
    biases = rng.standard_normal(n_outputs).astype(np.float32)
    single = KernelExpansion((Gaussian(0.3),), support, coefficients, biases, D)
    double = KernelExpansion(
        (Gaussian(0.3),), support.astype(float), coefficients.astype(float), biases.astype(float), D
    )
    scores = single(X)
    assert scores.dtype == np.float32
    np.testing.assert_allclose(scores, double(X.astype(float)), atol=2e-5)
    np.testing.assert_array_equal(single(X[7:9]), scores[7:9])


@pytest.mark.passes
@each_dtype
def test_decay_is_the_exponential(dtype):
    u = np.concatenate([np.linspace(0.0, 80.0, 2001), [86.9, 700.0, 1e6]]).astype(dtype)
    numbers = exponential_numbers(dtype)
    found = np.array([decay(value, *numbers, u) for value in u], dtype=dtype)
    expected = np.exp(-u.astype(np.longdouble))
    rounding = 4 * np.finfo(dtype).eps
    np.testing.assert_allclose(found, expected.astype(dtype), rtol=rounding, atol=1e-37)
