"""What a tree's node adds to its linear model: the gate γ_k(x) = I_k(x) c_k(x).

``c`` is tanh(σ⟨θ'_k, z⟩) with directions of its own (eq. 10), a composition of tanh along the
path (eq. 9), or 1. Each kind says which projections it reads, and carries slopes back to them.

A node feature of one's own is a frozen dataclass g with ``g(u)`` and its derivative
``g.slope(u)``, for an array of u = ⟨θ'_k, z⟩: c_k = g(u), where the paper has tanh.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from ..._compile import compiled
from .balanced import count_splits, depth_of


class NodeGate(Protocol):
    """A node feature of one's own."""

    def __call__(self, u: Any) -> Any:
        """g(u) of an array."""

    def slope(self, u: Any) -> Any:
        """g'(u)."""


@dataclass(frozen=True)
class TanhNode:
    """c_k = tanh(σ⟨θ'_k, z⟩)."""

    sigma: float = 1.0
    name: ClassVar[str] = "tanh"

    def direction_rows(self, n_nodes):
        """Rows of the splits' and of the slopes' matrix."""
        return count_splits(depth_of(n_nodes)), n_nodes

    def values(self, split_scores, slope_scores, out):
        np.multiply(slope_scores, out.dtype.type(self.sigma), out=out)
        return np.tanh(out, out=out)

    def backward(self, features, slope_c, split_scores, split_slopes, slope_slopes):
        """Slopes of the loss in the slopes' projections; ``slope_c`` is ∂loss/∂c."""
        _tanh_backward(features, slope_c, features.dtype.type(self.sigma), slope_slopes)

    def path_slopes(self, projections, features):
        """∂c/∂⟨θ', z⟩ on a path."""
        return self.sigma * (1.0 - features**2)

    def along_path(self, slope_scores):
        """Features of the nodes on a path from their projections, one level per row."""
        if self.sigma != 1.0:
            slope_scores = slope_scores * slope_scores.dtype.type(self.sigma)
        return np.tanh(slope_scores)


@dataclass(frozen=True)
class CompositionalNode:
    """c_0 = tanh⟨θ_0, z⟩, c_k = tanh(c_parent ⟨θ_k, z⟩): continuous across the cells' borders."""

    name: ClassVar[str] = "compositional"

    def direction_rows(self, n_nodes):
        return n_nodes, 0

    def values(self, split_scores, slope_scores, out):
        np.tanh(split_scores[0], out=out[0])
        for node in range(1, len(out)):
            np.multiply(out[(node - 1) // 2], split_scores[node], out=out[node])
            np.tanh(out[node], out=out[node])
        return out

    def backward(self, features, slope_c, split_scores, split_slopes, slope_slopes):
        _compositional_backward(features, slope_c, split_scores, split_slopes)

    def along_path(self, split_scores):
        features = np.tanh(split_scores)
        for level in range(1, len(features)):
            np.tanh(features[level - 1] * split_scores[level], out=features[level])
        return features


@dataclass(frozen=True)
class IndicatorNode:
    """c_k = 1: the models along a path add up to one linear model for each leaf."""

    name: ClassVar[str] = "indicator"

    def direction_rows(self, n_nodes):
        return count_splits(depth_of(n_nodes)), 0

    def values(self, split_scores, slope_scores, out):
        out[...] = 1.0
        return out

    def backward(self, features, slope_c, split_scores, split_slopes, slope_slopes):
        """A constant has no slope."""


@dataclass(frozen=True)
class PolynomialNode:
    """g(u) = u ** degree, to be a node's feature."""

    degree: int = 2

    def __post_init__(self) -> None:
        if not isinstance(self.degree, int) or not 1 <= self.degree <= 10:
            raise ValueError(f"PolynomialNode needs a degree from 1 to 10, not {self.degree!r}.")

    def __call__(self, u):
        return u**self.degree

    def slope(self, u):
        return self.degree * u ** (self.degree - 1)


@dataclass(frozen=True)
class OwnNode:
    """c_k = g(⟨θ'_k, z⟩) for a function g that knows its slope."""

    function: object
    name: ClassVar[str] = "own"

    def direction_rows(self, n_nodes):
        return count_splits(depth_of(n_nodes)), n_nodes

    def values(self, split_scores, slope_scores, out):
        out[...] = self._checked(self.function(slope_scores), slope_scores)
        return out

    def backward(self, features, slope_c, split_scores, split_slopes, slope_slopes):
        """``slope_slopes`` holds the projections, and gets their slopes."""
        slope_slopes[...] = self.path_slopes(slope_slopes, features) * slope_c

    def path_slopes(self, projections, features):
        return self._checked(self.function.slope(projections), projections)

    def along_path(self, slope_scores):
        return self._checked(self.function(slope_scores), slope_scores)

    def _checked(self, values, like):
        values = np.asarray(values, dtype=like.dtype)
        if values.shape != like.shape:
            raise ValueError(
                f"{type(self.function).__name__} gave values of shape {values.shape} for an array "
                f"of shape {like.shape}: a node feature works on each number alone."
            )
        return values


def node_gate_of(given, sigma):
    """A node gate from its name, or from an object."""
    if isinstance(given, str):
        return TanhNode(float(sigma)) if given == "tanh" else NODE_GATES[given]()
    if isinstance(given, TanhNode | CompositionalNode | IndicatorNode):
        return given
    if not callable(given) or not hasattr(given, "slope"):
        raise ValueError(
            f"node_gate={given!r} must be one of {', '.join(map(repr, NODE_GATES))}, or an object "
            "g with g(u) and g.slope(u)."
        )
    return OwnNode(given)


NODE_GATES = {gate.name: gate for gate in (TanhNode, CompositionalNode, IndicatorNode)}


@compiled
def _tanh_backward(features, slope_c, sigma, slopes):
    one = features.dtype.type(1.0)
    for k in range(len(features)):
        c, p, s = features[k], slope_c[k], slopes[k]
        for i in range(len(c)):
            s[i] = sigma * (one - c[i] * c[i]) * p[i]


@compiled
def _compositional_backward(features, slope_c, split_scores, slopes):
    """Leaves first: what reaches c_k goes to ⟨θ_k, z⟩ and on to the parent's c."""
    one = features.dtype.type(1.0)
    for k in range(len(features) - 1, 0, -1):
        parent = (k - 1) // 2
        c, p, above, u = features[k], slope_c[k], features[parent], split_scores[k]
        s, higher = slopes[k], slope_c[parent]
        for i in range(len(c)):
            inner = (one - c[i] * c[i]) * p[i]
            s[i] += inner * above[i]
            higher[i] += inner * u[i]
    c, p, s = features[0], slope_c[0], slopes[0]
    for i in range(len(c)):
        s[i] += (one - c[i] * c[i]) * p[i]
