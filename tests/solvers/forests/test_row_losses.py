"""Slopes and curvatures of rows: against losses.py, and the bounds that steps trust."""

import numpy as np
import pytest

from nearlinear.losses import (
    AbsoluteError,
    LabelLogLoss,
    LogLoss,
    PoissonLoss,
    QuantileError,
    SquaredError,
)
from nearlinear.solvers.forests.row_losses import row_loss, typical_curvature

LOSSES = {
    "logistic": (LogLoss(), 1),
    "softmax": (LogLoss(), 3),
    "labels": (LabelLogLoss(), 2),
    "squared": (SquaredError(), 2),
    "poisson": (PoissonLoss(), 1),
    "absolute": (AbsoluteError(), 1),
    "quantile": (QuantileError(0.9), 1),
}
pytestmark = pytest.mark.passes
EACH = pytest.mark.parametrize("loss, n_outputs", LOSSES.values(), ids=LOSSES)
ALL, WIDTH = slice(0, 40), 0.4


@pytest.fixture
def case(rng, loss, n_outputs):
    scores = 2.0 * rng.standard_normal((n_outputs, 40))
    targets = rng.standard_normal((n_outputs, 40))
    if isinstance(loss, LogLoss | LabelLogLoss):
        targets = np.where(targets == targets.max(axis=0) if n_outputs > 1 else targets > 0, 1, -1)
    elif isinstance(loss, PoissonLoss):
        targets = rng.poisson(3.0, targets.shape)
    rows = row_loss(loss, scores, targets.astype(float), rng.uniform(0.5, 2.0, 40))
    if rows.is_rounded:
        rows.width = WIDTH
    rows.begin(scores)
    return rows, scores


def slopes(rows, scores, output):
    g, h = np.empty((2, scores.shape[1]))
    rows.slopes(scores, output, ALL, g, h)
    return g, h


def value(loss, rows, scores):
    return rows.weight * loss.value(scores.T, rows.targets.T)


@EACH
def test_slopes_are_those_of_the_loss(case, loss, n_outputs):
    rows, scores = case
    expected = rows.weight * loss.slope(scores.T, rows.targets.T).T
    for output in range(n_outputs):
        g, _ = slopes(rows, scores, output)
        beyond = np.abs(rows.targets - scores)[output] > (WIDTH if rows.is_rounded else -1.0)
        np.testing.assert_allclose(g[beyond], expected[output][beyond], rtol=1e-12)
        step = np.zeros_like(scores)
        step[output] = 1e-6
        difference = value(loss, rows, scores + step) - value(loss, rows, scores - step)
        np.testing.assert_allclose(g[beyond], difference[beyond] / 2e-6, rtol=1e-5, atol=1e-7)
    total, above_tangent = rows.value(scores, ALL)
    assert total == pytest.approx(value(loss, rows, scores).sum(), rel=1e-13)
    assert (above_tangent > 0) == rows.is_rounded


def rounded_value(loss, rows, scores):
    """The loss that slopes are of: within WIDTH of a corner, a parabola."""
    if not rows.is_rounded:
        return value(loss, rows, scores)
    inside = np.maximum(1.0 - np.abs(rows.targets - scores)[0] / WIDTH, 0.0)
    below = 0.25 * (rows.above + rows.below) * WIDTH * (1.0 - inside**2)
    return value(loss, rows, scores) - rows.weight * below


@EACH
def test_no_move_is_above_the_bound(case, loss, n_outputs):
    rows, scores = case
    before = rounded_value(loss, rows, scores)
    for output in range(n_outputs):
        g, h = slopes(rows, scores, output)
        for move in (-3.0, -0.5, 0.1, 2.0):
            moved, size = scores.copy(), abs(move)
            moved[output] += move
            rise = h * (np.exp(size) - size - 1 if rows.grows else 0.5 * size**2)
            after = rounded_value(loss, rows, moved)
            assert np.all(after <= before + g * move + rise + 1e-12)


@pytest.mark.parametrize("loss, n_outputs", [(LogLoss(), 3)])
def test_log_sums_follow_the_scores(rng, case):
    rows, scores = case
    moves = 3.0 * rng.standard_normal(40)
    expected = scores.copy()
    expected[1] += moves
    rows.move(scores, 1, ALL, moves)
    np.testing.assert_array_equal(scores, expected)
    np.testing.assert_allclose(rows.log_sums, np.log(np.exp(scores).sum(axis=0)), rtol=1e-12)


def test_a_unit_of_the_penalty_follows_the_units_of_the_target(rng):
    y, weight = np.abs(rng.standard_normal((30, 1))), np.ones(30)
    scores = np.zeros_like(y)
    for loss, power in ((SquaredError(), 0), (PoissonLoss(), 1), (QuantileError(0.3), -1)):
        one, ten = (typical_curvature(loss, k * scores, k * y, weight) for k in (1.0, 10.0))
        assert ten == pytest.approx(one * 10.0**power)
