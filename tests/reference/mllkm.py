"""Multiple locally linear kernel machines from their formulas: candidates, scores, objective."""

import numpy as np
from scipy.spatial.distance import pdist

from nearlinear.kernels import Conformal, Scaled

BANDWIDTHS = [0.03, 0.1, 0.3, 1.0, 3.0, 10.0]


def bandwidth_unit(X, profile, per_feature):
    """γ of a bandwidth of one."""
    scale = 0.91 * X.var(axis=0).mean() if per_feature else np.median(pdist(X, "sqeuclidean"))
    scale = scale**0.5 if profile in ("exponential", "linear") else scale
    return 1.0 / (2.0 * scale if profile in ("linear", "square") else scale)


def candidates(X, anchors, profile="gaussian", per_feature=False, power=0.5):
    """All kernels that may enter."""
    typical = np.median(pdist(X, "sqeuclidean"))
    unit = bandwidth_unit(X, profile, per_feature)
    kernels = [
        Conformal(anchor, gamma * unit, profile, per_feature)
        for anchor in anchors
        for gamma in BANDWIDTHS
    ]
    lengths = [kernel.diagonal(X).mean() for kernel in kernels]
    return [
        Scaled(kernel, 1.0 / (length**power * typical ** (1.0 - power)))
        for kernel, length in zip(kernels, lengths, strict=True)
        if length > 1e-10 * np.mean(lengths)  # others reach no row but their anchor
    ]


def dual_scores(model, X):
    """Σ_i a_i Σ_m β_m k_m(x_i, x) + b of every machine, kernel by kernel."""
    stream, found = model._state.stream, []
    for coef, machine in zip(stream.dual_coef.T, stream.machines, strict=True):
        bank = machine.bank
        gram = sum(
            weight / divisor * Conformal(anchor, gamma, model.profile, model.per_feature)(
                X, stream.X
            )
            for weight, divisor, anchor, gamma in zip(
                machine.weights, bank.divisors, bank.anchors[bank.places], bank.gammas, strict=True
            )
        )  # fmt: skip
        found.append(gram @ coef + machine.bias)
    return np.squeeze(np.stack(found, axis=1))


def primal(model, X, y, divisors):
    """½ Σ_m ‖w_m‖² + C Σ loss of a model of two classes, and ½ b² if its bias is penalized.

    A collapsed model is √(β_m / divisor_m) w_m.
    """
    models = model.predictor_.weights
    norm = np.sum((models**2).sum(axis=1) * divisors / model.kernel_weights_)
    hinge = np.maximum(0.0, 1.0 - (2 * y - 1) * model.decision_function(X))
    penalty = 0.5 * model.predictor_.biases[0] ** 2 if model.bias == "penalized" else 0.0
    return 0.5 * norm + penalty + model.C * hinge.sum()
