"""A linear model, or one on piecewise-linear columns, by scikit-learn's solvers."""

import numpy as np
from scipy.sparse import issparse
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import SplineTransformer

from ...estimators._base.checks import require_memory
from ...predictors.additive import additive_of, knots_of

_FEW_VALUES = 3  # columns of no more values are straight lines
_COPIES = 3  # of all columns at once: side by side, and weighted by the solver
_FEW_NUMBERS = 500  # of a model for which Newton's steps are quicker


def fit_additive(rows, *, C, n_knots):
    """The model on columns z and their pieces; C is that of LogisticRegression, or 1 / alpha."""
    n_numbers = rows.X.nnz if issparse(rows.X) else rows.X.size * (1 + n_knots)
    require_memory(_COPIES * 8 * n_numbers, "give fewer rows")
    X = rows.X.astype(np.float64)
    splines = [] if n_knots == 0 or issparse(X) else _splines(X, n_knots)
    Z = X
    if splines:
        Z = np.hstack([X, *(one.transform(X[:, columns]) for columns, one in splines)])
    if hasattr(rows.task, "classes"):
        n_numbers = Z.shape[1] * rows.targets.shape[1]
        solver = "newton-cholesky" if n_numbers <= _FEW_NUMBERS and not issparse(Z) else "lbfgs"
        model = LogisticRegression(C=C, max_iter=200, solver=solver)
        model.fit(Z, rows.labels, rows.weight)
    else:
        model = Ridge(alpha=1.0 / C).fit(Z, rows.targets, rows.weight)
    knots = {d: knots for columns, one in splines for d, knots in knots_of(one, columns).items()}
    return additive_of(model.coef_, model.intercept_, knots, X.shape[1], rows.X.dtype)


def _splines(X, n_knots):
    """(columns, spline) of columns with enough values, by their number of distinct knots."""
    groups, quantiles = {}, np.quantile(X, np.linspace(0.0, 1.0, n_knots), axis=0)
    for d, column in enumerate(quantiles.T):
        knots = np.unique(column)
        if len(knots) > 2 and (len(knots) > _FEW_VALUES or len(np.unique(X[:, d])) > _FEW_VALUES):
            groups.setdefault(len(knots), {})[d] = knots
    found = []
    for known in groups.values():
        columns, knots = list(known), np.column_stack(list(known.values()))
        spline = SplineTransformer(degree=1, knots=knots).fit(X[:, columns])
        found.append((columns, spline))
    return found
