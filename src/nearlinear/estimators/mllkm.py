"""MLLKM: few locally linear kernels, chosen from one around every training row."""

from numbers import Real

import numpy as np

from ..solvers.machine.problem import DualProblem
from ._base.conformal_doc import documents_conformal
from ._base.conformal_machine import CONFORMAL_CONSTRAINTS, ConformalMachine
from ._base.constraints import SHARED, at_least
from ._base.labels import row_weights
from ._base.old_model import LocalClassifier, LocalRegressor
from ._base.rows import class_targets
from ._base.whole_fit import whole_fit


@documents_conformal()
class MLLKMClassifier(LocalClassifier, ConformalMachine):
    r"""Multiple locally linear kernel machine: few linear models, each local.

    Minimizes, over kernel weights :math:`\beta` on the simplex and local models :math:`w_m`,

    .. math:: \frac12 \sum_m \|w_m\|^2 + C \sum_i \max(0,\, 1 - y_i f(x_i)), \quad
              f(x) = \sum_m \sqrt{\beta_m} \langle w_m, \phi_m(x) \rangle + b,

    where :math:`\phi_m(x) = h_m(x)(x - c_m)` fades around the anchor :math:`c_m`. Candidates are
    all pairs of an anchor and a bandwidth; most get no weight. The rest collapses to one linear
    model per kernel, so that prediction costs two products per kernel and needs no support rows.

    Parameters
    ----------
    %(parameters)s

    Attributes
    ----------
    %(attributes)s

    Notes
    -----
    Follows [1]_. Differs in: a bias, which ``bias="none"`` takes away; kernels divided by a power
    of their length, and all by the median squared distance of the rows, so that C does not depend
    on their scale; bandwidths relative to the data; many kernels enter per round; Newton steps for
    the weights; machines solved to a duality gap, without a Gram matrix beyond 500 rows; kernels
    chosen on 20,000 rows at most; the certificate covers all candidates; optional refinement.
    Several classes are solved one-vs-rest on shared candidates.

    References
    ----------
    .. [1] D. Picard, "Multiple Locally Linear Kernel Machines", 2024.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from nearlinear import MLLKMClassifier
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> MLLKMClassifier().fit(X, y).score(X, y) > 0.97
    True
    """

    _parameter_constraints = {**CONFORMAL_CONSTRAINTS, "class_weight": SHARED["class_weight"]}

    def __init__(
        self,
        profile="gaussian",
        per_feature=False,
        *,
        C=10.0,
        length_exponent=0.5,
        bandwidths=None,
        anchors="rows",
        n_anchors=2000,
        selection_rows=20_000,
        bias="free",
        max_kernels=None,
        refinement=None,
        max_insertions=30,
        chunk_size=None,
        max_support=None,
        tol=1e-2,
        max_iter=100,
        class_weight=None,
        max_memory=None,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.profile = profile
        self.per_feature = per_feature
        self.C = C
        self.length_exponent = length_exponent
        self.bandwidths = bandwidths
        self.anchors = anchors
        self.n_anchors = n_anchors
        self.selection_rows = selection_rows
        self.bias = bias
        self.max_kernels = max_kernels
        self.refinement = refinement
        self.max_insertions = max_insertions
        self.chunk_size = chunk_size
        self.max_support = max_support
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _problems(self, rows):
        C = self.C * rows.weight
        return [DualProblem.of_signs(signs, C) for signs in rows.targets.T]

    @whole_fit
    def partial_fit(self, X, y, classes=None, sample_weight=None, sample_ids=None):
        """Learn from some rows of a stream; kernels around them may enter.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Rows; those of the first call also set the scale of the kernels.
        y : array of shape (n_samples,)
            Labels.
        classes : array or None
            All labels that will come; needed in the first call.
        sample_weight : array of shape (n_samples,) or None
            Weights of the rows.
        sample_ids : array of whole numbers or None
            Identities of the rows: one that is stored already is replaced, not stored twice. None
            stands for rows never seen before; on a budget ``max_support`` the weight of a row
            that equals a stored one is added to it.

        Returns
        -------
        self
        """
        X, labels, weight = self._stream_rows(X, y, classes, sample_weight)
        return self._take_in(X, labels, weight, sample_ids)

    def _targets(self, y):
        return class_targets(y.astype(np.intp), len(self.classes_), np.float64)

    def _stored_targets(self, rows):
        return rows.labels


@documents_conformal()
class MLLKMRegressor(LocalRegressor, ConformalMachine):
    r"""Multiple locally linear kernel machine for regression.

    Minimizes the objective of :class:`MLLKMClassifier` with the loss
    :math:`\max(0,\, |y_i - f(x_i)| - \epsilon)`, the values in units of their spread.

    Parameters
    ----------
    %(parameters)s

    Attributes
    ----------
    %(attributes)s

    Notes
    -----
    See :class:`MLLKMClassifier`; the paper has no regression.
    """

    _parameter_constraints = {**CONFORMAL_CONSTRAINTS, "epsilon": [at_least(0.0, Real)]}

    def __init__(
        self,
        profile="gaussian",
        per_feature=False,
        *,
        C=10.0,
        epsilon=0.1,
        length_exponent=0.5,
        bandwidths=None,
        anchors="rows",
        n_anchors=2000,
        selection_rows=20_000,
        bias="free",
        max_kernels=None,
        refinement=None,
        max_insertions=30,
        chunk_size=None,
        max_support=None,
        tol=1e-2,
        max_iter=100,
        max_memory=None,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.profile = profile
        self.per_feature = per_feature
        self.C = C
        self.epsilon = epsilon
        self.length_exponent = length_exponent
        self.bandwidths = bandwidths
        self.anchors = anchors
        self.n_anchors = n_anchors
        self.selection_rows = selection_rows
        self.bias = bias
        self.max_kernels = max_kernels
        self.refinement = refinement
        self.max_insertions = max_insertions
        self.chunk_size = chunk_size
        self.max_support = max_support
        self.tol = tol
        self.max_iter = max_iter
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _problems(self, rows):
        values = self._units.scaled(rows.targets[:, 0])
        return [DualProblem.of_values(values, self.C * rows.weight, self.epsilon)]

    @whole_fit
    def partial_fit(self, X, y, sample_weight=None, sample_ids=None):
        """Learn from some rows of a stream; kernels around them may enter.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Rows; those of the first call also set the scale of the kernels.
        y : array of shape (n_samples,)
            Values; those of the first call also set their scale.
        sample_weight : array of shape (n_samples,) or None
            Weights of the rows.
        sample_ids : array of whole numbers or None
            Identities of the rows: one that is stored already is replaced, not stored twice. None
            stands for rows never seen before; on a budget ``max_support`` the weight of a row
            that equals a stored one is added to it.

        Returns
        -------
        self
        """
        first = not hasattr(self, "predictor_")
        X, y = self._check_training_rows(X, y, reset=first, y_numeric=True)
        return self._take_in(X, y.astype(np.float64), row_weights(X, sample_weight), sample_ids)

    def _targets(self, y):
        return y[:, None]

    def _stored_targets(self, rows):
        return rows.targets[:, 0].astype(np.float64)
