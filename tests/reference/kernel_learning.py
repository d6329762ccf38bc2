"""Multiple kernel learning as one smooth program for a generic optimizer."""

import numpy as np
from scipy.optimize import minimize


def best_value(grams, problem, is_free=True, shift=0.0, p=1.0):
    """max_a yᵀa − ε‖a‖₁ − ½ shift (Σa)² − ½ max_β Σ_m β_m aᵀK_m a over the ball Σ β^p ≤ 1.

    For p = 1 the maximum is a variable t ≥ aᵀK_m a, for p > 1 the dual norm of these.
    """
    n = len(problem.targets)
    linear = np.r_[problem.targets - problem.epsilon, -problem.targets - problem.epsilon]
    scale = 1.0 / max(np.abs(problem.targets).max(), 1e-9)

    def coef(v):
        return v[:n] - v[n : 2 * n]

    def quadratics(v):
        return np.array([coef(v) @ gram @ coef(v) for gram in grams])

    def slopes(v):
        rows = [2.0 * gram @ coef(v) for gram in grams]
        return np.array([np.r_[row, -row] for row in rows])

    def value(v):
        total = coef(v).sum()
        height = 0.5 * shift * total**2 - linear @ v[: 2 * n]
        rise = shift * total * np.r_[np.ones(n), -np.ones(n)] - linear
        if p == 1.0:
            return scale * (height + 0.5 * v[-1]), scale * np.r_[rise, 0.5]
        power = p / (p - 1.0)
        parts = np.maximum(quadratics(v), 1e-14)
        norm = (parts**power).sum() ** (1.0 / power)
        slope = (parts / norm) ** (power - 1.0) @ slopes(v)
        return scale * (height + 0.5 * norm), scale * (rise + 0.5 * slope)

    bounds = [(0.0, u) for u in problem.upper] + [(0.0, -low) for low in problem.lower]
    start = np.array([0.1 * high for _, high in bounds])
    constraints = []
    if p == 1.0:
        bounds.append((0.0, None))
        start = np.r_[start, quadratics(start).max()]
        constraints.append(
            {
                "type": "ineq",
                "fun": lambda v: v[-1] - quadratics(v),
                "jac": lambda v: np.column_stack([-slopes(v), np.ones(len(grams))]),
            }
        )
    if is_free:
        normal = np.r_[np.ones(n), -np.ones(n), np.zeros(len(start) - 2 * n)]
        constraints.append({"type": "eq", "fun": lambda v: normal @ v, "jac": lambda v: normal})
    found = minimize(
        value, start, jac=True, method="SLSQP", bounds=bounds, constraints=constraints,
        options={"maxiter": 2000, "ftol": 1e-10},
    )  # fmt: skip
    assert found.status in (0, 8), found.message  # 8: no step in double precision descends further
    return -found.fun / scale
