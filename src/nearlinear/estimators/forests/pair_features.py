"""Sums and differences of two columns, as a map before any model."""

from numbers import Integral
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from ..._hints import Rows, Seed, Targets
from ..._sklearn import Interval, StrOptions, check_feature_names_in
from ...explain.record import pair_name
from ...losses import LogLoss, SquaredError
from ...preparation.transformers import register_step
from ...solvers.forests.pairs import PairColumns
from .._base.forests.orders import Columns
from .._base.forests.pair_screening import screen_pairs
from .._base.rows import TrainingRows
from .._base.task import row_weights


class PairFeatures(TransformerMixin, BaseEstimator):
    """Rows with further columns a x_i + b x_j, those that tell most of y.

    Candidates are sums and differences of two columns, raw and in several ratios of their spreads.
    A small forest is grown on rows and candidates; the candidates that explain most of it are kept,
    one of a kind. Columns of six values or fewer are left alone; of many columns, the twelve that
    tell most are paired. A linear model gains nothing from pair columns as they are: put
    ``SplineTransformer(degree=1, knots="quantile")`` behind them.

    Parameters
    ----------
    n_pairs : int, default=16
        Pair columns at most. Fewer are made where fewer candidates tell anything.
    target_type : {"auto", "classes", "values"}, default="auto"
        What y is. "auto" takes texts and whole numbers for classes; grades and counts are better
        told as "values".
    random_state : int, RandomState or None, default=None
        Which 60,000 rows are looked at where there are more, and how more than two classes are
        dealt into groups.

    Attributes
    ----------
    pairs_ : array of int of shape (n_pairs, 2)
        Columns i and j of each pair.
    factors_ : array of shape (n_pairs, 2)
        Their factors a and b.
    n_features_in_ : int
        Number of columns of the fit.
    feature_names_in_ : array of shape (n_features,)
        Their names, if all of them are strings.

    Examples
    --------
    >>> import numpy as np
    >>> from nearlinear import PairFeatures
    >>> X = np.random.default_rng(0).normal(size=(500, 3))
    >>> pairs = PairFeatures(n_pairs=1).fit(X, X[:, 0] > X[:, 2])
    >>> pairs.get_feature_names_out()
    array(['x0', 'x1', 'x2', 'x0 − x2'], dtype=object)
    """

    pairs_: np.ndarray
    factors_: np.ndarray
    n_features_in_: int
    feature_names_in_: np.ndarray

    _parameter_constraints = {
        "n_pairs": [Interval(Integral, 0, None, closed="left")],
        "target_type": [StrOptions({"auto", "classes", "values"})],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_pairs: int = 16,
        target_type: Literal["auto", "classes", "values"] = "auto",
        random_state: Seed = None,
    ):
        self.n_pairs = n_pairs
        self.target_type = target_type
        self.random_state = random_state

    def fit(self, X: Rows, y: Targets, sample_weight: ArrayLike | None = None) -> Self:
        """Choose the pairs.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Numbers, none of them missing.
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            Classes, or values.
        sample_weight : array of shape (n_samples,) or None, default=None
            A weight k is k copies of the row.

        Returns
        -------
        PairFeatures
        """
        self._validate_params()
        X, y = validate_data(
            self, X, y, dtype=[np.float64, np.float32], multi_output=True, y_numeric=False
        )
        rows, loss = self._rows(X, y, row_weights(X, sample_weight))
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        found = screen_pairs(rows, Columns(PairColumns.none()), self.n_pairs, loss, seed)
        self.pairs_ = found.pairs.astype(np.int64)
        self.factors_ = found.factors.astype(np.float64)
        return self

    def _rows(self, X, y, weight):
        """Distinct weighted rows in single precision, as growers take them, and a loss."""
        with np.errstate(over="ignore"):
            X = X.astype(np.float32)
        if not np.all(np.isfinite(X)):
            raise ValueError("X holds numbers beyond single precision: scale these columns first.")
        kind = self.target_type
        if kind == "auto":
            is_class = type_of_target(y, input_name="y") in ("binary", "multiclass")
            kind = "classes" if is_class else "values"
        if kind == "classes":
            classes, labels = np.unique(column_or_1d(y, warn=True), return_inverse=True)
            targets = np.where(labels[:, None] == np.arange(len(classes)), 1.0, -1.0)
            targets = targets[:, 1:] if len(classes) == 2 else targets
            rows = TrainingRows(X, labels, targets, weight, len(X))
            return rows.merged(), LogLoss()
        values = np.asarray(y, dtype=np.float64).reshape(len(X), -1)
        spread = values.std(axis=0)
        values = values / np.where(spread > 0, spread, 1.0)  # so that outputs count alike
        rows = TrainingRows(X, np.zeros(len(X), dtype=np.intp), values, weight, len(X))
        return rows.merged(
            np.unique(values, axis=0, return_inverse=True)[1].ravel()
        ), SquaredError()

    def transform(self, X: Rows) -> np.ndarray:
        """The rows, and their pair columns after them."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        return PairColumns(self.pairs_, self.factors_.astype(X.dtype)).joined_to(X)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> np.ndarray:
        """Names of the columns, then words such as "height − 0.5·slope".

        Parameters
        ----------
        input_features : sequence of str or None, default=None
            Names of the columns that come in. None takes those of the fit.

        Returns
        -------
        array of str
        """
        check_is_fitted(self)
        names = check_feature_names_in(self, input_features)
        pairs = zip(self.pairs_, self.factors_, strict=True)
        made = [pair_name(names[i], names[j], a, b) for (i, j), (a, b) in pairs]
        return np.array([*names, *made], dtype=object)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _mixed(step, columns, known):
    """Each column as it is, and sums of two of them."""
    n_pairs = len(step.pairs_)
    sums = np.zeros((n_pairs, len(columns)))
    np.put_along_axis(sums, step.pairs_, step.factors_, axis=1)
    matrix = np.vstack([np.eye(len(columns)), sums])
    return columns.mixed(matrix, np.zeros(len(matrix))) if n_pairs else columns


register_step(PairFeatures, _mixed)
