"""C-LMKL: localized multiple kernel learning as one convex problem, on clusters found before."""

from itertools import product
from numbers import Real

import numpy as np

from ..gates.clustering import limit_to_distinct
from ..gates.scores import Repeated, SoftmaxOf
from ..kernels.gated_grams import GatedGrams
from ..kernels.pairs import Pairs
from ..predictors.component_scores import ComponentScores
from ..predictors.gated import GatedExpansion
from ..predictors.kernel_expansion import KernelExpansion
from ..solvers.localized.clusters import fit_kernel_clusters
from ..solvers.mixture.groups import group_gap, solve_groups
from ..solvers.mixture.objective import Descent
from ..solvers.watch import Watch
from ._base.constraints import SHARED, at_least, positive
from ._base.gated_doc import documents_gated
from ._base.gated_machine import GATED_CONSTRAINTS, GatedMachines, Localized
from ._base.kernel_machine import KernelClassifier
from ._base.old_model import require_memory
from ._base.progress import teller

# Rows that take part in finding clusters: centers are averages, more hardly move them.
_MOST_ROWS = 20_000
_TILE = 256  # rows and columns of a kernel at once


@documents_gated(
    "GatedExpansion", "Working sets of the last machine.", "Most steps of the kernel weights.",
    "Seed of the clusters.", gap="for these clusters",
)  # fmt: skip
class ConvexLMKLClassifier(GatedMachines, KernelClassifier):
    r"""C-LMKL: kernel weights of their own for every cluster of rows, as one convex problem.

    Minimizes, for soft clusters :math:`c_l(x)` that are found before, over functions
    :math:`f_{lm}` of the kernels and weights :math:`\beta`,

    .. math:: \frac12 \sum_{l,m} \frac{\|f_{lm}\|^2}{\beta_{lm} } + C \sum_i
              \max\Big(0,\, 1 - y_i \big(\sum_l c_l(x_i) \sum_m f_{lm}(x_i) + b\big)\Big), \quad
              \beta \ge 0,\ \sum_m \beta_{lm}^p \le 1 \text{ for every } l.

    Parameters
    ----------
    %(kernels)s
    n_clusters : int, default=3
        Clusters of kernel k-means, under the mean of all kernels.
    p : float, default=4/3
        Norm of a cluster's weights: near 1 few kernels, large p all of them.
    sharpness : float, default=1.0
        How hard clusters are, in units of one over the mean difference of a row's squared distances
        to its two nearest centers.
    cluster_rows : int, default=1000
        Rows that span the centers. With no more rows than that, clusters are those of kernel
        k-means; else of its approximate form.
    %(shared)s

    Attributes
    ----------
    kernel_weights_ : array of shape (n_clusters, n_kernels), or a list of such
        Weights, one array per class if there are more than two.
    gate_ : SoftmaxOf
        The soft clusters; ``gate_values(X)`` has shape (n_rows, n_clusters).
    cluster_share_ : array of shape (n_clusters,)
        Share of the training rows.
    %(attributes)s

    Notes
    -----
    Follows [1]_ with the clusters of [2]_. For p > 1 weights have a closed form, one machine a
    step; for p = 1 they are found by Newton steps on one simplex per cluster, which gives exact
    zeros. Differs in: the duality gap is certified over all weights; approximate kernel k-means
    [3]_ counts all rows (20,000 of them at most), not the sample alone.

    References
    ----------
    .. [1] Y. Lei, A. Binder, U. Dogan, M. Kloft, "Localized Multiple Kernel Learning - A Convex
           Approach", ACML 2016.
    .. [2] J. Moeller, S. Swaminathan, S. Venkatasubramanian, "A Unified View of Localized Kernel
           Learning", SDM 2016.
    .. [3] R. Chitta, R. Jin, T. Havens, A. Jain, "Approximate Kernel k-means", KDD 2011.
    """

    _parameter_constraints = {
        **GATED_CONSTRAINTS,
        "class_weight": SHARED["class_weight"],
        "n_clusters": [at_least(1)],
        "p": [at_least(1.0, Real)],
        "sharpness": [positive()],
        "cluster_rows": [at_least(2)],
    }

    def __init__(
        self,
        kernels="gaussians",
        *,
        n_clusters=3,
        p=4 / 3,
        sharpness=1.0,
        cluster_rows=1000,
        C=10.0,
        normalization="variance",
        solver="smo",
        tol=1e-2,
        max_iter=500,
        class_weight=None,
        max_memory=None,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.kernels = kernels
        self.n_clusters = n_clusters
        self.p = p
        self.sharpness = sharpness
        self.cluster_rows = cluster_rows
        self.C = C
        self.normalization = normalization
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _learn_output(self, place, problem, rng):
        X, n_kernels, gate = place.rows.X, len(place.kernels), place.shared
        values = gate(X)
        n_clusters = values.shape[1]
        grams = place.grams()
        grams.keep(range(n_kernels))
        owners = np.tile(np.arange(n_kernels), n_clusters)
        gated = GatedGrams(grams, owners, np.repeat(values, n_kernels, axis=1))
        objective = place.objective(gated, problem)
        found, _ = solve_groups(
            Descent(objective), n_clusters, p=self.p, tol=self.tol, max_iter=self.max_iter,
            watch=Watch(teller(self, "step")),
        )  # fmt: skip
        found = objective.certified(found, 0.5 * self.tol)
        gap = group_gap(found, n_clusters, self.p)
        machine = found.machine
        components = ComponentScores.of_machines(
            place.kernels, owners, X,
            (machine.dual_coef[:, None] * gated.gates * found.weights).T,
            np.zeros(len(owners)), self.n_features_in_,
        )  # fmt: skip
        details = {
            "gate_": gate,
            "kernel_weights_": found.weights.reshape(n_clusters, n_kernels),
            "cluster_share_": np.average(values, axis=0, weights=place.rows.weight),
        }
        return Localized(
            GatedExpansion(Repeated(gate, n_kernels), components, machine.bias),
            machine.dual_coef != 0.0, found.objective, gap, machine.n_iter, details,
        )  # fmt: skip

    def _share(self, place, rng):
        """The soft clusters of kernel k-means, under the mean of all kernels."""
        X, weight = place.rows.X, place.rows.weight
        n_seen = min(X.shape[0], _MOST_ROWS)
        n_bytes = 24 * n_seen * min(n_seen, self.cluster_rows)
        require_memory(n_bytes, self.max_memory, f"lower cluster_rows={self.cluster_rows}")
        n_clusters = limit_to_distinct(self.n_clusters, place.rows.n_distinct, "n_clusters")
        seen = np.arange(X.shape[0])
        if len(seen) > _MOST_ROWS:
            seen = np.sort(rng.choice(seen, _MOST_ROWS, replace=False))
        sample = seen
        if len(seen) > self.cluster_rows:
            sample = np.sort(rng.choice(seen, self.cluster_rows, replace=False))
        mean = np.full(len(place.kernels), 1.0 / len(place.kernels))
        cross = _mean_kernel(place.kernels, X[seen], X[sample])
        gram = _mean_kernel(place.kernels, X[sample], X[sample])
        found = fit_kernel_clusters(cross, gram, weight[seen], n_clusters, rng)
        scores = KernelExpansion(
            tuple(place.kernels), X[sample],
            np.ascontiguousarray(
                mean[:, None, None] * found.coefficients.T, dtype=X.dtype
            ), (-found.offsets).astype(X.dtype), self.n_features_in_,
        )  # fmt: skip
        return SoftmaxOf(scores, self.sharpness * _relative_sharpness(found.scores(cross)))


def _relative_sharpness(scores):
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
