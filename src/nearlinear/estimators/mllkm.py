"""MLLKM: few locally linear kernels, chosen from one around every training row."""

from collections.abc import Iterable, Iterator
from numbers import Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin, RegressorMixin

from .._hints import Auto, ClassWeight, Rows, Seed, Targets
from .._sklearn import Interval, fit_context
from ..kernels.conformal import PROFILES
from ..kernels.row_scales import Absolute
from ._base.capacity import Verdict
from ._base.checks import at_least, one_of, shared
from ._base.input import scored_rows, stream_rows
from ._base.model import Model
from ._base.streams.conformal import add_kernels, finish, learn, learn_more
from ._base.values.loss_weight import WEIGHT, learn_weighted, with_weight

_CONSTRAINTS = {
    **shared("C", "bias", "tol", "max_iter", "n_jobs", "random_state", "verbose"),
    "profile": [one_of(*PROFILES)],
    "per_feature": ["boolean"],
    "length_exponent": [Interval(Real, 0, 1, closed="both")],
    "bandwidths": ["array-like", Absolute, None],
    "anchors": [one_of("rows", "kmeans"), "array-like", Iterator],
    "n_anchors": [at_least(1), None],
    "selection_rows": [at_least(1), None],
    "max_kernels": [at_least(1), None],
    "refinement": [one_of("models", "kernels"), None],
    "machine_epochs": [at_least(1), None],
    "max_refused": [at_least(0), None],
    "max_support": [at_least(1), None],
}


def support_score(self: Any, X: Rows) -> np.ndarray:
    """How strongly the nearest kernel answers for each row: 0 where the model knows nothing.

    The profiles "linear" and "square" are exactly zero far from all anchors. The others are all
    but zero there.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Rows.

    Returns
    -------
    array of shape (n_samples,)
        Numbers between 0 and 1.
    """
    X = scored_rows(self, X)  # first: says so if there is nothing fitted yet
    return self.predictor_.support_score(X, n_jobs=self.n_jobs)


ANCHORS = property(lambda self: self.predictor_.anchors, doc="Anchors of the kernels in use.")
GAMMAS = property(lambda self: self.predictor_.gammas, doc="Bandwidths γ of the kernels in use.")


