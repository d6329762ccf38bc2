"""The best scale and bias of a machine whose direction is known, in the squared-hinge loss."""

import numpy as np


def fit_scale_and_bias(features, norm, ridge, starts, n_steps=4):
    """Minimize t² norm + Σ_i max(0, 1 − features_i'(t, b))² / ridge_i by Newton steps, halved.

    ``features`` has a row (y_i g(x_i), y_i) for the function t g + b, and ``norm`` is ‖g‖². Returns
    (t, b) and its objective, never worse than the best of ``starts``.
    """

    def evaluate(machine):
        slack = np.maximum(1.0 - features @ machine, 0.0)
        return float(machine[0] ** 2 * norm + slack @ (slack / ridge)), machine, slack > 0.0

    def minimize_on(active):
        rows, costs = features[active], 1.0 / ridge[active]
        hessian = (rows.T * costs) @ rows + np.diag([norm, 0.0])
        return np.linalg.lstsq(hessian, costs @ rows, rcond=None)[0]

    best = min(map(evaluate, starts), key=lambda found: found[0])
    target = minimize_on(best[2])
    for _ in range(n_steps):
        found = evaluate(target)
        if found[0] < best[0]:
            best, target = found, minimize_on(found[2])
        else:
            target = 0.5 * (target + best[1])
    return best[1], best[0]
