"""What a forest is made of, and the whole model of a plan."""

from dataclasses import dataclass, replace

import numpy as np

from ....solvers.forests.pairs import PairColumns
from .orders import Shape
from .pair_screening import numeric_columns, screen_pairs
from .parts import (
    Slopes,
    base_scores,
    fit_root,
    forest_from,
    grow,
    no_trees,
    refit_along,
)

BESIDE = "beside"  # a root: linear model and trees, each on its own, half and half


@dataclass(frozen=True)
class Plan:
    """``n_trees`` counts rounds; 0 with a root is the linear model. λ = ∞ leaves trees as grown."""

    shape: Shape
    root: bool | str  # True: the trees are grown on what it leaves; or BESIDE
    root_C: float = 1.0
    n_pairs: int = 0
    lam: float = np.inf
    has_slopes: bool = False
    grower: object = "hist"

    def settings(self):
        """In the words of the parameters; of a fitted forest, what was done to it."""
        found = {
            "leaf_penalty": None if np.isinf(self.lam) else float(self.lam),
            "leaf_model": "linear" if self.has_slopes else "constant",
        }
        if not isinstance(self.grower, str):
            return {"grower": type(self.grower).__name__, **found}
        return {
            "grower": self.grower, "n_trees": self.shape.n_trees,
            "max_leaves": self.shape.max_leaves, "learning_rate": self.shape.learning_rate,
            "min_samples_leaf": self.shape.min_rows,
            "max_features": self.shape.max_features, "pairs": self.n_pairs,
            "linear_root": self.root, **found,
        }  # fmt: skip

    def __str__(self):
        root = {False: "no root", True: "a linear root"}.get(self.root, f"a root {self.root}")
        shape = f"{self.shape.n_trees} trees of {self.shape.max_leaves} leaves"
        refit = "as grown" if np.isinf(self.lam) else f"refitted with {self.lam:g}"
        kind = ", linear leaves" if self.has_slopes else ""
        grower = self.grower if isinstance(self.grower, str) else type(self.grower).__name__
        return f"{grower}: {shape}, {root}, {self.n_pairs} pairs, {refit}{kind}"


@dataclass(frozen=True)
class Fitted:
    predictor: object
    gap: float
    pairs: PairColumns


def fit_plan(rows, plan, wishes, loss, seed):
    """The whole model on all rows."""
    columns = with_pairs(rows, wishes, plan.n_pairs, loss, seed)
    root = None
    if plan.root:
        root = fit_root(rows, loss, root_columns(rows, columns), plan.root_C)
    grown = grow_plan(rows, plan, columns, loss, root, seed)
    root = root_of(plan, root)
    if np.isinf(plan.lam) or plan.shape.n_trees == 0:
        return Fitted(forest_from(grown, root), 0.0, columns.pairs)
    slopes = Slopes.of(rows, slope_columns(rows, columns)) if plan.has_slopes else None
    found = next(
        refit_along(
            grown, base_scores(grown, root, rows.X), rows, loss, [plan.lam], slopes=slopes,
            monotonic=columns.monotonic, n_jobs=wishes.n_jobs, max_passes=8,
        )
    )  # fmt: skip
    predictor = forest_from(grown, root, found.values, found.slopes, slopes)
    return Fitted(predictor, found.relative_gap, columns.pairs)


def grow_plan(rows, plan, columns, loss, root, seed):
    if plan.shape.n_trees == 0:
        return no_trees(rows.X.shape[1], rows.targets.shape[1])
    below = root if plan.root is True else None
    grown = grow(rows, plan.shape, columns, loss, below, grower=plan.grower, seed=seed)
    return grown.times(0.5) if plan.root == BESIDE else grown


def root_of(plan, root):
    """What of a linear model is in the scores of a plan."""
    is_half = plan.root == BESIDE and plan.shape.n_trees > 0
    return root.times(0.5) if is_half else root if plan.root else None


def with_pairs(rows, wishes, n_pairs, loss, seed):
    if isinstance(wishes.pairs, PairColumns):
        return replace(wishes.columns, pairs=wishes.pairs)
    if n_pairs == 0:
        return wishes.columns
    pairs = screen_pairs(rows, wishes.columns, n_pairs, loss, seed)
    return replace(wishes.columns, pairs=pairs)


def root_columns(rows, columns):
    every = np.arange(rows.X.shape[1])
    return every if columns.categorical is None else every[~columns.categorical]


def slope_columns(rows, columns):
    return numeric_columns(rows.X, columns.categorical)
