"""Predictors made of others: on mapped rows, side by side, exponentials."""

from dataclasses import dataclass

import numpy as np

from .._compile import run_blocks
from ..maps import Affine
from .base import Cost, check_width
from .gated_expansion import gate_cost
from .tree_leaves import TreeLeaves
from .tree_path import TreePath


@dataclass(frozen=True)
class Mapped:
    """A predictor that sees rows through a map."""

    map: object
    predictor: object

    def __call__(self, X, n_jobs=None):
        """Scores, shape (n_rows, n_outputs); rows dense or CSR."""
        check_width(X, self.n_features)
        n_rows = getattr(self.predictor, "block_rows", None)
        if n_rows is None:
            return self.predictor(self.map(X), n_jobs=n_jobs)
        scores = np.empty((X.shape[0], self.n_outputs), dtype=self.dtype)

        def work(start, stop):
            scores[start:stop] = self.predictor(self.map(X[start:stop]), n_jobs=1)

        run_blocks(work, X.shape[0], n_rows, n_jobs)
        return scores

    def plain(self, X):
        """The same scores from the formula, in NumPy."""
        return self.predictor.plain(self.map(X))

    def local_features(self, X):
        """Of a tree on mapped rows: the gates of the nodes that each row passes."""
        return self.predictor.local_features(self.map(X))

    @property
    def n_features(self):
        return self.map.n_features

    @property
    def n_outputs(self):
        return self.predictor.n_outputs

    @property
    def dtype(self):
        return self.predictor.dtype

    @property
    def cost(self):
        """That of the map, and of the predictor."""
        own, linear = self.predictor.cost, self.n_features * self.n_outputs
        if isinstance(self.map, Affine):
            more, n_bytes = self.map.matrix[:, :-1].size, self.map.matrix.nbytes
        elif hasattr(self.map, "cost"):
            more, n_bytes = self.map.cost
        else:
            more, n_bytes = gate_cost(self.map.gate)
        work = own.multiply_adds + more
        return Cost(int(work), work / linear, int(own.n_bytes + n_bytes))


@dataclass(frozen=True)
class Stacked:
    """One predictor per output, side by side."""

    outputs: tuple

    def __call__(self, X, n_jobs=None):
        return np.hstack([output(X, n_jobs=n_jobs) for output in self.outputs])

    @property
    def n_features(self):
        return self.outputs[0].n_features

    @property
    def n_outputs(self):
        return sum(output.n_outputs for output in self.outputs)

    @property
    def dtype(self):
        return self.outputs[0].dtype

    @property
    def cost(self):
        costs = [output.cost for output in self.outputs]
        return Cost(
            sum(cost.multiply_adds for cost in costs),
            sum(cost.times_linear for cost in costs) / len(costs),
            sum(cost.n_bytes for cost in costs),
        )


@dataclass(frozen=True)
class Exponential:
    """exp f(x): values whose logarithm is what a predictor tells, such as means of counts."""

    predictor: object

    def __call__(self, X, n_jobs=None):
        """Values, shape (n_rows, n_outputs); rows dense or CSR."""
        return np.exp(self.predictor(X, n_jobs=n_jobs))

    def plain(self, X):
        """The same values from the formula, in NumPy."""
        return np.exp(self.predictor.plain(X))

    @property
    def takes_missing(self):
        return getattr(self.predictor, "takes_missing", False)

    @property
    def n_features(self):
        return self.predictor.n_features

    @property
    def n_outputs(self):
        return self.predictor.n_outputs

    @property
    def dtype(self):
        return self.predictor.dtype

    @property
    def cost(self):
        return self.predictor.cost


def tree_predictor(splits, slopes, weights, intercept, node_gate, projection=None):
    """From the models of all nodes; with a ``projection``, the tree stands on projected rows."""
    if node_gate.name == "indicator":
        tree = TreeLeaves.of_nodes(splits, weights, intercept)
    else:
        tree = TreePath(splits, slopes, weights, intercept, node_gate)
    return tree if projection is None else Mapped(Affine(projection), tree)


def tree_and_projection(predictor):
    """The tree of a predictor, and the projection before it or None."""
    if isinstance(predictor, Mapped):
        return predictor.predictor, getattr(predictor.map, "matrix", None)
    return predictor, None
