"""Linear and piecewise-linear models from all rows: Newton's steps or L-BFGS, summed over blocks.

Σ_i w_i loss(y_i, f(x_i)) + ½ ‖β‖² / C, where β are the weights of the columns and of their pieces;
the intercepts are free. So LogisticRegression and Ridge have it for rows in memory. The knots stay
those of the sample.
"""

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import issparse

from ...losses import LogLoss, SquaredError

_FEW_NUMBERS = 500  # of a model for which a matrix of second slopes is summed
_CHUNK = 8192  # rows whose pieces are there at once
_STEPS, _HALVINGS, _DONE = 15, 6, 1e-7  # of Newton's method; of what it can still win
_EVALUATIONS, _FLAT = 60, 1e-7  # of L-BFGS


def refit_additive(candidate, predictor, rows, seed, n_jobs):
    """Weights, intercept and values of the knots."""
    problem = _Problem(candidate.C, predictor, rows)
    found = problem.newton() if problem.size <= _FEW_NUMBERS else problem.lbfgs()
    n_features, dtype = predictor.weights.shape[0], predictor.dtype
    return {
        "weights": np.ascontiguousarray(found[:n_features], dtype=dtype),
        "intercept": found[-1].astype(dtype),
        "values": found[n_features:-1].astype(dtype),
    }


class _Problem:
    """The objective and its slopes at a matrix of coefficients, the intercepts in its last row."""

    def __init__(self, C, predictor, rows):
        self._predictor, self._rows = predictor, rows
        self._loss = LogLoss() if rows.is_of_classes else SquaredError()
        parts = predictor.weights, predictor.values, predictor.intercept[None]
        self._start = np.concatenate(parts).astype(np.float64)
        self._ridge = np.full(self._start.shape, 1.0 / C)
        self._ridge[-1] = 0.0
        self._scale = rows.total_weight

    @property
    def size(self):
        return self._start.size

    def newton(self):
        """Steps of the full problem, halved while they do not help; a quadratic one takes one."""
        model, best, step, model_at = self._start, np.inf, None, None
        for _ in range(_STEPS + _HALVINGS):
            value, slopes, curved = self._sums(model, has_curves=True)
            if value > best + 1e-12 * abs(best):  # the step was too long
                step = 0.5 * step
                model = model_at - step
                continue
            best, model_at = value, model
            step, gain = _newton_step(slopes, curved)
            if gain <= _DONE * max(1.0, abs(value)):
                break
            model = model_at - step
            if isinstance(self._loss, SquaredError):
                return model
        return model_at

    def lbfgs(self):
        def evaluate(flat):
            value, slopes, _ = self._sums(flat.reshape(self._start.shape), has_curves=False)
            return value, slopes.ravel()

        found = minimize(
            evaluate, self._start.ravel(), jac=True, method="L-BFGS-B",
            options={"maxfun": _EVALUATIONS, "ftol": _FLAT, "gtol": 1e-7},
        )  # fmt: skip
        return found.x.reshape(self._start.shape)

    def _sums(self, model, has_curves):
        """Per unit of weight: the objective, its slopes, and its second slopes or None."""
        value = 0.5 * np.sum(self._ridge * model**2)
        slopes = self._ridge * model
        curved = np.diag(self._ridge.ravel()) if has_curves else None
        for X, targets, weight in self._rows.blocks():
            for start in range(0, X.shape[0], _CHUNK):
                mine = slice(start, start + _CHUNK)
                Z, y, w = self._columns(X[mine]), targets[mine].astype(np.float64), weight[mine]
                scores = np.asarray(Z @ model)
                value += w @ self._loss.value(scores, y)
                slopes = slopes + Z.T @ (w[:, None] * self._loss.slope(scores, y))
                if has_curves:
                    _add_curves(curved, Z, scores, w, self._rows.is_of_classes)
        return value / self._scale, slopes / self._scale, has_curves and curved / self._scale

    def _columns(self, X):
        """Columns, their pieces, and ones."""
        predictor = self._predictor
        if issparse(X):
            from scipy.sparse import csr_matrix, hstack

            return hstack([X.astype(np.float64), csr_matrix(np.ones((X.shape[0], 1)))], "csr")
        d, n_pieces = X.shape[1], len(predictor.knots)
        Z = np.zeros((len(X), d + n_pieces + 1))
        Z[:, :d], Z[:, -1] = X, 1.0
        each = np.arange(len(X))
        for column in predictor.bent_columns:
            first, last = predictor.firsts[column], predictor.firsts[column + 1]
            knots = predictor.knots[first:last].astype(np.float64)
            place = np.interp(X[:, column], knots, np.arange(len(knots)))
            low = np.minimum(place.astype(np.intp), len(knots) - 2)
            Z[each, d + first + low] = 1.0 - (place - low)
            Z[each, d + first + low + 1] = place - low
        return Z


def _newton_step(slopes, curved):
    """The step, and how much a quadratic objective would win by it."""
    flat, tiny = slopes.ravel(), 1e-10 * np.trace(curved) / len(curved)
    step = np.linalg.solve(curved + tiny * np.eye(len(curved)), flat)
    return step.reshape(slopes.shape), 0.5 * flat @ step


def _add_curves(curved, Z, scores, weight, is_of_classes):
    """Second slopes, ordered as coefficients are: by columns, then by outputs."""
    Z = Z.toarray() if issparse(Z) else Z
    n_outputs = scores.shape[1]
    if not is_of_classes:
        spread = np.broadcast_to(weight[:, None], scores.shape)
        pairs = {(k, k): spread[:, k] for k in range(n_outputs)}
    elif n_outputs == 1:
        p = 1.0 / (1.0 + np.exp(-np.clip(scores[:, 0], -60.0, 60.0)))
        pairs = {(0, 0): weight * p * (1.0 - p)}
    else:
        p = np.exp(scores - scores.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        pairs = {
            (a, b): weight * p[:, a] * ((a == b) - p[:, b])
            for a in range(n_outputs)
            for b in range(a, n_outputs)
        }
    for (a, b), factors in pairs.items():
        found = Z.T @ (factors[:, None] * Z)
        curved[a::n_outputs, b::n_outputs] += found
        if a != b:
            curved[b::n_outputs, a::n_outputs] += found
