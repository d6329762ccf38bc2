"""What the search tries: families of models on encoded rows, cheap ones first.

A candidate is a setting: ``fit(rows, seed, n_jobs)`` returns a predictor or raises
MemoryError, ``cost(shape)`` returns the forecast cost of a prediction.
``scores`` says what its scores are: "odds" are logarithms of odds, "shares" are shares of classes,
and "margins" have to be calibrated.
"""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from ..estimators._base.checks import require_memory
from ..estimators._base.forests.orders import Columns
from ..estimators._base.forests.orders import Shape as TreeShape
from ..estimators._base.forests.pair_screening import screening_memory
from ..estimators._base.forests.plan import Plan, fit_plan, with_pairs
from ..estimators._base.forests.wishes import Wishes
from ..estimators.cpsp import CPSPClassifier
from ..estimators.dcpred import DCPredClassifier, DCPredRegressor
from ..estimators.forests.from_forest import from_forest
from ..estimators.ldkl import LDKLClassifier, LDKLRegressor
from ..estimators.mllkm import MLLKMClassifier, MLLKMRegressor
from ..estimators.uniform_mkl import UniformMKLClassifier, UniformMKLRegressor
from ..gates.anchors import SoftAssignment, default_sharpness
from ..gates.clustering import fit_anchors
from ..losses import LogLoss, SquaredError
from ..predictors.base import Cost
from ..predictors.combined import Stacked
from ..predictors.locally_linear import LocallyLinear
from ..solvers.anchors.fixed_gate import solve_gated_smooth
from ..solvers.forests.pairs import PairColumns
from ..solvers.forests.refit import refit_memory
from .fits.additive import fit_additive
from .fits.hinges import fit_hinges

_NEIGHBORS = 8
_N_KERNELS = 10  # of UniformMKL's defaults
_FEWER = "give fewer rows"
_DISTINCT, _NODE_BYTES = 0.64, 128  # of the rows that a tree of a random forest sees; of its nodes


@dataclass(frozen=True)
class Shape:
    """What the cost of a model depends on before it is fitted."""

    n_rows: int
    n_features: int
    n_outputs: int
    is_classification: bool

    def cost(self, work, n_numbers, n_bytes=4):
        linear = max(1, self.n_features) * self.n_outputs
        return Cost(int(work), work / linear, int(n_bytes * n_numbers))


@dataclass(frozen=True)
class Additive:
    """A linear model, or one on piecewise-linear columns."""

    C: float
    n_knots: int = 0
    scores = "odds"
    takes_sparse = True

    @property
    def family(self):
        return "piecewise linear" if self.n_knots else "linear"

    def fit(self, rows, seed, n_jobs):
        return fit_additive(rows, C=self.C, n_knots=self.n_knots)

    def cost(self, shape):
        d, outputs = shape.n_features, shape.n_outputs
        comparisons = int(np.ceil(np.log2(self.n_knots + 1))) * d if self.n_knots else 0
        numbers = (d + 1) * outputs
        if self.n_knots:  # and where those of each column begin, in two words
            numbers += d * self.n_knots * (outputs + 1) + 2 * (d + 1)
        return shape.cost(d * outputs + comparisons, numbers)


