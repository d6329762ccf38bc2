"""Kernels as sums of terms, so that a loop over a table can take the place of any nesting.

A group is Σ_t factor_t k_t with k_t Gaussian or polynomial on some columns, multiplied by
1 / √(k(x, x) k(z, z)) where it has a unit diagonal. Every kernel that has C is a sum of groups.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..kernels.composite import Scaled, UnitDiagonal, WeightedSum
from ..kernels.standard import Gaussian, Linear, OnColumns, Polynomial
from .c_literals import CSourceError

GAUSSIAN = 0  # in place of a degree


@dataclass(frozen=True)
class Term:
    """factor × exp(−gamma d²), or factor × (gamma ⟨x, z⟩ + coef0) ** degree, on ``columns``."""

    columns: tuple[int, ...]
    degree: int
    gamma: float
    coef0: float
    factor: float = 1.0

    def diagonal(self, Z):
        """The term's own value at pairs of equal rows."""
        if self.degree == GAUSSIAN:
            return np.full(len(Z), self.factor)
        squares = (Z[:, list(self.columns)] ** 2).sum(axis=1)
        return self.factor * (self.gamma * squares + self.coef0) ** self.degree


@dataclass(frozen=True)
class Group:
    """Terms that are added up; ``factor`` stands outside of a unit diagonal."""

    terms: tuple[Term, ...]
    is_unit: bool = False
    factor: float = 1.0

    def times(self, factor):
        if self.is_unit:
            return replace(self, factor=self.factor * factor)
        terms = tuple(replace(term, factor=term.factor * factor) for term in self.terms)
        return replace(self, terms=terms)

    def row_factors(self, Z):
        """What the group's value at (x, z) is to be multiplied with for every z."""
        if not self.is_unit:
            return np.ones(len(Z))
        diagonal = sum(term.diagonal(Z) for term in self.terms)
        roots = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
        return np.where(diagonal > 0, self.factor / roots, 0.0)


def flatten(kernel, columns):
    """A kernel on rows that consist of these columns, as groups."""
    if isinstance(kernel, Linear):
        return [Group((Term(columns, 1, 1.0, 0.0),))]
    if isinstance(kernel, Polynomial):
        term = Term(columns, int(kernel.degree), float(kernel.gamma), float(kernel.coef0))
        return [Group((term,))]
    if isinstance(kernel, Gaussian):
        return [Group((Term(columns, GAUSSIAN, float(kernel.gamma), 0.0),))]
    if isinstance(kernel, OnColumns):
        return flatten(kernel.kernel, tuple(columns[d] for d in kernel.columns))
    if isinstance(kernel, Scaled):
        return [group.times(float(kernel.factor)) for group in flatten(kernel.kernel, columns)]
    if isinstance(kernel, WeightedSum):
        return _sum(kernel, columns)
    if isinstance(kernel, UnitDiagonal):
        return [_unit_diagonal(flatten(kernel.kernel, columns))]
    raise CSourceError(
        f"A {type(kernel).__name__} kernel has no C source: fit with linear, polynomial or "
        "Gaussian kernels, on all columns or on some, or sums of them."
    )


def columns_read(kernels, n_features):
    """Numbers of the columns that some kernel reads, in order."""
    every = tuple(range(n_features))
    groups = [group for kernel in kernels for group in flatten(kernel, every)]
    return sorted({d for group in groups for term in group.terms for d in term.columns})


def _sum(kernel, columns):
    parts = zip(kernel.kernels, kernel.weights, strict=True)
    groups = [
        group.times(float(weight))
        for part, weight in parts
        if weight != 0.0
        for group in flatten(part, columns)
    ]
    plain = tuple(term for group in groups if not group.is_unit for term in group.terms)
    joined = [Group(plain)] if plain else []
    return joined + [group for group in groups if group.is_unit]


def _unit_diagonal(groups):
    if len(groups) == 1 and groups[0].is_unit:
        return replace(groups[0], factor=1.0)
    if len(groups) != 1:
        raise CSourceError(
            "A UnitDiagonal of a sum that holds another UnitDiagonal has no C source: fit with "
            "normalisation='variance'."
        )
    terms = groups[0].terms
    if len(terms) == 1 and terms[0].degree == GAUSSIAN:
        return Group((replace(terms[0], factor=1.0),))
    return Group(terms, is_unit=True)
