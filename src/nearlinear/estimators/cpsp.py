"""CPSP: a kernel machine of few basis vectors, which are learned."""

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state

from .._hints import Auto, ClassWeight, Seed
from .._warn import warn_user
from ..gates.clustering import fit_class_anchors, limit_to_distinct
from ..kernels.row_scales import Absolute, RowScales, absolute
from ..kernels.standard import Gaussian
from ..predictors.kernel_expansion import KernelExpansion
from ..solvers.machine.basis import learning_memory, solve_learned_basis
from ._base.checks import at_least, one_of, positive, require_memory, row_copies, shared
from ._base.model import Learned, Model

# "auto": one basis vector for so many rows, between these bounds.
_ROWS_PER_VECTOR, _FEWEST, _MOST = 50, 5, 100
# Coefficients that are this far from the best for their basis are worth a warning.
_LOOSE = 1e-6


class CPSPClassifier(ClassifierMixin, Model):
    r"""Sparse Gaussian-kernel SVM: a fixed number of basis vectors, learned together with the rest.

    Minimizes, over basis vectors :math:`z`, coefficients :math:`\beta`, biases and the width,

    .. math:: \frac{1}{2} \sum_c \beta_c^\top K_{ZZ} \beta_c
              + C \sum_i \sum_c \max(0,\, 1 - y_{ic} f_c(x_i))^2, \quad
              f_c(x) = \sum_b \beta_{bc}\, e^{-\gamma \|x - z_b\|^2} + b_c.

    Several classes share the basis. A prediction costs as much as the basis is large, whatever
    the number of support vectors of a full machine.

    Parameters
    ----------
    n_basis : int or "auto", default="auto"
        Number of basis vectors. "auto" is one for every fifty training rows, from 5 to 100.
    C : float, default=1.0
        Weight of the losses; larger training sets may like 10.
    gamma : float or Absolute, default=2.0
        Sharpness of the Gaussian that training starts with, relative to the median squared
        distance between distinct rows (of more than 500, about 500 stand for all);
        ``kernels.Absolute(number)`` is γ itself.
    max_iter : int, default=50
        Most L-BFGS iterations on the basis; 0 keeps the k-means centers that it starts from.
    tol : float, default=1e-3
        Stop at this relative norm of the gradient.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weight of each class.
    n_jobs : int or None, default=None
        Threads of prediction; results do not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of k-means.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Class labels.
    basis_ : array of shape (n_basis, n_features)
        The learned basis vectors.
    gamma_ : float
        The learned gamma, absolute.
    objective_ : float
        Value of the objective.
    gradient_norm_ : float
        Relative norm of its gradient in the basis, which is stopped early more often than not.
    n_iter_ : int
        L-BFGS iterations.
    predictor_ : KernelExpansion
        Basis and coefficients.
    cost_ : Cost
        Multiply-adds per row, the same as a multiple of a linear model, and bytes.

    Notes
    -----
    After [1]_, which solves for the hinge by cutting planes whose normals are projected on the
    span of the basis, and adds basis vectors one by one as pre-images. Differs in: the squared
    hinge; all basis vectors start as k-means centers of the classes and move together along the
    exact gradient, while coefficients are always the best ones; the width is learned; several
    classes.

    References
    ----------
    .. [1] T. Joachims, C.-N. J. Yu, "Sparse Kernel SVMs via Cutting-Plane Training", Machine
           Learning 76, 2009.
    """

    classes_: np.ndarray
    basis_: np.ndarray
    gamma_: float
    objective_: float
    gradient_norm_: float
    n_iter_: int
    predictor_: KernelExpansion

    _parameter_constraints = {
        **shared("C", "tol", "class_weight", "n_jobs", "random_state"),
        "n_basis": [at_least(1), one_of("auto")],
        "gamma": [positive(), Absolute],
        "max_iter": [at_least(0)],
    }

    def __init__(
        self,
        n_basis: int | Auto = "auto",
        *,
        C: float = 1.0,
        gamma: float | Absolute = 2.0,
        max_iter: int = 50,
        tol: float = 1e-3,
        class_weight: ClassWeight = None,
        n_jobs: int | None = None,
        random_state: Seed = None,
    ):
        self.n_basis = n_basis
        self.C = C
        self.gamma = gamma
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _learn(self, rows):
        n_basis = self.n_basis
        if n_basis == "auto":
            n_basis = int(np.clip(rows.n_distinct // _ROWS_PER_VECTOR, _FEWEST, _MOST))
            n_basis = min(n_basis, rows.n_distinct)
        n_basis = limit_to_distinct(n_basis, rows.n_distinct, "n_basis")
        n_features, n_outputs = rows.X.shape[1], rows.targets.shape[1]
        size = learning_memory(n_features, n_basis, n_outputs) + row_copies(rows.X)
        require_memory(size, "lower n_basis")
        rng = check_random_state(self.random_state)
        found = solve_learned_basis(
            rows.X, rows.targets.astype(np.float64), self.C * rows.weight,
            fit_class_anchors(rows.X, rows.labels, n_basis, rng, rows.weight),
            absolute(self.gamma, lambda gamma: gamma / RowScales(rows.X).squared_distance),
            tol=self.tol, max_iter=self.max_iter,
        )  # fmt: skip
        if found.decrement > _LOOSE:
            warn_user(
                f"{type(self).__name__}: coefficients are only within {found.decrement:.1e} of "
                "the best for their basis; scale the features or lower C."
            )
        dtype = rows.X.dtype
        basis = found.basis.astype(dtype)
        predictor = KernelExpansion(
            (Gaussian(found.gamma),), basis, found.coef[None].astype(dtype),
            found.biases.astype(dtype), n_features,
        )  # fmt: skip
        attributes = {
            "basis_": basis,
            "gamma_": found.gamma,
            "objective_": found.objective,
            "gradient_norm_": found.gradient_norm,
            "n_iter_": found.n_iter,
        }
        return Learned(predictor, attributes)
