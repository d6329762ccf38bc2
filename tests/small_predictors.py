"""Predictors of few arguments, for tests of what can be done with them."""

from dataclasses import replace
from itertools import pairwise

import numpy as np

from nearlinear.gates.scores import TopAndBottom
from nearlinear.maps import WithGates
from nearlinear.predictors.additive import Additive
from nearlinear.predictors.averaged import Averaged
from nearlinear.predictors.combined import Mapped
from nearlinear.predictors.gated_expansion import GatedExpansion
from nearlinear.predictors.hinges import Hinges
from nearlinear.predictors.kernel_expansion import KernelExpansion
from nearlinear.predictors.locally_linear import LocallyLinear
from nearlinear.runtime.outcome import LogLoss, Shares, Sigmoids, Tables, Temperature


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


def mean_of(*members):
    """The plain mean of scores."""
    return Averaged(members, (1.0,) * len(members))


def additive(n_features, n_outputs=1, seed=0, dtype=np.float64, counts=(4, 0, 2, 7)):
    """Columns have ``counts`` of knots, in turn."""
    rng = np.random.default_rng(seed)
    firsts = np.cumsum([0, *np.resize(counts, n_features)])
    knots = [np.sort(rng.standard_normal(n)) for n in np.diff(firsts)]
    weights, values = (rng.standard_normal((n, n_outputs)) for n in (n_features, firsts[-1]))
    arrays = weights, rng.standard_normal(n_outputs), np.concatenate(knots), values
    weights, intercept, knots, values = (array.astype(dtype) for array in arrays)
    return Additive(weights, intercept, firsts, knots, values)


def hinges(n_features, n_outputs=1, seed=0, dtype=np.float64, units=(7, 5)):
    """One layer for each number of units, and that of the scores."""
    rng = np.random.default_rng(seed)
    widths = (n_features, *units, n_outputs)
    weights = (rng.standard_normal(shape) for shape in pairwise(widths))
    biases = (0.5 * rng.standard_normal(width) for width in widths[1:])
    return Hinges(*(tuple(a.astype(dtype) for a in arrays) for arrays in (weights, biases)))


def calibrations(n_outputs, seed=0):
    """One of each kind, in the order of their names."""
    rng = np.random.default_rng(seed)
    scores = tuple(np.sort(rng.standard_normal(5)) for _ in range(n_outputs))
    chances = tuple(np.sort(rng.uniform(0.05, 0.95, 5)) for _ in range(n_outputs))
    sigmoids = Sigmoids(-rng.uniform(0.5, 2.0, n_outputs), rng.standard_normal(n_outputs))
    return LogLoss(), Shares(), sigmoids, Tables(scores, chances), Temperature(np.array([0.7]))


def shares_of_classes(n_features, n_outputs=1, dtype=np.float64):
    """A model whose scores are shares, as ``Shares`` takes them: they do not depend on the row."""
    shares = np.linspace(1.0, 2.0, n_outputs) / np.linspace(1.0, 2.0, n_outputs).sum()
    told = np.array([0.4]) if n_outputs == 1 else shares
    flat = additive(n_features, n_outputs, dtype=dtype, counts=(0,))
    return replace(flat, weights=0 * flat.weights, intercept=told.astype(dtype))


def averaged(n_features, n_outputs=1, dtype=np.float64, first=None):
    """Additive models, each calibrated in its own way; ``first`` may be of another kind."""
    members = [additive(n_features, n_outputs, seed, dtype) for seed in range(5)]
    members[1] = shares_of_classes(n_features, n_outputs, dtype)
    members[0] = members[0] if first is None else first
    weights = (1.0, 2.0, 1.0, 3.0, 1.0)
    return Averaged(tuple(members), weights, calibrations(n_outputs))
