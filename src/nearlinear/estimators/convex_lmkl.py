"""C-LMKL: localized multiple kernel learning as one convex problem, on clusters found before."""

from itertools import product
from numbers import Real
from typing import Any, Literal

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state

from .._hints import ClassWeight, Seed
from ..gates.clustering import limit_to_distinct
from ..gates.scores import Repeated, SoftmaxOf
from ..kernels.family import KernelsLike
from ..kernels.gated_grams import GatedGrams
from ..kernels.pairs import Pairs
from ..predictors.gated_expansion import GatedExpansion
from ..predictors.kernel_expansion import KernelExpansion
from ..solvers.localized.clusters import fit_kernel_clusters
from ..solvers.machine.bias import FreeBias
from ..solvers.mixture.groups import group_gap, solve_groups
from ..solvers.mixture.objective import Descent
from ._base import localized
from ._base.checks import at_least, require_memory, shared
from ._base.localized import Localized, component_scores, learn_localized, localized_setup
from ._base.model import Model

# Rows that take part in finding clusters: centers are averages, more hardly move them.
_MOST_ROWS = 20_000
# Rows that span the centers: with more training rows kernel k-means is approximate, in memory of
# at most 20,000 × 1,000 kernel values.
_CENTER_ROWS = 1000
_TILE = 256  # rows and columns of a kernel at once


class ConvexLMKLClassifier(ClassifierMixin, Model):
    r"""C-LMKL: every cluster of rows has kernel weights of its own, in one convex problem.

    Minimizes, for soft clusters :math:`c_l(x)` that are found before, over functions
    :math:`f_{lm}` of the kernels and weights :math:`\beta`,

    .. math:: \frac{1}{2} \sum_{l,m} \frac{\|f_{lm}\|^2}{\beta_{lm} } + C \sum_i
              \max\Bigl(0,\, 1 - y_i \bigl(\sum_l c_l(x_i) \sum_m f_{lm}(x_i) + b\bigr)\Bigr), \quad
              \beta \ge 0,\ \sum_m \beta_{lm}^p \le 1 \text{ for every } l.

    Parameters
    ----------
    kernels : str, kernel, function, Family or list of these, default="gaussians"
        The kernels that are combined. A name is "linear", "affine", "poly" or "gaussian";
        "gaussians" stands for Gaussian kernels of ten widths on all features. An object is one of
        :mod:`nearlinear.kernels`. A function takes two sets of rows and returns their Gram block.
    n_clusters : int, default=3
        Number of clusters. Kernel k-means finds them, under the mean of all kernels.
    p : float, default=4/3
        Norm of a cluster's weights. Near 1 few kernels have a weight; a larger p spreads the
        weights over all of them.
    C : float, default=10.0
        Weight of the losses: a larger C fits the training rows more closely.
    normalization : {"variance", "trace", "diagonal"} or None, default="variance"
        How kernels are scaled before they compete. "variance" divides each by the variance of the
        rows in its feature space, so that wide and narrow kernels have equal chances. "trace"
        divides by the mean of k(x, x). "diagonal" makes k(x, x) = 1. None takes kernels as they
        are. Scales come from distinct rows; of more than 500, about 500 stand for all.
    solver : {"smo", "mwu", "averaging"}, default="smo"
        How machines are solved. "smo" takes pair steps for the hinge loss. It works on Gram
        matrices where these fit into memory, and on rows computed on demand where not. "mwu" needs
        only columns of the Gram matrices, in memory that grows with rows × kernels. It has the
        squared hinge loss, so that its C weighs squared slacks. "averaging" is the same by the
        published averages of "A Unified View", section 5.2, with ε = 0.01: slower, and to a
        relative gap of 0.01 at best.
    tol : float, default=1e-2
        Learning stops at this relative duality gap: a smaller value takes longer.
    max_iter : int, default=500
        The most steps of the kernel weights.
    class_weight : dict, "balanced" or None, default=None
        A factor on the weight of each class. "balanced" gives all classes the same total weight.
    n_jobs : int or None, default=None
        Number of threads. Results do not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the clusters.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
    kernel_weights_ : array of shape (n_clusters, n_kernels), or a list of these
        Weights of the kernels; one array for each class if there are more than two.
    gate_ : SoftmaxOf, or a list of these
        The soft clusters; ``gate_values(X)`` has shape (n_rows, n_clusters).
    cluster_share_ : array of shape (n_clusters,), or a list of these
        Fraction of the training rows in each cluster.
    kernels_ : list
        The kernels as they are used, with their scales.
    objective_ : float
        The value of the training objective, summed over classes, in double precision.
    duality_gap_ : float
        How far ``objective_`` is above its optimum for these clusters, at most.
    n_iter_ : int
        Working sets of the last machine, for the slowest class.
    n_support_ : int
        Number of training rows that have a coefficient.
    support_share_ : float
        The same as a fraction of the distinct training rows.
    predictor_ : GatedExpansion
        All that prediction needs.
    cost_ : Cost
        What one prediction costs: multiply-adds, the same as a multiple of a linear model, bytes.

    Notes
    -----
    Follows [1]_ with the clusters of [2]_. For p > 1 the weights have a closed form, with one
    machine a step. For p = 1 Newton steps on one simplex per cluster find them, with exact zeros.
    Differs in: the duality gap is certified over all weights. Approximate kernel k-means [3]_
    counts all rows (20,000 of them at most), not the sample alone; it is used for more than 1,000
    rows. Clusters are a softmax of squared distances, divided by the mean difference between a
    row's squared distances to its two nearest centers.

    References
    ----------
    .. [1] Y. Lei, A. Binder, U. Dogan, M. Kloft, "Localized Multiple Kernel Learning - A Convex
           Approach", ACML 2016.
    .. [2] J. Moeller, S. Swaminathan, S. Venkatasubramanian, "A Unified View of Localized Kernel
           Learning", SDM 2016.
    .. [3] R. Chitta, R. Jin, T. Havens, A. Jain, "Approximate Kernel k-means", KDD 2011.
    """

    classes_: np.ndarray
    kernel_weights_: np.ndarray | Any
    gate_: Any
    cluster_share_: np.ndarray | Any
    kernels_: list[Any]
    objective_: float
    duality_gap_: float
    n_iter_: int
    n_support_: int
    support_share_: float
    predictor_: GatedExpansion

    _parameter_constraints = {
        **shared("kernels", "C", "normalization", "solver", "tol", "max_iter"),
        **shared("class_weight", "n_jobs", "random_state"),
        "n_clusters": [at_least(1)],
        "p": [at_least(1.0, Real)],
    }

    def __init__(
        self,
        kernels: KernelsLike = "gaussians",
        *,
        n_clusters: int = 3,
        p: float = 4 / 3,
        C: float = 10.0,
        normalization: Literal["variance", "trace", "diagonal"] | None = "variance",
        solver: Literal["smo", "mwu", "averaging"] = "smo",
        tol: float = 1e-2,
        max_iter: int = 500,
        class_weight: ClassWeight = None,
        n_jobs: int | None = None,
        random_state: Seed = None,
    ):
        self.kernels = kernels
        self.n_clusters = n_clusters
        self.p = p
        self.C = C
        self.normalization = normalization
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state

    gate_values = localized.gate_values

    def _learn(self, rows):
        setup = localized_setup(self, rows)
        gate = _soft_clusters(self, setup, check_random_state(self.random_state))
        values = gate(rows.X)

        def solve(problem):
            return _weigh(self, setup, gate, values, problem)

        return learn_localized(self, setup, solve)


