"""What a prediction of a fitted model costs: multiply-adds, bytes, kernels, support vectors."""

import pickle
from math import nan

import numpy as np
from sklearn.pipeline import Pipeline

from nearlinear.predictors.conformal_linear import ConformalLinear

# What a row is multiplied with, by the first of these attributes that a model has.
_FACTORS = {
    "support_vectors_": ("support_vectors_", "dual_coef_"),
    "landmarks_": ("landmarks_", "coef_"),
    "coefs_": ("coefs_",),
    "random_weights_": ("random_weights_",),
    "coef_": ("coef_",),
}
_OFFSETS = ("intercept_", "intercepts_", "random_offset_")


def multiply_adds(model):
    """Multiplications, each with its addition, to score one row; NaN for models that compare."""
    model = _searched(model)
    if hasattr(model, "cost_"):
        return int(model.cost_.multiply_adds)
    factors = _factors(model)
    return int(sum(factor.size for factor in factors)) if factors else nan


def model_bytes(model):
    """What prediction has to keep: the arrays of the fitted model, or all of it pickled."""
    model = _searched(model)
    if hasattr(model, "cost_"):
        return int(model.cost_.n_bytes)
    factors = _factors(model)
    if not factors:
        return len(pickle.dumps(model))
    offsets = [array for step in _steps(model) for array in _arrays(step, _OFFSETS)]
    return sum(array.nbytes for array in factors + offsets)


def n_kernels(model):
    """Kernels with a weight above zero, or the anchors of a locally linear model; else one."""
    model = _searched(model)
    if hasattr(model, "kernel_weights_"):
        return int(np.any(np.atleast_2d(model.kernel_weights_) > 0, axis=0).sum())
    gate = getattr(getattr(model, "predictor_", None), "gate", None)
    return len(gate.anchors) if hasattr(gate, "anchors") else 1


def n_support(model):
    """Training rows that prediction keeps; one where a vector of weights stands for all."""
    model = _searched(model)
    if isinstance(getattr(model, "predictor_", None), ConformalLinear):
        return 1  # it names the rows that its machine rested on, and keeps none
    return int(np.sum(getattr(model, "n_support_", 1)))


def _searched(model):
    """The model that a search over parameters has chosen, or that a wrapper has fitted."""
    return getattr(model, "best_estimator_", getattr(model, "estimator_", model))


def _factors(model):
    found = []
    for step in _steps(model):
        names = next((_FACTORS[name] for name in _FACTORS if hasattr(step, name)), ())
        found += _arrays(step, names)
    return found


def _steps(model):
    return [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]


def _arrays(step, names):
    """Arrays of these attributes; an attribute may be a list of them, one per layer."""
    values = [getattr(step, name) for name in names if hasattr(step, name)]
    lists = [value if isinstance(value, list) else [value] for value in values]
    return [np.asarray(array) for arrays in lists for array in arrays]
