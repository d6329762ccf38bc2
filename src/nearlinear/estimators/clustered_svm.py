"""CSVM: one linear SVM for each cluster, held together by a common one."""

from typing import Literal

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state

from .._hints import Auto, ClassWeight, Seed
from ..gates.anchors import SoftAssignment
from ..gates.clustering import assign, fit_anchors, limit_to_distinct
from ..losses import LOSSES
from ..predictors.locally_linear import LocallyLinear
from ..solvers.anchors.fixed_gate import copies_in_steps, solve_local_models
from ._base.capacity import Verdict
from ._base.checks import at_least, cost, one_of, positive, require_memory, row_copies, shared
from ._base.local_search import AFFINE, LocalSetting, Solved, learn_local
from ._base.model import Model


class ClusteredSVMClassifier(ClassifierMixin, Model):
    r"""Clustered SVM: a linear SVM in each k-means cluster, aligned with a global one.

    Minimizes, over a global :math:`w` and one :math:`w_l` for each cluster,

    .. math:: \frac{\lambda}{2} \|w\|^2 + \frac{1}{2} \sum_l \|w_l - w\|^2
              + C \sum_l \sum_{i \in l} \max(0,\, 1 - y_i \langle w_l, x_i \rangle)

    with rows augmented by a constant. In :math:`v_l = w_l - w` this is one linear SVM under the
    gate :math:`(1/\sqrt\lambda, e_l)`.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        Number of clusters. "auto" finds it on held-out training rows, from one, which is a linear
        model, to 100, at most one for every ten rows (see Notes).
    alignment : float, default=1.0
        :math:`\lambda`: small values hold the clusters' models to the global one, large values
        make them independent.
    C : float or "auto", default="auto"
        Weight of the losses. "auto" is found together with ``n_clusters="auto"``, relative to the
        spread of the features, and is 1 for a given number of clusters.
    loss : {"auto", "hinge", "squared_hinge", "log_loss"}, default="auto"
        With several classes, the hinges are summed one-vs-rest and the log loss is softmax, which
        gives ``predict_proba``. "auto" is the log loss where the number of clusters is found by a
        search of all rows, and the hinge otherwise: for a given number, and for more than 10,000
        rows or two million numbers.
    tol : float, default=1e-3
        Stop at this relative duality gap.
    max_iter : int, default=1000
        Most epochs of coordinate descent (iterations of L-BFGS for the log loss).
    class_weight : dict, "balanced" or None, default=None
        Factor on the weight of each class.
    max_memory : float or None, default=None
        Bytes that ``fit`` may take beyond the data; None stands for the machine's memory.
    n_jobs : int or None, default=None
        Threads; results do not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of k-means and of the order of coordinate steps.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Class labels.
    predictor_ : LocallyLinear
        One local model for each cluster center; a row is answered by the nearest.
    cost_ : Cost
        Multiply-adds per row, the same as a multiple of a linear model, and bytes.
    duality_gap_ : float
        The training objective is at most this far from its optimum.
    n_iter_ : int
        Epochs of the slowest class.
    setting_ : LocalSetting
        Number of clusters, C and loss that the model was trained with.
    settings_tried_ : list of Verdict
        Each setting that was tried, and its mean loss on held-out rows; empty for a given number
        of clusters.
    loss_ : str
        The loss that the model was trained with; "log_loss" gives ``predict_proba``.

    Notes
    -----
    Follows [1]_. Differs in: nothing but the exact solver.

    ``n_clusters="auto"`` tries 1, 6, 16, 48 and 100 clusters, each with several C, without a
    fifth of the rows, and judges them by their log loss, or else their errors, on that fifth,
    three times for small sets. The fewest clusters whose loss is within half a standard error
    of the lowest are taken. Beyond 10,000 rows or two million numbers a sample is searched, and
    of about equal settings the one with the most clusters is taken. Unless C is given, local
    models see rows about their mean, in units of their spread (CSR rows: in units of it), and
    weights in units of their mean, so that any origin and any common unit will do.

    References
    ----------
    .. [1] Q. Gu, J. Han, "Clustered Support Vector Machines", AISTATS 2013.
    """

    classes_: np.ndarray
    predictor_: LocallyLinear
    duality_gap_: float
    n_iter_: int
    setting_: LocalSetting
    settings_tried_: list[Verdict]
    loss_: str

    _searched = "n_clusters"
    _parameter_constraints = {
        **shared("tol", "max_iter", "class_weight", "max_memory", "n_jobs", "random_state"),
        "C": [cost(), one_of("auto")],
        "loss": [one_of("auto", "hinge", "squared_hinge", "log_loss")],
        "n_clusters": [at_least(1), one_of("auto")],
        "alignment": [positive()],
    }

    def __init__(
        self,
        n_clusters: int | Auto = "auto",
        *,
        alignment: float = 1.0,
        C: float | Auto = "auto",
        loss: Literal["auto", "hinge", "squared_hinge", "log_loss"] = "auto",
        tol: float = 1e-3,
        max_iter: int = 1000,
        class_weight: ClassWeight = None,
        max_memory: float | None = None,
        n_jobs: int | None = None,
        random_state: Seed = None,
    ):
        self.n_clusters = n_clusters
        self.alignment = alignment
        self.C = C
        self.loss = loss
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _learn(self, rows):
        return learn_local(self, rows, AFFINE, _solve)


def _solve(model, rows, scaled):
    rng, n_features = check_random_state(model.random_state), rows.X.shape[1]
    n_clusters = limit_to_distinct(model.n_clusters, rows.n_distinct, "n_clusters")
    numbers = n_clusters * (n_features + 1) * (rows.targets.shape[1] + 1)
    numbers = numbers * (1 + copies_in_steps(model.loss)) + 4 * rows.targets.size
    require_memory(8 * numbers + row_copies(rows.X), model.max_memory, "lower n_clusters")
    centers = fit_anchors(rows.X, n_clusters, rng, rows.weight)
    labels, _ = assign(rows.X, centers)
    indices = np.column_stack([np.zeros_like(labels), labels + 1]).astype(np.int32)
    common = 1.0 / np.sqrt(model.alignment)
    codes = np.tile(np.array([common, 1.0], dtype=rows.X.dtype), (len(labels), 1))
    solution, certified = solve_local_models(
        scaled.rows(rows.X), indices, codes, rows.targets, loss=LOSSES[model.loss],
        C=model.C * scaled.weight(rows.weight), n_components=len(centers) + 1, tol=model.tol,
        max_iter=model.max_iter, rng=rng, n_jobs=model.n_jobs,
    )  # fmt: skip
    common, gate = rows.X.dtype.type(common), SoftAssignment(centers, 1, 1.0)
    predictor = scaled.predictor(
        gate,
        solution.weights[1:] + common * solution.weights[:1],
        solution.biases[1:] + common * solution.biases[:1],
    )
    return Solved(predictor, solution, certified)
