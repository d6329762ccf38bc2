"""The coordinates in which a tree is trained, and the way there and back."""

from dataclasses import dataclass

import numpy as np

from ...gates.trees.linked import linked_subtree, links_of_balanced
from ...maps import Affine, OwnFeatures, Quadratic, own_columns
from ...predictors.combined import Mapped, tree_and_projection, tree_predictor
from ...predictors.linked_tree import LinkedTree, linked_tree
from ...solvers.trees.model import RowScaling, TreeModel
from .task import Regression

_WIDE = 100  # features from which the original schedule wants short rows


@dataclass(frozen=True)
class TreeCoordinates:
    """Scaled rows and targets; a tree found there is a predictor of the user's rows.

    With a ``lift``, rows get further columns before those of the features. Weights see all of them,
    splits and slopes the features alone.
    """

    scaling: RowScaling
    scale: float | np.ndarray = 1.0  # of the targets
    offset: float | np.ndarray = 0.0
    lift: Quadratic | OwnFeatures | None = None

    @classmethod
    def of(cls, model, rows):
        """Values are standardized, so that C and the steps mean the same in any unit."""
        scaling, n_features = RowScaling.of(rows.X, rows.weight), rows.X.shape[1]
        if model.solver == "sgd" and n_features >= _WIDE:
            scaling = RowScaling(scaling.center, scaling.scale * np.sqrt(n_features))
        lift = _lift(model.global_features, scaling, rows.X)
        if lift is not None:
            scaling = RowScaling.of_more_columns(lift(rows.X), rows.weight, n_features)
        if not isinstance(rows.task, Regression):
            return cls(scaling, lift=lift)
        units = [deviation_and_mean(values, rows.weight) for values in rows.targets.T]
        if len(units) == 1:
            return cls(scaling, *units[0], lift)
        scale, offset = np.array(units, dtype=rows.X.dtype).T
        return cls(scaling, scale, offset, lift)

    def rows(self, X):
        return self.scaling(X if self.lift is None else self.lift(X))

    @property
    def n_seen(self):
        """Columns of scaled rows that splits see, the constant among them; None for all."""
        return None if self.lift is None else self.lift.n_features + 1

    def targets(self, rows):
        return self.in_units(rows.targets, rows.X.dtype)

    def in_units(self, targets, dtype):
        if np.ndim(self.scale) == 0 and (self.scale, self.offset) == (1.0, 0.0):
            return targets
        return ((targets - self.offset) / self.scale).astype(dtype)

    def predictor(self, model, kept=None):
        """Of a tree in training; ``kept`` says which nodes stay, or None for all."""
        kept = None if kept is None or kept.all() else kept
        projected = model.projection is not None
        # a projection contains the scaling
        unscaled = np.asarray if projected else self.scaling.unscaled
        weights = unscaled(model.weights)
        weights = weights * self._of_outputs(self.scale, weights.dtype)
        splits, slopes = unscaled(model.splits), unscaled(model.slopes)
        intercept = np.empty(weights.shape[1], dtype=weights.dtype)
        intercept[:] = self.offset
        projection = self.scaling.unscaled_projection(model.projection) if projected else None
        arrays = splits, slopes, weights, intercept, model.node_gate
        if kept is None and self.lift is None:
            return tree_predictor(*arrays, projection)
        if kept is None:
            tree = linked_tree(*arrays, links_of_balanced(model.depth))
        else:
            nodes, children = linked_subtree(model.depth, kept)
            tree = linked_tree(*arrays, children, nodes)
        if self.lift is not None:
            return Mapped(self.lift, tree)
        linked = tree if projection is None else Mapped(Affine(projection), tree)
        if kept is None or model.node_gate.name != "indicator":
            return linked
        # leaves alone have models in the whole tree: a few nodes less can take more bytes
        silent = np.where(kept[:, None, None], weights, weights.dtype.type(0.0))
        whole = tree_predictor(splits, slopes, silent, intercept, model.node_gate, projection)
        return min(linked, whole, key=lambda one: one.cost.n_bytes)

    def model(self, predictor, dtype):
        """The tree of a predictor that was found in these coordinates; it must be balanced."""
        tree, projection = tree_and_projection(predictor)
        projected = projection is not None
        scaled = np.asarray if projected else self.scaling.scaled
        weights = tree.weights
        if tree.node_gate.name == "indicator":
            n_nodes = 2 ** (tree.depth + 1) - 1
            inner = np.zeros((n_nodes // 2, *weights.shape[1:]), dtype=weights.dtype)
            weights = np.concatenate([inner, weights[-(n_nodes // 2 + 1) :]])
        projection = self.scaling.scaled(projection)[:, :-1] if projected else None
        slopes = getattr(tree, "slopes", tree.splits[:0])
        weights = scaled(weights) / self._of_outputs(self.scale, None)
        arrays = scaled(tree.splits), scaled(slopes), weights
        return TreeModel(
            *(np.ascontiguousarray(array, dtype=dtype) for array in arrays),
            tree.node_gate,
            np.ascontiguousarray(projection, dtype=dtype) if projected else None,
        )

    def _of_outputs(self, values, dtype):
        """Numbers of the outputs as factors of weights."""
        if np.ndim(values) == 0:
            return values if dtype is None else dtype.type(values)
        return values[:, None]


def is_balanced(predictor):
    """Whether a tree has all its nodes, so that training may go on from it."""
    tree, _ = tree_and_projection(predictor)
    return not isinstance(tree, LinkedTree) or len(tree.weights) == 2 ** (tree.depth + 1) - 1


def _lift(features, scaling, X):
    """What adds columns to rows for the weights alone, or None."""
    if isinstance(features, str) and features == "identity":
        return None
    center = scaling.center.astype(X.dtype)
    if isinstance(features, str):
        return Quadratic(center, scaling.scale)
    n_own = own_columns(features, X[:1]).shape[1]
    return OwnFeatures(features, n_own + X.shape[1], center, scaling.scale)


def count_global_columns(features, X):
    """Columns that ``global_features`` adds to rows."""
    if isinstance(features, str):
        return 0 if features == "identity" else X.shape[1] * (X.shape[1] + 1) // 2
    return own_columns(features, X[:1]).shape[1]


def deviation_and_mean(values, weight):
    """Deviation and mean of values; the deviation of equal ones is 1."""
    dtype, values = values.dtype, values.astype(np.float64)
    center = float(np.average(values, weights=weight))
    spread = float(np.sqrt(np.average((values - center) ** 2, weights=weight)))
    is_constant = spread <= np.finfo(dtype).eps * abs(center)
    return 1.0 if is_constant else spread, center
