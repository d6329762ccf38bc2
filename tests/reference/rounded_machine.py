"""A linear machine with a rounded loss by its formula, and its optimum by Newton steps."""

import numpy as np


def rounded(t, width):
    """(t)₊ with a parabola of this width in place of its kink."""
    return np.where(t <= 0.0, 0.0, np.where(t < width, t * t / (2.0 * width), t - 0.5 * width))


def loss(problem, residual, width):
    """Σ_i of what a residual beyond ε costs, rounded: ``upper`` above, −``lower`` below."""
    price = np.where(residual > 0, problem.upper, -problem.lower)
    return np.sum(price * rounded(np.abs(residual) - problem.epsilon, width))


def best_linear(Z, problem, penalties, width):
    """min_w ½ Σ_k penalty_k w_k² + Σ_i loss_i(y_i − ⟨z_i, w⟩), and the w it is reached at.

    By Newton steps, first with wide parabolas that hold all rows, then with ever narrower ones.
    """
    w = np.zeros(Z.shape[1])
    for wider in 2.0 ** np.arange(8, -1, -1):
        w = _newton(Z, problem, penalties, wider * width, w)
    return _value(Z, problem, penalties, width, w), w


def _value(Z, problem, penalties, width, w):
    return 0.5 * penalties @ w**2 + loss(problem, problem.targets - Z @ w, width)


def _newton(Z, problem, penalties, width, w):
    for _ in range(200):
        residual = problem.targets - Z @ w
        above, below = residual - problem.epsilon, -residual - problem.epsilon
        slope = problem.upper * np.clip(above / width, 0.0, 1.0)
        slope += problem.lower * np.clip(below / width, 0.0, 1.0)
        gradient = penalties * w - Z.T @ slope
        if np.abs(gradient).max() < 1e-9:
            break
        bend = problem.upper * ((above > 0) & (above < width))
        bend = (bend - problem.lower * ((below > 0) & (below < width))) / width
        curvature = Z.T @ (bend[:, None] * Z) + np.diag(penalties + 1e-6)
        step, length = np.linalg.solve(curvature, gradient), 1.0
        before = _value(Z, problem, penalties, width, w)
        while _value(Z, problem, penalties, width, w - length * step) > before and length > 1e-12:
            length *= 0.5
        w = w - length * step
    return w
