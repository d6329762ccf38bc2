"""DC-Pred++: cells, and in each a few Gaussians with slopes."""

from dataclasses import dataclass, replace

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import check_random_state

from .._compile import count_threads, run_blocks
from .._hints import Auto, ClassWeight, Seed
from .._warn import warn_user
from ..gates.anchors import SoftAssignment
from ..gates.clustering import limit_to_distinct
from ..losses import SquaredError, SquaredHinge
from ..predictors.gaussian_cells import GaussianCells
from ..predictors.locally_linear import LocallyLinear
from ..solvers.anchors.linear_root import solve_linear
from ..solvers.cells.newton import (
    constant_cell,
    every_row,
    inside_margin,
    solve_cell,
    solving_memory,
)
from ._base.capacity import Verdict, choose_setting
from ._base.cells import count_landmarks, place_cells
from ._base.checks import at_least, cost, one_of, require_memory, row_copies, shared
from ._base.model import Learned, Model

# "auto": numbers of cells that are tried, each from so many rows on; 0 is the linear model.
_TRIED = {0: 0, 1: 0, 8: 400, 32: 1600, 1024: 200_000}
_SEARCH_ROWS = 100_000  # enough to tell which number is best
_LOOSE = 1e-6  # a relative decrement that is worth a warning


class DCPredClassifier(ClassifierMixin, Model):
    r"""Divide-and-conquer prediction: a row's cell has a few Gaussians, each with a linear model.

    Rows are divided by k-means. In the cell :math:`c` of a row, with landmarks :math:`u_j`,

    .. math:: f(x) = b_c + \sum_j k(x, u_j) \left( o_j + \langle s_j, x - u_j \rangle \right),
              \quad k(x, u) = e^{-\gamma \|x - u\|^2} .

    Every cell minimizes, over all functions of this form,

    .. math:: \frac{1}{2} \|f - b_c\|_k^2 + C \sum_i \max(0,\, 1 - y_i f(x_i))^2 ,

    where the norm is that of the kernel's own space: this is the kernel SVM with the squared
    hinge, restricted to a few Gaussians and their derivatives. The problem is convex and solved
    to the optimum. Scores jump where a row passes from one cell to the next. At most 64 clusters
    with fewer than 1000 rows on average are fitted to the rows of the two nearest clusters.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        Number of cells. More than 64 are found in two steps, first a group and then a cell in
        it. "auto" takes the best of 1, 8 and 32 (and 1024, from 200,000 rows on) on held-out
        training rows, or a linear model where that is as good.
    n_landmarks : int or "auto", default="auto"
        Number of landmarks of a cell. "auto" is 16, or fewer of wide rows: a cell solves a system
        of n_landmarks × (n_features + 1) unknowns, at most 2000 and two for each of its rows.
    gamma : float, default=2.0
        Sharpness of the Gaussians, relative to the median squared distance inside a cell,
        averaged over the cells.
    C : float, default=10.0
        Weight of the losses.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weight of each class.
    n_jobs : int or None, default=None
        Threads; results do not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of k-means and of the held-out rows.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Class labels.
    n_clusters_ : int
        Number of cells; 0 where a linear model was chosen.
    gamma_ : float or None
        The gamma of the Gaussians, absolute; None of a linear model.
    newton_decrement_ : float
        Half of it is about how far the objective, summed over cells, is from its optimum.
    n_iter_ : int
        Most Newton steps of a cell.
    settings_tried_ : list of Verdict
        Numbers of cells that "auto" has tried, and the held-out loss of each.
    predictor_ : GaussianCells or LocallyLinear
        Cells, landmarks and slopes; or a linear model.
    cost_ : Cost
        Multiply-adds per row, the same as a multiple of a linear model, and bytes.

    Notes
    -----
    After [1]_, as far as its idea is public: pseudo-landmarks that differ from a landmark in one
    feature cost one more inner product for all of them together. Differs in: pseudo-landmarks in
    the limit of a small step, where they are derivatives of the Gaussian; coefficients are fitted
    to the labels and not to a kernel machine, which is not trained at all: landmarks are k-means
    centers of the rows of a cell and not of its support vectors; several classes
    share the landmarks, each against the rest; the number of cells is chosen on held-out rows.

    References
    ----------
    .. [1] C.-J. Hsieh, S. Si, I. S. Dhillon, "Fast Prediction for Large-Scale Kernel Machines",
           NIPS 2014.
    """

    classes_: np.ndarray
    n_clusters_: int
    gamma_: float | None
    newton_decrement_: float
    n_iter_: int
    settings_tried_: list[Verdict]

    _takes_sparse = False
    _parameter_constraints = {
        **shared("C", "class_weight", "n_jobs", "random_state"),
        "n_clusters": [at_least(1), one_of("auto")],
        "n_landmarks": [at_least(1), one_of("auto")],
        "gamma": [cost()],
    }

    def __init__(
        self,
        n_clusters: int | Auto = "auto",
        *,
        n_landmarks: int | Auto = "auto",
        gamma: float = 2.0,
        C: float = 10.0,
        class_weight: ClassWeight = None,
        n_jobs: int | None = None,
        random_state: Seed = None,
    ):
        self.n_clusters = n_clusters
        self.n_landmarks = n_landmarks
        self.gamma = gamma
        self.C = C
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _learn(self, rows):
        return _learn(self, rows, _Task(SquaredHinge(), inside_margin, _margin_errors))


