"""LDKL: a tree of linear splits with a linear model at every node."""

from collections.abc import Callable
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin, RegressorMixin

from .._hints import Auto, ClassWeight, Rows, Seed, Targets
from .._sklearn import fit_context
from ..losses import LOSSES
from ..solvers.watch import Progress
from ._base.blocks.fit import fit
from ._base.blocks.trees import learn_trees_from
from ._base.capacity import Verdict
from ._base.checks import one_of, shared
from ._base.input import stream_rows
from ._base.model import Model
from ._base.streams.trees import learn_trees_on
from ._base.tensors.trees import learn_trees_from_tensors
from ._base.tree_plan import TREE_CONSTRAINTS, TreeSetting
from ._base.trees import learn_trees, sees_plain_rows


class LDKLClassifier(ClassifierMixin, Model):
    r"""Local deep kernel learning: one linear model for each node of a learned tree.

    With :math:`z = [x, 1]`, minimizes over the splits :math:`\theta`, slopes :math:`\theta'` and
    weights :math:`W` of a balanced tree

    .. math:: \frac{\lambda}{2}\|W - W_0\|^2 + \frac{\mu}{2}\|\Theta\|^2 +
              \frac{\mu'}{2}\|\Theta'\|^2 + \frac{1}{n} \sum_i \ell(y_i, f(x_i)), \quad
              f(x) = \sum_k I_k(x) \tanh(\sigma\,\theta_k'^\top z)\; W_k z, \quad
              \lambda = \frac{1}{nC},

    where :math:`I_k(x)` says whether x passes node k. In training it is a product of
    :math:`(1 \pm \tanh(s\,\theta_l^\top z))/2` over the ancestors l, and the sharpness s grows. In
    prediction, the signs of :math:`\theta_l^\top z` choose one path. A prediction costs
    :math:`O(D \log M)` for M nodes. :math:`W_0` is zero, but for a linear root: the gate of
    that root is 1, its weights start as the linear model of all rows and are kept near it, and
    the other nodes add to it.

    Parameters
    ----------
    depth : int or "auto", default="auto"
        Levels of splits. A tree of depth d has 2^d leaves, and a row passes d + 1 nodes. A larger
        depth learns more detail, and needs more rows. "auto" finds on held-out training rows how
        much the data bear: a linear model alone, or trees on top of it (see Notes). It chooses at
        most 9 levels.
    n_components : int, "auto" or None, default="auto"
        Columns of a learned projection that comes before the tree, as in Bonsai [2]_. Fewer
        columns make a smaller and faster model. None means no projection. "auto" is 32 for dense
        rows of 100 features or more, else None.
    global_features : {"identity", "quadratic"} or callable, default="identity"
        What the weights W see of a row, the φ_G of the paper; splits and slopes see x. "identity"
        is x. "quadratic" adds the products of features in pairs. A function of rows, which gives a
        matrix, adds its columns; such a model cannot be saved or exported. Rows must be dense,
        and are not projected.
    node_gate : {"tanh", "compositional", "indicator"}, default="tanh"
        The factor of each node's linear model. "tanh" is a tanh along a direction of the node's own
        (eq. 10 of the paper). "compositional" multiplies tanhs along the path (eq. 9): the score is
        continuous in x, and the model has two thirds of the numbers. "indicator" is 1: the score is
        piecewise linear, and the model has two fifths of the numbers.
    sigma : float, default=1.0
        Steepness σ of the tanh gate. A larger value makes the gate closer to a step.
    C : float or "auto", default="auto"
        Weight of the losses. A larger value fits the training rows more closely. "auto" is chosen
        together with ``depth="auto"``, and is 10 for a given depth.
    loss : {"log_loss", "hinge", "squared_hinge", "crammer_singer"}, default="log_loss"
        Loss of the scores. All classes share the tree. With several classes, "hinge" and
        "squared_hinge" are summed one-vs-rest, "crammer_singer" compares the right class with the
        best wrong one, and "log_loss" is softmax. The paper has "hinge".
    solver : {"adam", "sgd"}, default="adam"
        "adam" takes mini-batch steps with exact gradients, first with soft and then with hard
        splits. "sgd" is the schedule of the paper: C, jitter, splits and hard_fraction have no
        effect on its steps.
    max_iter : int or "auto", default="auto"
        Epochs. More take longer and fit the training rows more closely. "auto" is 40, and fewer
        for many rows: 18 for 50,000, and 15 from 60,000 on. It is 60 for projected rows, and 100
        for more than 200,000 rows and for ``solver="sgd"``.
    batch_size : int or "auto", default="auto"
        Rows in a step of Adam. Larger batches make fewer and steadier steps. "auto" is a 64th of
        the rows, between 32 and 1024. ``solver="sgd"`` always takes the square root of the number
        of rows.
    learning_rate : float or "auto", default="auto"
        Largest step. For Adam it is relative to the scale of the features ("auto" is 0.1). For
        ``solver="sgd"`` it is 1/λ of the paper ("auto" is 100).
    direction_penalty : float or pair of floats, default=0.0
        The factors μ of the splits and μ' of the slopes; one number stands for both. Larger values
        make them shorter. The paper has μ > 0; with the noise of ``jitter`` no penalty is needed.
        ``solver="sgd"`` takes them as λ_Θ and λ_Θ' of the paper, and for 0 that of the weights.
    jitter : float or "auto", default="auto"
        Standard deviation of the Gaussian noise that is added to dense training rows, in units of
        each feature's own. A larger value makes a smoother model; nothing else regularizes this
        model as much, so try 0 to 0.6. "auto" is chosen together with ``depth="auto"``, and is 0.2
        for a given depth.
    splits : {"top_down", "random"}, default="top_down"
        Where splits start. "top_down" parts the rows of each node in halves, between two clusters.
        "random" puts splits anywhere.
    hard_fraction : float, default=0.3
        Fraction of the epochs, at the end, in which the splits stay and rows follow their hard
        path.
    pruning : {"l1", "l2"} or None, default=None
        Whether nodes go whose weights, and those of all nodes below, have a short norm. Held-out
        rows say how many: the smallest trees whose loss is within half a standard error of the
        lowest. What is left is an unbalanced tree. A linear root stays.
    n_trees : int or "auto", default="auto"
        Trees whose scores are averaged. More trees are steadier and cost more. "auto" is 3
        for ``depth="auto"`` and up to 20,000 rows, else 1. ``partial_fit`` trains one.
    linear_root : bool or "auto", default="auto"
        Whether the root holds a linear model that the other nodes add to. This needs the tanh gate
        and Adam. "auto" means True for ``depth="auto"``, and False for a given depth, as in the
        paper. With False, ``depth="auto"`` searches nothing: the depth grows with the logarithm of
        the rows and shrinks with that of the features.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weight of each class.
    device : str, default="cpu"
        Where Adam trains: "cpu" is our own code, "cuda" (or "cuda:1") PyTorch on a GPU, with the
        extra ``gpu`` installed, for the gates "tanh" and "indicator" without a projection. Torch
        tensors are learned from where they lie, whatever this says; ``depth="auto"`` of at most
        20,000 of them is searched for as with arrays, and is the usual depth of more.
    n_jobs : int or None, default=None
        Threads; results do not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of everything random.
    verbose : int, default=0
        Whether to print a line for each epoch.

    Attributes
    ----------
    predictor_ : TreePath, TreeLeaves, LinkedTree, Mapped or Averaged
        Splits, slopes and weights; all that prediction needs.
    classes_ : array of shape (n_classes,)
        Class labels.
    history_ : list of Progress
        Step and objective of each epoch of the first tree. While splits are soft, ``figures`` has
        the accuracy on training rows with "soft splits" and with "hard splits".
    n_iter_ : int
        Epochs run.
    setting_ : TreeSetting
        Depth, C, jitter and C of the linear root that the model was trained with. A depth of None
        is the linear model alone.
    settings_tried_ : list of Verdict
        Each setting that was tried, and its mean loss on held-out rows; empty for a given depth.
    cost_ : Cost
        Multiply-adds per row, the same as a multiple of a linear model, and bytes.

    Notes
    -----
    Follows [1]_; eq. 8, 14, 17 and 18 are misprinted there. Differs in: Adam, splits that sharpen,
    the hard epochs, jitter and averages of the iterates; splits start from the data, and those that
    part nothing start again; wide rows are projected first, along principal directions that go on
    learning; a linear root; no penalty on splits and slopes by default; several classes and other
    losses; nodes may go by the norm of their weights. ``solver="sgd"`` with ``loss="hinge"`` is the
    method of the paper.

    y may be a matrix of 0 and 1, a column for each label that a row has or not: one tree serves all
    labels. Then ``predict`` gives such a matrix, and ``decision_function`` and ``predict_proba`` a
    column for each label. Losses are added up over labels, "log_loss" is logistic for each.

    ``depth="auto"`` tries settings, the simplest first: linear models of four strengths, then trees
    on top of the best of these. Each learns without a fifth of the rows and is judged by its loss
    on that fifth, three times for small sets. The simplest setting whose loss is within half a
    standard error of the lowest is trained on all rows. More than 10,000 rows or two million
    numbers are not searched: a full tree learns without a tenth of the rows. If a linear model is
    as good on these, it is taken.

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

    classes_: np.ndarray
    history_: list[Progress]
    n_iter_: int
    setting_: TreeSetting
    settings_tried_: list[Verdict]

    _parameter_constraints = {
        **TREE_CONSTRAINTS,
        **shared("class_weight"),
        "loss": [one_of(*LOSSES)],
    }

    def __init__(
        self,
        depth: int | Auto = "auto",
        *,
        n_components: int | Auto | None = "auto",
        global_features: Literal["identity", "quadratic"] | Callable[..., Any] = "identity",
        node_gate: Literal["tanh", "compositional", "indicator"] = "tanh",
        sigma: float = 1.0,
        C: float | Auto = "auto",
        loss: Literal["log_loss", "hinge", "squared_hinge", "crammer_singer"] = "log_loss",
        solver: Literal["adam", "sgd"] = "adam",
        max_iter: int | Auto = "auto",
        batch_size: int | Auto = "auto",
        learning_rate: float | Auto = "auto",
        direction_penalty: float | tuple[float, float] = 0.0,
        jitter: float | Auto = "auto",
        splits: Literal["top_down", "random"] = "top_down",
        hard_fraction: float = 0.3,
        pruning: Literal["l1", "l2"] | None = None,
        n_trees: int | Auto = "auto",
        linear_root: bool | Auto = "auto",
        class_weight: ClassWeight = None,
        device: str = "cpu",
        n_jobs: int | None = None,
        random_state: Seed = None,
        verbose: int = 0,
    ):
        self.depth = depth
        self.n_components = n_components
        self.global_features = global_features
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
        self.splits = splits
        self.hard_fraction = hard_fraction
        self.pruning = pruning
        self.n_trees = n_trees
        self.linear_root = linear_root
        self.class_weight = class_weight
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    _learn, _learn_more, _takes_sparse = learn_trees, learn_trees_on, property(sees_plain_rows)
    fit, _learn_blocks, _learn_tensors = fit, learn_trees_from, learn_trees_from_tensors
    _searched = "depth"
    _takes_several_answers = _goes_on_from_file = True

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self,
        X: Rows,
        y: Targets,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Two steps of Adam for each mini-batch of some rows, on the CPU.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
            Rows; those of the first call also make the tree, so give it a few hundred.
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


class LDKLRegressor(RegressorMixin, Model):
    r"""Local deep kernel learning for regression: one linear model for each node of a learned tree.

    Minimizes the objective of :class:`LDKLClassifier` with a loss of residuals,

    .. math:: \ell(y, f) = \tfrac12 (y - f)^2 \quad \text{or} \quad \max(0, |y - f| - \varepsilon),

    where y is the value less its mean, in units of its standard deviation.

    Parameters
    ----------
    depth : int or "auto", default="auto"
        Levels of splits. A tree of depth d has 2^d leaves, and a row passes d + 1 nodes. A larger
        depth learns more detail, and needs more rows. "auto" finds on held-out training rows how
        much the data bear: a linear model alone, or trees on top of it (see Notes). It chooses at
        most 9 levels.
    n_components : int, "auto" or None, default="auto"
        Columns of a learned projection that comes before the tree, as in Bonsai [2]_. Fewer
        columns make a smaller and faster model. None means no projection. "auto" is 32 for dense
        rows of 100 features or more, else None.
    global_features : {"identity", "quadratic"} or callable, default="identity"
        What the weights W see of a row, the φ_G of the paper; splits and slopes see x. "identity"
        is x. "quadratic" adds the products of features in pairs. A function of rows, which gives a
        matrix, adds its columns; such a model cannot be saved or exported. Rows must be dense,
        and are not projected.
    node_gate : {"tanh", "compositional", "indicator"}, default="tanh"
        The factor of each node's linear model. "tanh" is a tanh along a direction of the node's own
        (eq. 10 of the paper). "compositional" multiplies tanhs along the path (eq. 9): the score is
        continuous in x, and the model has two thirds of the numbers. "indicator" is 1: the score is
        piecewise linear, and the model has two fifths of the numbers.
    sigma : float, default=1.0
        Steepness σ of the tanh gate. A larger value makes the gate closer to a step.
    C : float or "auto", default="auto"
        Weight of the losses. A larger value fits the training rows more closely. "auto" is chosen
        together with ``depth="auto"``, and is 0.1 for a given depth.
    loss : {"squared_error", "epsilon_insensitive"}, default="squared_error"
        Loss of the residuals.
    epsilon : float, default=0.1
        Residuals up to this size cost nothing under ``loss="epsilon_insensitive"``. The unit is the
        standard deviation of y: for a width in y's own unit, give that width / np.std(y).
    solver : {"adam", "sgd"}, default="adam"
        "adam" takes mini-batch steps with exact gradients, first with soft and then with hard
        splits. "sgd" is the schedule of the paper: C, jitter, splits and hard_fraction have no
        effect on its steps.
    max_iter : int or "auto", default="auto"
        Epochs. More take longer and fit the training rows more closely. "auto" is 40, and fewer
        for many rows: 18 for 50,000, and 15 from 60,000 on. It is 60 for projected rows, and 100
        for more than 200,000 rows and for ``solver="sgd"``.
    batch_size : int or "auto", default="auto"
        Rows in a step of Adam. Larger batches make fewer and steadier steps. "auto" is a 64th of
        the rows, between 32 and 1024. ``solver="sgd"`` always takes the square root of the number
        of rows.
    learning_rate : float or "auto", default="auto"
        Largest step. For Adam it is relative to the scale of the features ("auto" is 0.1). For
        ``solver="sgd"`` it is 1/λ of the paper ("auto" is 1).
    direction_penalty : float or pair of floats, default=0.0
        The factors μ of the splits and μ' of the slopes; one number stands for both. Larger values
        make them shorter. The paper has μ > 0; with the noise of ``jitter`` no penalty is needed.
        ``solver="sgd"`` takes them as λ_Θ and λ_Θ' of the paper, and for 0 that of the weights.
    jitter : float or "auto", default="auto"
        Standard deviation of the Gaussian noise that is added to dense training rows, in units of
        each feature's own. A larger value makes a smoother model. "auto" is chosen together with
        ``depth="auto"``, and is 0.1 for a given depth.
    splits : {"top_down", "random"}, default="top_down"
        Where splits start. "top_down" parts the rows of each node in halves, between two clusters.
        "random" puts splits anywhere.
    hard_fraction : float, default=0.3
        Fraction of the epochs, at the end, in which the splits stay and rows follow their hard
        path.
    pruning : {"l1", "l2"} or None, default=None
        Whether nodes go whose weights, and those of all nodes below, have a short norm. Held-out
        rows say how many: the smallest trees whose loss is within half a standard error of the
        lowest. What is left is an unbalanced tree. A linear root stays.
    n_trees : int or "auto", default="auto"
        Trees whose values are averaged. More trees are steadier and cost more. "auto" is 3
        for ``depth="auto"`` and up to 20,000 rows, else 1. ``partial_fit`` trains one.
    linear_root : bool or "auto", default="auto"
        Whether the root holds a linear model that the other nodes add to. This needs the tanh gate
        and Adam. "auto" means True for ``depth="auto"``, and False for a given depth, as in the
        paper. With False, ``depth="auto"`` searches nothing: the depth grows with the logarithm of
        the rows and shrinks with that of the features.
    device : str, default="cpu"
        Where Adam trains: "cpu" is our own code, "cuda" (or "cuda:1") PyTorch on a GPU, with the
        extra ``gpu`` installed, for the gates "tanh" and "indicator" without a projection.
    n_jobs : int or None, default=None
        Threads; results do not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of everything random.
    verbose : int, default=0
        Whether to print a line for each epoch.

    Attributes
    ----------
    predictor_ : TreePath, TreeLeaves, LinkedTree, Mapped or Averaged
        Splits, slopes, weights and intercept; all that prediction needs.
    history_ : list of Progress
        Step and objective of each epoch of the first tree. While splits are soft, ``figures`` has
        the R² on training rows with "soft splits" and with "hard splits".
    n_iter_ : int
        Epochs run.
    setting_ : TreeSetting
        Depth, C, jitter and C of the linear root that the model was trained with. A depth of None
        is the linear model alone.
    settings_tried_ : list of Verdict
        Each setting that was tried, and its mean loss on held-out rows; empty for a given depth.
    cost_ : Cost
        Multiply-adds per row, the same as a multiple of a linear model, and bytes.

    Notes
    -----
    The paper [1]_ treats classification. Model and training are the same here, and so is what
    differs from the paper: see :class:`LDKLClassifier`.

    y may have several columns: one tree serves all values, each in its own unit.

    ``depth="auto"`` tries settings, the simplest first: linear models of four strengths, then trees
    on top of the best of these. Each learns without a fifth of the rows and is judged by its loss
    on that fifth, three times for small sets. The simplest setting whose loss is within half a
    standard error of the lowest is trained on all rows. More than 10,000 rows or two million
    numbers are not searched: a full tree learns without a tenth of the rows. If a linear model is
    as good on these, it is taken.

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
    >>> y = np.sin(x[:, 0])
    >>> bool(LDKLRegressor(random_state=0).fit(x, y).score(x, y) > 0.98)
    True
    """

    history_: list[Progress]
    n_iter_: int
    setting_: TreeSetting
    settings_tried_: list[Verdict]

    _parameter_constraints = {
        **TREE_CONSTRAINTS,
        **shared("epsilon"),
        "loss": [one_of("squared_error", "epsilon_insensitive")],
    }

    def __init__(
        self,
        depth: int | Auto = "auto",
        *,
        n_components: int | Auto | None = "auto",
        global_features: Literal["identity", "quadratic"] | Callable[..., Any] = "identity",
        node_gate: Literal["tanh", "compositional", "indicator"] = "tanh",
        sigma: float = 1.0,
        C: float | Auto = "auto",
        loss: Literal["squared_error", "epsilon_insensitive"] = "squared_error",
        epsilon: float = 0.1,
        solver: Literal["adam", "sgd"] = "adam",
        max_iter: int | Auto = "auto",
        batch_size: int | Auto = "auto",
        learning_rate: float | Auto = "auto",
        direction_penalty: float | tuple[float, float] = 0.0,
        jitter: float | Auto = "auto",
        splits: Literal["top_down", "random"] = "top_down",
        hard_fraction: float = 0.3,
        pruning: Literal["l1", "l2"] | None = None,
        n_trees: int | Auto = "auto",
        linear_root: bool | Auto = "auto",
        device: str = "cpu",
        n_jobs: int | None = None,
        random_state: Seed = None,
        verbose: int = 0,
    ):
        self.depth = depth
        self.n_components = n_components
        self.global_features = global_features
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
        self.splits = splits
        self.hard_fraction = hard_fraction
        self.pruning = pruning
        self.n_trees = n_trees
        self.linear_root = linear_root
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    _learn, _learn_more, _takes_sparse = learn_trees, learn_trees_on, property(sees_plain_rows)
    fit, _learn_blocks = fit, learn_trees_from
    _takes_several_answers = _goes_on_from_file = True

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Rows, y: Targets, sample_weight: ArrayLike | None = None) -> Self:
        """Two steps of Adam for each mini-batch of some rows, on the CPU.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
            Rows; those of the first call also make the tree, so give it a few hundred.
        y : array of shape (n_samples,)
            Values.
        sample_weight : array of shape (n_samples,) or None, default=None
            Weights of the rows.

        Returns
        -------
        self
        """
        return self._go_on(stream_rows(self, X, y, sample_weight))