class MLLKMClassifier(ClassifierMixin, Model):
    r"""Multiple locally linear kernel machine: few linear models, each of them local.

    Minimizes, over kernel weights :math:`\beta` on the simplex and local models :math:`w_m`,

    .. math:: \frac{1}{2} \sum_m \|w_m\|^2 + C \sum_i \max(0,\, 1 - y_i f(x_i)), \quad
              f(x) = \sum_m \sqrt{\beta_m} \langle w_m, \phi_m(x) \rangle + b,

    where :math:`\phi_m(x) = h_m(x)(x - c_m)` fades around the anchor :math:`c_m`. The candidates
    are all pairs of an anchor and a bandwidth. Most of them get no weight. The others collapse to
    one linear model for each kernel. So prediction costs two products for each kernel and needs no
    support rows.

    Parameters
    ----------
    profile : {"gaussian", "exponential", "linear", "square"}, default="gaussian"
        How a kernel fades with the distance r from its anchor: exp(−γr²), exp(−γr), (1 − γr)₊ or
        (1 − γr²)₊. The last two are exactly zero far away.
    per_feature : bool, default=False
        If True, a kernel fades in every feature on its own. The model is then a sum of functions
        of single features.
    C : float, default=10.0
        Weight of the losses: a larger C fits the training rows more closely.
    length_exponent : float between 0 and 1, default=0.5
        Every kernel is divided by its mean squared length to this power. 0 keeps few and wide
        kernels. 1 gives narrow kernels an equal chance and keeps more of them.
    bandwidths : array, Absolute or None, default=None
        The γ of the candidates, in units of 1/s: a larger γ makes a narrower kernel. s is the
        median squared distance between distinct rows; of more than 500 rows, about 500 stand for
        all. With ``per_feature``, s is 0.91 times the mean variance of a feature: the median
        squared difference of two values, if they are normal. "exponential" and "linear" take the
        root of s. "linear" and "square" take half the γ, since they end where the others only
        fade. None stands for 0.03, 0.1, 0.3, 1, 3 and 10. ``kernels.Absolute([0.01, 0.1])`` are γ
        in the unit of the features.
    anchors : {"rows", "kmeans"}, array or iterator, default="rows"
        Where kernels may stand: on training rows, on the centers of k-means, or on these points.
        An iterator of points is read 100 points at a time, for one ``fit``.
    n_anchors : int or None, default=2000
        The most places where kernels may stand. Of more rows, a random sample is taken. None takes
        all rows. More places give a better choice and take more time.
    selection_rows : int or None, default=20_000
        If there are more rows, so many of them choose the kernels. All rows then weigh the chosen
        kernels and fit the models. The certificate holds for all rows. None lets all rows choose.
    bias : {"free", "penalized", "none"}, default="free"
        Whether the model has a constant, and whether the penalty counts it as a weight.
    machine_epochs : int or None, default=None
        E of [1]_, section 4.1, Algorithm 1: machines are ascended for E epochs, coordinate by
        coordinate from zero, and left there. That is an early stop: ``duality_gap_`` tells how
        early. Needs ``bias="none"``, as published, or "penalized"; a stream does without. None
        solves machines to a duality gap.
    max_kernels : int or None, default=None
        The most kernels for each output. The most important ones are kept and weighed again.
        None sets no limit.
    refinement : {"models", "kernels"} or None, default=None
        What happens after the choice of kernels. "models" fits the local models again, without the
        pressure to be few. "kernels" improves models, anchors and bandwidths together by gradient;
        anchors then leave the rows. A stream goes on from the kernels as they were chosen.
    max_refused : int or None, default=None
        The most refused candidates that are remembered, to be tried again after the last chunk.
        The others are forgotten, the least promising ones first: the certificate is then without
        them, and memory does not grow with the candidates. None remembers all.
    max_support : int or None, default=None
        The most rows that a stream stores. From more rows it keeps a random sample, with some rows
        of each class, however rare it is. The stored rows together weigh no more than so many rows
        of the stream. So the model is about that of a fit to as many random rows, after any number
        of passes. ``fit`` learns from all rows; with ``max_support`` it then stores a sample of
        them, from which ``partial_fit`` can go on. None stores all rows of a stream, so that
        ``finish`` gives what ``fit`` gives; ``fit`` itself then stores no rows.
    tol : float, default=1e-2
        Learning stops when the objective is within this fraction of its optimum over all
        candidates. Where a sample of the rows chooses, its search ends at 0.05.
    max_iter : int, default=100
        The most rounds in which kernels enter.
    class_weight : dict, "balanced" or None, default=None
        A factor on the weight of each class. "balanced" gives all classes the same total weight.
    n_jobs : int or None, default=None
        Number of threads. Results do not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the sample of anchors, of k-means, of the rows that a stream stores within
        ``max_support``, and of the order of its steps.
    verbose : int, default=0
        1 prints a line for every round.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
    anchors_ : array of shape (n_kernels, n_features)
        Anchors of the kernels in use.
    gammas_ : array of shape (n_kernels,)
        Bandwidths γ of the kernels in use.
    n_kernels_ : int
        Number of kernels in use.
    kernel_weights_ : array of shape (n_kernels,) or (n_classes, n_kernels)
        Weights of the kernels, before any refinement; one row for
        each class if there are more than two.
    objective_ : float
        After ``fit`` or ``finish``: the value of the training objective, summed
        over classes, before any
        refinement, in double precision.
    duality_gap_ : float
        After ``fit`` or ``finish``: how far ``objective_`` is above its optimum over all
        candidates, at most.
    n_priced_ : int
        After ``fit`` or ``finish``: number of candidates that ``duality_gap_`` covers.
    n_iter_ : int
        After ``fit`` or ``finish``: number of rounds of the slowest class.
    n_support_ : int
        Number of rows with a coefficient that is not zero. Prediction does not need these rows.
    predictor_ : ConformalLinear
        Anchors, bandwidths and local models: all that prediction needs.
    cost_ : Cost
        What one prediction costs: multiply-adds, the same as a multiple of a linear model, bytes.

    Notes
    -----
    Follows [1]_. Differs in: there is a bias, unless ``bias="none"``. Kernels are divided by a
    power of their length, and all of them by the median squared distance of the rows, so that C
    does not depend on their scale. Bandwidths are relative to the data. Many kernels enter in one
    round. Weights are found by Newton steps. Machines are solved to a duality gap, without a Gram
    matrix beyond 500 rows. At most 20,000 rows choose the kernels. The certificate covers all
    candidates. Models and kernels may be refined. Several classes are learned one against the
    rest, on shared candidates.

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

    classes_: np.ndarray
    n_kernels_: int
    kernel_weights_: np.ndarray
    objective_: float
    duality_gap_: float
    n_priced_: int
    n_iter_: int
    n_support_: int

    _takes_sparse = False
    _parameter_constraints = {**_CONSTRAINTS, **shared("class_weight")}

    def __init__(
        self,
        profile: Literal["gaussian", "exponential", "linear", "square"] = "gaussian",
        per_feature: bool = False,
        *,
        C: float = 10.0,
        length_exponent: float = 0.5,
        bandwidths: ArrayLike | Absolute | None = None,
        anchors: Literal["rows", "kmeans"] | ArrayLike | Iterable[Any] = "rows",
        n_anchors: int | None = 2000,
        selection_rows: int | None = 20_000,
        bias: Literal["free", "penalized", "none"] = "free",
        machine_epochs: int | None = None,
        max_kernels: int | None = None,
        refinement: Literal["models", "kernels"] | None = None,
        max_refused: int | None = None,
        max_support: int | None = None,
        tol: float = 1e-2,
        max_iter: int = 100,
        class_weight: ClassWeight = None,
        n_jobs: int | None = None,
        random_state: Seed = None,
        verbose: int = 0,
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
        self.machine_epochs = machine_epochs
        self.max_kernels = max_kernels
        self.refinement = refinement
        self.max_refused = max_refused
        self.max_support = max_support
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _learn(self, rows):
        return learn(self, rows)

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self,
        X: Rows,
        y: Targets,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        sample_ids: ArrayLike | None = None,
    ) -> Self:
        """Learn from some rows of a stream; kernels around them may enter.

        A stream begins with ``partial_fit``, or with a ``fit`` for which ``max_support`` is given.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Rows. Those of the first call also set the scale of the kernels.
        y : array of shape (n_samples,)
            Labels.
        classes : array or None, default=None
            All labels that will come. The first call needs them.
        sample_weight : array of shape (n_samples,) or None, default=None
            Weights of the rows.
        sample_ids : array of whole numbers or None, default=None
            Identities of the rows. A row whose identity is stored already replaces the stored row.
            None stands for rows never seen before; with ``max_support``, the weight of a row that
            equals a stored row is added to it.

        Returns
        -------
        self
        """
        return self._go_on(stream_rows(self, X, y, sample_weight, classes), sample_ids)

    def _learn_more(self, rows, sample_ids):
        return learn_more(self, rows, sample_ids)

    add_kernels, finish, support_score = add_kernels, finish, support_score
    anchors_, gammas_ = ANCHORS, GAMMAS


class MLLKMRegressor(RegressorMixin, Model):
    r"""Multiple locally linear kernel machine for regression: few linear models, each local.

    Minimizes, over kernel weights :math:`\beta` on the simplex and local models :math:`w_m`,

    .. math:: \frac{1}{2} \sum_m \|w_m\|^2 + C \sum_i \max(0,\, |y_i - f(x_i)| - \epsilon), \quad
              f(x) = \sum_m \sqrt{\beta_m} \langle w_m, \phi_m(x) \rangle + b,

    where :math:`\phi_m(x) = h_m(x)(x - c_m)` fades around the anchor :math:`c_m` and :math:`y` is
    in units of its spread.

    Parameters
    ----------
    profile : {"gaussian", "exponential", "linear", "square"}, default="gaussian"
        How a kernel fades with the distance r from its anchor: exp(−γr²), exp(−γr), (1 − γr)₊ or
        (1 − γr²)₊. The last two are exactly zero far away.
    per_feature : bool, default=False
        If True, a kernel fades in every feature on its own. The model is then a sum of functions
        of single features.
    C : float or "auto", default="auto"
        Weight of the losses, in units of the spread of y: see ``epsilon``. "auto" takes, of six
        values from 0.03 to 10, the smallest that does about as well as any on held-out rows (of at
        most 1,000 rows, on the CPU). It is 1 for fewer than 20 distinct rows, and
        10 for streams and iterators of anchors. Where it is 10 and y has no noise, larger ones may
        do better.
    epsilon : float, default=0.1
        Errors up to this size cost nothing. The machine learns (y − center) / spread, so C and
        epsilon mean the same whether y is in dollars or in millions. To give them in the unit of
        y, divide both by np.std(y); dividing by ``target_spread_`` is exact.
    length_exponent : float between 0 and 1, default=0.5
        Every kernel is divided by its mean squared length to this power. 0 keeps few and wide
        kernels. 1 gives narrow kernels an equal chance and keeps more of them.
    bandwidths : array, Absolute or None, default=None
        The γ of the candidates, in units of 1/s: a larger γ makes a narrower kernel. s is the
        median squared distance between distinct rows; of more than 500 rows, about 500 stand for
        all. With ``per_feature``, s is 0.91 times the mean variance of a feature: the median
        squared difference of two values, if they are normal. "exponential" and "linear" take the
        root of s. "linear" and "square" take half the γ, since they end where the others only
        fade. None stands for 0.03, 0.1, 0.3, 1, 3 and 10. ``kernels.Absolute([0.01, 0.1])`` are γ
        in the unit of the features.
    anchors : {"rows", "kmeans"}, array or iterator, default="rows"
        Where kernels may stand: on training rows, on the centers of k-means, or on these points.
        An iterator of points is read 100 points at a time, for one ``fit``.
    n_anchors : int or None, default=2000
        The most places where kernels may stand. Of more rows, a random sample is taken. None takes
        all rows. More places give a better choice and take more time.
    selection_rows : int or None, default=20_000
        If there are more rows, so many of them choose the kernels. All rows then weigh the chosen
        kernels and fit the models. The certificate holds for all rows. None lets all rows choose.
    bias : {"free", "penalized", "none"}, default="free"
        Whether the model has a constant, and whether the penalty counts it as a weight. The
        center of y is added in any case.
    machine_epochs : int or None, default=None
        E of the paper, section 4.1, Algorithm 1: machines are ascended for E epochs, coordinate by
        coordinate from zero, and left there. That is an early stop: ``duality_gap_`` tells how
        early. Needs ``bias="none"``, as published, or "penalized"; a stream does without. None
        solves machines to a duality gap.
    max_kernels : int or None, default=None
        The most kernels. The most important ones are kept and weighed again.
        None sets no limit.
    refinement : {"models", "kernels"} or None, default=None
        What happens after the choice of kernels. "models" fits the local models again, without the
        pressure to be few. "kernels" improves models, anchors and bandwidths together by gradient;
        anchors then leave the rows. A stream goes on from the kernels as they were chosen.
    max_refused : int or None, default=None
        The most refused candidates that are remembered, to be tried again after the last chunk.
        The others are forgotten, the least promising ones first: the certificate is then without
        them, and memory does not grow with the candidates. None remembers all.
    max_support : int or None, default=None
        The most rows that a stream stores. From more rows it keeps a random sample. The stored
        rows together weigh no more than so many rows of the stream. So the model is about that of
        a fit to as many random rows, after any number of passes. ``fit`` learns from all rows; with
        ``max_support`` it then stores a sample of them, from which ``partial_fit`` can go on. None
        stores all rows of a stream, so that ``finish`` gives what ``fit`` gives; ``fit`` itself
        then stores no rows.
    tol : float, default=1e-2
        Learning stops when the objective is within this fraction of its optimum over all
        candidates. Where a sample of the rows chooses, its search ends at 0.05.
    max_iter : int, default=100
        The most rounds in which kernels enter.
    n_jobs : int or None, default=None
        Number of threads. Results do not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the sample of anchors, of k-means, of the rows that a stream stores within
        ``max_support``, and of the order of its steps.
    verbose : int, default=0
        1 prints a line for every round.

    Attributes
    ----------
    C_ : float
        The weight of the losses that the model was trained with, where C is "auto".
    settings_tried_ : list of Verdict
        Each C, and its mean loss on held-out rows: of one that was given up early, on the first
        part of them, and infinite where smaller ones had shown that it gains nothing.
    target_spread_ : float
        The spread of the training values: their standard deviation, after values that lie more
        than three interquartile ranges beyond the quartiles have been moved to there.
        ``objective_`` and ``duality_gap_`` are in units of its square. In a stream, the spread of
        the values of the first call; after ``finish``, of all stored values.
    anchors_ : array of shape (n_kernels, n_features)
        Anchors of the kernels in use.
    gammas_ : array of shape (n_kernels,)
        Bandwidths γ of the kernels in use.
    n_kernels_ : int
        Number of kernels in use.
    kernel_weights_ : array of shape (n_kernels,)
        Weights of the kernels, before any refinement.
    objective_ : float
        After ``fit`` or ``finish``: the value of the training objective, before any
        refinement, in double precision.
    duality_gap_ : float
        After ``fit`` or ``finish``: how far ``objective_`` is above its optimum over all
        candidates, at most.
    n_priced_ : int
        After ``fit`` or ``finish``: number of candidates that ``duality_gap_`` covers.
    n_iter_ : int
        After ``fit`` or ``finish``: number of rounds.
    n_support_ : int
        Number of rows with a coefficient that is not zero. Prediction does not need these rows.
    predictor_ : ConformalLinear
        Anchors, bandwidths and local models: all that prediction needs.
    cost_ : Cost
        What one prediction costs: multiply-adds, the same as a multiple of a linear model, bytes.

    Notes
    -----
    See :class:`MLLKMClassifier`; the paper has no regression.
    """

    C_: float
    settings_tried_: list[Verdict]
    target_spread_: float
    n_kernels_: int
    kernel_weights_: np.ndarray
    objective_: float
    duality_gap_: float
    n_priced_: int
    n_iter_: int
    n_support_: int

    _takes_sparse = False
    _parameter_constraints = {**_CONSTRAINTS, **shared("epsilon"), **WEIGHT}

    def __init__(
        self,
        profile: Literal["gaussian", "exponential", "linear", "square"] = "gaussian",
        per_feature: bool = False,
        *,
        C: float | Auto = "auto",
        epsilon: float = 0.1,
        length_exponent: float = 0.5,
        bandwidths: ArrayLike | Absolute | None = None,
        anchors: Literal["rows", "kmeans"] | ArrayLike | Iterable[Any] = "rows",
        n_anchors: int | None = 2000,
        selection_rows: int | None = 20_000,
        bias: Literal["free", "penalized", "none"] = "free",
        machine_epochs: int | None = None,
        max_kernels: int | None = None,
        refinement: Literal["models", "kernels"] | None = None,
        max_refused: int | None = None,
        max_support: int | None = None,
        tol: float = 1e-2,
        max_iter: int = 100,
        n_jobs: int | None = None,
        random_state: Seed = None,
        verbose: int = 0,
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
        self.machine_epochs = machine_epochs
        self.max_kernels = max_kernels
        self.refinement = refinement
        self.max_refused = max_refused
        self.max_support = max_support
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _learn(self, rows):
        return learn_weighted(self, rows, learn, _without_stream)

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self,
        X: Rows,
        y: Targets,
        sample_weight: ArrayLike | None = None,
        sample_ids: ArrayLike | None = None,
    ) -> Self:
        """Learn from some rows of a stream; kernels around them may enter.

        A stream begins with ``partial_fit``, or with a ``fit`` for which ``max_support`` is given.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Rows. Those of the first call also set the scale of the kernels.
        y : array of shape (n_samples,)
            Values. Those of the first call also set their unit.
        sample_weight : array of shape (n_samples,) or None, default=None
            Weights of the rows.
        sample_ids : array of whole numbers or None, default=None
            Identities of the rows. A row whose identity is stored already replaces the stored row.
            None stands for rows never seen before; with ``max_support``, the weight of a row that
            equals a stored row is added to it.

        Returns
        -------
        self
        """
        return self._go_on(stream_rows(self, X, y, sample_weight), sample_ids)

    def _learn_more(self, rows, sample_ids):
        return learn_more(self, rows, sample_ids)

    add_kernels, finish, support_score = add_kernels, finish, support_score
    anchors_, gammas_ = ANCHORS, GAMMAS


def _without_stream(model, rows):
    return learn(with_weight(model, model.C, max_support=None), rows)
