"""Predictors of few arguments, for tests of what can be done with them."""

import numpy as np

from nearlinear.gates.scores import TopAndBottom
from nearlinear.maps import WithGates
from nearlinear.predictors.combined import Mapped
from nearlinear.predictors.gated_expansion import GatedExpansion
from nearlinear.predictors.kernel_expansion import KernelExpansion
from nearlinear.predictors.locally_linear import LocallyLinear


def gated_linear(gate, weights, biases, bias=0.0):
    """Σ γ_q(x) (⟨w_q, x⟩ + b_q) + bias, with ``weights`` (n_features, n_components)."""
    models = np.ascontiguousarray(weights.T)[:, :, None]
    return LocallyLinear(gate, models, np.asarray(biases)[:, None], np.array([float(bias)]))


def machines(kernels, owners, support, coefficients, biases, n_features):
    """One output for each row of ``coefficients``, with a kernel each."""
    return KernelExpansion(kernels, support, coefficients, biases, n_features, owners)


def vote(gate, components):
    return GatedExpansion(gate, components, activation="tanh")


def selected_sum(components, n_selected, bias):
    return GatedExpansion(TopAndBottom(n_selected), components, bias)


def on_gated_rows(gate, expansion):
    return Mapped(WithGates(gate, expansion.n_features), expansion)
