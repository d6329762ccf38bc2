"""The face that all estimators share: input checks, labels, weights, prediction."""

import os

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ..._compile import one_blas_thread
from ...runtime.scores import finite_scores
from .finite import require_finite_model, require_moderate, require_sound
from .labels import (
    class_row_weights,
    encode_labels,
    require_few_classes,
    require_one_type,
    row_weights,
)
from .model import Training
from .rows import merge_regression_rows, merge_rows
from .target_units import TargetUnits
from .whole_fit import whole_fit


def _has_probabilities(estimator):
    name, loss = type(estimator).__name__, getattr(estimator, "loss", None)
    loss = getattr(estimator, "loss_", loss) if loss == "auto" else loss
    if loss == "log_loss":
        return True
    way = f"CalibratedClassifierCV({name}(...), ensemble=False).fit(X, y) of sklearn.calibration"
    if loss is None:
        raise AttributeError(f"{name} gives no probabilities of its own; {way} gives them.")
    raise AttributeError(
        f"{name} gives probabilities of its own with loss='log_loss'; with any loss {way} does."
    )


class LocalEstimator(BaseEstimator):
    """Checks in, scores out. A method adds ``_learn(rows)``, which sets ``predictor_``."""

    def _learn_from(self, rows):
        with one_blas_thread():
            self._learn(rows)
        require_finite_model(self)
        self._training = Training(rows.X.shape[0])
        self.__dict__.pop("_trainer", None)  # a stream begins anew from the fitted model
        return self

    def _check_training_rows(self, X, y, reset, **y_checks):
        if not reset and self.__dict__.get("_is_loaded"):
            raise ValueError(
                f"This {type(self).__name__} comes from a file, which has what prediction needs "
                "and no more: fit it anew to learn on."
            )
        self.__dict__.pop("_is_loaded", None)
        self._training = Training()
        dtype = [np.float64, np.float32] if reset else self._score_dtype
        form = self._sparse_form()
        require_sound(X)
        X, y = validate_data(
            self, X, y, accept_sparse=form, dtype=dtype, order="C", reset=reset, **y_checks
        )
        require_moderate(X)
        return _canonical(X), y

    def _stream_rng(self):
        """Later calls go on with the stream of random numbers that the first one began."""
        rng = check_random_state(getattr(self, "_stream_seed", self.random_state))
        self._stream_seed = int(rng.randint(np.iinfo(np.int32).max))
        return rng

    def _check_rows(self, X):
        check_is_fitted(self, "predictor_")
        form, dtype = self._sparse_form(), self._score_dtype
        require_sound(X)
        return _canonical(
            validate_data(self, X, accept_sparse=form, dtype=dtype, order="C", reset=False)
        )

    def _sparse_form(self):
        return "csr" if self.__sklearn_tags__().input_tags.sparse else False

    def _scores(self, X):
        X = self._check_rows(X)  # first: says so if there is nothing fitted yet
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            scores = self.predictor_(X, n_jobs=self.n_jobs)
        return finite_scores(scores)

    def explain(self, X, *, n_support=5, preparation=None):
        """Take the scores of rows apart.

        A locally linear model tells, for every row, the one linear model w(x), b(x) that answers
        for it and where that comes from (anchors, path, kernels); its score is
        ``(w(x) * x).sum() + b(x)``. A kernel machine tells what each kernel adds to the score, and
        which support rows count most.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
            Rows, as for ``predict``; with a preparation, rows before it.
        n_support : int, default=5
            Support rows of a kernel machine that are named for each row and output.
        preparation : transformer, Pipeline of transformers or None
            What comes before the model, fitted: ``pipeline[:-1]``. Behind scalers the explanation
            speaks of the raw features, behind other steps of the columns that they make.

        Returns
        -------
        Explanation
        """
        from ...explain.explain import explain
        from .explained import rows_to_explain, told

        X = self._check_rows(rows_to_explain(self, X, preparation))
        return told(self, explain(self.predictor_, X, n_support, self.n_jobs), preparation)

    @property
    def _score_dtype(self):
        return self.predictor_.weights.dtype

    def compile(self, preparation=None):
        """A scorer for single rows, in microseconds.

        Parameters
        ----------
        preparation : transformer, Pipeline of transformers or None
            What comes before the model, fitted; rows are then given as they were before it, NaN
            where it takes missing values. Of a pipeline: ``pipeline[-1].compile(pipeline[:-1])``.
            Scalers, SimpleImputer, OneHotEncoder of numbers and ColumnTransformer of these.

        Returns
        -------
        RowScorer
            ``scorer(x)`` is the score of a one-dimensional array, ``scorer.predict(x)`` its label,
            and ``scorer.predict_proba(x)`` the probabilities under the log loss. A row of another
            length, or with numbers that are not finite, is refused. For calibrated models there is
            ``nearlinear.row_scorer``.
        """
        from ...preparation.transformers import preparation_of_numbers
        from ...runtime.outcome import LogLoss, Outcome
        from ...single_row.scorer import RowScorer

        check_is_fitted(self, "predictor_")
        if self.__sklearn_tags__().input_tags.pairwise:
            raise ValueError(
                f"{type(self).__name__} with precomputed kernels has no rows for a scorer to take."
            )
        n_gating, first = getattr(self, "n_gating_features_", 0), self
        n_features, table = self.n_features_in_ + n_gating, None
        if preparation is not None:
            table = preparation_of_numbers([preparation], self.n_features_in_)
            table, first = table.and_columns(n_gating), preparation
            n_features = table.n_features
        names = getattr(first, "feature_names_in_", None)
        classes = getattr(self, "classes_", None)
        outcome = Outcome((LogLoss(),)) if hasattr(self, "predict_proba") else None
        return RowScorer(
            self.predictor_, n_features, self._score_dtype, classes, table, names, outcome
        )

    @property
    def cost_(self):
        """What one prediction costs: multiply-adds, multiple of a linear model, bytes."""
        return self.predictor_.cost

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class LocalClassifier(ClassifierMixin, LocalEstimator):
    """Labels to targets, scores to labels."""

    @whole_fit
    def fit(self, X, y, sample_weight=None):
        """Learn from labelled rows.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
            Rows, best standardised.
        y : array of shape (n_samples,)
            Labels of any type.
        sample_weight : array of shape (n_samples,) or None
            Weight k equals k copies.

        Returns
        -------
        self
        """
        return self._learn_from(self._fit_rows(X, y, sample_weight))

    def _fit_rows(self, X, y, sample_weight):
        X, y = self._check_training_data(X, y, reset=True)
        classes, labels = np.unique(y, return_inverse=True)
        weight = class_row_weights(X, labels, classes, sample_weight, self.class_weight)
        present = classes[np.unique(labels[weight > 0])].tolist()
        if len(present) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two classes with positive weight, "
                f"y has one class: {present[0] if present else None!r}."
            )
        require_few_classes(classes)
        self.classes_ = classes
        return merge_rows(X, labels, weight, len(classes))

    def _check_training_data(self, X, y, reset):
        X, y = self._check_training_rows(X, y, reset)
        require_one_type(y)
        check_classification_targets(y)
        return X, y

    def _stream_rows(self, X, y, classes, sample_weight):
        """Checked rows of a stream with their labels and weights."""
        first = not hasattr(self, "predictor_")
        X, y = self._check_training_data(X, y, reset=first)
        all_classes = self._all_classes(classes, first)
        labels = encode_labels(y, all_classes)
        weight = class_row_weights(X, labels, all_classes, sample_weight, self.class_weight)
        self.classes_ = all_classes
        return X, labels, weight

    def _all_classes(self, classes, first):
        """The classes of the stream: named in the first call, the same ever after."""
        if classes is None:
            if first:
                raise ValueError("partial_fit needs classes in its first call.")
            return self.classes_
        classes = np.unique(classes)
        require_few_classes(classes)
        if len(classes) < 2:
            raise ValueError(f"{type(self).__name__} needs at least two classes.")
        if not first and not np.array_equal(classes, self.classes_):
            raise ValueError(
                f"classes={classes.tolist()} differs from {self.classes_.tolist()} of the "
                "earlier calls; leave it out, or start a new model."
            )
        return classes

    def _units_of(self, rows):
        """Scores are margins."""
        return TargetUnits()

    def decision_function(self, X):
        """Scores: positive for ``classes_[1]`` if there are two classes, else one per class."""
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X):
        """The class with the highest score."""
        scores = self._scores(X)
        if scores.shape[1] == 1:
            return self.classes_[(scores[:, 0] > 0).astype(np.intp)]
        return self.classes_[scores.argmax(axis=1)]

    @available_if(_has_probabilities)
    def predict_proba(self, X):
        """Class probabilities under the log loss."""
        from ...runtime.outcome import LogLoss

        return LogLoss()(self._scores(X))


