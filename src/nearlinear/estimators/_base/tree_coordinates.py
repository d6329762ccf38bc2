"""The coordinates in which a tree is trained, and the way there and back."""

from dataclasses import dataclass

import numpy as np

from ...predictors.combined import tree_and_projection, tree_predictor
from ...solvers.trees.model import RowScaling, TreeModel
from .task import Classification

_WIDE = 100  # features from which the original schedule wants short rows


@dataclass(frozen=True)
class TreeCoordinates:
    """Scaled rows and targets; a tree found there is a predictor of the user's rows."""

    scaling: RowScaling
    scale: float = 1.0  # of the targets
    offset: float = 0.0

    @classmethod
    def of(cls, model, rows):
        """Values are standardized, so that C and the steps mean the same in any unit."""
        scaling, n_features = RowScaling.of(rows.X, rows.weight), rows.X.shape[1]
        if model.solver == "sgd" and n_features >= _WIDE:
            scaling = RowScaling(scaling.center, scaling.scale * np.sqrt(n_features))
        if isinstance(rows.task, Classification):
            return cls(scaling)
        values = rows.targets[:, 0].astype(np.float64)
        center = float(np.average(values, weights=rows.weight))
        spread = float(np.sqrt(np.average((values - center) ** 2, weights=rows.weight)))
        is_constant = spread <= np.finfo(rows.targets.dtype).eps * abs(center)
        return cls(scaling, 1.0 if is_constant else spread, center)

    def rows(self, X):
        return self.scaling(X)

    def targets(self, rows):
        if (self.scale, self.offset) == (1.0, 0.0):
            return rows.targets
        return ((rows.targets - self.offset) / self.scale).astype(rows.X.dtype)

    def predictor(self, model):
        projected = model.projection is not None
        unscaled = _unchanged if projected else self.scaling.unscaled
        weights = unscaled(model.weights) * model.weights.dtype.type(self.scale)
        return tree_predictor(
            unscaled(model.splits),
            unscaled(model.slopes),
            weights,
            np.full(weights.shape[1], self.offset, dtype=weights.dtype),
            model.node_gate,
            self.scaling.unscaled_projection(model.projection) if projected else None,
        )

    def model(self, predictor, dtype):
        """The tree of a predictor that was found in these coordinates."""
        tree, projection = tree_and_projection(predictor)
        projected = projection is not None
        scaled = _unchanged if projected else self.scaling.scaled
        weights = tree.weights
        if tree.node_gate.name == "indicator":
            inner = np.zeros((len(weights) - 1, *weights.shape[1:]), dtype=weights.dtype)
            weights = np.concatenate([inner, weights])
        projection = self.scaling.scaled(projection)[:, :-1] if projected else None
        slopes = getattr(tree, "slopes", tree.splits[:0])
        arrays = scaled(tree.splits), scaled(slopes), scaled(weights) / self.scale
        return TreeModel(
            *(np.ascontiguousarray(array, dtype=dtype) for array in arrays),
            tree.node_gate,
            np.ascontiguousarray(projection, dtype=dtype) if projected else None,
        )


def _unchanged(directions):
    return directions
