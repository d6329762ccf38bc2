"""Locally linear kernels ⟨φ(x), φ(z)⟩ with φ(x) = h(x)(x − c), which fade around an anchor c."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import issparse

from .base import evaluates_pairs
from .pairs import as_floats
from .profiles import PROFILES


@evaluates_pairs
@dataclass(frozen=True)
class Conformal:
    """⟨φ(x), φ(z)⟩, φ(x) = h(‖x − c‖)(x − c), or h(|x_d − c_d|)(x_d − c_d) with ``per_feature``.

    ``profile`` is "exponential" (h = exp(−γr)), "gaussian" (exp(−γr²)), "linear" ((1 − γr)₊) or
    "square" ((1 − γr²)₊); the last two are exactly zero far from the anchor.
    """

    anchor: tuple
    gamma: float
    profile: str = "gaussian"
    per_feature: bool = False

    def __post_init__(self):
        if self.profile not in PROFILES:
            raise ValueError(
                f"Conformal needs one of the profiles {sorted(PROFILES)}, not {self.profile!r}."
            )
        if not 0 <= self.gamma < np.inf:
            raise ValueError(f"Conformal needs gamma of 0 or more, not {self.gamma!r}.")
        object.__setattr__(self, "anchor", tuple(float(value) for value in self.anchor))
        if not np.all(np.isfinite(self.anchor)):
            raise ValueError(f"Conformal needs an anchor of finite numbers, not {self.anchor!r}.")

    def features(self, X):
        """φ(X), shape (n_rows, n_features)."""
        X = as_floats(X.toarray() if issparse(X) else X)
        if X.shape[1] != len(self.anchor):
            raise ValueError(
                f"The anchor has {len(self.anchor)} features and X has {X.shape[1]}; "
                "give an anchor of the same space."
            )
        away = X - np.asarray(self.anchor, dtype=X.dtype)
        squares = away**2
        if not self.per_feature:
            squares = squares.sum(axis=1, keepdims=True)
        return PROFILES[self.profile].values(squares, X.dtype.type(self.gamma)) * away

    def from_pairs(self, pairs):
        images = self.features(pairs.X)
        return images @ (images if pairs.is_square else self.features(pairs.Z)).T

    def diagonal(self, X):
        return (self.features(X) ** 2).sum(axis=1)

    def for_rows(self, X):
        return self
