"""The best function of a cell: an independent optimum, its certificate, and its limits."""

import numpy as np
import pytest
from scipy.optimize import minimize

from nearlinear.solvers.cells.bumps import Bumps
from nearlinear.solvers.cells.newton import every_row, inside_margin, solve_cell

GAMMA = 0.5


@pytest.fixture
def rows(rng):
    X = rng.standard_normal((120, 2))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(120) > 0, 1.0, -1.0)
    return X, y, rng.uniform(0.5, 2.0, 120)


def solve(bumps, X, y, C, active=inside_margin, dtype=np.float64):
    return solve_cell(bumps, X, y.reshape(len(X), -1), C, active, dtype=dtype)


def objective(bumps, X, y, C, active, coef):
    """Value and slope, from the features themselves."""
    U, gram = bumps.landmarks, bumps.gram()
    away = X[:, None] - U
    k = np.exp(-GAMMA * (away**2).sum(axis=2))
    slopes = (2.0 * GAMMA * k[:, :, None] * away).reshape(len(X), -1)
    features = np.column_stack([k, slopes, np.ones(len(X))])
    left = np.where(active(y, features @ coef), y - features @ coef, 0.0)
    value = 0.5 * coef[:-1] @ gram @ coef[:-1] + np.sum(C * left**2)
    return value, np.append(gram @ coef[:-1], 0.0) - 2.0 * features.T @ (C * left)


@pytest.mark.parametrize("active", [inside_margin, every_row])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_coefficients_are_the_best_and_the_certificate_says_so(rows, active, dtype):
    X, y, C = rows
    bumps = Bumps(X[:6].copy(), GAMMA)
    found = solve(bumps, X, y, C, active, dtype)
    value, slope = objective(bumps, X, y, C, active, found.coef[:, 0])
    assert found.objective == pytest.approx(value, rel=1e-10)
    best = minimize(
        lambda coef: objective(bumps, X, y, C, active, coef), np.zeros(19), jac=True,
        method="BFGS", options={"gtol": 1e-7},
    )  # fmt: skip
    assert value <= best.fun * (1 + 1e-9)
    assert found.decrement <= 1e-8 * value
    assert np.abs(slope).max() < 1e-3 * np.abs(C).sum()


def test_an_optimum_falls_with_derivatives_and_lowest_with_every_row(rows):
    X, y, C = rows
    X, y, C = X[:40], y[:40], C[:40]
    few, all_ = Bumps(X[:4].copy(), GAMMA), Bumps(X, GAMMA)
    gram = few.gram()[:4, :4]

    def landmarks_only(coef):
        k = np.exp(-GAMMA * ((X[:, None] - X[:4]) ** 2).sum(axis=2))
        slack = np.maximum(0.0, 1.0 - y * (k @ coef[:4] + coef[4]))
        return 0.5 * coef[:4] @ gram @ coef[:4] + np.sum(C * slack**2)

    plain = minimize(landmarks_only, np.zeros(5), method="BFGS").fun
    with_slopes, every = (solve(bumps, X, y, C).objective for bumps in (few, all_))
    assert every < with_slopes < plain


def test_outputs_are_solved_each_by_itself(rows):
    X, y, C = rows
    bumps, other = Bumps(X[:6].copy(), GAMMA), np.where(X[:, 0] > 0, 1.0, -1.0)
    both = solve(bumps, X, np.column_stack([y, other, np.ones(len(y))]), C)
    for column, target in enumerate((y, other)):
        alone = solve(bumps, X, target, C).coef[:, 0]
        np.testing.assert_allclose(both.coef[:, column], alone, atol=1e-6)
    np.testing.assert_array_equal(both.coef[:, 2], np.append(np.zeros(18), 1.0))


def test_a_price_counts_as_copies(rows):
    X, y, _ = rows
    bumps, counts = Bumps(X[:6].copy(), GAMMA), np.arange(120) % 3 + 1
    weighted = solve(bumps, X, y, counts.astype(np.float64))
    copied = solve(bumps, np.repeat(X, counts, axis=0), np.repeat(y, counts), np.ones(counts.sum()))
    np.testing.assert_allclose(weighted.coef, copied.coef, atol=1e-7)


def test_landmarks_that_almost_coincide_are_solved(rows):
    X, y, C = rows
    places = np.concatenate([X[:3], X[:3] + 1e-9])
    found = solve(Bumps(places, GAMMA), X, y, 1e3 * C)
    reached = solve(Bumps(X[:3].copy(), GAMMA), X, y, 1e3 * C)
    assert np.isfinite(found.coef).all()
    assert found.objective <= reached.objective * (1 + 1e-6)
