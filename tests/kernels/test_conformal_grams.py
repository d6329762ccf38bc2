"""Gram matrices through features against those of the kernels in general."""

import numpy as np
import pytest

from nearlinear.kernels import Conformal, Scaled, conformal_grams
from nearlinear.kernels import candidates as conformal_bank
from nearlinear.kernels.candidates import ConformalBank
from nearlinear.kernels.conformal import PROFILES
from nearlinear.kernels.conformal_grams import ConformalGrams
from nearlinear.kernels.grams import Grams

N_ROWS, N_KERNELS = 50, 14
each_profile = pytest.mark.parametrize("profile", PROFILES)
each_reach = pytest.mark.parametrize("per_feature", [False, True], ids=["whole", "per feature"])
each_dtype = pytest.mark.parametrize("dtype", [np.float32, np.float64])
each_share = pytest.mark.parametrize("share", [1.0, 0.4])


@pytest.fixture
def X(rng):
    return rng.standard_normal((N_ROWS, 4))


def make(X, profile="gaussian", per_feature=False, n_jobs=None):
    """Grams through features, and the general ones of the same kernels."""
    gammas = PROFILES[profile].gamma(np.array([0.5, 2.0]), 4.0)
    bank = ConformalBank.of_all(X[:7].astype(np.float64), gammas, PROFILES[profile], per_feature)
    bank.divisors = np.random.default_rng(1).uniform(0.3, 3.0, N_KERNELS)
    kernels = [
        Scaled(
            Conformal(bank.anchors[bank.places[m]], float(bank.gammas[m]), profile, per_feature),
            float(1.0 / bank.divisors[m]),
        )
        for m in range(N_KERNELS)
    ]
    return ConformalGrams(bank, X, n_jobs), Grams(kernels, X)


def some_coefficients(rng, share):
    return rng.standard_normal(N_ROWS) * (rng.random(N_ROWS) < share)


def close(dtype):
    """Sums of hundreds of numbers of size one."""
    eps = np.finfo(dtype).eps
    return {"rtol": 200 * eps, "atol": 500 * eps}


@each_profile
@each_reach
@each_dtype
@pytest.mark.parametrize("n_zero", [0, 9, N_KERNELS - 1])
def test_a_weighted_sum_is_that_of_the_kernels(X, rng, profile, per_feature, dtype, n_zero):
    ours, general = make(X.astype(dtype), profile, per_feature)
    weights = rng.random(N_KERNELS)
    weights[rng.permutation(N_KERNELS)[:n_zero]] = 0.0
    found = ours.weighted(weights)
    np.testing.assert_allclose(found, general.weighted(weights), **close(dtype))
    assert found.dtype == dtype


@each_reach
def test_a_sum_without_weights_is_zero(X, per_feature):
    ours, _ = make(X, per_feature=per_feature)
    found = ours.weighted(np.zeros(N_KERNELS))
    np.testing.assert_array_equal(found, np.zeros((N_ROWS, N_ROWS)))


@each_reach
def test_a_sum_does_not_depend_on_the_last_one(X, rng, per_feature):
    ours, general = make(X, per_feature=per_feature)
    first = ours.weighted(np.ones(N_KERNELS))
    weights = rng.random(N_KERNELS)
    second = ours.weighted(weights, out=first)
    np.testing.assert_allclose(second, general.weighted(weights), atol=1e-12)


@each_profile
@each_reach
@each_dtype
@each_share
def test_quadratics_are_those_of_the_kernels(X, rng, profile, per_feature, dtype, share):
    ours, general = make(X.astype(dtype), profile, per_feature)
    coef, which = some_coefficients(rng, share), np.array([3, 0, 13, 8])
    expected = general.quadratics(coef, which)
    np.testing.assert_allclose(ours.quadratics(coef, which), expected, rtol=_quadratic(dtype))


@each_profile
@each_reach
@each_dtype
@each_share
def test_images_and_products_are_those_of_the_kernels(
    X, rng, profile, per_feature, dtype, share
):  # fmt: skip
    ours, general = make(X.astype(dtype), profile, per_feature)
    coef, which, rows = some_coefficients(rng, share), np.array([3, 0, 13]), rng.permutation(50)[:9]
    images, products = ours.products(coef, which), ours.products(coef, which, rows)
    np.testing.assert_allclose(images, general.products(coef, which), **close(dtype))
    np.testing.assert_allclose(products, general.products(coef, which, rows), **close(dtype))
    assert images.dtype == products.dtype == np.float64
    assert images.shape == (3, np.count_nonzero(coef))


@each_reach
def test_coefficients_of_zero_are_answered_for_without_complaint(X, per_feature):
    ours, _ = make(X, per_feature=per_feature)
    coef, which = np.zeros(N_ROWS), np.arange(3)
    np.testing.assert_array_equal(ours.quadratics(coef, which), np.zeros(3))
    np.testing.assert_array_equal(ours.products(coef, which, np.arange(5)), np.zeros((3, 5)))
    assert ours.products(coef, which).shape == (3, 0)


def test_kernels_and_rows_are_counted(X):
    ours, general = make(X)
    assert (ours.n_kernels, ours.n_rows) == (general.n_kernels, general.n_rows) == (14, 50)


def test_to_keep_changes_nothing(X, rng):
    ours, general = make(X)
    ours.keep([0, 3])
    ours.keep([])
    weights = rng.random(N_KERNELS)
    np.testing.assert_allclose(ours.weighted(weights), general.weighted(weights), atol=1e-12)


@pytest.mark.parametrize(
    "limit, dtype, expected",
    [
        (N_ROWS, np.float64, np.float64),
        (N_ROWS - 1, np.float64, np.float32),
        (N_ROWS, np.float32, np.float32),
    ],
)
def test_sums_of_many_rows_are_in_single_precision(X, monkeypatch, limit, dtype, expected):
    monkeypatch.setattr(conformal_grams, "DOUBLE_ROWS", limit)
    ours, _ = make(X.astype(dtype))
    assert ours.dtype == expected
    assert ours.X.dtype == expected
    assert ours.weighted(np.ones(N_KERNELS)).dtype == expected


@each_profile
@each_reach
def test_the_number_of_threads_does_not_change_a_bit(X, rng, profile, per_feature, monkeypatch):
    monkeypatch.setattr(conformal_bank, "_TILE", 64)
    monkeypatch.setattr(conformal_bank, "_MOST_COLUMNS", 8)
    one, two = (make(X, profile, per_feature, n_jobs)[0] for n_jobs in (1, 2))
    coef, which = rng.standard_normal(N_ROWS), rng.permutation(N_KERNELS)
    np.testing.assert_array_equal(one.quadratics(coef, which), two.quadratics(coef, which))
    np.testing.assert_array_equal(one.products(coef, which), two.products(coef, which))


def _quadratic(dtype):
    """Squares of sums in which terms of both signs cancel."""
    return 1e-3 if dtype == np.float32 else 1e-9
