"""SVM-KNN: a support vector machine among the neighbors of each query."""

from typing import Literal

import numpy as np
from sklearn.base import ClassifierMixin

from .._hints import ClassWeight
from ..predictors.neighborhood_svm import NeighborhoodSVM
from ._base.checks import at_least, one_of, positive, shared
from ._base.model import Learned, Model


class SVMKNNClassifier(ClassifierMixin, Model):
    r"""Nearest neighbors decide if they agree, else an SVM trained on them alone.

    For a query x with neighbors N(x) that do not all agree, minimizes

    .. math:: \frac{1}{2} \|f\|^2 + C \sum_{i \in N(x)} \max(0,\, 1 - y_i f(x_i))

    over linear functions (or functions of a Gaussian kernel) with a regularized bias, and
    answers f(x). Nothing is learned beforehand: a prediction costs a search and a small SVM.

    With several classes, every class that a neighbor has gets a machine against all other
    neighbors, and the highest score is answered. A class that no neighbor has is never
    answered: it scores below the others.

    Parameters
    ----------
    n_neighbors : int, default=20
        Size of the neighborhood, counted in distinct training rows.
    kernel : {"linear", "gaussian"}, default="linear"
        Kernel of the local machines.
    gamma : float, default=1.0
        Sharpness of the Gaussian kernel, relative to the neighborhood's squared radius.
    C : float, default=1.0
        Weight of the losses; neighborhoods are scaled to radius one.
    tol : float, default=1e-3
        A local machine is solved when no dual step changes a margin by this much. Predictions
        warn once (``ConvergenceWarning``) if some machines could not be solved.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weight of each class.
    n_jobs : int or None, default=None
        Threads of prediction; results do not depend on it.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Class labels.
    predictor_ : NeighborhoodSVM
        The distinct training rows.
    cost_ : Cost
        Cost of a brute-force search and one local Gram matrix.

    Notes
    -----
    Follows [1]_ with Euclidean neighbors. Differs in: one-vs-rest instead of pairwise machines,
    so that ``decision_function`` has one score per class; neighborhoods are centered and scaled,
    so that one C serves dense and sparse regions.

    References
    ----------
    .. [1] H. Zhang, A. Berg, M. Maire, J. Malik, "SVM-KNN: Discriminative Nearest Neighbor
           Classification for Visual Category Recognition", CVPR 2006.
    """

    classes_: np.ndarray
    predictor_: NeighborhoodSVM

    _takes_sparse = False
    _parameter_constraints = {
        **shared("C", "tol", "class_weight", "n_jobs"),
        "n_neighbors": [at_least(1)],
        "kernel": [one_of("linear", "gaussian")],
        "gamma": [positive()],
    }

    def __init__(
        self,
        n_neighbors: int = 20,
        *,
        kernel: Literal["linear", "gaussian"] = "linear",
        gamma: float = 1.0,
        C: float = 1.0,
        tol: float = 1e-3,
        class_weight: ClassWeight = None,
        n_jobs: int | None = None,
    ):
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.gamma = gamma
        self.C = C
        self.tol = tol
        self.class_weight = class_weight
        self.n_jobs = n_jobs

    def _learn(self, rows):
        predictor = NeighborhoodSVM(
            rows.X,
            rows.labels.astype(np.int64),
            self.C * rows.weight,
            len(rows.task.classes),
            min(self.n_neighbors, len(rows.X)),
            float(self.gamma) if self.kernel == "gaussian" else 0.0,
            float(self.tol),
        )
        return Learned(predictor)
