"""Gate and local linear models together by mini-batches: no Gram matrix, O(P d) a row.

Minimizes ½ Σ_q ‖u_q‖² + Σ_i C_i loss(y_i, f(x_i)) + ½ penalty ‖V‖² over the gate's V and all of
f(x) = Σ_q γ_q(x) (⟨w_q, x⟩ + b_q) + b, where w_q = √scales_q ∘ u_q and b_q = √constant_q u_q0:
the primal of the machine whose kernels have these features.
"""

from dataclasses import dataclass

import numpy as np

from .adam import Parameter, one_cycle
from .batches import Batches


@dataclass(frozen=True)
class GatedModels:
    """The learned gate and local models; ``price`` are both penalties, ``path`` the mean losses."""

    gate: object
    weights: np.ndarray  # (n_features, n_components)
    biases: np.ndarray
    bias: float
    price: float
    path: tuple[float, ...]


def learn_gated_models(
    X,
    targets,
    C,
    gate,
    maps,
    loss,
    *,
    penalty,
    max_epochs,
    batch_size,
    learning_rate,
    rng,
    on_step=None,
):
    """Learn from ``gate``; ``maps`` has one ``AffineMap`` a component, ``C`` an entry per row."""
    scales = np.sqrt([affine.scales for affine in maps]).T.astype(X.dtype)
    constants = np.sqrt([affine.constant for affine in maps]).astype(X.dtype)
    total = float(C.sum())
    shapes = [scales.shape, constants.shape, (1,)]
    model = [Parameter(np.zeros(shape, dtype=X.dtype)) for shape in shapes]
    moving = Parameter(np.asarray(gate.parameters, dtype=np.float64))
    batches = Batches(X, targets, len(C) * C / total, batch_size, rng)
    n_steps, count = max_epochs * batches.n_batches, 0
    ridges = (1.0 / total, 1.0 / total, 0.0)
    path = []
    for epoch in range(max_epochs):
        loss_sum = 0.0
        for rows, wanted, share in batches:
            size = learning_rate * one_cycle(count, n_steps)
            count += 1
            current = gate.moved(moving.value)
            u, u0, bias = (part.value for part in model)
            gates = current(rows).astype(X.dtype)
            local = np.asarray(rows @ (scales * u)) + constants * u0
            scores = (gates * local).sum(axis=1, keepdims=True) + bias
            slopes = share[:, None] * loss.slope(scores, wanted)
            active = np.flatnonzero(slopes[:, 0])
            loss_sum += float(share @ loss.value(scores, wanted)) * len(share)
            rows, gates, local, slopes = rows[active], gates[active], local[active], slopes[active]
            pull = gates * slopes
            gradients = (
                scales * np.asarray(rows.T @ pull), constants * pull.sum(axis=0), slopes.sum(axis=0)
            )  # fmt: skip
            for part, gradient, ridge in zip(model, gradients, ridges, strict=True):
                part.step(gradient, size, ridge, count)
            if moving.value.size:
                moving.step(current.gradient(rows, slopes * local), size, penalty / total, count)
        path.append(loss_sum / len(C))
        if on_step is not None:
            on_step(path[-1], epoch + 1)
    u, u0, bias = (part.average for part in model)
    moved = gate.moved(moving.average)
    price = 0.5 * float((u**2).sum() + (u0**2).sum() + penalty * (moving.average**2).sum())
    return GatedModels(moved, scales * u, constants * u0, float(bias[0]), price, tuple(path))
