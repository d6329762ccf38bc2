"""LLSVM and LCC+SVM: a convex problem once the anchors stand."""

from sklearn.utils import check_random_state

from ..predictors.locally_linear import LocallyLinear
from ..solvers.anchors.dual import warn_if_loose
from ..solvers.anchors.fixed_gate import solve_local_models
from ._base.anchors import AnchorClassifier
from ._base.constraints import one_of
from ._base.progress import tell
from ._base.whole_fit import whole_fit


class _FixedAnchorClassifier(AnchorClassifier):
    """The part that LLSVM and LCC+SVM share: all but what a local model reads of a row."""

    _parameter_constraints = {
        **AnchorClassifier._parameter_constraints,
        "coding": [one_of("auto", "soft", "inverse", "reconstruction")],
    }

    def __init__(
        self,
        n_anchors="auto",
        n_neighbors=8,
        *,
        coding="auto",
        anchors="kmeans",
        sharpness=1.0,
        C=1.0,
        loss="hinge",
        tol=1e-3,
        max_iter=1000,
        class_weight=None,
        warm_start=False,
        max_memory=None,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.n_anchors = n_anchors
        self.n_neighbors = n_neighbors
        self.coding = coding
        self.anchors = anchors
        self.sharpness = sharpness
        self.C = C
        self.loss = loss
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _coding(self):
        return self._usual_coding if self.coding == "auto" else self.coding

    def _learn(self, rows):
        previous = getattr(self, "predictor_", None) if self.warm_start else None
        n_outputs = rows.targets.shape[1]
        self._check_memory(rows.X, n_outputs, rows.X.dtype.itemsize, copies=2)
        rng = check_random_state(self.random_state)
        reusable = previous is not None and previous.gate.anchors.shape[1] == rows.X.shape[1]
        anchors = previous.gate.anchors if reusable else self._make_anchors(rows, rng)
        gate = self._make_gate(anchors.astype(rows.X.dtype, copy=False), rows.X, self._coding())
        indices, codes = gate.codes(rows.X, self.n_jobs)
        start = getattr(self, "_solution", None) if reusable else None
        if start is not None and not _fits(start, rows, self.loss):
            start = None
        solution, certified = solve_local_models(
            self._local_features(rows.X), indices, codes, rows.targets, loss=self.loss,
            C=self.C * rows.weight, n_components=len(anchors), tol=self.tol,
            max_iter=self.max_iter, rng=rng, n_jobs=self.n_jobs, start=start,
        )  # fmt: skip
        warn_if_loose(certified, self.tol, type(self).__name__)
        self.predictor_ = LocallyLinear(gate, solution.weights, solution.biases)
        self.duality_gap_, self.n_iter_ = solution.gap, solution.n_iter
        self._solution = solution if self.warm_start else None
        figures = {"objective": float(solution.objective), "gap": float(solution.gap)}
        tell(self, f"epoch {solution.n_iter}", figures)

    @whole_fit
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """One stochastic step for each row; anchors are placed on the rows of the first call.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
            Rows.
        y : array of shape (n_samples,)
            Labels.
        classes : array or None
            All labels that will come; needed in the first call.
        sample_weight : array of shape (n_samples,) or None
            Weights of the rows.

        Returns
        -------
        self
        """
        return self._stream(
            X, y, classes, sample_weight, coding=self._coding(),
            width=lambda rows: self._local_features(rows).shape[1], anchor_rate=lambda rows: 0.0,
        )  # fmt: skip


def _fits(solution, rows, loss):
    """Whether a previous solution can start this problem: by its dual, or by its models."""
    if loss == "log_loss":
        return solution.biases.shape[1] == rows.targets.shape[1]
    return solution.dual is not None and solution.dual.shape == rows.targets.shape


class LLSVMClassifier(_FixedAnchorClassifier):
    r"""Locally linear SVM: a linear SVM that varies smoothly over the space.

    Minimizes, over a weight vector :math:`w_j` and a bias :math:`b_j` for each anchor,

    .. math:: \frac12 \sum_j (\|w_j\|^2 + b_j^2) + C \sum_i \max(0,\, 1 - y_i f(x_i)), \quad
              f(x) = \sum_j \gamma_j(x) (\langle w_j, x \rangle + b_j),

    where :math:`\gamma(x)` are the local coordinates of x among its nearest anchors, fixed
    beforehand. The problem is convex and solved to a duality gap.

    Parameters
    ----------
    n_anchors : int or "auto", default="auto"
        Number of anchors. "auto" is one for every ten training rows, at most 100.
    n_neighbors : int, default=8
        How many nearest anchors answer for a row; all of them if there are fewer.
    coding : {"auto", "soft", "inverse", "reconstruction"}, default="auto"
        Localized soft assignment, inverse distance, or the codes that best rebuild the row
        from its anchors. "auto" is "soft".
    anchors : {"kmeans", "class_balanced"} or array of shape (n_anchors, n_features), \
default="kmeans"
        k-means over all rows, k-means inside each class (protects rare classes), or given.
    sharpness : float, default=1.0
        Sharpness of the soft assignment, relative to the spread of the distances to the
        nearest anchors.
    C : float, default=1.0
        Weight of the losses.
    loss : {"hinge", "squared_hinge", "log_loss"}, default="hinge"
        With several classes, the first two are summed one-vs-rest and the log loss is softmax.
    tol : float, default=1e-3
        Stop at this relative duality gap.
    max_iter : int, default=1000
        Most epochs of coordinate descent (iterations of L-BFGS for the log loss).
    class_weight : dict, "balanced" or None, default=None
        Factor on the weight of each class.
    warm_start : bool, default=False
        Start from the anchors and the solution of the previous ``fit``.
    max_memory : float or None, default=None
        Bytes that ``fit`` may take beyond the data; None stands for the machine's memory.
    n_jobs : int or None, default=None
        Threads; results do not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of k-means and of the order of coordinate steps.
    verbose : int, default=0
        Print the certificate of the solution.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Class labels.
    predictor_ : LocallyLinear
        Gate, weights and biases: all that prediction needs.
    cost_ : Cost
        Multiply-adds per row, the same as a multiple of a linear model, and bytes.
    anchors_ : array of shape (n_anchors, n_features)
        Anchors of the gate.
    duality_gap_ : float
        The training objective is at most this far from its optimum.
    n_iter_ : int
        Epochs of the slowest class.

    Notes
    -----
    Follows [1]_ with the localized soft assignment of [2]_, eq. 2. Differs in: the bandwidth is
    taken from the data; biases are regularized (one kernel
    :math:`\langle\gamma(x), \gamma(x')\rangle (\langle x, x'\rangle + 1)`, no equality
    constraint); the solver is exact dual coordinate descent instead of SGD.

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

    _usual_coding = "soft"

    def _local_features(self, X):
        return X


class LCCSVMClassifier(_FixedAnchorClassifier):
    r"""Linear SVM on local coordinates: each anchor has a constant, a row mixes its neighbors'.

    Minimizes, over one number :math:`b_j` for each anchor (and class),

    .. math:: \frac12 \sum_j b_j^2 + C \sum_i \max(0,\, 1 - y_i f(x_i)), \quad
              f(x) = \sum_j \gamma_j(x)\, b_j .

    The cheapest of the anchor methods; accurate where anchors are dense.

    Parameters
    ----------
    n_anchors : int or "auto", default="auto"
        Number of anchors. "auto" is one for every ten training rows, at most 100.
    n_neighbors : int, default=8
        How many nearest anchors answer for a row; all of them if there are fewer.
    coding : {"auto", "soft", "inverse", "reconstruction"}, default="auto"
        Localized soft assignment, inverse distance, or the codes that best rebuild the row
        from its anchors. "auto" is "reconstruction".
    anchors : {"kmeans", "class_balanced"} or array of shape (n_anchors, n_features), \
default="kmeans"
        k-means over all rows, k-means inside each class, or given.
    sharpness, C, loss, tol, max_iter, class_weight, warm_start, max_memory, n_jobs, \
random_state, verbose
        As in :class:`LLSVMClassifier`.

    Attributes
    ----------
    classes_, predictor_, cost_, anchors_, duality_gap_, n_iter_
        As in :class:`LLSVMClassifier`.

    Notes
    -----
    Follows [1]_ with the codes of [2]_. Differs in: anchors come from k-means and are not
    re-learned for reconstruction.

    References
    ----------
    .. [1] K. Yu, T. Zhang, Y. Gong, "Nonlinear Learning using Local Coordinate Coding",
           NIPS 2009.
    .. [2] J. Wang et al., "Locality-constrained Linear Coding for Image Classification",
           CVPR 2010.
    """

    _usual_coding = "reconstruction"

    def _local_features(self, X):
        return X[:, :0]