@dataclass(frozen=True)
class Anchors:
    """Local models around k-means anchors, shrunk toward one linear model that they share.

    f(x) = ⟨w, [x, 1]⟩ + τ Σ_j γ_j(x) ⟨u_j, [x, 1]⟩: since Σ_j γ_j = 1, its local models are
    w + τ u_j.
    """

    n_anchors: int
    local_scale: float
    C: float
    family = "anchors"
    scores = "odds"
    takes_sparse = True

    def fit(self, rows, seed, n_jobs):
        rng = np.random.RandomState(seed)
        n_anchors = min(self.n_anchors, rows.n_distinct)
        _require_for_anchors(rows, n_anchors)
        key = "anchors", n_anchors, seed
        anchors = rows.once(key, lambda: fit_anchors(rows.X, n_anchors, rng, rows.weight))
        n_neighbors = min(_NEIGHBORS, n_anchors)
        gate = SoftAssignment(
            anchors, n_neighbors, float(default_sharpness(anchors, n_neighbors, rows.X))
        )
        indices, codes = gate.codes(rows.X, n_jobs)
        everyone = np.full((len(indices), 1), n_anchors, dtype=indices.dtype)
        ones = np.ones((len(codes), 1), dtype=codes.dtype)
        is_classification, center = _is_classification(rows), 0.0
        if not is_classification:
            center = np.average(rows.targets, axis=0, weights=rows.weight)
        found = solve_gated_smooth(
            rows.X, np.hstack([indices, everyone]),
            np.hstack([codes * codes.dtype.type(self.local_scale), ones]), rows.targets - center,
            loss=LogLoss() if is_classification else SquaredError(), C=self.C * rows.weight,
            n_components=n_anchors + 1, tol=1e-3, max_iter=200,
        )  # fmt: skip
        scale = codes.dtype.type(self.local_scale)
        weights = scale * found.weights[:-1] + found.weights[-1]
        biases = scale * found.biases[:-1] + found.biases[-1] + center
        return LocallyLinear(gate, weights, biases.astype(weights.dtype))

    def cost(self, shape):
        n_anchors = min(self.n_anchors, shape.n_rows)
        k, d, outputs = min(_NEIGHBORS, n_anchors), shape.n_features, shape.n_outputs
        return shape.cost(
            n_anchors * d + k * (d + 1) * outputs, n_anchors * (d + 1) * (1 + outputs)
        )


@dataclass(frozen=True)
class Kernels:
    """A support vector machine on the mean of ten Gaussian kernels."""

    C: float
    family = "kernel machine"
    scores = "margins"
    takes_sparse = True

    def fit(self, rows, seed, n_jobs):
        kinds = UniformMKLClassifier, UniformMKLRegressor
        return _fitted(*kinds, rows, C=self.C, n_jobs=n_jobs)

    def cost(self, shape):
        """As if every row were a support row."""
        per_row = shape.n_features + _N_KERNELS * (1 + shape.n_outputs)
        n_numbers = shape.n_rows * (shape.n_features + shape.n_outputs)
        return shape.cost(shape.n_rows * per_row, n_numbers)


