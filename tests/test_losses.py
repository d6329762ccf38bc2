"""Losses and their slopes."""

import numpy as np
import pytest
from scipy.special import expit, log_softmax
from sklearn.metrics import r2_score

from nearlinear.losses import (
    LOSSES,
    AbsoluteError,
    EpsilonInsensitive,
    LabelLogLoss,
    PoissonLoss,
    QuantileError,
    SquaredError,
    accuracy,
    explained_variance,
    label_accuracy,
)

SHAPES = pytest.mark.parametrize("n_outputs", [1, 4])
EACH = pytest.mark.parametrize("name", LOSSES)
REGRESSION = {
    "squared_error": SquaredError(),
    "epsilon_insensitive": EpsilonInsensitive(0.4),
    "absolute": EpsilonInsensitive(0.0),
    "absolute_error": AbsoluteError(),
    "quantile": QuantileError(0.8),
    "poisson": PoissonLoss(),
}
EACH_REGRESSION = pytest.mark.parametrize("loss", REGRESSION.values(), ids=REGRESSION)


@pytest.fixture
def scores_and_targets(rng, n_outputs):
    scores = 2.0 * rng.standard_normal((30, n_outputs))
    if n_outputs == 1:
        return scores, rng.choice([-1.0, 1.0], size=(30, 1))
    return scores, np.where(
        rng.integers(n_outputs, size=30)[:, None] == np.arange(n_outputs), 1, -1
    )


@SHAPES
def test_hinge_is_the_sum_of_missing_margins(scores_and_targets):
    scores, targets = scores_and_targets
    expected = [sum(max(0, 1 - y * f) for y, f in zip(*row)) for row in zip(targets, scores)]
    np.testing.assert_allclose(LOSSES["hinge"].value(scores, targets), expected)


@SHAPES
def test_squared_hinge_is_the_sum_of_squared_missing_margins(scores_and_targets):
    scores, targets = scores_and_targets
    expected = [sum(max(0, 1 - y * f) ** 2 for y, f in zip(*row)) for row in zip(targets, scores)]
    np.testing.assert_allclose(LOSSES["squared_hinge"].value(scores, targets), expected)


@pytest.mark.parametrize("n_outputs", [1])
def test_log_loss_of_one_column_is_logistic(scores_and_targets):
    scores, targets = scores_and_targets
    expected = -np.log(expit(targets * scores))[:, 0]
    np.testing.assert_allclose(LOSSES["log_loss"].value(scores, targets), expected)


@SHAPES
def test_the_log_loss_of_labels_is_the_sum_over_them(rng, n_outputs):
    scores = 2.0 * rng.standard_normal((30, n_outputs))
    targets = rng.choice([-1.0, 1.0], size=(30, n_outputs))
    loss, one = LabelLogLoss(), LOSSES["log_loss"]
    columns = [(scores[:, [c]], targets[:, [c]]) for c in range(n_outputs)]
    np.testing.assert_allclose(loss.value(scores, targets), sum(one.value(*c) for c in columns))
    np.testing.assert_allclose(
        loss.slope(scores, targets), np.hstack([one.slope(*c) for c in columns])
    )
    right = (scores > 0) == (targets > 0)
    weight = rng.uniform(0.5, 1.5, 30)
    expected = np.average(right.mean(axis=1), weights=weight)
    assert label_accuracy(scores, targets, weight) == pytest.approx(expected)


@pytest.mark.parametrize("n_outputs", [4])
def test_log_loss_of_several_columns_is_softmax(scores_and_targets):
    scores, targets = scores_and_targets
    expected = -log_softmax(scores, axis=1)[targets > 0]
    np.testing.assert_allclose(LOSSES["log_loss"].value(scores, targets), expected)


@pytest.mark.parametrize("n_outputs", [4])
def test_crammer_singer_compares_the_right_class_with_the_best_wrong_one(scores_and_targets):
    scores, targets = scores_and_targets
    expected = []
    for f, y in zip(scores, targets):
        right = f[y > 0][0]
        expected.append(max(0.0, 1.0 + f[y < 0].max() - right))
    np.testing.assert_allclose(LOSSES["crammer_singer"].value(scores, targets), expected)


@pytest.mark.parametrize("n_outputs", [1])
@pytest.mark.parametrize("what", ["value", "slope"])
def test_crammer_singer_of_one_column_is_the_hinge(scores_and_targets, what):
    found, expected = (
        getattr(LOSSES[name], what)(*scores_and_targets) for name in ("crammer_singer", "hinge")
    )
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("n_outputs", [1])
def test_crammer_singer_of_two_columns_is_the_hinge_of_their_difference(scores_and_targets):
    scores, targets = scores_and_targets
    two = np.hstack([-0.5 * scores, 0.5 * scores]), np.hstack([-targets, targets])
    np.testing.assert_allclose(
        LOSSES["crammer_singer"].value(*two), LOSSES["hinge"].value(scores, targets)
    )


