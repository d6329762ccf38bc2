"""Losses, their slopes and the probabilities of the log loss."""

import numpy as np
import pytest
from scipy.special import expit, log_softmax, softmax

from nearlinear.losses import LOSSES

SHAPES = pytest.mark.parametrize("n_outputs", [1, 4])
EACH = pytest.mark.parametrize("name", LOSSES)


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


@pytest.mark.parametrize("n_outputs", [4])
def test_log_loss_of_several_columns_is_softmax(scores_and_targets):
    scores, targets = scores_and_targets
    expected = -log_softmax(scores, axis=1)[targets > 0]
    np.testing.assert_allclose(LOSSES["log_loss"].value(scores, targets), expected)


@EACH
@SHAPES
def test_slope_is_the_derivative_of_the_value(name, scores_and_targets):
    scores, targets = scores_and_targets
    loss, step = LOSSES[name], 1e-6
    numeric = np.empty_like(scores)
    for c in range(scores.shape[1]):
        shift = step * (np.arange(scores.shape[1]) == c)
        up, down = loss.value(scores + shift, targets), loss.value(scores - shift, targets)
        numeric[:, c] = (up - down) / (2 * step)
    # a central difference with step 1e-6 is good to about 1e-9
    np.testing.assert_allclose(loss.slope(scores, targets), numeric, atol=1e-7)


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


@pytest.mark.parametrize("n_outputs", [1])
def test_probabilities_of_one_column_are_logistic(scores_and_targets):
    scores, _ = scores_and_targets
    expected = np.hstack([expit(-scores), expit(scores)])
    np.testing.assert_allclose(LOSSES["log_loss"].probabilities(scores), expected)


@pytest.mark.parametrize("n_outputs", [4])
def test_probabilities_of_several_columns_are_softmax(scores_and_targets):
    scores, _ = scores_and_targets
    np.testing.assert_allclose(LOSSES["log_loss"].probabilities(scores), softmax(scores, axis=1))
