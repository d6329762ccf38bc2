"""LDKL: a tree of linear splits with a linear model at every node."""

from numbers import Real

import numpy as np

from ..losses import LOSSES, EpsilonInsensitive, SquaredError
from ._base.constraints import at_least, one_of
from ._base.labels import row_weights
from ._base.old_model import LocalClassifier, LocalRegressor
from ._base.rows import merge_regression_rows, merge_rows
from ._base.tree_coordinates import TreeCoordinates
from ._base.tree_learner import TreeLearner
from ._base.tree_task import TreeTask, accuracy, explained
from ._base.whole_fit import whole_fit


class LDKLClassifier(TreeLearner, LocalClassifier):
    r"""Local deep kernel learning: one linear model for each node of a learned tree.

    With :math:`z = [x, 1]`, minimizes over the splits :math:`\theta`, slopes :math:`\theta'` and
    weights :math:`W` of a balanced tree

    .. math:: \frac{\lambda}{2}\|W - \bar W\|^2 + \frac{\mu}{2}(\|\Theta\|^2 + \|\Theta'\|^2)
              + \frac1n \sum_i \ell(y_i, f(x_i)), \quad
              f(x) = \sum_k I_k(x) \tanh(\sigma\,\theta_k'^\top z)\; W_k z, \quad
              \lambda = \frac{1}{nC},

    where :math:`I_k(x)` says whether x passes node k: in training a product of
    :math:`(1 \pm \tanh(s\,\theta_l^\top z))/2` over the ancestors l with a sharpness s that grows,
    in prediction the one path that the signs of :math:`\theta_l^\top z` choose. :math:`\bar W` is
    zero, but for a linear root: then the root's gate is 1, its weights start as the linear model
    of all rows and are kept near it, and the other nodes add to it. A prediction costs
    :math:`O(D \log M)` for M nodes.

    Parameters
    ----------
    depth : int or "auto", default="auto"
        Levels of splits; a row passes depth + 1 nodes. "auto" finds out on held-out training rows
        how much the data bear: a linear model alone, or trees on top of it with more or less
        depth, C and jitter (see Notes). Depths grow with the logarithm of the rows, shrink with
        that of the features, and are at most 9.
    n_components : int, "auto" or None, default="auto"
        Columns of a learned projection before the tree (as in Bonsai [2]_); None for no
        projection. "auto" is 32 for dense rows of 100 features or more, else None.
    node_gate : {"tanh", "compositional", "indicator"}, default="tanh"
        What a node multiplies its linear model with: a tanh of a direction of its own (eq. 10),
        a tanh composed along the path (eq. 9; continuous in x, two thirds of the numbers), or 1
        (piecewise linear, two fifths of the numbers).
    sigma : float, default=1.0
        Steepness of the tanh gate.
    C : float or "auto", default="auto"
        Weight of the losses. "auto" is chosen together with ``depth="auto"``, and is 10 for a
        given depth.
    loss : {"log_loss", "hinge", "squared_hinge", "crammer_singer"}, default="log_loss"
        With several classes, hinge and squared hinge are summed one-vs-rest, Crammer-Singer
        compares the right class with the best wrong one and the log loss is softmax. All classes
        share the tree.
    solver : {"adam", "sgd"}, default="adam"
        Mini-batch Adam with exact gradients, then the hard phase and the polish; or the original
        schedule, in which C, jitter and the options of those phases play no part. Together with
        ``loss="hinge"`` it is the method of the paper; the paper has no other loss.
    max_iter : int or "auto", default="auto"
        Epochs. "auto" is 40, and fewer for many rows: 18 for 50,000, and 15 from 60,000 on. It
        is 60 for projected rows, and 100 beyond 200,000 rows and in the original schedule.
    batch_size : int or "auto", default="auto"
        Rows in an Adam step; "auto" is a 64th of the rows, between 32 and 1024. The original
        schedule always takes the square root of the number of rows.
    learning_rate : float or "auto", default="auto"
        Peak step of Adam, relative to the scale of the features ("auto" is 0.1), or 1/λ of the
        original schedule ("auto" is 100).
    direction_penalty : float, default=0.0
        The factor μ of the splits and slopes. The paper penalizes them (μ > 0); with the noise of
        ``jitter`` they need no penalty.
    jitter : float or "auto", default="auto"
        Standard deviation of the Gaussian noise added to dense training rows, in units of each
        feature's own. The strongest regularizer of this model: try 0 to 0.6. "auto" is chosen
        together with ``depth="auto"``, and is 0.2 for a given depth.
    first_sharpness, last_sharpness : float, default=2.0, 20.0
        Sharpness of the splits in the first and in the last soft step, relative to one over the
        mean distance between rows and splits.
    splits : {"top_down", "random"}, default="top_down"
        Where splits start: each parts its rows in halves between two clusters, or anywhere.
    hard_fraction : float, default=0.3
        Share of the epochs, at the end, in which splits stay and rows follow their hard path.
    polish : bool, default=False
        Solve the weights exactly at the end, and keep them if they are better on held-out rows.
        Not for the Crammer-Singer loss.
    n_init : int, default=1
        Training runs, of which the best on held-out rows is kept.
    n_trees : int or "auto", default="auto"
        Trees whose scores are averaged. "auto" is 3 for ``depth="auto"`` and up to 20,000 rows,
        else 1. ``partial_fit`` trains one.
    linear_root : bool or "auto", default="auto"
        Whether the root holds a linear model that the rest of the tree adds to. Only for the tanh
        gate and Adam. "auto" says yes for ``depth="auto"`` and no for a given depth, as in the
        paper. Without a linear root nothing is chosen on held-out rows, and ``depth="auto"`` grows
        with the logarithm of the rows and shrinks with that of the features.
    validation_fraction : float, default=0.1
        Share of the rows held out where polish, restarts or early stopping have to choose, and for
        the comparison with a linear model where many rows are not searched; otherwise all rows
        train.
    early_stopping : bool, default=False
        End the soft phase, and then the training, when ``n_iter_no_change`` epochs brought no
        better held-out accuracy of the hard path.
    n_iter_no_change : int, default=20
        Patience of early stopping.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes.
    warm_start : bool, default=False
        Start from the previous fit's tree if its shape still fits.
    max_memory : float or None, default=None
        Bytes that a fit may use beyond the data; None stands for the machine's memory.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of everything random.
    verbose : int, default=0
        Print a line per epoch.

    Attributes
    ----------
    predictor_ : TreePath or TreeForest
        Splits, slopes and weights; all that prediction needs.
    classes_ : array of shape (n_classes,)
        Labels.
    history_ : list of Progress
        Objective and held-out accuracy of each epoch (of the first tree); while splits are soft,
        also the accuracy with soft and with hard splits.
    hardening_gap_ : float or None
        What hard splits cost at the end of the soft phase, before the weights adapt to them; on
        training rows where none are held out.
    n_iter_ : int
        Epochs run.
    cost_ : Cost
        Multiply-adds and bytes of a prediction.
    setting_ : TreeSetting
        Depth, C, jitter and C of the linear root that the model was trained with. A depth of None
        is the linear model alone.
    settings_tried_ : list of Verdict
        Each setting that was tried, and its mean loss on held-out rows; empty for a given depth.

    Notes
    -----
    Follows [1]_; eq. 8, 14, 17 and 18 are misprinted there. Differs in: Adam, sharpening, the hard
    phase, jitter and averaging of the iterates; splits start from the data, and those that part
    nothing start again; wide rows are projected first, by principal directions that go on
    learning; a linear root; no penalty of splits and slopes by default; several classes and other
    losses. ``solver="sgd"`` with ``loss="hinge"`` is the original.

    ``depth="auto"`` tries settings from the simplest on: linear models of four strengths, then
    trees on top of the best of these. Each is trained without a fifth of the rows and judged by
    its loss on that fifth, three times for small sets. The simplest setting whose loss is within
    half a standard error of the lowest is trained on all rows. Beyond 10,000 rows or two million
    numbers nothing is searched: a full tree learns without ``validation_fraction`` of the rows, and
    if a linear model is as good on these, it is taken.

    References
    ----------
    .. [1] C. Jose, P. Goyal, P. Aggrwal, M. Varma, "Local Deep Kernel Learning for Efficient
           Non-linear SVM Prediction", ICML 2013.
    .. [2] A. Kumar, S. Goyal, M. Varma, "Resource-efficient Machine Learning in 2 KB RAM for the
           Internet of Things", ICML 2017.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from nearlinear import LDKLClassifier
    >>> X, y = make_moons(400, noise=0.1, random_state=0)
    >>> bool(LDKLClassifier(random_state=0).fit(X, y).score(X, y) > 0.98)
    True
    """

    _parameter_constraints = {
        **TreeLearner._parameter_constraints,
        "loss": [one_of(*LOSSES)],
    }

    def __init__(
        self,
        depth="auto",
        *,
        n_components="auto",
        node_gate="tanh",
        sigma=1.0,
        C="auto",
        loss="log_loss",
        solver="adam",
        max_iter="auto",
        batch_size="auto",
        learning_rate="auto",
        direction_penalty=0.0,
        jitter="auto",
        first_sharpness=2.0,
        last_sharpness=20.0,
        splits="top_down",
        hard_fraction=0.3,
        polish=False,
        n_init=1,
        n_trees="auto",
        linear_root="auto",
        validation_fraction=0.1,
        early_stopping=False,
        n_iter_no_change=20,
        class_weight=None,
        warm_start=False,
        max_memory=None,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.depth = depth
        self.n_components = n_components
        self.node_gate = node_gate
        self.sigma = sigma
        self.C = C
        self.loss = loss
        self.solver = solver
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.direction_penalty = direction_penalty
        self.jitter = jitter
        self.first_sharpness = first_sharpness
        self.last_sharpness = last_sharpness
        self.splits = splits
        self.hard_fraction = hard_fraction
        self.polish = polish
        self.n_init = n_init
        self.n_trees = n_trees
        self.linear_root = linear_root
        self.validation_fraction = validation_fraction
        self.early_stopping = early_stopping
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    _original_rate = 100.0
    _usual = 10.0, 0.2  # C and jitter where neither is chosen on held-out rows
    # Further levels, C and jitter of the trees that "auto" tries.
    _candidates = (0, 0.1, 0.2), (2, 0.1, 0.2), (2, 10.0, 0.2)
    _for_many_rows, _for_wide_rows = ((0, 1.0, 0.1),), ((-3, 1.0, 0.3),)

    def _coordinates(self, rows):
        return TreeCoordinates(self._scaling(rows))

    def _task(self):
        return TreeTask(LOSSES[self.loss], accuracy, "accuracy")

    @whole_fit
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Two Adam steps for each mini-batch of the rows.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
            Rows; those of the first call also make the tree, so give it a few hundred.
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
        X, labels, weight = self._stream_rows(X, y, classes, sample_weight)
        rows = merge_rows(X, labels, weight, len(self.classes_))
        return self._continue_stream(rows, self._stream_rng())


class LDKLRegressor(TreeLearner, LocalRegressor):
    r"""Local deep kernel learning for regression: a tree of linear models.

    Minimizes the objective of :class:`LDKLClassifier` with the squared or the
    :math:`\varepsilon`-insensitive loss on standardized targets.

    Parameters
    ----------
    depth : int or "auto", default="auto"
        Levels of splits; a row passes depth + 1 nodes. "auto" finds out on held-out training rows
        how much the data bear: a linear model alone, or trees on top of it with more or less
        depth, C and jitter (see Notes). Depths grow with the logarithm of the rows, shrink with
        that of the features, and are at most 9.
    n_components : int, "auto" or None, default="auto"
        Columns of a learned projection before the tree (as in Bonsai [2]_); None for no
        projection. "auto" is 32 for dense rows of 100 features or more, else None.
    node_gate : {"tanh", "compositional", "indicator"}, default="tanh"
        What a node multiplies its linear model with; see :class:`LDKLClassifier`.
    sigma : float, default=1.0
        Steepness of the tanh gate.
    C : float or "auto", default="auto"
        Weight of the losses, of targets in units of their standard deviation. "auto" is chosen
        together with ``depth="auto"``, and is 0.1 for a given depth.
    loss : {"squared_error", "epsilon_insensitive"}, default="squared_error"
        Loss of the residuals.
    epsilon : float, default=0.1
        Residuals up to this size cost nothing under the second loss, in standard deviations of y:
        for a width in y's own unit, give that width / np.std(y).
    solver : {"adam", "sgd"}, default="adam"
        Mini-batch Adam, or the original schedule.
    max_iter : int or "auto", default="auto"
        Epochs. "auto" is 40, and fewer for many rows: 18 for 50,000, and 15 from 60,000 on. It
        is 60 for projected rows, and 100 beyond 200,000 rows and in the original schedule.
    batch_size : int or "auto", default="auto"
        Rows in an Adam step; "auto" is a 64th of the rows, between 32 and 1024.
    learning_rate : float or "auto", default="auto"
        Peak step of Adam, relative to the scale of the features ("auto" is 0.1), or 1/λ of the
        original schedule ("auto" is 1, for targets of unit spread).
    direction_penalty : float, default=0.0
        Penalty of the splits and slopes.
    jitter : float or "auto", default="auto"
        Standard deviation of the Gaussian noise added to dense training rows, in units of each
        feature's own. "auto" is chosen together with ``depth="auto"``, and is 0.1 for a given
        depth.
    first_sharpness, last_sharpness : float, default=2.0, 20.0
        Sharpness of the splits in the first and in the last soft step.
    splits : {"top_down", "random"}, default="top_down"
        Where splits start.
    hard_fraction : float, default=0.3
        Share of the epochs, at the end, in which splits stay and rows follow their hard path.
    polish : bool, default=False
        Solve the weights exactly at the end, and keep them if they are better on held-out rows.
        Only for the squared error.
    n_init : int, default=1
        Training runs, of which the best on held-out rows is kept.
    n_trees : int or "auto", default="auto"
        Trees whose values are averaged. "auto" is 3 for ``depth="auto"`` and up to 20,000 rows,
        else 1. ``partial_fit`` trains one.
    linear_root : bool or "auto", default="auto"
        Whether the root holds a linear model that the rest of the tree adds to; see
        :class:`LDKLClassifier`.
    validation_fraction : float, default=0.1
        Share of the rows held out where polish, restarts or early stopping have to choose, and for
        the comparison with a linear model where many rows are not searched; otherwise all rows
        train.
    early_stopping : bool, default=False
        End the soft phase, and then the training, when ``n_iter_no_change`` epochs brought no
        better held-out score of the hard path.
    n_iter_no_change : int, default=20
        Patience of early stopping.
    warm_start : bool, default=False
        Start from the previous fit's tree if its shape still fits.
    max_memory : float or None, default=None
        Bytes that a fit may use beyond the data; None stands for the machine's memory.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of everything random.
    verbose : int, default=0
        Print a line per epoch.

    Attributes
    ----------
    predictor_ : TreePath or TreeForest
        Splits, slopes, weights and intercept; all that prediction needs.
    history_ : list of Progress
        Objective and held-out R² of each epoch (of the first tree).
    hardening_gap_ : float or None
        What hard splits cost in R² at the end of the soft phase.
    n_iter_ : int
        Epochs run.
    cost_ : Cost
        Multiply-adds and bytes of a prediction.
    setting_ : TreeSetting
        Depth, C, jitter and C of the linear root that the model was trained with. A depth of None
        is the linear model alone.
    settings_tried_ : list of Verdict
        Each setting that was tried, and its mean loss on held-out rows; empty for a given depth.

    Notes
    -----
    The paper [1]_ treats classification; the model, its training and what "auto" does are the
    same.

    References
    ----------
    .. [1] C. Jose, P. Goyal, P. Aggrwal, M. Varma, "Local Deep Kernel Learning for Efficient
           Non-linear SVM Prediction", ICML 2013.
    .. [2] A. Kumar, S. Goyal, M. Varma, "Resource-efficient Machine Learning in 2 KB RAM for the
           Internet of Things", ICML 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from nearlinear import LDKLRegressor
    >>> x = np.linspace(-3, 3, 400)[:, None]
    >>> bool(LDKLRegressor(random_state=0).fit(x, np.sin(x[:, 0])).score(
    ...     x, np.sin(x[:, 0])) > 0.98)
    True
    """

    _parameter_constraints = {
        **TreeLearner._parameter_constraints,
        "loss": [one_of("squared_error", "epsilon_insensitive")],
        "epsilon": [at_least(0, Real)],
    }
    _parameter_constraints.pop("class_weight")

    def __init__(
        self,
        depth="auto",
        *,
        n_components="auto",
        node_gate="tanh",
        sigma=1.0,
        C="auto",
        loss="squared_error",
        epsilon=0.1,
        solver="adam",
        max_iter="auto",
        batch_size="auto",
        learning_rate="auto",
        direction_penalty=0.0,
        jitter="auto",
        first_sharpness=2.0,
        last_sharpness=20.0,
        splits="top_down",
        hard_fraction=0.3,
        polish=False,
        n_init=1,
        n_trees="auto",
        linear_root="auto",
        validation_fraction=0.1,
        early_stopping=False,
        n_iter_no_change=20,
        warm_start=False,
        max_memory=None,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.depth = depth
        self.n_components = n_components
        self.node_gate = node_gate
        self.sigma = sigma
        self.C = C
        self.loss = loss
        self.epsilon = epsilon
        self.solver = solver
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.direction_penalty = direction_penalty
        self.jitter = jitter
        self.first_sharpness = first_sharpness
        self.last_sharpness = last_sharpness
        self.splits = splits
        self.hard_fraction = hard_fraction
        self.polish = polish
        self.n_init = n_init
        self.n_trees = n_trees
        self.linear_root = linear_root
        self.validation_fraction = validation_fraction
        self.early_stopping = early_stopping
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    _original_rate = 1.0
    _usual = 0.1, 0.1  # C and jitter where neither is chosen on held-out rows
    # Further levels, C and jitter of the trees that "auto" tries.
    _candidates = (0, 0.03, 0.2), (2, 0.03, 0.1), (2, 0.3, 0.1)
    _for_many_rows, _for_wide_rows = ((0, 0.1, 0.1),), ((-3, 0.1, 0.1),)

    def _coordinates(self, rows):
        """Standardized targets, so that C and the steps mean the same in any unit."""
        values = rows.targets[:, 0].astype(np.float64)
        center = float(np.average(values, weights=rows.weight))
        spread = float(np.sqrt(np.average((values - center) ** 2, weights=rows.weight)))
        is_constant = spread <= np.finfo(rows.targets.dtype).eps * abs(center)
        return TreeCoordinates(self._scaling(rows), 1.0 if is_constant else spread, center)

    def _task(self):
        losses = {
            "squared_error": SquaredError(),
            "epsilon_insensitive": EpsilonInsensitive(self.epsilon),
        }
        return TreeTask(losses[self.loss], explained, "R²")

    @whole_fit
    def partial_fit(self, X, y, sample_weight=None):
        """Two Adam steps for each mini-batch of the rows.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
            Rows; those of the first call also make the tree, so give it a few hundred.
        y : array of shape (n_samples,)
            Values.
        sample_weight : array of shape (n_samples,) or None
            Weights of the rows.

        Returns
        -------
        self
        """
        first = not hasattr(self, "predictor_")
        X, y = self._check_training_rows(X, y, reset=first, y_numeric=True)
        rows = merge_regression_rows(X, y, row_weights(X, sample_weight))
        return self._continue_stream(rows, self._stream_rng())
