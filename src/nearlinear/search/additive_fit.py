"""A linear model, or one on piecewise-linear columns, by scikit-learn's solvers."""

import numpy as np
from scipy.sparse import issparse
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import SplineTransformer

from ..predictors.additive import Additive

_FEW_NUMBERS = 500  # of a model for which Newton's steps are quicker
_FEW_VALUES = 3  # columns of no more values are straight lines


def fit_additive(rows, *, C, n_knots):
    """The model on columns z and their pieces; C is that of LogisticRegression, or 1 / alpha."""
    X = rows.X.astype(np.float64)
    bent = _bent_columns(X) if n_knots and not issparse(X) else np.zeros(0, dtype=np.intp)
    spline, Z = None, X
    if len(bent):
        spline = SplineTransformer(
            n_knots=n_knots, degree=1, knots="quantile", extrapolation="constant"
        )
        Z = np.hstack([X, spline.fit_transform(X[:, bent])])
    if hasattr(rows.task, "classes"):
        n_numbers = Z.shape[1] * rows.targets.shape[1]
        solver = "newton-cholesky" if n_numbers <= _FEW_NUMBERS and not issparse(Z) else "lbfgs"
        model = LogisticRegression(C=C, max_iter=200, solver=solver)
        model.fit(Z, rows.labels, rows.weight)
    else:
        model = Ridge(alpha=1.0 / C).fit(Z, rows.targets, rows.weight)
    coef, intercept = np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)
    return _additive(coef, intercept, spline, bent, X.shape[1], rows.X.dtype)


def _bent_columns(X):
    return np.array(
        [d for d in range(X.shape[1]) if len(np.unique(X[:, d])) > _FEW_VALUES], dtype=np.intp
    )


def _additive(coef, intercept, spline, bent, n_features, dtype):
    n_outputs = len(coef)
    counts, knots, values = np.zeros(n_features, dtype=np.intp), [], []
    start = n_features
    for place, d in enumerate(bent):
        own = spline.bsplines_[place].t[1:-1]
        height = coef[:, start : start + len(own)].T
        start += len(own)
        own, first = np.unique(own, return_index=True)
        if len(own) < 2:
            continue
        table = spline.bsplines_[place](np.minimum(own, spline.bsplines_[place].t[-2] - 1e-12))
        del table
        counts[d] = len(own)
        knots.append(own)
        values.append(height[first])
    firsts = np.concatenate([[0], np.cumsum(counts)])
    knots = np.concatenate(knots) if knots else np.zeros(0)
    values = np.concatenate(values) if values else np.zeros((0, n_outputs))
    return Additive(
        np.ascontiguousarray(coef[:, :n_features].T, dtype=dtype), intercept.astype(dtype), firsts,
        knots.astype(dtype), values.astype(dtype),
    )