@pytest.mark.parametrize("n_outputs", [4])
def test_a_row_with_enough_margin_has_no_crammer_singer_slope(scores_and_targets):
    _, targets = scores_and_targets
    assert not LOSSES["crammer_singer"].slope(2.0 * targets, targets).any()


@pytest.fixture
def scores_and_values(rng):
    return 2.0 * rng.standard_normal((30, 1)), rng.standard_normal((30, 1))


def test_squared_error_is_half_the_square(scores_and_values):
    scores, values = scores_and_values
    expected = [(f - y) ** 2 / 2 for f, y in zip(scores[:, 0], values[:, 0])]
    np.testing.assert_allclose(SquaredError().value(scores, values), expected)


@pytest.mark.parametrize("epsilon", [0.0, 0.4])
def test_epsilon_insensitive_error_begins_at_epsilon(scores_and_values, epsilon):
    scores, values = scores_and_values
    expected = [max(0, abs(f - y) - epsilon) for f, y in zip(scores[:, 0], values[:, 0])]
    np.testing.assert_allclose(EpsilonInsensitive(epsilon).value(scores, values), expected)


def test_errors_within_epsilon_have_no_slope():
    values = np.array([[-0.3], [0.0], [0.3]])
    assert not EpsilonInsensitive(0.4).slope(np.zeros((3, 1)), values).any()


def differences(loss, scores, targets, step=1e-6):
    """Central differences of the value in every score."""
    numeric = np.empty_like(scores)
    for c in range(scores.shape[1]):
        shift = step * (np.arange(scores.shape[1]) == c)
        up, down = loss.value(scores + shift, targets), loss.value(scores - shift, targets)
        numeric[:, c] = (up - down) / (2 * step)
    return numeric


@EACH
@SHAPES
def test_slope_is_the_derivative_of_the_value(name, scores_and_targets):
    numeric = differences(LOSSES[name], *scores_and_targets)
    # a central difference with step 1e-6 is good to about 1e-9
    np.testing.assert_allclose(LOSSES[name].slope(*scores_and_targets), numeric, atol=1e-7)


@EACH_REGRESSION
def test_slope_of_a_regression_is_the_derivative_of_the_value(loss, scores_and_values):
    numeric = differences(loss, *scores_and_values)
    np.testing.assert_allclose(loss.slope(*scores_and_values), numeric, atol=1e-7)  # as above


@EACH_REGRESSION
def test_slopes_of_a_float32_regression_are_float32(loss, scores_and_values):
    scores, values = (part.astype(np.float32) for part in scores_and_values)
    assert loss.slope(scores, values).dtype == np.float32


@EACH
@SHAPES
def test_slopes_of_float32_scores_are_float32(name, scores_and_targets):
    scores, targets = (part.astype(np.float32) for part in scores_and_targets)
    assert LOSSES[name].slope(scores, targets).dtype == np.float32


@EACH
@SHAPES
@pytest.mark.parametrize("size", [1e3, 1e30])
def test_huge_scores_do_not_overflow(name, size, n_outputs):
    scores = np.zeros((2, n_outputs))
    scores[:, 0] = [size, -size]
    targets = np.where(np.arange(n_outputs) == 0, 1.0, -1.0) * np.ones((2, 1))
    with np.errstate(all="raise", under="ignore"):
        value, slope = LOSSES[name].value(scores, targets), LOSSES[name].slope(scores, targets)
    assert np.all(np.isfinite(value))
    assert np.all(np.isfinite(slope))


# --- how good scores are ------------------------------------------------------------------------


def test_one_score_is_right_if_it_has_the_sign_of_its_target():
    scores, targets = np.array([[2.0], [-1.0], [0.0], [3.0]]), np.array([[1], [-1], [-1], [-1]])
    assert accuracy(scores, targets, np.ones(4)) == 0.75
    assert accuracy(scores, targets, np.array([1.0, 1.0, 1.0, 5.0])) == pytest.approx(3 / 8)


def test_several_scores_are_right_if_that_of_the_class_is_the_highest():
    scores = np.array([[0.1, 0.3, 0.2], [-1.0, -2.0, -3.0]])
    targets = np.array([[-1, 1, -1], [-1, -1, 1]])
    assert accuracy(scores, targets, np.array([3.0, 1.0])) == 0.75


def test_what_is_explained_is_the_coefficient_of_determination(rng):
    values, weight = rng.standard_normal((20, 1)), rng.uniform(1, 3, 20)
    guesses = values + 0.3 * rng.standard_normal((20, 1))
    assert explained_variance(guesses, values, weight) == pytest.approx(
        r2_score(values, guesses, sample_weight=weight)
    )


def test_guesses_of_a_constant_are_compared_by_their_error():
    values = np.ones((5, 1))
    assert explained_variance(values, values, np.ones(5)) == 0.0
    near, far = (explained_variance(values + off, values, np.ones(5)) for off in (0.1, 1.0))
    assert near > far
