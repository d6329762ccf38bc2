"""What all kernels share."""

import numpy as np
import pytest

from nearlinear.kernels import (
    Custom,
    GatedSum,
    Gaussian,
    Linear,
    OnColumns,
    Polynomial,
    Scaled,
    UnitDiagonal,
    WeightedSum,
)
from nearlinear.kernels.pairs import Pairs


def plain(X, Z):
    return X @ Z.T


def gate(X):
    return np.ones((X.shape[0], 2))


WRAPPERS = {
    "scaled": lambda kernel: Scaled(kernel, 2.0),
    "unit diagonal": UnitDiagonal,
    "on columns": lambda kernel: OnColumns(kernel, (0,)),
    "weighted": lambda kernel: WeightedSum((Linear(), kernel), (1.0, 1.0)),
    "gated": lambda kernel: GatedSum((Linear(), kernel), gate),
}
each_wrapper = pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2, 0.5), Gaussian(0.5)], ids=str)
def test_formulas_are_cheap(kernel):
    assert kernel.is_cheap


def test_functions_of_the_user_are_not_cheap():
    assert not Custom(plain).is_cheap


@each_wrapper
def test_a_composite_is_as_cheap_as_its_parts(wrap):
    assert wrap(Gaussian(0.5)).is_cheap
    assert not wrap(Custom(plain)).is_cheap
    assert not wrap(Scaled(Custom(plain), 2.0)).is_cheap


@each_wrapper
def test_a_call_is_the_block_of_the_pairs(rng, wrap):
    X, Z = rng.standard_normal((9, 2)), rng.standard_normal((4, 2))
    kernel = wrap(Gaussian(0.5))
    np.testing.assert_array_equal(kernel(X, Z), kernel.from_pairs(Pairs(X, Z)))
    np.testing.assert_allclose(kernel(X), kernel(X, X), atol=1e-12)
