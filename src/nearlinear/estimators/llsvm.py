"""LLSVM and LCC+SVM: a convex problem once the anchors stand."""

from dataclasses import replace
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state

from .._hints import Auto, ClassWeight, Rows, Seed, Targets
from .._sklearn import fit_context
from ..kernels.row_scales import Absolute
from ..losses import LOSSES
from ..predictors.locally_linear import LocallyLinear
from ..solvers.anchors.fixed_gate import copies_in_steps, solve_local_models
from ._base.anchors import (
    ANCHORS,
    SHARPNESS,
    check_memory,
    fit_kmeans_anchors,
    learn_more,
    make_gate,
)
from ._base.capacity import Verdict
from ._base.checks import cost, one_of, shared
from ._base.input import stream_rows
from ._base.local_search import (
    AFFINE,
    CONSTANT,
    LocalSetting,
    Solved,
    chosen_before,
    learn_local,
    usual,
)
from ._base.model import Model


class _FixedAnchorClassifier(ClassifierMixin, Model):
    """Local models on k-means anchors: linear (LLSVM) or constant (LCC+SVM)."""

    _settings: list[LocalSetting]  # candidates of the search
    _default_coding: str
    _has_slopes: bool

    classes_: np.ndarray
    predictor_: LocallyLinear
    duality_gap_: float
    n_iter_: int
    setting_: LocalSetting
    settings_tried_: list[Verdict]
    loss_: str

    _parameter_constraints = {
        **shared("n_anchors", "n_neighbors", "sharpness", "tol", "max_iter"),
        **shared("class_weight", "n_jobs", "random_state"),
        "C": [cost(), one_of("auto")],
        "loss": [one_of("auto", "hinge", "squared_hinge", "log_loss")],
        "coding": [one_of("auto", "soft", "inverse", "reconstruction")],
    }
    anchors_, sharpness_ = ANCHORS, SHARPNESS
    _goes_on_from_file = True
    _searched = "n_anchors"

    def __init__(
        self,
        n_anchors: int | Auto = "auto",
        n_neighbors: int = 8,
        *,
        coding: Literal["auto", "soft", "inverse", "reconstruction"] = "auto",
        sharpness: float | Absolute = 1.0,
        C: float | Auto = "auto",
        loss: Literal["auto", "hinge", "squared_hinge", "log_loss"] = "auto",
        tol: float = 1e-3,
        max_iter: int = 1000,
        class_weight: ClassWeight = None,
        n_jobs: int | None = None,
        random_state: Seed = None,
    ):
        self.n_anchors = n_anchors
        self.n_neighbors = n_neighbors
        self.coding = coding
        self.sharpness = sharpness
        self.C = C
        self.loss = loss
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _learn(self, rows):
        return learn_local(self, rows, self._settings, _solve)

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self,
        X: Rows,
        y: Targets,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """One stochastic step for each row; anchors are placed on the rows of the first call.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
            Rows.
        y : array of shape (n_samples,)
            Labels.
        classes : array or None, default=None
            All labels that will come; needed in the first call.
        sample_weight : array of shape (n_samples,) or None, default=None
            Weights of the rows.

        Returns
        -------
        self
        """
        return self._go_on(stream_rows(self, X, y, sample_weight, classes))

    def _learn_more(self, rows):
        model = usual(self, getattr(self, "loss_", "hinge"))
        learned = learn_more(
            model, rows, C=model.C, loss=model.loss, coding=model._gate_coding,
            width=rows.X.shape[1] if model._has_slopes else 0, anchor_rate=0.0,
            sharpness=model.sharpness,
        )  # fmt: skip
        return replace(learned, attributes={**chosen_before(model), "loss_": model.loss})

    @property
    def _gate_coding(self):
        return self._default_coding if self.coding == "auto" else self.coding