class DCPredRegressor(RegressorMixin, Model):
    r"""Divide-and-conquer regression: a row's cell has a few Gaussians, each with a linear model.

    Rows are divided by k-means. In the cell :math:`c` of a row, with landmarks :math:`u_j`,

    .. math:: f(x) = b_c + \sum_j k(x, u_j) \left( o_j + \langle s_j, x - u_j \rangle \right),
              \quad k(x, u) = e^{-\gamma \|x - u\|^2} .

    Every cell minimizes :math:`\frac{1}{2} \|f - b_c\|_k^2 + C \sum_i (y_i - f(x_i))^2` over all
    functions of this form, with the norm of the kernel's own space: one linear system. Values
    jump where a row passes from one cell to the next. At most 64 clusters with fewer than 1000
    rows on average are fitted to the rows of the two nearest clusters.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        Number of cells. More than 64 are found in two steps, first a group and then a cell in
        it. "auto" takes the best of 1, 8 and 32 (and 1024, from 200,000 rows on) on held-out
        training rows, or a linear model where that is as good.
    n_landmarks : int or "auto", default="auto"
        Number of landmarks of a cell. "auto" is 16, or fewer of wide rows: a cell solves a system
        of n_landmarks × (n_features + 1) unknowns, at most 2000 and two for each of its rows.
    gamma : float, default=2.0
        Sharpness of the Gaussians, relative to the median squared distance inside a cell,
        averaged over the cells.
    C : float, default=10.0
        Weight of the losses, of values in units of their spread.
    n_jobs : int or None, default=None
        Threads; results do not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of k-means and of the held-out rows.

    Attributes
    ----------
    target_spread_ : float
        The unit in which C measures values: their standard deviation, outliers drawn in.
    n_clusters_ : int
        Number of cells; 0 where a linear model was chosen.
    gamma_ : float or None
        The gamma of the Gaussians, absolute; None of a linear model.
    newton_decrement_ : float
        Half of it is about how far the objective, summed over cells, is from its optimum.
    n_iter_ : int
        Most Newton steps of a cell: one, where no rounding is mended.
    settings_tried_ : list of Verdict
        Numbers of cells that "auto" has tried, and the held-out squared error of each.
    predictor_ : GaussianCells or LocallyLinear
        Cells, landmarks and slopes; or a linear model.
    cost_ : Cost
        Multiply-adds per row, the same as a multiple of a linear model, and bytes.

    Notes
    -----
    After [1]_; see :class:`DCPredClassifier` for the differences.

    References
    ----------
    .. [1] C.-J. Hsieh, S. Si, I. S. Dhillon, "Fast Prediction for Large-Scale Kernel Machines",
           NIPS 2014.
    """

    target_spread_: float
    n_clusters_: int
    gamma_: float | None
    newton_decrement_: float
    n_iter_: int
    settings_tried_: list[Verdict]

    _takes_sparse = False
    _parameter_constraints = {
        **shared("C", "n_jobs", "random_state"),
        "n_clusters": [at_least(1), one_of("auto")],
        "n_landmarks": [at_least(1), one_of("auto")],
        "gamma": [cost()],
    }

    def __init__(
        self,
        n_clusters: int | Auto = "auto",
        *,
        n_landmarks: int | Auto = "auto",
        gamma: float = 2.0,
        C: float = 10.0,
        n_jobs: int | None = None,
        random_state: Seed = None,
    ):
        self.n_clusters = n_clusters
        self.n_landmarks = n_landmarks
        self.gamma = gamma
        self.C = C
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _learn(self, rows):
        return _learn(self, rows, _Task(SquaredError(), every_row, _squared_errors))


@dataclass(frozen=True)
class _Task:
    """The loss of the linear model, which rows are active in a cell, and how models are judged."""

    loss: object
    active: object
    errors: object


def _margin_errors(scores, rows):
    return SquaredHinge().value(scores, rows.targets)


def _squared_errors(scores, rows):
    return ((scores - rows.targets) ** 2).sum(axis=1)


