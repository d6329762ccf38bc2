"""Anchors, bandwidths and local models of chosen conformal kernels, improved together by gradient.

Minimizes over anchors c, log γ, models v and the bias b

    ½ Σ_m ridge_m ‖v_m‖² + ½ b² + Σ_i C_i loss(y_i, f(x_i)),   f(x) = Σ_m ⟨φ_m(x), v_m⟩ + b,

by L-BFGS, with the loss rounded at its kinks so that it has a gradient: (t)₊ becomes t²/2δ up to
t = δ. The rounding shrinks from stage to stage.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize

from .._compile import run_blocks
from ..kernels.pairs import Pairs
from ..kernels.profiles import Profile

_TILE = 1 << 17
# Widths δ of the rounding, in margins.
_STAGES = (0.5, 0.1)


@dataclass(frozen=True)
class LocalKernels:
    """Chosen kernels with their local models: f(x) = Σ_m ⟨φ_m(x), models_m⟩ + bias."""

    profile: Profile
    per_feature: bool
    anchors: np.ndarray
    gammas: np.ndarray
    models: np.ndarray
    bias: float

    def scores(self, X, n_jobs=None):
        found = np.empty(len(X))

        def work(start, stop):
            found[start:stop] = self._parts(X[start:stop])[0]

        run_blocks(work, len(X), self.block_rows(), n_jobs)
        return found

    def block_rows(self):
        depth = self.anchors.shape[1] if self.per_feature else 1
        return max(1, _TILE // max(1, len(self.anchors) * depth))

    def _parts(self, X):
        """Scores of some rows, and what their gradient needs."""
        anchors, models = self.anchors.astype(X.dtype), self.models.astype(X.dtype)
        gammas = self.gammas.astype(X.dtype)
        if self.per_feature:
            away = X[:, None, :] - anchors
            squares, local, gammas = away**2, away * models, gammas[:, None]
        else:
            away = None
            squares = Pairs(X, anchors).squared_distances
            local = X @ models.T - np.einsum("md,md->m", anchors, models)
        u = self.profile.exponents(squares, gammas)
        gates = self.profile.values(squares, gammas)
        axes = (1, 2) if self.per_feature else 1
        return (gates * local).sum(axis=axes) + self.bias, (away, squares, local, u, gates)

    def gradient(self, X, residual_slopes, n_jobs=None):
        """Gradient of Σ_i r_i f(x_i) in anchors, log γ and models."""
        blocks = []

        def work(start, stop):
            rows, slopes = X[start:stop], residual_slopes[start:stop].astype(X.dtype)
            blocks.append((start, self._block_gradient(rows, slopes)))

        run_blocks(work, len(X), self.block_rows(), n_jobs)
        # the order of additions must not depend on threads
        parts = [part for _, part in sorted(blocks, key=lambda block: block[0])]
        return [sum(part[k].astype(np.float64) for part in parts) for k in range(3)]

    def _block_gradient(self, X, r):
        _, (away, squares, local, u, gates) = self._parts(X)
        slopes = self.profile.slopes(u, gates)
        anchors, models = self.anchors.astype(X.dtype), self.models.astype(X.dtype)
        # du/dq for q = r²; a root has none at q = 0, where the kernel is zero anyway
        if self.profile.of_root:
            by_square = 0.5 * u / np.maximum(squares, np.finfo(X.dtype).tiny)
        else:
            by_square = self.gammas.astype(X.dtype)
            by_square = by_square[:, None] if self.per_feature else by_square
        if self.per_feature:
            r = r[:, None, None]
            bend = r * local * slopes
            d_models = (r * gates * away).sum(axis=0)
            d_anchors = -(r * gates).sum(axis=0) * models
            d_anchors -= 2.0 * (bend * by_square * away).sum(axis=0)
            d_logs = (bend * u).sum(axis=(0, 2))
            return d_anchors, d_logs, d_models
        shares = r[:, None] * gates
        totals = shares.sum(axis=0)[:, None]
        d_models = shares.T @ X - totals * anchors
        bend = r[:, None] * local * slopes
        d_logs = (bend * u).sum(axis=0)
        bend = 2.0 * bend * by_square
        d_anchors = -totals * models + bend.sum(axis=0)[:, None] * anchors - bend.T @ X
        return d_anchors, d_logs, d_models


def refine(kernels, X, problem, ridge, steps, *, moves, max_iter=100, n_jobs=None):
    """Improve ``kernels`` from where they are.

    ``ridge`` has a number for each kernel; ``steps`` say how the bias is treated. ``moves`` is
    "models" (kernels stay as they are, which is a convex problem) or "kernels".
    """
    layout = _Layout(kernels, X, ridge, steps, moves)

    def objective(vector, width):
        now = layout.kernels(vector)
        loss, slopes = rounded_loss(problem, problem.targets - now.scores(X, n_jobs), width)
        gradient = layout.vector(-slopes.sum(), *now.gradient(X, -slopes, n_jobs), is_slope=True)
        penalised = layout.penalised * vector
        return 0.5 * penalised @ vector + loss, gradient + penalised

    vector = layout.vector(kernels.bias, kernels.anchors, np.log(kernels.gammas), kernels.models)
    for width in _STAGES:
        options = {"maxiter": max_iter, "maxcor": 20}
        vector = minimize(objective, vector, (width,), "L-BFGS-B", jac=True, options=options).x
    return layout.kernels(vector)


class _Layout:
    """Bias, models and, if they move, anchors and log γ as one vector of like units."""

    def __init__(self, kernels, X, ridge, steps, moves):
        self.start, self.moves = kernels, moves
        self.shape = kernels.anchors.shape
        self.bias_unit = 1.0 if steps.is_free else float(np.sqrt(steps.shift))
        # a penalty of one for each model
        self.model_unit = 1.0 / np.sqrt(ridge)[:, None]
        self.anchor_unit = max(float(X.std()), 1e-300)
        n_moving = (self.shape[0] * (self.shape[1] + 1)) if moves == "kernels" else 0
        parts = [[0.0 if steps.is_free else 1.0], np.ones(self.shape).ravel(), np.zeros(n_moving)]
        self.penalised = np.concatenate(parts)

    def vector(self, bias, anchors, logs, models, is_slope=False):
        power = 1.0 if is_slope else -1.0
        bias = bias * self.bias_unit**power if self.bias_unit else 0.0
        parts = [[bias], (models * self.model_unit**power).ravel()]
        if self.moves == "kernels":
            parts += [(anchors * self.anchor_unit**power).ravel(), logs]
        return np.concatenate(parts)

    def kernels(self, vector):
        n_numbers = self.shape[0] * self.shape[1]
        models = vector[1 : 1 + n_numbers].reshape(self.shape) * self.model_unit
        anchors, gammas = self.start.anchors, self.start.gammas
        if self.moves == "kernels":
            rest = vector[1 + n_numbers :]
            anchors = rest[:n_numbers].reshape(self.shape) * self.anchor_unit
            gammas = np.exp(rest[n_numbers:])
        bias = float(vector[0] * self.bias_unit)
        return replace(self.start, anchors=anchors, gammas=gammas, models=models, bias=bias)


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
