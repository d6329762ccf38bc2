"""The front door: a raw table in, the most accurate model inside a prediction budget out."""

from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin, RegressorMixin

from .._hints import ClassWeight, FilePath, Rows, Seed, Targets
from .._sklearn import HasMethods, Interval, fit_context
from ..estimators._base.checks import one_of, shared
from ..estimators._base.model import Model
from ..streams.blocks import is_source
from .blocks.fitting import fit_blocks
from .fitting import fit_table
from .intervals import coverage_by_region, predict_interval
from .results import best_estimator, front, plot_front, results, select, support_score

_POSITIVE = [Interval(Real, 0, None, closed="neither"), None]
_CONSTRAINTS = {
    "max_times_linear": _POSITIVE,
    "max_us_per_row": _POSITIVE,
    "single_row_us": _POSITIVE,
    "max_bytes": _POSITIVE,
    "time_limit": _POSITIVE,
    "scoring": [str, callable, None],
    "families": ["array-like", None],
    "encoder": [one_of("auto"), None, HasMethods(["fit_transform", "transform"])],
    **shared("n_jobs", "random_state", "verbose"),
}


def _fit(model, X, y, sample_weight, checkpoint, every):
    if y is None and is_source(X):
        if sample_weight is not None:
            raise ValueError("Weights of rows in blocks come with them, as (X, y, weight).")
        return fit_blocks(model, X, checkpoint, every)
    if checkpoint is not None:
        raise ValueError("checkpoint is for rows in blocks: see nearlinear.streams.")
    return fit_table(model, X, y, sample_weight)


class NearLinearClassifier(ClassifierMixin, Model):
    r"""The most accurate classifier of a raw table inside a prediction budget.

    The table is encoded (see :class:`TableEncoder`). Then families of models are held against each
    other on rows that were held out: a linear model, the same on piecewise-linear columns, local
    linear models around anchors, boosted trees and random forests as gates, kernel machines, small
    networks. The probabilities of at most three of them are averaged,

    .. math:: p(y \mid x) = \sum_m \omega_m\, p_m(y \mid x), \qquad \sum_m \omega_m = 1,

    greedily, so that the log loss of held-out rows is small and the costs of the members add up to
    no more than the budget. The linear model stays unless the average is better by a standard error
    of the difference.

    Parameters
    ----------
    max_times_linear : float or None, default=None
        The most that a prediction may cost, as a multiple of a linear model's multiply-adds.
    max_us_per_row : float or None, default=None
        The most microseconds a row in a batch, on one thread of this machine, of the model behind
        the encoder. Each family is timed once on a machine, and the times are kept on disk.
    single_row_us : float or None, default=None
        The same for one row at a time through ``compile()``.
    max_bytes : float or None, default=None
        The most bytes of the model.
    time_limit : float or None, default=None
        Seconds of ``fit``, without those of compiling. Fast candidates are tried first, and those
        that are forecast to end too late are skipped. If the table is too large for the limit, the
        model is fitted to a sample of its rows, and to the columns that are most correlated with
        y. A busy machine can take longer. None tries all candidates, which alone gives the same
        model again for the same ``random_state``.
    scoring : str, callable or None, default=None
        A scorer of scikit-learn that the average maximizes on held-out rows. None is the log loss.
    families : list of str or None, default=None
        Families to try beside the linear model: "piecewise linear", "anchors", "boosted trees",
        "random forest", "kernel machine", "hinge units", "oblique trees", "decision tree", "local
        kernels", "cells", "few support rows". None leaves it to the search; oblique trees and
        decision trees are tried inside a budget, one decision tree and the last three if there is
        a ``time_limit``.
    encoder : "auto", transformer or None, default="auto"
        What makes numbers of a table. "auto" is a ``TableEncoder``, None takes rows as they are.
    class_weight : dict, "balanced" or None, default=None
        A factor on the weight of each class. "balanced" gives all classes the same total weight.
    n_jobs : int or None, default=None
        Number of threads. Results do not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the folds and of the models.
    verbose : int, default=0
        1 prints a line for every model that was tried.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
    encoder_ : transformer or None
        What makes numbers of a table, fitted.
    predictor_ : Averaged, Additive, LocallyLinear, Forest and others
        All that prediction needs behind the encoder.
    best_estimator_ : Pipeline
        The encoder and the model behind it, as one pipeline.
    cost_ : Cost
        What one prediction costs: multiply-adds, the same as a multiple of a linear model, bytes.
    record_ : list of dict
        Every model that was fitted to all rows, and the average: its held-out loss and score, its
        cost, its settings.
    results_ : DataFrame
        The same as a table.
    front_ : DataFrame
        Those that nothing else beats in both held-out loss and microseconds, cheapest first.
    tried_ : list of dict
        Every candidate: how far it came, how long it took, without and for compiling, why it
        failed.

    Notes
    -----
    None of the papers has it. The families, their settings and the rule of choice come from a
    simulation on 29 tables, where averages of two or three unlike models were the one rule that
    was better than any single model.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from nearlinear import NearLinearClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = NearLinearClassifier(families=["anchors"], random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    """

    classes_: np.ndarray
    encoder_: Any
    record_: list[dict[str, Any]]
    tried_: list[dict[str, Any]]

    _parameter_constraints = {**_CONSTRAINTS, **shared("class_weight")}
    _takes_missing = True
    loss = "log_loss"  # what its scores are of
    best_estimator_, front_, results_ = best_estimator, front, results
    select, plot_front, support_score = select, plot_front, support_score

    def __init__(
        self,
        *,
        max_times_linear: float | None = None,
        max_us_per_row: float | None = None,
        single_row_us: float | None = None,
        max_bytes: float | None = None,
        time_limit: float | None = None,
        scoring: str | Callable[..., Any] | None = None,
        families: Sequence[str] | None = None,
        encoder: Any = "auto",
        class_weight: ClassWeight = None,
        n_jobs: int | None = None,
        random_state: Seed = None,
        verbose: int = 0,
    ):
        self.max_times_linear = max_times_linear
        self.max_us_per_row = max_us_per_row
        self.single_row_us = single_row_us
        self.max_bytes = max_bytes
        self.time_limit = time_limit
        self.scoring = scoring
        self.families = families
        self.encoder = encoder
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Rows,
        y: Targets | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        checkpoint: FilePath | None = None,
        every: float = 60.0,
    ) -> Self:
        """Encode the table, search, and fit what was chosen to all rows.

        Parameters
        ----------
        X : table, array or CSR matrix of shape (n_samples, n_features), or source of blocks
            A table of pandas, polars or Arrow with numbers, text, dates and missing cells, or an
            array. A source is what ``nearlinear.streams`` makes of files, or anything that yields
            the same blocks (X, y) or (X, y, weight) of such rows whenever it is iterated: then the
            search uses a sample of at most 200,000 rows, fewer if the memory limit requires it
            (see ``nearlinear.set_config``).
        y : array of shape (n_samples,) or None, default=None
            Labels of any type. None with a source, which has them.
        sample_weight : array of shape (n_samples,) or None, default=None
            Weights of the rows. None with a source.
        checkpoint : path or None, default=None
            With a source: a file that holds how far the fit has come. A fit that was killed goes on
            from it, and ends at the bits of one that was not. The file stays.
        every : float, default=60.0
            Seconds between two writes of the checkpoint within the training of a tree; it is
            written after the search and after each model.

        Returns
        -------
        self
        """
        return _fit(self, X, y, sample_weight, checkpoint, every)


