"""The mean of several trees."""

from dataclasses import dataclass
from functools import reduce

import numpy as np

from .base import Cost
from .tree_path import TreePath


@dataclass(frozen=True)
class TreeForest:
    """Trees of one shape whose scores are averaged."""

    trees: tuple[TreePath, ...]

    def __call__(self, X, n_jobs=None):
        """Scores, shape (n_rows, n_outputs); rows dense or CSR."""
        return self._mean(tree(X, n_jobs) for tree in self.trees)

    def plain(self, X):
        """The same scores from the formula, in NumPy."""
        return self._mean(tree.plain(X) for tree in self.trees)

    def _mean(self, scores):
        total = reduce(np.add, scores)
        return total / total.dtype.type(len(self.trees))

    @property
    def weights(self):
        """Weights of the first tree; all have the same shape and type."""
        return self.trees[0].weights

    @property
    def dtype(self):
        return self.trees[0].dtype

    @property
    def cost(self):
        costs = [tree.cost for tree in self.trees]
        return Cost(
            sum(cost.multiply_adds for cost in costs),
            sum(cost.times_linear for cost in costs),
            sum(cost.n_bytes for cost in costs),
        )

    def to_arrays(self):
        """Plain arrays from which ``from_arrays`` rebuilds the predictor."""
        return {
            f"tree{number}_{name}": array
            for number, tree in enumerate(self.trees)
            for name, array in tree.to_arrays().items()
        }

    @classmethod
    def from_arrays(cls, arrays):
        trees = {}
        for key, array in arrays.items():
            number, _, name = key.removeprefix("tree").partition("_")
            trees.setdefault(int(number), {})[name] = array
        return cls(tuple(TreePath.from_arrays(trees[number]) for number in sorted(trees)))
