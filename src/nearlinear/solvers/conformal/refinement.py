"""Anchors, bandwidths and local models of chosen conformal kernels, improved together by gradient.

Minimizes over anchors c, log γ, models v and the bias b

    ½ Σ_m ridge_m ‖v_m‖² + ½ b² + Σ_i C_i loss(y_i, f(x_i)),   f(x) = Σ_m ⟨φ_m(x), v_m⟩ + b,

by L-BFGS, with the loss rounded at its kinks so that it has a gradient: (t)₊ becomes t²/2δ up to
t = δ. The rounding shrinks from stage to stage.
"""

from dataclasses import replace

import numpy as np
from scipy.optimize import minimize

# Widths δ of the rounding, in margins.
_STAGES = (0.5, 0.1)


def refine(kernels, X, problem, ridge, bias, *, moves, max_iter=100, n_jobs=None):
    """Improve ``kernels`` from where they are.

    ``ridge`` has a number for each kernel; ``bias`` says how the bias is treated. ``moves`` is
    "models" (kernels stay as they are, which is a convex problem) or "kernels".
    """
    layout = {"models": ModelVector, "kernels": KernelVector}[moves](kernels, X, ridge, bias)

    def objective(vector, width):
        now = layout.kernels(vector)
        loss, slopes = rounded_loss(problem, problem.targets - now.scores(X, n_jobs), width)
        penalized = layout.penalized * vector
        gradient = layout.slopes(now, X, slopes, n_jobs) + penalized
        return 0.5 * penalized @ vector + loss, gradient

    start = vector = layout.vector(kernels)
    for width in _STAGES:
        options = {"maxiter": max_iter, "maxcor": 20}
        vector = minimize(objective, vector, (width,), "L-BFGS-B", jac=True, options=options).x
    # another valley may be worse
    is_better = objective(vector, width)[0] <= objective(start, width)[0]
    return layout.kernels(vector) if is_better else kernels


class ModelVector:
    """Bias and local models as one vector, in units that make every penalty one."""

    def __init__(self, kernels, X, ridge, bias):
        self.start, self.shape = kernels, kernels.anchors.shape
        self.bias_unit = 1.0 if bias.is_free else float(np.sqrt(bias.shift))
        # a kernel that holds nothing has no model either
        holds = np.isfinite(ridge)[:, None]
        self.model_unit = np.where(holds, 1.0 / np.sqrt(np.where(holds, ridge[:, None], 1.0)), 0.0)
        bias_penalty = [0.0 if bias.is_free else 1.0]
        self.penalized = np.concatenate([bias_penalty, np.ones(kernels.models.size)])

    def vector(self, kernels):
        bias = kernels.bias / self.bias_unit if self.bias_unit else 0.0
        models = kernels.models / np.where(self.model_unit > 0.0, self.model_unit, np.inf)
        return np.concatenate([[bias], models.ravel()])

    def kernels(self, vector):
        models = vector[1 : 1 + self.start.models.size].reshape(self.shape) * self.model_unit
        return replace(self.start, models=models, bias=float(vector[0] * self.bias_unit))

    def slopes(self, kernels, X, loss_slopes, n_jobs):
        """Gradient of the losses, whose slopes in the residuals are given."""
        _, _, by_models = kernels.gradient(X, -loss_slopes, n_jobs)
        by_bias = -loss_slopes.sum() * self.bias_unit
        return np.concatenate([[by_bias], (by_models * self.model_unit).ravel()])


class KernelVector(ModelVector):
    """The same with anchors, in units of the rows' spread, and log γ behind."""

    def __init__(self, kernels, X, ridge, bias):
        super().__init__(kernels, X, ridge, bias)
        self.anchor_unit = max(float(X.std()), 1e-300)
        n_moving = kernels.anchors.size + len(kernels.gammas)
        self.penalized = np.concatenate([self.penalized, np.zeros(n_moving)])

    def vector(self, kernels):
        anchors = (kernels.anchors / self.anchor_unit).ravel()
        return np.concatenate([super().vector(kernels), anchors, np.log(kernels.gammas)])

    def kernels(self, vector):
        size = self.start.anchors.size
        anchors = vector[1 + size : 1 + 2 * size].reshape(self.shape) * self.anchor_unit
        gammas = np.exp(vector[1 + 2 * size :])
        return replace(super().kernels(vector), anchors=anchors, gammas=gammas)

    def slopes(self, kernels, X, loss_slopes, n_jobs):
        by_anchors, by_logs, by_models = kernels.gradient(X, -loss_slopes, n_jobs)
        by_bias = -loss_slopes.sum() * self.bias_unit
        parts = [[by_bias], (by_models * self.model_unit).ravel()]
        return np.concatenate([*parts, (by_anchors * self.anchor_unit).ravel(), by_logs])


def rounded_loss(problem, residual, width):
    """Σ_i loss_i with rounded kinks, and its slope in each residual."""
    above, above_slopes = _rounded(residual - problem.epsilon, width)
    below, below_slopes = _rounded(-residual - problem.epsilon, width)
    return (
        float(problem.upper @ above - problem.lower @ below),
        problem.upper * above_slopes + problem.lower * below_slopes,
    )


def _rounded(t, width):
    """(t)₊ rounded, and its slope."""
    inside = np.clip(t, 0.0, width)
    return inside * (inside / (2.0 * width)) + np.maximum(t - width, 0.0), inside / width