class LocalRegressor(RegressorMixin, LocalEstimator):
    """Numbers in, numbers out."""

    @whole_fit
    def fit(self, X, y, sample_weight=None):
        """Learn from rows and their values.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
            Rows, best standardised.
        y : array of shape (n_samples,)
            Values.
        sample_weight : array of shape (n_samples,) or None
            Weight k equals k copies.

        Returns
        -------
        self
        """
        X, y = self._check_training_rows(X, y, reset=True, y_numeric=True)
        return self._learn_from(merge_regression_rows(X, y, row_weights(X, sample_weight)))

    def _units_of(self, rows):
        """The unit in which values are learned, if C and epsilon are to mean the same in any."""
        units = TargetUnits.of_values(rows.targets[:, 0], rows.weight)
        self.target_spread_ = units.spread
        return units

    def predict(self, X):
        """Values."""
        return self._scores(X)[:, 0]


def _canonical(X):
    """CSR rows in which no entry stands twice; the user's matrix is left as it is."""
    if issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def row_copies(X):
    """Bytes that any fit takes: rows ordered, merged, centred and in blocks, and small things."""
    stored = X.data.nbytes + X.indices.nbytes if issparse(X) else X.nbytes
    return 5 * stored + (1 << 17)


def require_memory(n_bytes, max_memory, advice):
    """Refuse before allocating; ``max_memory`` None stands for the machine's memory."""
    if max_memory is None:
        max_memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    n_bytes = float(min(n_bytes, 10**30))
    if n_bytes > max_memory:
        raise MemoryError(
            f"This fit would need about {_shown(n_bytes)} beyond the data and may use "
            f"{_shown(max_memory)}: {advice}, or raise max_memory."
        )


def _shown(n_bytes):
    return f"{n_bytes / 1e9:.2f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.2f} MB"
