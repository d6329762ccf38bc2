"""The linear model that local models add to: they are shrunk toward it, not toward zero."""

import numpy as np

from ...losses import CrammerSinger, EpsilonInsensitive, Hinge, SquaredError, SquaredHinge
from .fixed_gate import solve_gated_smooth

_TOL, _MOST_STEPS = 1e-3, 100
# What a loss without a slope everywhere is replaced with: the root is only where learning starts.
_SMOOTH = {Hinge: SquaredHinge(), CrammerSinger: SquaredHinge(), EpsilonInsensitive: SquaredError()}


def solve_linear(X, targets, weight, *, loss, C):
    """Minimize ½ (‖W‖² + ‖b‖²) + C Σ_i weight_i loss(y_i, W x_i + b).

    Returns [W, b] with a row for each output.
    """
    solution = solve_gated_smooth(
        X, np.zeros((X.shape[0], 1), dtype=np.int32), np.ones((X.shape[0], 1), dtype=X.dtype),
        targets, loss=_SMOOTH.get(type(loss), loss), C=C * weight, n_components=1, tol=_TOL,
        max_iter=_MOST_STEPS,
    )  # fmt: skip
    return np.concatenate([solution.weights[0].T, solution.biases[0][:, None]], axis=1)
