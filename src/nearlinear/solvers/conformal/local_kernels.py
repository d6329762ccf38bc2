"""Chosen conformal kernels and their local models: scores, and how they change with all numbers."""

from dataclasses import dataclass, replace

import numpy as np

from ..._compile import run_blocks
from ...kernels.conformal import Profile
from ...kernels.pairs import Pairs

# Gates of a block of rows stay in a core's cache.
_TILE = 1 << 17


@dataclass(frozen=True)
class LocalKernels:
    """Chosen kernels with their local models: f(x) = Σ_m ⟨φ_m(x), models_m⟩ + bias."""

    profile: Profile
    per_feature: bool
    anchors: np.ndarray
    gammas: np.ndarray
    models: np.ndarray
    bias: float

    @classmethod
    def collapse(cls, bank, weights, feature_sums, bias):
        """Models w_m = β_m Σ_i a_i φ_m(x_i) of a machine, given these sums."""
        all_kernels = np.arange(len(bank))
        return cls(
            bank.profile, bank.per_feature, bank.anchors_of(all_kernels).astype(np.float64),
            bank.gammas, (weights / bank.divisors)[:, None] * feature_sums, float(bias),
        )  # fmt: skip

    def shifted(self, origin):
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
            center = anchors.mean(axis=0)  # rows far from the origin would be rounding
            local = (X - center) @ models.T - np.einsum("md,md->m", anchors - center, models)
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
        center = anchors.mean(axis=0)
        X, anchors = X - center, anchors - center
        d_models = shares.T @ X - totals * anchors
        bend = r[:, None] * local * slopes
        d_logs = (bend * u).sum(axis=0)
        bend = 2.0 * bend * by_square
        d_anchors = -totals * models + bend.sum(axis=0)[:, None] * anchors - bend.T @ X
        return d_anchors, d_logs, d_models
