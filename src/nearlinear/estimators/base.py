"""The face that all classifiers share: input checks, labels, weights, prediction."""

import os

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from .._compile import one_blas_thread
from ..losses import LOSSES
from .constraints import fit_context
from .labels import require_one_type, row_weights
from .rows import merge_rows


def _has_probabilities(estimator):
    if getattr(estimator, "loss", None) != "log_loss":
        raise AttributeError(
            f"{type(estimator).__name__} gives probabilities only with loss='log_loss'; "
            "wrap it in CalibratedClassifierCV for other losses."
        )
    return True


class LocalClassifier(ClassifierMixin, BaseEstimator):
    """Checks in, scores out. A method adds ``_learn(rows)``, which sets ``predictor_``."""

    @fit_context(prefer_skip_nested_validation=True)
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
        rows = self._fit_rows(X, y, sample_weight)
        with one_blas_thread():
            self._learn(rows)
        self.__dict__.pop("_trainer", None)  # a stream begins anew from the fitted model
        return self

    def _fit_rows(self, X, y, sample_weight):
        X, y = self._check_training_data(X, y, reset=True)
        classes, labels = np.unique(y, return_inverse=True)
        weight = row_weights(X, labels, classes, sample_weight, self.class_weight)
        present = classes[np.unique(labels[weight > 0])].tolist()
        if len(present) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two classes with positive weight, "
                f"y has one class: {present[0] if present else None!r}."
            )
        self.classes_ = classes
        return merge_rows(X, labels, weight, len(classes))

    def _check_training_data(self, X, y, reset):
        dtype = [np.float64, np.float32] if reset else self._score_dtype
        X, y = validate_data(
            self, X, y, accept_sparse=self._sparse_form(), dtype=dtype, order="C", reset=reset
        )
        require_one_type(y)
        check_classification_targets(y)
        return _canonical(X), y

    def _check_rows(self, X):
        check_is_fitted(self, "predictor_")
        form, dtype = self._sparse_form(), self._score_dtype
        return _canonical(
            validate_data(self, X, accept_sparse=form, dtype=dtype, order="C", reset=False)
        )

    def _sparse_form(self):
        return "csr" if self.__sklearn_tags__().input_tags.sparse else False

    def _scores(self, X):
        X = self._check_rows(X)  # first: says so if there is nothing fitted yet
        return self.predictor_(X, n_jobs=self.n_jobs)

    @property
    def _score_dtype(self):
        return self.predictor_.biases.dtype

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
        return LOSSES["log_loss"].probabilities(self._scores(X))

    @property
    def cost_(self):
        """What one prediction costs: multiply-adds, multiple of a linear model, bytes."""
        return self.predictor_.cost

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _canonical(X):
    """CSR rows in which no entry stands twice; the user's matrix is left as it is."""
    if issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def require_memory(n_bytes, max_memory, advice):
    """Refuse before allocating; ``max_memory`` None stands for the machine's memory."""
    if max_memory is None:
        max_memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if n_bytes > max_memory:
        raise MemoryError(
            f"This fit would need about {n_bytes / 1e9:.2f} GB beyond the data and may use "
            f"{max_memory / 1e9:.2f} GB: {advice}, or raise max_memory."
        )
