"""Kernels: what ⟨φ(x), φ(z)⟩ is.

Modules
-------
affine           Kernels whose features are the columns of a row and a constant.
base             What a kernel is.
candidates       Conformal kernels in numbers.
composite        Sums and products of kernels are kernels, and so are rescaled ones.
conformal        Locally linear kernels ⟨φ(x), φ(z)⟩ with φ(x) = h(x)(x − c).
conformal_grams  Gram matrices of conformal kernels through their explicit features.
family           Many kernels in one call, and kernels by name.
gated_grams      Gram matrices of gated kernels γ_q(x) γ_q(z) k(x, z), many gates to a kernel.
grams            Gram matrices of many kernels on the training rows.
pairs            Products and squared distances between two sets of rows.
row_order        Some rows that stand for all.
row_scales       Typical sizes of the training rows: what kernels take as their default scales.
rows             Where a solver gets its rows of the kernel matrix.
standard         Linear, polynomial and Gaussian kernels, a kernel on some columns.
tree_paths       Similarity by shared path: the local kernel of LDKL.
"""

from .composite import GatedSum, Product, Scaled, UnitDiagonal, WeightedSum
from .conformal import Conformal
from .family import Family, bank
from .row_scales import Absolute
from .standard import Custom, Gaussian, Linear, OnColumns, Polynomial
from .tree_paths import LDKLKernel

__all__ = [
    "Absolute",
    "Conformal",
    "Custom",
    "Family",
    "GatedSum",
    "Gaussian",
    "LDKLKernel",
    "Linear",
    "OnColumns",
    "Polynomial",
    "Product",
    "Scaled",
    "UnitDiagonal",
    "WeightedSum",
    "bank",
]