class LLSVMClassifier(_FixedAnchorClassifier):
    r"""Locally linear SVM: a linear SVM that varies smoothly over the space.

    Minimizes, over a weight vector :math:`w_j` and a bias :math:`b_j` for each anchor,

    .. math:: \frac{1}{2} \sum_j (\|w_j\|^2 + b_j^2) + C \sum_i \max(0,\, 1 - y_i f(x_i)), \quad
              f(x) = \sum_j \gamma_j(x) (\langle w_j, x \rangle + b_j),

    where :math:`\gamma(x)` are the local coordinates of x among its nearest anchors, fixed
    beforehand. The problem is convex and solved to a duality gap.

    Parameters
    ----------
    n_anchors : int or "auto", default="auto"
        Number of anchors, placed by k-means. "auto" chooses it on held-out training rows, from one,
        which is a linear model, to 100, at most one for every ten rows (see Notes).
    n_neighbors : int, default=8
        How many nearest anchors answer for a row. If there are fewer, all of them answer.
    coding : {"auto", "soft", "inverse", "reconstruction"}, default="auto"
        How the nearest anchors share a row: by a softmax of squared distances, by inverse
        distances, or by the numbers that best rebuild the row from its anchors. "auto" is "soft".
    sharpness : float or Absolute, default=1.0
        Sharpness of the soft assignment, relative to the spread of the distances to the nearest
        anchors. A larger value lets the nearest anchor answer almost alone.
        ``kernels.Absolute(number)`` is β of exp(−β ‖x − v‖²) itself.
    C : float or "auto", default="auto"
        Weight of the losses. A larger C fits the training rows more closely. "auto" is found
        together with ``n_anchors="auto"``, relative to the spread of the features, and is 1 for a
        given number of anchors.
    loss : {"auto", "hinge", "squared_hinge", "log_loss"}, default="auto"
        The loss of a row. With several classes the two hinges are summed over the classes, each
        against the rest, and the log loss is softmax, which gives ``predict_proba``. "auto" is the
        log loss where the number of anchors is found by a search of all rows, and the hinge
        otherwise: for a given number, and for more than 10,000 rows or two million numbers.
    tol : float, default=1e-3
        Learning stops when the objective is within this fraction of its optimum.
    max_iter : int, default=1000
        The most epochs of coordinate descent, or iterations of L-BFGS for the log loss.
    class_weight : dict, "balanced" or None, default=None
        A factor on the weight of each class. "balanced" gives all classes the same total weight.
    n_jobs : int or None, default=None
        Number of threads. Results do not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of k-means and of the order of coordinate steps.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
    predictor_ : LocallyLinear
        Gate, weights and biases: all that prediction needs.
    cost_ : Cost
        What one prediction costs: multiply-adds, the same as a multiple of a linear model, bytes.
    anchors_ : array of shape (n_anchors, n_features)
        Anchors of the gate.
    sharpness_ : float
        Sharpness of the soft assignment, in the units of the data (coding "soft" only).
    duality_gap_ : float
        How far the training objective is above its optimum, at most.
    n_iter_ : int
        Epochs of the slowest class.
    setting_ : LocalSetting
        Number of anchors, C and loss that the model was trained with.
    settings_tried_ : list of Verdict
        Each setting that was tried, and its mean loss on held-out rows; empty for a given number
        of anchors.
    loss_ : str
        The loss that the model was trained with; "log_loss" gives ``predict_proba``.

    Notes
    -----
    Follows [1]_ with the localized soft assignment of [2]_, eq. 2. Differs in: the bandwidth is
    taken from the data; biases are regularized (one kernel
    :math:`\langle\gamma(x), \gamma(x')\rangle (\langle x, x'\rangle + 1)`, no equality
    constraint); the solver is exact dual coordinate descent instead of SGD.

    ``n_anchors="auto"`` tries 1, 6, 16, 48 and 100 anchors, each with several C, without a
    fifth of the rows, and judges them by their log loss, or else their errors, on that fifth,
    three times for small sets. The fewest anchors whose loss is within half a standard error of
    the lowest are taken. Beyond 10,000 rows or two million numbers a sample is searched, and of
    about equal settings the one with the most anchors is taken. Unless C is given, local models
    see rows about their mean, in units of their spread (CSR rows: in units of it), and weights
    in units of their mean, so that any origin and any common unit will do.

    References
    ----------
    .. [1] L. Ladicky, P. Torr, "Locally Linear Support Vector Machines", ICML 2011.
    .. [2] X. Mao, Z. Fu, O. Wu, W. Hu, "Optimizing Locally Linear Classifiers with Supervised
           Anchor Point Learning", IJCAI 2015.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from nearlinear import LLSVMClassifier
    >>> X, y = make_moons(400, noise=0.1, random_state=0)
    >>> LLSVMClassifier(n_anchors=20, random_state=0).fit(X, y).score(X, y) > 0.95
    True
    """

    _settings, _default_coding, _has_slopes = AFFINE, "soft", True


