"""The unit in which a regression measures its values."""

import numpy as np
import pytest

from nearlinear.estimators._base.values.units import TargetUnits


@pytest.fixture
def values(rng):
    return rng.standard_normal(300)


def assert_units(found, center, spread):
    assert (found.center, found.spread) == (pytest.approx(center), pytest.approx(spread))


def test_without_values_far_out_it_is_mean_and_standard_deviation(values):
    assert_units(TargetUnits.of_values(values), values.mean(), values.std())


def test_values_far_out_are_drawn_in_to_three_interquartile_ranges():
    values = np.r_[np.arange(1.0, 12.0), 1e6]  # quartiles 3 and 10
    drawn_in = np.r_[np.arange(1.0, 12.0), 10.0 + 3 * 7.0]
    assert_units(TargetUnits.of_values(values), drawn_in.mean(), drawn_in.std())
    assert_units(TargetUnits.of_values(-values), -drawn_in.mean(), drawn_in.std())


def test_mostly_equal_values_count_as_they_are():
    values = np.r_[np.zeros(90), np.arange(10.0)]
    assert_units(TargetUnits.of_values(values), values.mean(), values.std())


def test_weight_k_is_k_copies(values, rng):
    weight = rng.integers(1, 4, len(values))
    copied = TargetUnits.of_values(np.repeat(values, weight))
    assert_units(TargetUnits.of_values(values, weight), copied.center, copied.spread)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("value", [0.0, 0.1, -1e6 / 3.0, 1e30])
def test_equal_values_have_a_spread_of_one(value, dtype):
    values = np.full(77, value, dtype=dtype)
    found = TargetUnits.of_values(values, np.linspace(0.1, 3.0, 77))
    assert found.spread == 1.0
    np.testing.assert_allclose(found.scaled(values), 0.0, atol=1e-8 * max(1.0, abs(value)))


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_squares_neither_vanish_nor_overflow(values, unit):
    plain = TargetUnits.of_values(values)
    found = TargetUnits.of_values(unit * values)
    assert_units(found, unit * plain.center, unit * plain.spread)


def test_what_is_scaled_comes_back(values):
    units = TargetUnits.of_values(1e4 + 300.0 * values)
    np.testing.assert_allclose(units.unscaled(units.scaled(values)), values, atol=1e-9)
