"""Kernels: what ⟨φ(x), φ(z)⟩ is."""

from .composite import GatedSum, Scaled, UnitDiagonal, WeightedSum
from .conformal import Conformal
from .family import Family, bank
from .standard import Custom, Gaussian, Linear, OnColumns, Polynomial

__all__ = [
    "Conformal",
    "Custom",
    "Family",
    "GatedSum",
    "Gaussian",
    "Linear",
    "OnColumns",
    "Polynomial",
    "Scaled",
    "UnitDiagonal",
    "WeightedSum",
    "bank",
]
