"""What a tree's node adds to its linear model: the gate γ_k(x) = I_k(x) c_k(x).

``c`` is tanh(σ⟨θ'_k, z⟩) with directions of its own (eq. 10), a composition of tanh along the
path (eq. 9), or 1. Each kind says which projections it reads, and carries slopes back to them.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..._compile import compiled
from .balanced import count_splits, depth_of


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


NODE_GATES = {gate.name: gate for gate in (TanhNode, CompositionalNode, IndicatorNode)}


def node_gate_of(name, sigma):
    """The node gate of a name; ``sigma`` is the steepness of tanh."""
    return TanhNode(float(sigma)) if name == "tanh" else NODE_GATES[name]()


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
