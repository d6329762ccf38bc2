"""Kernels between two sets of rows that are tensors: the formulas of ``kernels/standard.py``."""

from functools import cached_property, singledispatch

import torch

from ...kernels.composite import Product, Scaled, UnitDiagonal
from ...kernels.standard import Gaussian, Linear, OnColumns, Polynomial


class Pairs:
    """All pairs of rows of ``X`` and ``Z``; row i of ``X`` is row ``first + i`` of ``Z``, if any.

    Gaussians of ten widths share one matrix of distances, which must not be written to. Distances
    are those of ``near``, the same rows about another origin, where that keeps more digits.
    """

    def __init__(self, X, Z, first=None, near=None):
        self.X, self.Z, self.first = X, Z, first
        self._near, self._on = (X, Z) if near is None else near, {}

    def on(self, columns):
        """The same pairs of rows, seen on some columns only."""
        if columns not in self._on:
            index = list(columns)
            near = tuple(rows[:, index] for rows in self._near)
            self._on[columns] = Pairs(self.X[:, index], self.Z[:, index], self.first, near)
        return self._on[columns]

    @cached_property
    def products(self):
        return self.X @ self.Z.T

    @cached_property
    def squared_distances(self):
        """‖x − z‖²."""
        X, Z = self._near
        center = Z.mean(0)  # distances of rows far from the origin would drown in rounding
        X, Z = X - center, Z - center
        squares = torch.addmm(Z.square().sum(1)[None, :], X, Z.T, alpha=-2.0)
        squares += X.square().sum(1)[:, None]
        squares.clamp_min_(0.0)
        if self.first is not None:
            squares.diagonal(self.first).zero_()
        return squares


@singledispatch
def block(kernel, pairs):
    """The Gram block of some pairs: a new tensor."""
    raise ValueError(
        f"A device has linear, polynomial and Gaussian kernels, scaled, multiplied or on some "
        f"columns, but no {type(kernel).__name__}: leave device out."
    )


def is_known_kernel(kernel):
    """Whether a kernel, and what it is made of, has a block."""
    inner = getattr(kernel, "kernels", None) or [getattr(kernel, "kernel", None)]
    is_known = block.dispatch(type(kernel)) is not block.dispatch(object)
    return is_known and all(is_known_kernel(one) for one in inner if one is not None)


def column_sets(kernel):
    """Which columns a kernel, and what it is made of, sees, other than all."""
    own = {kernel.columns} if isinstance(kernel, OnColumns) else set()
    inner = getattr(kernel, "kernels", None) or [getattr(kernel, "kernel", None)]
    return own.union(*(column_sets(one) for one in inner if one is not None))


@singledispatch
def diagonal(kernel, X):
    """k(x, x) of every row."""
    raise block(kernel, None)


@block.register
def _(kernel: Linear, pairs):
    return pairs.products.clone()


@diagonal.register
def _(kernel: Linear, X):
    return X.square().sum(1)


@block.register
def _(kernel: Polynomial, pairs):
    return _power(kernel, pairs.products)


@diagonal.register
def _(kernel: Polynomial, X):
    return _power(kernel, X.square().sum(1))


def _power(kernel, products):
    values = (products * kernel.gamma).add_(kernel.coef0)
    return values if kernel.degree == 1 else values.pow_(int(kernel.degree))


@block.register
def _(kernel: Gaussian, pairs):
    return (pairs.squared_distances * -kernel.gamma).exp_()


@diagonal.register
def _(kernel: Gaussian, X):
    return torch.ones_like(X[:, 0])


@block.register
def _(kernel: OnColumns, pairs):
    return block(kernel.kernel, pairs.on(kernel.columns))


@diagonal.register
def _(kernel: OnColumns, X):
    return diagonal(kernel.kernel, X[:, list(kernel.columns)])


@block.register
def _(kernel: Scaled, pairs):
    return block(kernel.kernel, pairs).mul_(kernel.factor)


@diagonal.register
def _(kernel: Scaled, X):
    return diagonal(kernel.kernel, X) * kernel.factor


@block.register
def _(kernel: UnitDiagonal, pairs):
    left, right = (_inverse_root(kernel.kernel, rows) for rows in (pairs.X, pairs.Z))
    return block(kernel.kernel, pairs).mul_(left[:, None]).mul_(right)


@diagonal.register
def _(kernel: UnitDiagonal, X):
    return (diagonal(kernel.kernel, X) > 0).to(X.dtype)


def _inverse_root(kernel, X):
    values = diagonal(kernel, X)
    return torch.where(values > 0, values, 1.0).rsqrt() * (values > 0)


@block.register
def _(kernel: Product, pairs):
    first, *others = kernel.kernels
    values = block(first, pairs)
    for other in others:
        values *= block(other, pairs)
    return values


@diagonal.register
def _(kernel: Product, X):
    return torch.stack([diagonal(one, X) for one in kernel.kernels]).prod(0)
