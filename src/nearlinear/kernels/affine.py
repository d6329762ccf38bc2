"""Kernels whose features are the columns of a row and a constant."""

from dataclasses import dataclass

import numpy as np

from .composite import Scaled
from .standard import Linear, OnColumns, Polynomial


@dataclass(frozen=True)
class AffineMap:
    """k(x, z) = Σ_d scales_d x_d z_d + constant."""

    scales: np.ndarray
    constant: float

    def times(self, factor):
        return AffineMap(factor * self.scales, factor * self.constant)


def affine_map(kernel, n_features):
    """The map of a kernel on rows of that many columns, None if it has no such map."""
    if isinstance(kernel, Linear):
        return AffineMap(np.ones(n_features), 0.0)
    if isinstance(kernel, Polynomial) and kernel.degree == 1 and kernel.gamma is not None:
        return AffineMap(np.full(n_features, kernel.gamma), float(kernel.coef0))
    if isinstance(kernel, Scaled):
        inner = affine_map(kernel.kernel, n_features)
        return None if inner is None else inner.times(kernel.factor)
    if isinstance(kernel, OnColumns):
        inner = affine_map(kernel.kernel, len(kernel.columns))
        if inner is None:
            return None
        scales = np.zeros(n_features)
        np.add.at(scales, list(kernel.columns), inner.scales)
        return AffineMap(scales, inner.constant)
    return None
