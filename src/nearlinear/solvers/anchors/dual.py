"""Linear SVM on gated features γ(x) ⊗ [x; 1], by dual coordinate descent, features never built.

Minimizes over local models (w_j, b_j)

    ½ Σ_j (‖w_j‖² + b_j²) + Σ_i C_i loss(y_i f(x_i)),   f(x) = Σ_j γ_j(x) (⟨w_j, x⟩ + b_j).

With one component and γ = 1 this is the ordinary linear SVM with a regularized bias. Hinge and
squared hinge share the dual max Σα − ½‖Σ α_i y_i z_i‖² − ½ Σ r_i α_i², 0 ≤ α_i ≤ u_i: the hinge
has u = C and r = 0, the squared hinge u = ∞ and r = 1/(2C).
"""

import numpy as np
from scipy.sparse import issparse

from ..._compile import compiled, compiled_fast_sums
from ..._warn import warn_user
from ...gates.blend import gated_scores
from ..solution import GatedSolution

# Coordinates at a bound that point outwards are left alone between full sweeps.
_EPOCHS_PER_SWEEP = 5


def solve_gated_svm(X, indices, codes, y, *, upper, ridge, n_components, tol, max_epochs, rng):
    """Solve for labels ``y`` of ±1; stop when the duality gap is below ``tol`` × primal.

    ``upper`` and ``ridge`` are u and r above, one per row.
    """
    n_rows, n_features = X.shape
    weights = np.zeros((n_components, n_features), dtype=codes.dtype)
    biases = np.zeros(n_components, dtype=codes.dtype)
    dual = np.zeros(n_rows)
    curvature = (codes.astype(np.float64) ** 2).sum(axis=1) * (_squared_norms(X) + 1.0) + ridge
    idle = np.zeros(n_rows, dtype=np.bool_)
    gap = primal = np.inf
    for epoch in range(1, max_epochs + 1):
        full = epoch % _EPOCHS_PER_SWEEP == 1
        order = rng.permutation(n_rows if full else np.flatnonzero(~idle))
        _coordinate_pass(
            X, indices, codes, y, upper, ridge, curvature, order, dual, weights, biases, idle
        )
        if epoch % _EPOCHS_PER_SWEEP == 0 or epoch == max_epochs:
            primal, gap = duality_gap(X, indices, codes, y, upper, ridge, dual, weights, biases)
            if gap <= tol * primal:
                break
    return GatedSolution(weights[:, :, None], biases[:, None], primal, gap, epoch, dual)


def duality_gap(X, indices, codes, y, upper, ridge, dual, weights, biases):
    """Primal objective and its distance to the dual one."""
    scores = gated_scores(X, indices, codes, weights[:, :, None], biases[:, None])[:, 0]
    slack = np.maximum(0.0, 1.0 - y * scores)
    norm = 0.5 * (np.sum(weights.astype(np.float64) ** 2) + np.sum(biases.astype(np.float64) ** 2))
    smooth = ridge > 0
    loss = np.where(smooth, slack**2 / (2.0 * np.where(smooth, ridge, 1.0)), 0.0)
    loss = np.where(smooth, loss, np.where(np.isfinite(upper), upper, 0.0) * slack)
    primal = norm + loss.sum()
    return primal, primal - (dual.sum() - norm - 0.5 * (ridge * dual**2).sum())


def warn_if_loose(solutions, tol, estimator):
    """One warning that names the gap reached and the parameter to raise."""
    from sklearn.exceptions import ConvergenceWarning

    worst = max(solution.gap / max(solution.objective, 1e-300) for solution in solutions)
    if worst > tol:
        warn_user(
            f"{estimator} stopped at a relative duality gap of {worst:.1e} (tol={tol:g}); "
            "raise max_iter or tol, scale the features, or lower C.",
            ConvergenceWarning,
        )


def _squared_norms(X):
    if issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    return np.einsum("id,id->i", X, X, dtype=np.float64)


def _coordinate_pass(
    X, indices, codes, y, upper, ridge, curvature, order, dual, weights, biases, idle
):
    rest = (indices, codes, y, upper, ridge, curvature, order, dual, weights, biases, idle)
    if issparse(X):
        _sparse_pass(X.indptr, X.indices, X.data, *rest)
    else:
        _dense_pass(X, *rest)


@compiled
def _coordinate_step(gradient, curvature, alpha, upper):
    """The best value of one coordinate, all others fixed."""
    if curvature <= 0.0:
        return upper if gradient > 0.0 else 0.0
    return min(max(alpha + gradient / curvature, 0.0), upper)


@compiled_fast_sums
def _dense_pass(X, indices, codes, y, upper, ridge, curvature, order, dual, weights, biases, idle):
    n_features, n_neighbors = X.shape[1], indices.shape[1]
    for i in order:
        score = 0.0
        for p in range(n_neighbors):
            j = indices[i, p]
            local = biases[j]
            for d in range(n_features):
                local += weights[j, d] * X[i, d]
            score += codes[i, p] * local
        gradient = 1.0 - y[i] * score - ridge[i] * dual[i]
        new = _coordinate_step(gradient, curvature[i], dual[i], upper[i])
        change = new - dual[i]
        idle[i] = change == 0.0
        if change != 0.0:
            dual[i] = new
            for p in range(n_neighbors):
                j = indices[i, p]
                step = weights.dtype.type(change * y[i] * codes[i, p])
                biases[j] += step
                for d in range(n_features):
                    weights[j, d] += step * X[i, d]


@compiled
def _sparse_pass(
    indptr,
    columns,
    data,
    indices,
    codes,
    y,
    upper,
    ridge,
    curvature,
    order,
    dual,
    weights,
    biases,
    idle,
):
    n_neighbors = indices.shape[1]
    for i in order:
        score = 0.0
        for p in range(n_neighbors):
            j = indices[i, p]
            local = biases[j]
            for t in range(indptr[i], indptr[i + 1]):
                local += weights[j, columns[t]] * data[t]
            score += codes[i, p] * local
        gradient = 1.0 - y[i] * score - ridge[i] * dual[i]
        new = _coordinate_step(gradient, curvature[i], dual[i], upper[i])
        change = new - dual[i]
        idle[i] = change == 0.0
        if change != 0.0:
            dual[i] = new
            for p in range(n_neighbors):
                j = indices[i, p]
                step = weights.dtype.type(change * y[i] * codes[i, p])
                biases[j] += step
                for t in range(indptr[i], indptr[i + 1]):
                    weights[j, columns[t]] += step * data[t]