def _learn(model, rows, task):
    _require_memory(model, rows)
    rng = check_random_state(model.random_state)
    n_cells, tried = _choose(model, rows, task, rng)
    learned = _learn_cells(model, rows, task, n_cells, rng)
    decrement, objective = learned.attributes["newton_decrement_"], learned.state
    if decrement > _LOOSE * objective:
        warn_user(
            f"{type(model).__name__}: coefficients are only within {decrement:.1e} of the best for "
            f"their landmarks, of an objective of {objective:.1e}; scale the features or lower C."
        )
    attributes = {**learned.attributes, "settings_tried_": tried, **rows.task.unit_attributes}
    return Learned(learned.predictor, attributes)


def _require_memory(model, rows):
    n_rows, n_features = rows.X.shape
    n_landmarks = min(count_landmarks(model, n_rows, n_features), rows.n_distinct)
    of_rows = 2 * 8 * n_rows * (2 * n_landmarks + n_features + 8 * rows.targets.shape[1])
    of_matrix = solving_memory(n_landmarks * (n_features + 1))
    n_matrices = min(count_threads(model.n_jobs), _max_clusters(model, rows))
    size = of_rows + n_matrices * of_matrix + row_copies(rows.X)
    advice = "lower n_landmarks" if n_landmarks > 1 else "give rows of fewer columns, by PCA say"
    require_memory(size, advice)


def _max_clusters(model, rows):
    """Upper bound of the number of clusters, each of which one thread solves."""
    n_clusters = max(_TRIED) if model.n_clusters == "auto" else model.n_clusters
    return min(n_clusters, rows.n_distinct)


def _choose(model, rows, task, rng):
    """The number of cells, and the verdicts that led to it."""
    n_rows = rows.X.shape[0]
    if model.n_clusters != "auto":
        return limit_to_distinct(model.n_clusters, rows.n_distinct, "n_clusters"), []
    numbers = [number for number, least in _TRIED.items() if n_rows >= least]
    if n_rows > _SEARCH_ROWS:
        rows = rows.take(np.sort(rng.choice(n_rows, _SEARCH_ROWS, replace=False)))

    def losses(train, held_out, n_cells, seed):
        found = _learn_cells(model, train, task, n_cells, np.random.RandomState(seed))
        return task.errors(found.predictor(held_out.X), held_out)

    return choose_setting(rows, numbers, losses, rng)


def _learn_cells(model, rows, task, n_cells, rng):
    """A model of so many cells, or a linear one; its state is the value of the objective."""
    units = rows.task.units
    targets = units.scaled(rows.targets)
    if n_cells == 0:
        predictor, found = _linear(rows, targets, task.loss, model.C), []
        return Learned(_in_units(predictor, units), _attributes(0, None, found), 0.0)
    placed = place_cells(model, rows, targets, n_cells, rng)
    solved = _solved(model, rows, targets, task, placed)
    predictor = placed.predictor([one.coef for one in solved], rows.X.dtype)
    attributes = _attributes(len(solved), float(placed.gamma), solved)
    return Learned(_in_units(predictor, units), attributes, sum(one.objective for one in solved))


def _solved(model, rows, targets, task, placed):
    """The ``CellSolution`` of every cell."""
    C, solved = model.C * rows.weight, [None] * len(placed.cells)

    def work(cell, _):
        mine = placed.members[cell]
        some, seen = targets[mine], placed.centered(rows.X[mine], cell)
        if np.all(some == some[0]):
            solved[cell] = constant_cell(some[0])
            return
        solved[cell] = solve_cell(
            placed.bumps[cell], seen, some, C[mine], task.active, dtype=rows.X.dtype
        )

    run_blocks(work, len(solved), 1, model.n_jobs)
    return solved


def _attributes(n_cells, gamma, found):
    return {
        "n_clusters_": n_cells,
        "gamma_": gamma,
        "newton_decrement_": float(sum(one.decrement for one in found)),
        "n_iter_": max((one.n_iter for one in found), default=0),
    }


def _linear(rows, targets, loss, C):
    X = rows.X
    model = solve_linear(X, targets.astype(X.dtype), rows.weight, loss=loss, C=C)
    gate = SoftAssignment(np.average(X, axis=0, weights=rows.weight)[None].astype(X.dtype), 1, 1.0)
    weights = np.ascontiguousarray(model[:, :-1].T[None], dtype=X.dtype)
    return LocallyLinear(gate, weights, np.ascontiguousarray(model[None, :, -1], dtype=X.dtype))


def _in_units(predictor, units):
    """The same predictor of values in their own unit."""
    if units.spread == 1.0 and units.center == 0.0:
        return predictor
    # the type's own numbers: a float64 would widen arrays of float32
    number = predictor.dtype.type
    spread, center = number(units.spread), number(units.center)
    names = ("slopes", "offsets") if isinstance(predictor, GaussianCells) else ("weights",)
    scaled = {name: spread * getattr(predictor, name) for name in names}
    return replace(predictor, **scaled, biases=spread * predictor.biases + center)