class NearLinearRegressor(RegressorMixin, Model):
    r"""The most accurate regressor of a raw table inside a prediction budget.

    The table is encoded (see :class:`TableEncoder`). Then families of models are held against each
    other on rows that were held out: a linear model, the same on piecewise-linear columns, local
    linear models around anchors, boosted trees and random forests as gates, kernel machines, small
    networks. The values of at most three of them are averaged,

    .. math:: f(x) = \sum_m \omega_m f_m(x), \qquad \sum_m \omega_m = 1,

    greedily, so that the squared error of held-out rows is small and the costs of the members add
    up to no more than the budget. The linear model stays unless the average is better by a standard
    error of the difference.

    Parameters
    ----------
    max_times_linear : float or None, default=None
        The most that a prediction may cost, as a multiple of a linear model's multiply-adds.
    max_us_per_row : float or None, default=None
        The most microseconds a row in a batch, on one thread of this machine, of the model behind
        the encoder. Each family is timed once on a machine, and the times are kept on disk.
    single_row_us : float or None, default=None
        The same for one row at a time through ``compile()``.
    max_bytes : float or None, default=None
        The most bytes of the model.
    time_limit : float or None, default=None
        Seconds of ``fit``, without those of compiling. Fast candidates are tried first, and those
        that are forecast to end too late are skipped. If the table is too large for the limit, the
        model is fitted to a sample of its rows, and to the columns that are most correlated with
        y. A busy machine can take longer. None tries all candidates, which alone gives the same
        model again for the same ``random_state``.
    scoring : str, callable or None, default=None
        A scorer of scikit-learn that the average maximizes on held-out rows. None is the squared
        error.
    families : list of str or None, default=None
        Families to try beside the linear model: "piecewise linear", "anchors", "boosted trees",
        "random forest", "kernel machine", "hinge units", "oblique trees", "decision tree", "local
        kernels", "cells", "few support rows". None leaves it to the search; oblique trees and
        decision trees are tried inside a budget, one decision tree and the last three if there is
        a ``time_limit``.
    encoder : "auto", transformer or None, default="auto"
        What makes numbers of a table. "auto" is a ``TableEncoder``, None takes rows as they are.
    n_jobs : int or None, default=None
        Number of threads. Results do not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the folds and of the models.
    verbose : int, default=0
        1 prints a line for every model that was tried.

    Attributes
    ----------
    encoder_ : transformer or None
        What makes numbers of a table, fitted.
    predictor_ : Averaged, Additive, LocallyLinear, Forest and others
        All that prediction needs behind the encoder.
    best_estimator_ : Pipeline
        The encoder and the model behind it, as one pipeline.
    cost_ : Cost
        What one prediction costs: multiply-adds, the same as a multiple of a linear model, bytes.
    record_ : list of dict
        Every model that was fitted to all rows, and the average: its held-out loss and score, its
        cost, its settings.
    results_ : DataFrame
        The same as a table.
    front_ : DataFrame
        Those that nothing else beats in both held-out loss and microseconds, cheapest first.
    tried_ : list of dict
        Every candidate: how far it came, how long it took, without and for compiling, why it
        failed.
    residuals_ : list of dict
        What ``predict_interval`` is made of: errors of held-out rows, by regions of the answer.

    Notes
    -----
    None of the papers has it. The families, their settings and the rule of choice come from a
    simulation on 29 tables, where averages of two or three unlike models were the one rule that
    was better than any single model.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from nearlinear import NearLinearRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = NearLinearRegressor(families=["anchors"], random_state=0).fit(X[:300], y[:300])
    >>> low, high = model.predict_interval(X[300:], coverage=0.9).T
    >>> bool(((low <= y[300:]) & (y[300:] <= high)).mean() > 0.8)
    True
    """

    encoder_: Any
    record_: list[dict[str, Any]]
    tried_: list[dict[str, Any]]
    residuals_: list[dict[str, Any]]

    _parameter_constraints = _CONSTRAINTS
    _takes_missing = True
    _takes_several_answers = True
    best_estimator_, front_, results_ = best_estimator, front, results
    select, plot_front, support_score = select, plot_front, support_score
    predict_interval, coverage_by_region = predict_interval, coverage_by_region

    def __init__(
        self,
        *,
        max_times_linear: float | None = None,
        max_us_per_row: float | None = None,
        single_row_us: float | None = None,
        max_bytes: float | None = None,
        time_limit: float | None = None,
        scoring: str | Callable[..., Any] | None = None,
        families: Sequence[str] | None = None,
        encoder: Any = "auto",
        n_jobs: int | None = None,
        random_state: Seed = None,
        verbose: int = 0,
    ):
        self.max_times_linear = max_times_linear
        self.max_us_per_row = max_us_per_row
        self.single_row_us = single_row_us
        self.max_bytes = max_bytes
        self.time_limit = time_limit
        self.scoring = scoring
        self.families = families
        self.encoder = encoder
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Rows,
        y: Targets | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        checkpoint: FilePath | None = None,
        every: float = 60.0,
    ) -> Self:
        """Encode the table, search, and fit what was chosen to all rows.

        Parameters
        ----------
        X : table, array or CSR matrix of shape (n_samples, n_features), or source of blocks
            A table of pandas, polars or Arrow with numbers, text, dates and missing cells, or an
            array. A source is what ``nearlinear.streams`` makes of files, or anything that yields
            the same blocks (X, y) or (X, y, weight) of such rows whenever it is iterated: then the
            search uses a sample of at most 200,000 rows, fewer if the memory limit requires it
            (see ``nearlinear.set_config``).
        y : array of shape (n_samples,) or (n_samples, n_outputs) or None, default=None
            Values. None with a source, which has them.
        sample_weight : array of shape (n_samples,) or None, default=None
            Weights of the rows. None with a source.
        checkpoint : path or None, default=None
            With a source: a file that holds how far the fit has come. A fit that was killed goes on
            from it, and ends at the bits of one that was not. The file stays.
        every : float, default=60.0
            Seconds between two writes of the checkpoint within the training of a tree; it is
            written after the search and after each model.

        Returns
        -------
        self
        """
        return _fit(self, X, y, sample_weight, checkpoint, every)