@dataclass(frozen=True)
class Boosted:
    """Boosted trees as the gate, as they were grown or with refitted leaves."""

    n_trees: int
    max_leaves: int
    learning_rate: float
    max_features: float = 0.5
    min_samples_leaf: int = 10
    n_pairs: int = 0
    leaf_penalty: float = np.inf
    family = "boosted trees"
    scores = "odds"
    takes_sparse = False

    def fit(self, rows, seed, n_jobs):
        n_outputs = rows.targets.shape[1]
        size = 24 * rows.X.shape[0] * (rows.X.shape[1] + self.n_pairs)
        if np.isfinite(self.leaf_penalty):
            size += refit_memory(rows.X.shape[0], self.n_trees, n_outputs, 0)
        if self.n_pairs:
            size = max(size, screening_memory(*rows.X.shape))
        require_memory(size, _FEWER)
        shape = TreeShape(
            self.n_trees, self.max_leaves, self.learning_rate, self.min_samples_leaf, 1.0,
            self.max_features,
        )  # fmt: skip
        plan = Plan(shape, False, n_pairs=self.n_pairs, lam=self.leaf_penalty)
        return _planned(plan, rows, seed, n_jobs)

    def cost(self, shape):
        n_leaves = min(self.max_leaves, max(2, shape.n_rows // self.min_samples_leaf))
        n_trees = self.n_trees * shape.n_outputs
        work = n_trees * (1 + 1.2 * np.log2(n_leaves)) + 2 * self.n_pairs
        return shape.cost(work, n_trees * n_leaves, 14)


@dataclass(frozen=True)
class Tree:
    """One decision tree, as deep as its rows want it: of forests, the one that costs least."""

    min_samples_leaf: int
    family = "decision tree"
    scores = "margins"
    takes_sparse = False

    def fit(self, rows, seed, n_jobs):
        require_memory(24 * rows.X.shape[0] * rows.X.shape[1], _FEWER)
        shape = TreeShape(1, None, 1.0, self.min_samples_leaf, max_features=None)
        return _planned(Plan(shape, False, grower="tree"), rows, seed, n_jobs)

    def cost(self, shape):
        told = shape.n_outputs if shape.is_classification else 1
        n_trees = 1 if shape.is_classification else shape.n_outputs
        n_leaves = max(2, shape.n_rows // (4 * self.min_samples_leaf))
        work = n_trees * (told + 1.2 * np.log2(n_leaves))
        return shape.cost(work, n_trees * n_leaves * (told + 3))


@dataclass(frozen=True)
class Bagged:
    """scikit-learn's random forest, walked by our predictor."""

    n_trees: int = 100
    min_samples_leaf: int = 2
    family = "random forest"
    scores = "shares"
    takes_sparse = False

    def fit(self, rows, seed, n_jobs):
        is_classification = _is_classification(rows)
        n_nodes = self.n_trees * _DISTINCT * 2 * rows.X.shape[0] / self.min_samples_leaf
        n_bytes = _NODE_BYTES + 16 * rows.targets.shape[1]  # twice: as it was grown, and as ours
        require_memory(n_nodes * n_bytes, _FEWER)
        kind = RandomForestClassifier if is_classification else RandomForestRegressor
        # scikit-learn's own choice for values is all columns, which makes trees alike
        columns = "sqrt" if is_classification else 1 / 3
        model = kind(
            self.n_trees, min_samples_leaf=self.min_samples_leaf, max_features=columns,
            random_state=seed, n_jobs=n_jobs,
        )  # fmt: skip
        return _side_by_side([
            from_forest(model.fit(rows.X, answer, rows.weight), rows.X[:200]).predictor_
            for answer in _answers(rows)
        ])  # fmt: skip

    def cost(self, shape):
        n_leaves = max(2, shape.n_rows // (2 * self.min_samples_leaf))
        told = shape.n_outputs if shape.is_classification else 1
        n_forests = 1 if shape.is_classification else shape.n_outputs
        work = n_forests * self.n_trees * (told + 1.2 * np.log2(n_leaves))
        return shape.cost(work, n_forests * self.n_trees * n_leaves * (told + 3))


@dataclass(frozen=True)
class Trees:
    """LDKL: trees of linear models with oblique splits, averaged; no depth is the method's own."""

    n_trees: int = 3
    depth: float = np.inf
    family = "oblique trees"
    scores = "odds"
    takes_sparse = True

    def fit(self, rows, seed, n_jobs):
        return _fitted(
            LDKLClassifier, LDKLRegressor, rows, n_trees=self.n_trees, random_state=seed,
            n_jobs=n_jobs,
            depth="auto" if np.isinf(self.depth) else int(self.depth),
        )  # fmt: skip

    def cost(self, shape):
        usual = max(1, min(8, int(np.log2(max(2, shape.n_rows / 50)))))
        depth = int(min(self.depth, usual))
        d, outputs = shape.n_features, shape.n_outputs
        work = self.n_trees * d * ((depth + 1) * (1 + outputs) + depth)
        return shape.cost(work, self.n_trees * 2**depth * d * (2 + outputs))


@dataclass(frozen=True)
class Hinges:
    """Layers of ReLU units, as many in each."""

    n_units: int
    n_layers: int = 1
    family = "hinge units"
    scores = "odds"
    takes_sparse = True

    def fit(self, rows, seed, n_jobs):
        units = (self.n_units,) * self.n_layers
        return fit_hinges(rows, seed, units=units)

    def cost(self, shape):
        width, inner = self.n_units, self.n_layers - 1
        weights = width * (shape.n_features + inner * width + shape.n_outputs)
        n_units = width * self.n_layers
        return shape.cost(weights + n_units, weights + n_units + shape.n_outputs)


@dataclass(frozen=True)
class LocalKernels:
    """MLLKM: few locally linear kernels, and a score of how well a row is known."""

    C: float = 1.0
    family = "local kernels"
    scores = "margins"
    takes_sparse = False

    def fit(self, rows, seed, n_jobs):
        return _fitted(
            MLLKMClassifier, MLLKMRegressor, rows, C=self.C, random_state=seed, n_jobs=n_jobs,
        )  # fmt: skip

    def cost(self, shape):
        n_kernels = min(shape.n_rows, 100)
        work = 2 * n_kernels * shape.n_features * shape.n_outputs
        return shape.cost(work, work)


@dataclass(frozen=True)
class Cells:
    """DC-Pred++: a kernel machine cut into cells, a few landmarks in each."""

    family = "cells"
    scores = "margins"
    takes_sparse = False

    def fit(self, rows, seed, n_jobs):
        return _fitted(
            DCPredClassifier, DCPredRegressor, rows, random_state=seed, n_jobs=n_jobs,
        )  # fmt: skip

    def cost(self, shape):
        work = 40 * (1 + shape.n_outputs) * (shape.n_features + 1)
        return shape.cost(work, 30 * work)


@dataclass(frozen=True)
class FewSupport:
    """CPSP: a kernel machine with a few basis rows of its own making."""

    n_basis: int = 100
    family = "few support rows"
    scores = "margins"
    takes_sparse = False

    def fit(self, rows, seed, n_jobs):
        model = CPSPClassifier(self.n_basis, random_state=seed, n_jobs=n_jobs)
        return model.fit(rows.X, rows.labels, rows.weight).predictor_

    def cost(self, shape):
        work = self.n_basis * (shape.n_features + 1 + shape.n_outputs)
        return shape.cost(work, work)


def _require_for_anchors(rows, n_anchors):
    """Codes and slopes of the rows, and what L-BFGS remembers of all local models."""
    n_rows, n_features = rows.X.shape
    n_outputs, k = rows.targets.shape[1], min(_NEIGHBORS, n_anchors) + 1
    numbers = (n_anchors + 1) * (n_features + 1) * n_outputs
    size = n_rows * (k * (24 + 8 * n_outputs) + 24 * n_outputs) + 25 * 8 * numbers
    require_memory(size, _FEWER)


def _planned(plan, rows, seed, n_jobs):
    """Trees of a plan, grown on all rows; of values one forest for each column."""
    wishes = Wishes(
        plan.shape, plan.root, plan.n_pairs, plan.lam, plan.has_slopes, plan.grower,
        Columns(PairColumns.none()), None, n_jobs,
    )  # fmt: skip
    is_classification = _is_classification(rows)
    loss = LogLoss() if is_classification else SquaredError()
    parts = [rows]
    if not is_classification:
        parts = [replace(rows, targets=column[:, None]) for column in rows.targets.T]
    made = []
    for number, part in enumerate(parts):
        key = "pairs", plan.n_pairs, number, seed
        columns = rows.once(key, partial(with_pairs, part, wishes, plan.n_pairs, loss, seed))
        known = replace(wishes, pairs=columns.pairs)
        made.append(fit_plan(part, plan, known, loss, seed).predictor)
    return _side_by_side(made)


def _is_classification(rows):
    return hasattr(rows.task, "classes")


def _answers(rows):
    """Labels, or each column of values."""
    return [rows.labels] if _is_classification(rows) else list(rows.targets.T)


def _fitted(classifier, regressor, rows, **parameters):
    """The predictor of an estimator; one for each column of values, side by side."""
    kind = classifier if _is_classification(rows) else regressor
    return _side_by_side([
        kind(**parameters).fit(rows.X, answer, rows.weight).predictor_ for answer in _answers(rows)
    ])  # fmt: skip


def _side_by_side(predictors):
    return predictors[0] if len(predictors) == 1 else Stacked(tuple(predictors))
