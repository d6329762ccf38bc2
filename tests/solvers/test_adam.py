"""Adam by the book, its average and its step sizes."""

import numpy as np
import pytest

from nearlinear.solvers.minibatch import Parameter, one_cycle
from reference.descent import adam


@pytest.mark.passes
@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_adam_steps_are_those_of_the_paper(rng, ridge, dtype):
    start = rng.standard_normal((2, 3)).astype(dtype)
    gradients = rng.standard_normal((12, 2, 3)).astype(dtype)
    sizes = rng.uniform(0.01, 0.1, 12)
    moving = Parameter(start)
    expected = adam(start.astype(float), gradients.astype(float), sizes, ridge)
    # 1 − 0.999 is known to 5e-5 in float32; half of that is felt by steps of up to 0.1
    tolerance = 1e-5 if dtype == np.float32 else 1e-13
    for count in range(1, 13):
        moving.step(gradients[count - 1], sizes[count - 1], ridge, count)
        np.testing.assert_allclose(moving.value, expected[count - 1], atol=tolerance)


@pytest.mark.passes
def test_the_average_of_a_constant_is_the_constant():
    moving = Parameter(np.full(3, 5.0))
    for count in range(1, 6):
        moving.step(np.zeros(3), 0.1, 0.0, count)
    np.testing.assert_allclose(moving.average, 5.0)


@pytest.mark.passes
def test_the_average_forgets_where_a_short_run_began():
    moving = Parameter(np.array([1000.0]))
    moving.value[:] = 1.0
    for count in range(1, 101):
        moving.step(np.zeros(1), 0.0, 0.0, count)
    np.testing.assert_allclose(moving.average, 1.0, atol=1e-6)  # 1000 Π t / (t + 9)


@pytest.mark.passes
def test_the_average_lies_between_the_values_passed(rng):
    moving, passed = Parameter(np.zeros(4)), []
    for count in range(1, 30):
        moving.step(np.ones(4), 0.1, 0.0, count)
        passed.append(moving.value.copy())
    assert np.all(moving.average > passed[-1])
    assert np.all(moving.average < passed[0])


@pytest.mark.passes
def test_no_value_goes_beyond_its_reach(rng):
    start = rng.standard_normal(4)
    moving = Parameter(start)
    for count in range(1, 30):
        moving.step(np.array([1.0, -1.0, 1.0, 0.0]), 0.1, 0.0, count, reach=0.5)
    np.testing.assert_allclose(moving.value - start, [-0.5, 0.5, -0.5, 0.0], atol=1e-12)


@pytest.mark.passes
def test_steps_do_not_write_to_the_start():
    start = np.ones(3)
    Parameter(start).step(np.ones(3), 0.1, 0.0, 1)
    np.testing.assert_array_equal(start, 1.0)


@pytest.mark.passes
def test_a_restarted_entry_is_elsewhere_and_has_no_momentum():
    moving = Parameter(np.zeros((3, 2)))
    for count in range(1, 6):
        moving.step(np.ones((3, 2)), 0.1, 0.0, count)
    before = moving.value.copy()
    moving.restart(1, np.array([7.0, 8.0]))
    np.testing.assert_array_equal(moving.average[1], [7.0, 8.0])
    moving.step(np.zeros((3, 2)), 0.1, 0.0, 6)
    np.testing.assert_array_equal(moving.value[1], [7.0, 8.0])
    assert np.all(moving.value[[0, 2]] < before[[0, 2]])  # the others roll on


def test_the_step_size_rises_then_falls_to_nothing():
    factors = np.array([one_cycle(step, 200) for step in range(200)])
    assert factors[19] == factors.max() == pytest.approx(1.0)
    assert np.all(np.diff(factors[:20]) > 0)
    assert np.all(np.diff(factors[20:]) < 0)
    assert 0 < factors[-1] < 1e-3


@pytest.mark.parametrize("n_steps", [1, 2, 5])
def test_a_run_of_few_steps_moves(n_steps):
    factors = [one_cycle(step, n_steps) for step in range(n_steps)]
    assert factors[0] == 1.0
    assert min(factors) >= 0.0
