"""Gaussians around landmarks and their derivatives: features, their Gram matrix, their sums.

With k(x, u) = exp(−γ‖x − u‖²), landmark u has the features k(x, u) and ∂k/∂u_t = 2γ (x_t − u_t)
k(x, u), one for each column t: what is left of landmarks u + h e_t when h goes to zero. A function
of them is Σ_j k(x, u_j) (o_j + ⟨s_j, x − u_j⟩). Coefficients come landmark values first, then
derivatives landmark by landmark, then the constant.
"""

from dataclasses import dataclass

import numpy as np

from ...kernels.pairs import Pairs

# Features of some rows that are held at once, in numbers.
_NUMBERS = 1 << 21


@dataclass(frozen=True)
class Bumps:
    """Landmarks, shape (n_landmarks, n_features), and the one γ; all in float64."""

    landmarks: np.ndarray
    gamma: float

    @property
    def size(self):
        """Number of features, without the constant."""
        m, d = self.landmarks.shape
        return m * (d + 1)

    def values(self, X):
        """k(x, u), shape (n_rows, n_landmarks)."""
        if not len(self.landmarks):
            return np.empty((len(X), 0))
        return np.exp(-self.gamma * Pairs(X, self.landmarks).squared_distances)

    def sums(self, X, values, coef):
        """Σ over all features and the constant; ``coef`` has shape (size + 1,)."""
        m = len(self.landmarks)
        slopes = 2.0 * self.gamma * coef[m:-1].reshape(self.landmarks.shape)
        offsets = coef[:m] - np.einsum("jd,jd->j", slopes, self.landmarks)
        return np.einsum("ij,ij->i", values, X @ slopes.T + offsets) + coef[-1]

    def correlations(self, X, values, v):
        """Σ_i v_i times the features of row i and the constant."""
        weighted = values * v[:, None]
        mass = weighted.sum(axis=0)
        slopes = 2.0 * self.gamma * (weighted.T @ X - mass[:, None] * self.landmarks)
        return np.concatenate([mass, slopes.ravel(), [v.sum()]])

    def second_moments(self, X, values, v, dtype):
        """Σ_i v_i φ_i φ_iᵀ with the constant in φ, for v ≥ 0.

        Products are of type ``dtype``, their sums over blocks of rows in float64.
        """
        total = np.zeros((self.size + 1, self.size + 1))
        step = max(64, _NUMBERS // (self.size + 1))
        for start in range(0, len(X), step):
            part = slice(start, start + step)
            features = self._features(X[part], values[part], np.sqrt(v[part]), dtype)
            total += features.T @ features
        return total

    def _features(self, X, values, factors, dtype):
        """Features of each row times its factor."""
        m, d = self.landmarks.shape
        features = np.empty((len(X), self.size + 1), dtype=dtype)
        features[:, :m] = values * factors[:, None]
        slopes = features[:, m:-1].reshape(len(X), m, d)
        np.subtract(X.astype(dtype)[:, None], self.landmarks.astype(dtype), out=slopes)
        slopes *= (2.0 * self.gamma * features[:, :m])[:, :, None]
        features[:, -1] = factors
        return features

    def gram(self):
        """Inner products of the features in the space of the kernel."""
        m, d = self.landmarks.shape
        away = self.landmarks[:, None] - self.landmarks
        twice = 2.0 * self.gamma
        k = np.exp(-self.gamma * (away**2).sum(axis=2))
        gram = np.empty((self.size, self.size))
        gram[:m, :m] = k
        gram[:m, m:] = (twice * k[:, :, None] * away).reshape(m, m * d)
        gram[m:, :m] = gram[:m, m:].T
        slopes = -(twice**2) * away[:, :, :, None] * away[:, :, None]
        slopes[:, :, np.arange(d), np.arange(d)] += twice
        slopes *= k[:, :, None, None]
        gram[m:, m:] = slopes.transpose(0, 2, 1, 3).reshape(m * d, m * d)
        return gram

    def folded(self, coef):
        """(slopes, offsets) of Σ_j k(x, u_j) (o_j + ⟨s_j, x − u_j⟩)."""
        m, d = self.landmarks.shape
        return 2.0 * self.gamma * coef[m:-1].reshape(m, d), coef[:m]