class LCCSVMClassifier(_FixedAnchorClassifier):
    r"""Linear SVM on local coordinates: each anchor has a constant, a row mixes its neighbors'.

    Minimizes, over one number :math:`b_j` for each anchor (and class),

    .. math:: \frac{1}{2} \sum_j b_j^2 + C \sum_i \max(0,\, 1 - y_i f(x_i)), \quad
              f(x) = \sum_j \gamma_j(x)\, b_j .

    The cheapest of the anchor methods; accurate where anchors are dense.

    Parameters
    ----------
    n_anchors : int or "auto", default="auto"
        Number of anchors, placed by k-means. "auto" chooses it on held-out training rows, from 16
        to 250, at most one for every ten rows (see Notes).
    n_neighbors : int, default=8
        How many nearest anchors answer for a row. If there are fewer, all of them answer.
    coding : {"auto", "soft", "inverse", "reconstruction"}, default="auto"
        How the nearest anchors share a row: by a softmax of squared distances, by inverse
        distances, or by the numbers that best rebuild the row from its anchors. "auto" is
        "reconstruction".
    sharpness : float or Absolute, default=1.0
        Sharpness of the soft assignment, relative to the spread of the distances to the nearest
        anchors. A larger value lets the nearest anchor answer almost alone.
        ``kernels.Absolute(number)`` is β of exp(−β ‖x − v‖²) itself.
    C : float or "auto", default="auto"
        Weight of the losses. A larger C fits the training rows more closely. "auto" is found
        together with ``n_anchors="auto"``, and is 1 for a given
        number of anchors.
    loss : {"auto", "hinge", "squared_hinge", "log_loss"}, default="auto"
        The loss of a row. With several classes the two hinges are summed over the classes, each
        against the rest, and the log loss is softmax, which gives ``predict_proba``. "auto" is the
        log loss where the number of anchors is found by a search of all rows, and the hinge
        otherwise: for a given number, and for more than 10,000 rows or two million numbers.
    tol : float, default=1e-3
        Learning stops when the objective is within this fraction of its optimum.
    max_iter : int, default=1000
        The most epochs of coordinate descent, or iterations of L-BFGS for the log loss.
    class_weight : dict, "balanced" or None, default=None
        A factor on the weight of each class. "balanced" gives all classes the same total weight.
    n_jobs : int or None, default=None
        Number of threads. Results do not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of k-means and of the order of coordinate steps.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
    predictor_ : LocallyLinear
        Gate, weights and biases: all that prediction needs.
    cost_ : Cost
        What one prediction costs: multiply-adds, the same as a multiple of a linear model, bytes.
    anchors_ : array of shape (n_anchors, n_features)
        Anchors of the gate.
    duality_gap_ : float
        How far the training objective is above its optimum, at most.
    n_iter_ : int
        Epochs of the slowest class.
    setting_ : LocalSetting
        Number of anchors, C and loss that the model was trained with.
    settings_tried_ : list of Verdict
        Each setting that was tried, and its mean loss on held-out rows; empty for a given number
        of anchors.
    loss_ : str
        The loss that the model was trained with; "log_loss" gives ``predict_proba``.

    Notes
    -----
    Follows [1]_ with the codes of [2]_. Differs in: anchors come from k-means and are not
    re-learned for reconstruction.

    ``n_anchors="auto"`` tries 16, 48, 100 and 250 anchors, each with several C, without a fifth
    of the rows, and judges them by their log loss, or else their errors, on that fifth, three
    times for small sets. The fewest anchors whose loss is within half a standard error of the
    lowest are taken. Beyond 10,000 rows or two million numbers a sample is searched, and of
    about equal settings the one with the most anchors is taken.

    References
    ----------
    .. [1] K. Yu, T. Zhang, Y. Gong, "Nonlinear Learning using Local Coordinate Coding",
           NIPS 2009.
    .. [2] J. Wang et al., "Locality-constrained Linear Coding for Image Classification",
           CVPR 2010.
    """

    _settings, _default_coding, _has_slopes = CONSTANT, "reconstruction", False


def _solve(model, rows, scaled):
    itemsize = rows.X.dtype.itemsize
    copies = 2 + copies_in_steps(model.loss) * 8 // itemsize
    check_memory(model, rows.X, rows.task.n_outputs, itemsize, copies)
    rng = check_random_state(model.random_state)
    anchors = fit_kmeans_anchors(rows, model.n_anchors, rng).astype(rows.X.dtype, copy=False)
    gate = make_gate(anchors, rows.X, model.n_neighbors, model._gate_coding, model.sharpness)
    indices, codes = gate.codes(rows.X, model.n_jobs)
    solution, certified = solve_local_models(
        scaled.rows(rows.X) if model._has_slopes else rows.X[:, :0], indices, codes, rows.targets,
        loss=LOSSES[model.loss], C=model.C * scaled.weight(rows.weight), n_components=len(anchors),
        tol=model.tol, max_iter=model.max_iter, rng=rng, n_jobs=model.n_jobs,
    )  # fmt: skip
    predictor = scaled.predictor(gate, solution.weights, solution.biases)
    return Solved(predictor, solution, certified)