def _weigh(model, setup, gate, values, problem):
    """Kernel weights of every cluster, for one output."""
    n_kernels, n_clusters = len(setup.kernels), values.shape[1]
    grams = setup.grams()
    grams.keep(range(n_kernels))
    kernel_of = np.tile(np.arange(n_kernels), n_clusters)
    gated = GatedGrams(grams, kernel_of, np.repeat(values, n_kernels, axis=1))
    objective = setup.objective(gated, problem, FreeBias())
    found, _ = solve_groups(
        Descent(objective), n_clusters, p=model.p, tol=model.tol, max_iter=model.max_iter
    )
    found = objective.certified(found, 0.5 * model.tol)
    machine = found.machine
    coefs = (machine.dual_coef[:, None] * gated.gates * found.weights).T
    components = component_scores(setup, coefs, kernel_of=kernel_of)
    attributes = {
        "gate_": gate,
        "kernel_weights_": found.weights.reshape(n_clusters, n_kernels),
        "cluster_share_": np.average(values, axis=0, weights=setup.rows.weight),
    }
    return Localized(
        GatedExpansion(Repeated(gate, n_kernels), components, machine.bias),
        machine.dual_coef != 0.0, found.objective, group_gap(found, n_clusters, model.p),
        machine.n_iter, attributes,
    )  # fmt: skip


def _soft_clusters(model, setup, rng):
    """The clusters of kernel k-means, under the mean of all kernels."""
    rows, kernels = setup.rows, setup.kernels
    X, n_rows = rows.X, rows.X.shape[0]
    n_seen = min(n_rows, _MOST_ROWS)
    n_bytes = 24 * n_seen * min(n_seen, _CENTER_ROWS)
    require_memory(n_bytes, "give fewer rows")
    n_clusters = limit_to_distinct(model.n_clusters, rows.n_distinct, "n_clusters")
    seen = _some(np.arange(n_rows), _MOST_ROWS, rng)
    sample = _some(seen, _CENTER_ROWS, rng)
    cross = _mean_kernel(kernels, X[seen], X[sample])
    gram = _mean_kernel(kernels, X[sample], X[sample])
    found = fit_kernel_clusters(cross, gram, rows.weight[seen], n_clusters, rng)
    mean = np.full(len(kernels), 1.0 / len(kernels))
    scores = KernelExpansion(
        tuple(kernels), X[sample],
        np.ascontiguousarray(mean[:, None, None] * found.coefficients.T, dtype=X.dtype),
        (-found.offsets).astype(X.dtype), rows.n_features,
    )  # fmt: skip
    return SoftmaxOf(scores, _sharpness(found.scores(cross)))


def _some(rows, most, rng):
    """All rows, or so many of them in their order."""
    return rows if len(rows) <= most else np.sort(rng.choice(rows, most, replace=False))


def _sharpness(scores):
    """Two over the mean distance between the two nearest centers' squared distances."""
    if scores.shape[1] == 1:
        return 1.0
    two = np.sort(scores, axis=1)[:, -2:]
    spread = 2.0 * float(np.mean(two[:, 1] - two[:, 0]))
    return 2.0 / spread if spread > 1e-12 else 1.0


def _mean_kernel(kernels, X, Z):
    total = np.zeros((X.shape[0], Z.shape[0]))
    for start, first in product(range(0, X.shape[0], _TILE), range(0, Z.shape[0], _TILE)):
        rows, columns = slice(start, start + _TILE), slice(first, first + _TILE)
        pairs = Pairs(X[rows], Z[columns])
        for kernel in kernels:
            total[rows, columns] += kernel.from_pairs(pairs)
    return total / len(kernels)
