"""Scores and slopes along hard paths: the splits stay, each row touches depth + 1 nodes.

There f is linear in W with features c_k(z) ⊗ z on the nodes of the path: a linear SVM (or a
logistic or ridge regression) on sparse gated features solves the weights exactly.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..._compile import compiled_fast_sums
from ...gates.trees.balanced import columns_seen, hard_paths, local_scores_along_paths
from ...losses import LabelLogLoss, LogLoss, SquaredError
from ..anchors.fixed_gate import solve_gated_smooth, solve_local_models
from ..solution import GatedSolution
from .model import constant_of
from .soft import SoftPass, TreeGradients

COMPARED_ROWS = 500  # enough to see the gap between soft and hard splits


def path_features(model, Z, paths):
    """c_k of every node on each row's path, shape (n_rows, depth + 1)."""
    return _features(model, _path_projections(model, Z, paths), paths)


def _path_projections(model, Z, paths):
    """Products with the directions of the gates of the nodes on each path; None of indicators."""
    if model.node_gate.name == "indicator":
        return None
    directions = model.slopes if len(model.slopes) else model.splits
    return local_scores_along_paths(directions[:, None], Z, paths)[:, :, 0]


def _features(model, projections, paths):
    if projections is None:
        return np.ones(paths.shape, dtype=model.weights.dtype)
    return np.ascontiguousarray(model.node_gate.along_path(projections.T).T)


def path_scores(model, Z, paths):
    """Scores f(z), shape (n_rows, n_outputs)."""
    local_scores = local_scores_along_paths(model.weights, Z, paths)
    return np.einsum("ik,ikc->ic", path_features(model, Z, paths), local_scores)


def hard_scores(model, Z):
    """Scores of scaled rows along their hard paths."""
    seen = model.rows(Z)
    return path_scores(model, seen, hard_paths(seen, model.splits, model.depth))


@dataclass(frozen=True)
class JudgingRows:
    """How good a tree is on some rows, by ``measure(scores, targets, weight)``; best if highest."""

    Z: np.ndarray
    targets: np.ndarray
    weight: np.ndarray
    measure: object

    def __call__(self, model):
        """Along hard paths, as in prediction."""
        return self.measure(hard_scores(model, self.Z), self.targets, self.weight)

    def compare(self, model, sharpness):
        """What a record says of splits that are still soft; a few rows show the gap."""
        some = slice(0, COMPARED_ROWS)
        scores = SoftPass(model, 256).scores(model, model.rows(self.Z[some]), sharpness)
        soft = self.measure(scores, self.targets[some], self.weight[some])
        return {"soft splits": soft, "hard splits": self(model)}


def path_gradients(model, Z, paths, targets, row_weight, loss, kept=None):
    """Weighted loss of a batch and its gradients in weights and, with tanh features, slopes.

    Nodes that are not ``kept`` answer with zero; None keeps all.
    """
    projections = _path_projections(model, Z, paths)
    features = _features(model, projections, paths)
    local_scores = local_scores_along_paths(model.weights, Z, paths)
    if kept is not None:
        local_scores *= kept[paths][:, :, None]
    scores = np.einsum("ik,ikc->ic", features, local_scores)
    slopes = (row_weight[:, None] * loss.slope(scores, targets)).astype(scores.dtype, copy=False)
    sums = TreeGradients(
        np.zeros_like(model.splits), np.zeros_like(model.slopes), np.zeros_like(model.weights)
    )
    shares = features if kept is None else features * kept[paths]
    _add_rows(Z, paths, shares[:, :, None] * slopes[:, None, :], sums.weights)
    if len(model.slopes):
        slope_c = model.node_gate.path_slopes(projections, features) * np.einsum(
            "ic,ikc->ik", slopes, local_scores
        )
        slope_c = slope_c[:, :, None].astype(scores.dtype, copy=False)
        _add_rows(Z, paths, slope_c, sums.slopes[:, None])
    return float(row_weight @ loss.value(scores, targets)), sums


def _add_rows(Z, paths, factors, out):
    """out[k, c] += factor × z over rows and the nodes of their paths."""
    Z = columns_seen(Z, out.shape[2])
    if isinstance(Z, np.ndarray):
        _dense_sums(Z, paths, factors, out)
    else:
        _sparse_sums(Z.indptr, Z.indices, Z.data, paths, factors, out)


@compiled_fast_sums
def _dense_sums(Z, paths, factors, out):
    width = Z.shape[1]
    for i in range(len(paths)):
        row = Z[i]
        for level in range(paths.shape[1]):
            node = paths[i, level]
            for c in range(factors.shape[2]):
                factor = factors[i, level, c]
                if factor != 0.0:
                    total = out[node, c]
                    for d in range(width):
                        total[d] += factor * row[d]


@compiled_fast_sums
def _sparse_sums(indptr, columns, data, paths, factors, out):
    for i in range(len(paths)):
        for level in range(paths.shape[1]):
            node = paths[i, level]
            for c in range(factors.shape[2]):
                factor = factors[i, level, c]
                for t in range(indptr[i], indptr[i + 1]):
                    out[node, c, columns[t]] += factor * data[t]


_TOL, _MOST_EPOCHS = 1e-3, 200


def without_constant(Z):
    """Rows for solvers whose constant feature is 1, and the constant c of these rows.

    Rows are divided by c: with C c² in place of C, such a solver finds c times the weights.
    """
    constant, X = constant_of(Z), Z[:, :-1]
    X = np.ascontiguousarray(X) if isinstance(X, np.ndarray) else X.tocsr()
    return X if constant == 1.0 else X / X.dtype.type(constant), constant


def can_polish(loss):
    return hasattr(loss, "dual_box") or isinstance(loss, LogLoss | LabelLogLoss | SquaredError)


def polish_weights(model, Z, targets, sample_weight, *, loss, C, rng, n_jobs=None):
    """The tree with the weights that minimize λ/2 ‖W‖² + mean loss on hard paths, λ = 1/(C Σ w)."""
    Z = model.rows(Z)
    paths = hard_paths(Z, model.splits, model.depth)
    codes = path_features(model, Z, paths)
    X, constant = without_constant(Z)
    common = dict(C=C * constant**2 * sample_weight, n_components=len(model.weights), tol=_TOL)
    if hasattr(loss, "dual_box"):
        solution, _ = solve_local_models(
            X, paths, codes, targets, loss=loss, max_iter=_MOST_EPOCHS, rng=rng,
            n_jobs=n_jobs, **common,
        )  # fmt: skip
    else:
        now = model.weights * model.weights.dtype.type(constant)
        start = GatedSolution(now[:, :, :-1].swapaxes(1, 2), now[:, :, -1], np.inf, np.inf, 0)
        solution = solve_gated_smooth(
            X, paths, codes, targets, loss=loss, max_iter=_MOST_EPOCHS, start=start, **common
        )
    weights = np.concatenate([solution.weights.swapaxes(1, 2), solution.biases[:, :, None]], axis=2)
    return replace(model, weights=np.ascontiguousarray(weights / weights.dtype.type(constant)))
