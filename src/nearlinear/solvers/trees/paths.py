"""Scores and slopes along hard paths: the splits stay, each row touches depth + 1 nodes."""

from dataclasses import dataclass

import numpy as np

from ..._compile import compiled_fast_sums
from ...gates.trees.balanced import columns_seen, hard_paths, local_scores_along_paths
from .soft import SoftPass, TreeGradients


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
class SplitComparison:
    """Scores of soft and of hard splits on a few rows, by ``measure(scores, targets, weight)``."""

    Z: np.ndarray
    targets: np.ndarray
    weight: np.ndarray
    measure: object

    def __call__(self, model, sharpness):
        soft = SoftPass(model, 256).scores(model, model.rows(self.Z), sharpness)
        return {
            "soft splits": self.measure(soft, self.targets, self.weight),
            "hard splits": self.measure(hard_scores(model, self.Z), self.targets, self.weight),
        }


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
