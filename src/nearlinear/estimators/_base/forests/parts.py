"""A forest piece by piece: the linear root, trees, and the refit of their leaves."""

from dataclasses import dataclass, replace

import numpy as np

from ....gates.forests.gate import GrownTree, gather_trees
from ....losses import LogLoss, SquaredError
from ....predictors.forest import filled, forest_of
from ....solvers.anchors.linear_root import solve_linear
from ....solvers.forests.monotone import tree_orders
from ....solvers.forests.refit import refit_path, scores_of
from ....solvers.forests.row_losses import typical_curvature
from .boosting import BOOSTING, working_response
from .grown import GrownForest, joined
from .pair_screening import column_scales
from .side_by_side import SIDE_BY_SIDE, grow_shares
from .taken import taken_over

_CHUNK = 20  # trees that are grown on one working response
_MOST_SLOPES = 32


@dataclass(frozen=True)
class Root:
    """⟨w, x⟩ + b for every output; ``fill`` stands for missing values."""

    weights: np.ndarray
    intercept: np.ndarray
    fill: np.ndarray

    def scores(self, X):
        return filled(X, self.fill) @ self.weights.T + self.intercept

    def times(self, factor):
        """The same model, whose scores are multiplied."""
        return replace(self, weights=factor * self.weights, intercept=factor * self.intercept)


def fit_root(rows, loss, numeric, C):
    """The linear model with ½‖w‖² of standardized columns; those that are no numbers have 0."""
    X, weight = rows.X[:, numeric].astype(np.float64), rows.weight
    means, spreads = column_scales(X, weight)
    Z = (np.where(np.isnan(X), means, X) - means) / np.where(spreads > 0, spreads, 1.0)
    targets, center, unit = rows.targets.astype(np.float64), 0.0, 1.0
    if isinstance(loss, SquaredError):
        center = np.average(targets, axis=0, weights=weight)
        unit = np.sqrt(np.average((targets - center) ** 2, axis=0, weights=weight).mean()) or 1.0
    found = solve_linear(Z, (targets - center) / unit, weight, loss=loss, C=C) * unit
    slopes = found[:, :-1] / np.where(spreads > 0, spreads, 1.0)
    weights = np.zeros((len(found), rows.X.shape[1]))
    weights[:, numeric] = slopes
    fill = np.zeros(rows.X.shape[1])
    fill[numeric] = means
    return Root(weights, found[:, -1] + center - slopes @ means, fill)


def grow(rows, shape, columns, loss, root, *, grower, seed):
    """Trees for the loss; with a root, on what it leaves. ``grower`` is a name or a forest."""
    A, n_features = columns.pairs.joined_to(rows.X), rows.X.shape[1]
    y = rows.labels if isinstance(loss, LogLoss) else rows.targets[:, 0]
    if grower in SIDE_BY_SIDE:
        kinds = SIDE_BY_SIDE[grower]()
        return grow_shares(
            A, y, rows.weight, shape, columns, n_features, loss, seed=seed, kinds=kinds
        )
    if grower not in BOOSTING:
        return taken_over(grower, columns, rows, loss)
    boosting, settings = BOOSTING[grower], {"seed": seed}
    if root is None:
        return boosting(A, y, rows.weight, shape, columns, n_features, loss, **settings)
    base = root.scores(rows.X)
    if not isinstance(loss, LogLoss):
        rest = (rows.targets - base)[:, 0]
        return boosting(A, rest, rows.weight, shape, columns, n_features, loss, **settings)
    return _grow_on_responses(A, rows, shape, columns, base, boosting, settings)


def _grow_on_responses(A, rows, shape, columns, scores, boosting, settings):
    """Trees on the working response of the log loss, which is worked out anew after some trees."""
    n_features, n_outputs, parts = rows.X.shape[1], scores.shape[1], []
    intercept, scores, left = np.zeros(n_outputs), scores.copy(), shape.n_trees
    while left > 0:
        chunk = replace(shape, n_trees=min(_CHUNK, left))
        response, weight = working_response(scores, rows.targets, rows.weight)
        found = [
            boosting(
                A, response[:, k], weight[:, k], chunk, columns, n_features, SquaredError(),
                **settings,
            )
            for k in range(n_outputs)
        ]  # fmt: skip
        for k, one in enumerate(found):
            intercept[k] += one.intercept[0]
            scores[:, k] += one.intercept[0] + _told(one, rows.X)
        parts.append(_by_round(found))
        left -= chunk.n_trees
    return replace(joined(parts), intercept=intercept)


