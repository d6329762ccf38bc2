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

    def moved(self, origin):
        """The same seen from another origin."""
        return replace(self, anchors=self.anchors - origin)

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
            centre = anchors.mean(axis=0)  # rows far from the origin would be rounding
            local = (X - centre) @ models.T - np.einsum("md,md->m", anchors - centre, models)
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
        centre = anchors.mean(axis=0)
        X, anchors = X - centre, anchors - centre
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
    layout = {"models": ModelVector, "kernels": KernelVector}[moves](kernels, X, ridge, steps)

    def objective(vector, width):
        now = layout.kernels(vector)
        loss, slopes = rounded_loss(problem, problem.targets - now.scores(X, n_jobs), width)
        penalised = layout.penalised * vector
        gradient = layout.slopes(now, X, slopes, n_jobs) + penalised
        return 0.5 * penalised @ vector + loss, gradient

    start = vector = layout.vector(kernels)
    for width in _STAGES:
        options = {"maxiter": max_iter, "maxcor": 20}
        vector = minimize(objective, vector, (width,), "L-BFGS-B", jac=True, options=options).x
    # another valley may be worse
    is_better = objective(vector, width)[0] <= objective(start, width)[0]
    return layout.kernels(vector) if is_better else kernels


class ModelVector:
    """Bias and local models as one vector, in units that make every penalty one."""

    def __init__(self, kernels, X, ridge, steps):
        self.start, self.shape = kernels, kernels.anchors.shape
        self.bias_unit = 1.0 if steps.is_free else float(np.sqrt(steps.shift))
        # a kernel that holds nothing has no model either
        holds = np.isfinite(ridge)[:, None]
        self.model_unit = np.where(holds, 1.0 / np.sqrt(np.where(holds, ridge[:, None], 1.0)), 0.0)
        bias_penalty = [0.0 if steps.is_free else 1.0]
        self.penalised = np.concatenate([bias_penalty, np.ones(kernels.models.size)])

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

    def __init__(self, kernels, X, ridge, steps):
        super().__init__(kernels, X, ridge, steps)
        self.anchor_unit = max(float(X.std()), 1e-300)
        n_moving = kernels.anchors.size + len(kernels.gammas)
        self.penalised = np.concatenate([self.penalised, np.zeros(n_moving)])

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
