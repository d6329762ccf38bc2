"""A learned gate with linear components as a predictor, and what it says of training rows."""

import numpy as np

from ...gates.learned import Rounded
from ...losses import LOSSES, EpsilonInsensitive
from ...predictors.locally_linear import LocallyLinear
from .localized import Localized

# A component that gets less than this of a row's answer is shut for it.
SHUT = 1e-3
# Steps by mini-batches that are aimed at, and the fewest and most passes over the rows.
_STEPS, _EPOCHS = 8000, (20, 500)


def count_epochs(model, n_rows):
    if model.max_epochs is not None:
        return model.max_epochs
    return int(np.clip(_STEPS * model.batch_size / n_rows, *_EPOCHS))


def primal_loss(model):
    return EpsilonInsensitive(model.epsilon) if hasattr(model, "epsilon") else LOSSES["hinge"]


def primal_output(model, rows, problem, found, n_epochs):
    """``GatedModels`` as a ``Localized``; ``problem`` is that of the output on these rows."""
    X, units = rows.X, rows.task.units
    rounded, spread = Rounded(found.gate, SHUT), units.spread
    bias = units.unscaled(found.bias)
    weights, biases = spread * found.weights, spread * found.biases
    predictor = linear_components(rounded, weights, biases, bias, X.dtype)
    residual = problem.targets - units.scaled(predictor(X, n_jobs=model.n_jobs)[:, 0])
    objective = found.price + problem.loss(residual)
    support = ((residual >= problem.epsilon) & (problem.upper > 0)) | (
        (residual <= -problem.epsilon) & (problem.lower < 0)
    )
    attributes = gate_attributes(rounded, rounded(X), found.path, support)
    return Localized(predictor, support, objective, np.nan, n_epochs, attributes)


def linear_components(gate, weights, biases, bias, dtype):
    """Of ``weights`` (n_features, n_components)."""
    weights = np.ascontiguousarray(np.transpose(weights), dtype=dtype)[:, :, None]
    biases = np.asarray(biases, dtype=dtype)[:, None]
    return LocallyLinear(gate, weights, biases, np.array([float(bias)]))


def gate_attributes(gate, gates, path, support):
    is_open = gates > 0.0
    return {
        "gate_": gate,
        "objective_path_": np.array(path),
        "component_share_": is_open.mean(axis=0),
        "n_support_per_component_": (is_open & support[:, None]).sum(axis=0),
    }
