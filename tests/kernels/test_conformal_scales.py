"""Bandwidths and lengths that candidates take from the rows."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from nearlinear.estimators._base.rows import canonical_order
from nearlinear.kernels import Conformal
from nearlinear.kernels import candidates as conformal_scales
from nearlinear.kernels.candidates import ConformalScales
from nearlinear.kernels.conformal import PROFILES

BANDWIDTHS = (0.1, 1.0, 10.0)
each_profile = pytest.mark.parametrize("profile", PROFILES)
each_reach = pytest.mark.parametrize("per_feature", [False, True], ids=["whole", "per feature"])
each_dtype = pytest.mark.parametrize("dtype", [np.float32, np.float64])


@pytest.fixture
def X(rng):
    return rng.standard_normal((40, 3)) * [1.0, 2.0, 0.5]


def make(
    X, profile="gaussian", per_feature=False, exponent=0.5, weight=None, bandwidths=BANDWIDTHS
):
    weight = np.ones(len(X)) if weight is None else weight
    return ConformalScales.of_rows(X, weight, PROFILES[profile], per_feature, bandwidths, exponent)


def diagonals(bank, X):
    """‖φ_m(x_i)‖² / divisor_m of all kernels."""
    kernels = [
        Conformal(bank.anchors[place], float(gamma), bank.profile.name, bank.per_feature)
        for place, gamma in zip(bank.places, bank.gammas, strict=True)
    ]
    return np.array([kernel.diagonal(X) for kernel in kernels]) / bank.divisors[:, None]


@each_profile
def test_bandwidths_are_relative_to_the_median_squared_distance(X, profile):
    found = make(X, profile).gammas
    typical = np.median(pdist(X, "sqeuclidean"))
    np.testing.assert_allclose(found, PROFILES[profile].gamma(np.array(BANDWIDTHS), typical))


@each_profile
def test_bandwidths_of_single_features_are_relative_to_their_differences(rng, profile):
    # the median squared difference of two normal variables is 0.91 of their variance
    X = rng.standard_normal((1500, 2)) * 3.0
    typical = np.median(pdist(X[:300, :1], "sqeuclidean"))
    found = make(X, profile, True).gammas
    expected = PROFILES[profile].gamma(np.array(BANDWIDTHS), typical)
    np.testing.assert_allclose(found, expected, rtol=0.2)  # a sample's median


@each_profile
@each_reach
@pytest.mark.parametrize("unit", [1e-3, 1e4])
def test_kernels_do_not_depend_on_the_unit_of_the_rows(X, profile, per_feature, unit):
    near, far = (make(rows, profile, per_feature) for rows in (X, unit * X))
    ours, theirs = near.bank(X[:5]), far.bank(unit * X[:5])
    np.testing.assert_allclose(diagonals(ours, X), diagonals(theirs, unit * X), rtol=1e-8)


@each_profile
@each_reach
@each_dtype
@pytest.mark.parametrize("exponent", [0.0, 0.3, 1.0])
def test_lengths_of_candidates_are_a_power_of_what_they_were(
    X, rng, profile, per_feature, dtype, exponent
):
    weight = rng.uniform(0.1, 2.0, 40)
    rows = X.astype(dtype)
    bank = make(rows, profile, per_feature, exponent, weight, (0.1, 0.5, 1.0)).bank(rows[:6])
    assert len(bank) == 18
    assert np.all(np.isfinite(bank.divisors))
    raw = np.average(diagonals(bank, X) * bank.divisors[:, None], axis=1, weights=weight)
    now = np.average(diagonals(bank, X), axis=1, weights=weight)
    typical = np.median(pdist(X, "sqeuclidean"))
    np.testing.assert_allclose(now, (raw / typical) ** (1.0 - exponent), rtol=1e-3)


def test_with_exponent_one_every_kernel_has_length_one(X):
    bank = make(X, exponent=1.0).bank(X[:5])
    np.testing.assert_allclose(diagonals(bank, X).mean(axis=1), np.ones(15))


def test_a_row_of_weight_two_counts_as_two_rows(X):
    weight = np.ones(40)
    weight[:10] = 2.0
    once, twice = make(X, weight=weight), make(np.vstack([X, X[:10]]))
    bank = once.bank(X[:4])
    lengths = [bank.traces(scales.X, scales.weight) for scales in (once, twice)]
    np.testing.assert_allclose(*lengths)
    # equal rows change the median distance, which all divisors share
    expected = np.sqrt(lengths[1] * np.median(pdist(X, "sqeuclidean")))
    np.testing.assert_allclose(bank.divisors, expected)


def test_of_many_rows_some_all_over_them_give_the_lengths(X, monkeypatch):
    monkeypatch.setattr(conformal_scales, "_SAMPLE", 13)
    weight = np.arange(1.0, 41.0)
    scales = make(X, weight=weight)
    assert 6 < len(scales.X) <= 13
    assert np.isin(scales.X, X).all()
    assert scales.weight.sum() == pytest.approx(weight.sum())


@each_reach
def test_lengths_do_not_hang_on_the_last_digits_of_many_rows(rng, per_feature):
    X = np.exp(1.5 * rng.standard_normal((3000, 2)))
    anchors, divisors = X[:20].copy(), []
    for rows in (X, X * (1.0 + 1e-13 * rng.standard_normal(X.shape)), X.astype(np.float32)):
        rows = rows[canonical_order(rows, np.zeros(3000))[0]]
        divisors.append(make(rows, per_feature=per_feature).bank(anchors).divisors)
    np.testing.assert_allclose(divisors[1:], [divisors[0]] * 2, rtol=0.01)


def test_later_changes_of_the_rows_do_not_matter(X):
    rows, weight = X.copy(), np.ones(40)
    scales = make(rows, weight=weight)
    expected = scales.bank(X[:3]).divisors
    rows[:] = 0.0
    weight[:] = 7.0
    np.testing.assert_array_equal(scales.bank(X[:3]).divisors, expected)


@each_reach
@each_dtype
@pytest.mark.parametrize("profile, bandwidth", [("linear", 300.0), ("square", 2e4)])
def test_candidates_that_hold_only_their_anchor_become_zero(
    X, per_feature, dtype, profile, bandwidth
):
    X = X.astype(dtype)
    bandwidth *= 1e4 if per_feature else 1.0  # single features of two rows are closer than rows
    bank = make(X, profile, per_feature, 1.0, bandwidths=(0.1, bandwidth)).bank(X)
    narrow = np.arange(80) % 2 == 1
    np.testing.assert_array_equal(np.isinf(bank.divisors), narrow)
    quadratics = bank.quadratics(X, np.ones(40), np.arange(80))
    np.testing.assert_array_equal(quadratics[narrow], np.zeros(40))
    assert quadratics[~narrow].min() > 0.0


@each_profile
@each_reach
def test_one_row_or_equal_rows_have_finite_gammas_and_no_kernel(X, profile, per_feature):
    for rows in (X[:1], np.repeat(X[:1], 9, axis=0)):
        scales = make(rows, profile, per_feature)
        assert np.all(np.isfinite(scales.gammas))
        assert np.all(scales.gammas > 0.0)
        assert np.isinf(scales.bank(rows[:1]).divisors).all()


@each_profile
def test_a_constant_feature_does_no_harm(X, profile):
    X[:, 1] = 3.0
    for per_feature in (False, True):
        scales = make(X, profile, per_feature)
        assert np.all(np.isfinite(diagonals(scales.bank(X[:4]), X)))
