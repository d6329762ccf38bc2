"""Four ways to fade: values, slopes, reach and size."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from nearlinear.kernels.conformal import PROFILES
from reference.conformal import fading

each_profile = pytest.mark.parametrize("name", PROFILES)
each_gamma = pytest.mark.parametrize("gamma", [0.1, 1.0, 7.0])
each_dtype = pytest.mark.parametrize("dtype", [np.float32, np.float64])
# Where r h(r) is largest, and how large it is there.
PEAKS = {
    "exponential": lambda gamma: (1 / gamma, 1 / (np.e * gamma)),
    "gaussian": lambda gamma: (1 / np.sqrt(2 * gamma), np.exp(-0.5) / np.sqrt(2 * gamma)),
    "linear": lambda gamma: (1 / (2 * gamma), 1 / (4 * gamma)),
    "square": lambda gamma: (1 / np.sqrt(3 * gamma), 2 / (3 * np.sqrt(3 * gamma))),
}


def distances(dtype=np.float64):
    return np.concatenate([[0.0], np.geomspace(1e-3, 30.0, 40)]).astype(dtype)


def test_there_are_four_profiles_under_their_names():
    assert list(PROFILES) == ["exponential", "gaussian", "linear", "square"]
    assert all(profile.name == name for name, profile in PROFILES.items())


@each_profile
@each_gamma
@each_dtype
def test_values_are_those_of_the_formula(name, gamma, dtype):
    r = distances(dtype)
    values = PROFILES[name].values(r * r, dtype(gamma))
    exact = [fading(name, gamma, float(distance)) for distance in r]
    # exp(−u) has the relative error u ε
    np.testing.assert_allclose(values, exact, rtol=1e-3, atol=10 * np.finfo(dtype).eps)
    assert values.dtype == dtype


@each_profile
def test_values_of_many_gammas_are_found_at_once(name, rng):
    squares, gammas = rng.random((6, 3)), np.array([0.5, 1.0, 4.0])
    found = PROFILES[name].values(squares, gammas)
    for column, gamma in enumerate(gammas):
        one = PROFILES[name].values(squares[:, column], gamma)
        np.testing.assert_array_equal(found[:, column], one)


@each_profile
@each_gamma
def test_at_its_anchor_a_profile_is_one(name, gamma):
    np.testing.assert_array_equal(PROFILES[name].values(np.zeros(3), gamma), np.ones(3))


@each_profile
def test_without_gamma_a_profile_is_one_everywhere(name):
    np.testing.assert_array_equal(PROFILES[name].values(distances() ** 2, 0.0), np.ones(41))


@each_profile
@each_gamma
def test_a_profile_falls_from_one_to_zero(name, gamma):
    values = PROFILES[name].values(distances() ** 2, gamma)
    assert np.all(np.diff(values) <= 0.0)
    assert values[0] == 1.0
    assert values.min() >= 0.0
    assert PROFILES[name].values(np.array([1e8]), gamma)[0] < 1e-100


@each_profile
def test_arguments_are_left_as_they_were(name):
    squares = distances() ** 2
    before = squares.copy()
    PROFILES[name].values(squares, 1.0)
    PROFILES[name].exponents(squares, 1.0)[:] = 7.0
    np.testing.assert_array_equal(squares, before)


@each_profile
@each_gamma
def test_exponents_are_gamma_times_the_distance_or_its_square(name, gamma):
    r = distances()
    power = {"exponential": 1, "linear": 1, "gaussian": 2, "square": 2}[name]
    np.testing.assert_allclose(PROFILES[name].exponents(r * r, gamma), gamma * r**power)


@each_profile
@each_gamma
def test_bounded_profiles_and_no_others_are_exactly_zero_beyond_one(name, gamma):
    profile = PROFILES[name]
    assert profile.is_bounded == (name in ("linear", "square"))
    edge = gamma**-2.0 if profile.of_root else 1.0 / gamma
    outside = profile.values(edge * np.array([1.0001, 1.5, 100.0]), gamma)
    assert np.all(outside == 0.0) == profile.is_bounded
    assert profile.values(np.array([0.9999 * edge]), gamma)[0] > 0.0


@each_profile
@each_dtype
def test_slopes_are_those_of_the_values(name, dtype):
    profile = PROFILES[name]
    # the kink at u = 1 lies between two points
    u = np.linspace(0.013, 2.5, 60)
    squares, step = (u * u if profile.of_root else u), 1e-6
    above, below = (
        profile.values((u + sign * step) ** 2 if profile.of_root else u + sign * step, 1.0)
        for sign in (1.0, -1.0)
    )
    found = profile.slopes(u.astype(dtype), profile.values(squares, 1.0).astype(dtype))
    np.testing.assert_allclose(found, (above - below) / (2 * step), atol=1e-6)
    assert found.dtype == dtype


@each_profile
@each_gamma
def test_the_longest_feature_is_where_the_formula_says(name, gamma):
    where, longest = PEAKS[name](gamma)
    profile = PROFILES[name]

    def shortness(r):
        return -r * profile.values(np.array([r * r]), gamma)[0]

    assert -shortness(where) == pytest.approx(longest, rel=1e-12)
    best = minimize_scalar(shortness, bounds=(0.0, 3 * where), options={"xatol": 1e-9 * where})
    assert best.x == pytest.approx(where, rel=1e-4)  # the top is flat
    assert -best.fun == pytest.approx(longest, rel=1e-8)


@each_profile
@each_gamma
def test_no_feature_is_longer_than_the_longest(name, gamma):
    where, longest = PEAKS[name](gamma)
    r = where * np.concatenate([np.linspace(0.0, 3.0, 500), np.geomspace(3.0, 1e6, 200)])
    assert (r * PROFILES[name].values(r * r, gamma)).max() <= longest * (1 + 1e-12)


@each_profile
def test_gamma_scales_the_distances(name):
    profile, r = PROFILES[name], distances()
    scale = 0.01 if profile.of_root else 1e-4  # of distances in units a hundred times smaller
    near, far = profile.values(r**2, 2.0), profile.values((100.0 * r) ** 2, 2.0 * scale)
    np.testing.assert_allclose(near, far, rtol=1e-9, atol=1e-12)


@each_profile
@pytest.mark.parametrize("bandwidth", [0.3, 1.0, 10.0])
def test_a_bandwidth_counts_typical_distances(name, bandwidth):
    profile, typical = PROFILES[name], 12.25
    gamma = profile.gamma(bandwidth, typical)
    at_typical = profile.exponents(np.array([typical]), gamma)[0]
    assert at_typical == pytest.approx(bandwidth / profile.reach)


def test_bounded_profiles_reach_twice_as_far():
    assert {name: profile.reach for name, profile in PROFILES.items()} == {
        "exponential": 1.0,
        "gaussian": 1.0,
        "linear": 2.0,
        "square": 2.0,
    }


@each_profile
def test_many_bandwidths_become_many_gammas(name):
    bandwidths = np.array([0.1, 1.0, 10.0])
    found = PROFILES[name].gamma(bandwidths, 4.0)
    np.testing.assert_allclose(found, [PROFILES[name].gamma(b, 4.0) for b in bandwidths])


@each_profile
@each_dtype
def test_far_from_the_anchor_nothing_overflows(name, dtype):
    squares = np.array([1e30], dtype=dtype)
    with np.errstate(all="raise", under="ignore"):
        values = PROFILES[name].values(squares, dtype(1e5))
        slopes = PROFILES[name].slopes(PROFILES[name].exponents(squares, dtype(1e5)), values)
    assert values[0] == slopes[0] == 0.0
