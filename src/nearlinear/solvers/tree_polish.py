"""The weights of a tree solved exactly, its splits and slopes fixed.

Along hard paths f is linear in W with features c_k(z) ⊗ z on the nodes of the path: a linear SVM
(or a logistic or ridge regression) on sparse gated features.
"""

from dataclasses import replace

import numpy as np

from ..gates.tree import hard_paths
from ..losses import Hinge, LogLoss, SquaredError, SquaredHinge
from .gated_logistic import solve_gated_smooth
from .local_machine import solve_local_models
from .solution import GatedSolution
from .tree_paths import path_features

_NAMES = {Hinge: "hinge", SquaredHinge: "squared_hinge"}
_TOL, _MOST_EPOCHS = 1e-3, 200


def can_polish(loss):
    return isinstance(loss, Hinge | SquaredHinge | LogLoss | SquaredError)


def polish_weights(model, Z, targets, sample_weight, *, loss, C, rng, n_jobs=None):
    """The tree with the weights that minimize λ/2 ‖W‖² + mean loss on hard paths, λ = 1/(C Σ w)."""
    Z = model.rows(Z)
    paths = hard_paths(Z, model.splits, model.depth)
    codes = path_features(model, Z, paths)
    X = Z[:, :-1]
    X = np.ascontiguousarray(X) if isinstance(X, np.ndarray) else X.tocsr()
    common = dict(C=C * sample_weight, n_components=len(model.weights), tol=_TOL)
    if type(loss) in _NAMES:
        solution, _ = solve_local_models(
            X, paths, codes, targets, loss=_NAMES[type(loss)], max_iter=_MOST_EPOCHS, rng=rng,
            n_jobs=n_jobs, **common,
        )  # fmt: skip
    else:
        start = GatedSolution(
            model.weights[:, :, :-1].swapaxes(1, 2), model.weights[:, :, -1], np.inf, np.inf, 0
        )
        solution = solve_gated_smooth(
            X, paths, codes, targets, loss=loss, max_iter=_MOST_EPOCHS, start=start, **common
        )
    weights = np.concatenate([solution.weights.swapaxes(1, 2), solution.biases[:, :, None]], axis=2)
    return replace(model, weights=np.ascontiguousarray(weights))