def _told(grown, X):
    leaves = grown.gate(X)
    return grown.values[leaves, 0].sum(axis=1)


def _by_round(found):
    """Forests of single outputs as one forest, in which a round has a tree of each."""
    if len(found) == 1:
        return found[0]
    singles = [[one.tree(t) for t in range(one.gate.n_trees)] for one in found]
    rounds = [
        replace(tree, outputs=np.full(1, k, dtype=np.int32))
        for trees in zip(*singles, strict=True)
        for k, tree in enumerate(trees)
    ]
    return joined(rounds)


def no_trees(n_features, n_outputs):
    """A forest that adds nothing: one tree of one leaf."""
    nothing = np.array([-1])
    tree = GrownTree(
        nothing, np.zeros(1), nothing, nothing, np.zeros(1), np.zeros((1, 1)), np.ones(1)
    )
    gate, values, covers = gather_trees([tree], n_features, np.float32)
    return GrownForest(gate, values, np.zeros(1, dtype=np.int32), covers, np.zeros(n_outputs))


def base_scores(grown, root, X):
    base = np.tile(grown.intercept.astype(np.float64), (len(X), 1))
    return base if root is None else base + root.scores(X)


@dataclass(frozen=True)
class Slopes:
    """Which columns leaf models see, and how they are scaled for the refit."""

    columns: np.ndarray
    means: np.ndarray
    spreads: np.ndarray

    @classmethod
    def of(cls, rows, numeric):
        means, spreads = column_scales(rows.X[:, numeric], rows.weight)
        keep = spreads > 0
        if keep.sum() > _MOST_SLOPES:
            keep &= np.cumsum(keep) <= _MOST_SLOPES
        return cls(numeric[keep], means[keep], spreads[keep])

    def seen(self, X):
        Z = X[:, self.columns]
        return ((np.where(np.isnan(Z), self.means, Z) - self.means) / self.spreads).astype(
            np.float32
        )

    def unscaled(self, values, slopes):
        """The same leaf models of columns as they are."""
        slopes = slopes / self.spreads
        return values - slopes @ self.means, slopes


def refit_along(grown, base, rows, loss, lams, *, slopes=None, monotonic=None, **settings):
    """Leaves refitted together for one λ after another, on top of ``base`` (n_rows, n_outputs).

    λ counts rows: it means the same in all units of the values.
    """
    gate, leaves = grown.gate, grown.gate(rows.X, settings.get("n_jobs"))
    starts, values, outputs = gate.leaf_starts, grown.values, grown.outputs
    none = np.empty((*values.shape, 0))
    scores = scores_of(leaves, starts, values, none, outputs, None, base)
    unit = typical_curvature(loss, scores, rows.targets, rows.weight)
    return refit_path(
        leaves, starts, values, outputs, base, rows.targets, rows.weight, loss=loss,
        lams=[lam * unit for lam in lams], Z=None if slopes is None else slopes.seen(rows.X),
        tree_orders=() if monotonic is None else tree_orders(gate, monotonic), **settings,
    )  # fmt: skip


def forest_from(grown, root, values=None, leaf_slopes=None, slopes=None, fill=None):
    """The predictor of all parts."""
    values = grown.values if values is None else values
    intercept, more = grown.intercept, {}
    if root is not None:
        intercept = intercept + root.intercept
        more = {"root": root.weights, "fill": root.fill}
    if slopes is not None:
        values, leaf_slopes = slopes.unscaled(values, leaf_slopes)
        more |= {"slopes": leaf_slopes, "slope_columns": slopes.columns}
        if root is None:
            fill = np.zeros(grown.gate.n_features)
            fill[slopes.columns] = slopes.means
            more["fill"] = fill
    return forest_of(grown.gate, values, grown.outputs, intercept, grown.covers, **more)
