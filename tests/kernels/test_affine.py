"""Kernels that are affine functions of products, against their Gram matrices."""

import numpy as np
import pytest
from grids import in_one_test

from nearlinear.kernels import Gaussian, Linear, OnColumns, Polynomial, Scaled, UnitDiagonal
from nearlinear.kernels.affine import AffineMap, affine_map
from nearlinear.kernels.standard import Custom

AFFINE = {
    "linear": Linear(),
    "affine": Polynomial(1, 0.4),
    "affine without constant": Polynomial(1, 0.4, coef0=0.0),
    "affine with a large constant": Polynomial(1, 2.0, coef0=7.0),
    "scaled": Scaled(Linear(), 3.0),
    "scaled affine": Scaled(Polynomial(1, 0.4, coef0=2.0), 0.5),
    "scaled by zero": Scaled(Polynomial(1, 0.4), 0.0),
    "one column": OnColumns(Linear(), (2,)),
    "some columns": OnColumns(Polynomial(1, 0.4), (3, 0)),
    "a column twice": OnColumns(Polynomial(1, 0.4), (1, 3, 1)),
    "columns of columns": OnColumns(OnColumns(Linear(), (1,)), (3, 2, 0)),
    "scaled on columns": Scaled(OnColumns(Polynomial(1, 0.3), (0, 1)), 5.0),
    "nested": OnColumns(Scaled(OnColumns(Scaled(Polynomial(1, 0.3), 2.0), (0, 2)), 0.1), (3, 1, 0)),
}
OTHERS = {
    "Gaussian": Gaussian(0.4),
    "quadratic": Polynomial(2, 0.4),
    "without gamma": Polynomial(1),
    "unit diagonal": UnitDiagonal(Linear()),
    "function": Custom(lambda X, Z: X @ Z.T),
    "scaled Gaussian": Scaled(Gaussian(0.4), 2.0),
    "Gaussian on columns": OnColumns(Gaussian(0.4), (0, 1)),
    "nested quadratic": Scaled(OnColumns(Scaled(Polynomial(2, 0.3), 2.0), (0, 2)), 0.1),
    "unit diagonal on columns": OnColumns(UnitDiagonal(Linear()), (1, 2)),
    "scaled unit diagonal": Scaled(UnitDiagonal(Polynomial(1, 0.3)), 2.0),
}


@pytest.mark.parametrize("kernel", AFFINE.values(), ids=AFFINE)
def test_the_gram_matrix_is_that_of_scales_and_constant(X, Z, kernel):
    found = affine_map(kernel, 4)
    expected = (X * found.scales) @ Z.T + found.constant
    np.testing.assert_allclose(kernel(X, Z), expected, rtol=1e-12, atol=1e-12)
    assert found.scales.shape == (4,)


@in_one_test("kernel", OTHERS.values())
def test_other_kernels_have_no_map(kernel):
    assert affine_map(kernel, 4) is None


def test_a_linear_kernel_weighs_every_column_once():
    found = affine_map(Linear(), 3)
    np.testing.assert_array_equal(found.scales, np.ones(3))
    assert found.constant == 0.0


def test_columns_that_are_not_seen_have_no_scale():
    found = affine_map(OnColumns(Polynomial(1, 0.5, coef0=3.0), (2, 0)), 4)
    np.testing.assert_array_equal(found.scales, [0.5, 0.0, 0.5, 0.0])
    assert found.constant == 3.0


def test_a_kernel_without_gamma_has_a_map_once_it_knows_the_rows(X):
    found = affine_map(Polynomial(1).for_rows(X), 4)
    np.testing.assert_allclose(found.scales, 1.0 / (X**2).sum(axis=1).mean())
    assert found.constant == 1.0


def test_a_multiple_of_a_map_is_that_of_both_parts():
    found = AffineMap(np.array([1.0, 2.0]), 3.0).times(0.5)
    np.testing.assert_array_equal(found.scales, [0.5, 1.0])
    assert found.constant == 1.5
