"""Scores of kernel machines, taken apart by kernels and by support rows."""

from dataclasses import replace
from functools import partial

import numpy as np

from .._compile import run_blocks
from ..gates.scores import top_and_bottom
from ..kernels.gated_grams import gates_of, with_gates
from ..kernels.pairs import Pairs
from ..kinds import kind_of
from ..predictors.kernel_expansion import STRIP, KernelExpansion
from .record import Explanation, InfluentialRows

_BLOCK_NUMBERS = 1 << 22  # kernel values at once


def explain_expansion(predictor, X, n_support, n_jobs):
    """Shares of the kernels in Σ_m Σ_j c_mj k_m(x_j, x) + b."""
    parted = [_parts(kernel) for kernel in predictor.kernels]
    counts = [len(parts) for parts in parted]  # the parts of a kernel have its coefficients
    coefficients = np.repeat(predictor.coefficients.astype(np.float64), counts, axis=0)
    evaluations = [part for parts in parted for part in parts]
    n_kernels, n_held, n_outputs = coefficients.shape
    found = _KernelParts(X.shape[0], n_outputs, n_kernels, n_support)

    def work(start, stop):
        grams = _grams(evaluations, X[start:stop], predictor.support)
        found.shares[start:stop] = np.matmul(grams, coefficients).transpose(1, 2, 0)
        for o in range(n_outputs):
            parts = np.einsum("mij,mj->ij", grams, coefficients[:, :, o])
            found.keep_largest(start, o, parts)

    run_blocks(work, X.shape[0], _rows_at_once(n_kernels, n_held), n_jobs)
    biases = np.tile(predictor.biases.astype(np.float64), (X.shape[0], 1))
    return found.explanation(biases)


def explain_components(predictor, X, n_support, n_jobs):
    """Every component is an output, and all of its score comes from its own kernel."""
    is_mine = np.arange(len(predictor.kernels))[:, None] == np.array(predictor.owners)
    coefficients = is_mine[:, None, :] * predictor.coefficients.T
    twin = KernelExpansion(
        predictor.kernels, predictor.support, coefficients, predictor.biases, predictor.n_features
    )
    return explain_expansion(twin, X, n_support, n_jobs)


def explain_gated_rows(predictor, X, n_support, n_jobs):
    """Rows that carry their gates' values: the kernel's parts are gated kernels."""
    gates = predictor.gate(X)
    found = explain_expansion(predictor.expansion, with_gates(X, gates), n_support, n_jobs)
    return _with_gates_told(found, gates)


def explain_blend(predictor, X, n_support, n_jobs):
    """Components f_q(x) under a gate: sums γ_q f_q, votes γ_q tanh f_q, or those selected."""
    components = predictor.components
    coefficients = components.coefficients.astype(np.float64)
    n_components, n_held = coefficients.shape
    owners, n_kernels = np.array(components.owners), len(components.kernels)
    groups = [np.flatnonzero(owners == m) for m in range(n_kernels)]
    evaluations = [kernel.from_pairs for kernel in components.kernels]
    found = _KernelParts(X.shape[0], 1, n_components, n_support)
    if kind_of(predictor) == "SelectedSum":
        gates = np.empty((X.shape[0], n_components))
    else:
        gates = np.asarray(predictor.gate(X), dtype=np.float64)

    def work(start, stop):
        grams = _grams(evaluations, X[start:stop], components.support)
        scores = np.tile(components.biases.astype(np.float64), (stop - start, 1))
        for gram, mine in zip(grams, groups):
            scores[:, mine] += gram @ coefficients[mine].T
        if kind_of(predictor) == "SelectedSum":
            gates[start:stop] = top_and_bottom(scores, predictor.n_selected)
        factors = gates[start:stop]
        if kind_of(predictor) == "GatedVote":
            factors = factors * _tanh_over(scores)
        found.shares[start:stop, 0] = factors * scores
        parts = np.zeros((stop - start, n_held))
        for gram, mine in zip(grams, groups):
            parts += gram * (factors[:, mine] @ coefficients[mine])
        found.keep_largest(start, 0, parts)

    run_blocks(work, X.shape[0], _rows_at_once(n_kernels, n_held), n_jobs)
    biases = np.full((X.shape[0], 1), float(getattr(predictor, "bias", 0.0)))
    return _with_gates_told(found.explanation(biases), gates)


class _KernelParts:
    """Room for the explanation of rows, which blocks of them fill."""

    def __init__(self, n_rows, n_outputs, n_kernels, n_support):
        self.shares = np.empty((n_rows, n_outputs, n_kernels))
        self.indices = np.full((n_rows, n_outputs, n_support), -1)
        self.parts = np.zeros((n_rows, n_outputs, n_support))

    def keep_largest(self, start, output, parts):
        """``parts`` (n_rows, n_held) of all support rows in the scores from row ``start`` on."""
        n_rows, n_held = parts.shape
        count = min(self.indices.shape[2], n_held)
        if count == 0:
            return
        size = np.abs(parts)
        top = np.argpartition(-size, count - 1, axis=1)[:, :count]
        order = np.argsort(-np.take_along_axis(size, top, axis=1), axis=1, kind="stable")
        top = np.take_along_axis(top, order, axis=1)
        rows = slice(start, start + n_rows)
        self.indices[rows, output, :count] = top
        self.parts[rows, output, :count] = np.take_along_axis(parts, top, axis=1)

    def explanation(self, intercepts):
        return Explanation(
            intercepts,
            kernel_shares=self.shares,
            support=InfluentialRows(self.indices, self.parts),
        )


def _with_gates_told(found, gates):
    active = np.broadcast_to(np.arange(gates.shape[1]), gates.shape)
    gates = np.asarray(gates, dtype=np.float64)
    return replace(found, component="component", active=active, gates=gates)


def _rows_at_once(n_kernels, n_held):
    return max(1, _BLOCK_NUMBERS // max(1, n_kernels * n_held))


def _grams(evaluations, X, support):
    """Values of all kernels between rows and support rows, in float64."""
    grams = np.empty((len(evaluations), X.shape[0], support.shape[0]))
    X = X.astype(np.float64)
    for start in range(0, support.shape[0], STRIP):
        held = support[start : start + STRIP]
        # numbers of rows, beside precomputed similarities, stay what they are
        pairs = Pairs(X, held.astype(np.float64) if X.ndim == 2 else held)
        for gram, evaluate in zip(grams, evaluations):
            gram[:, start : start + STRIP] = evaluate(pairs)
    return grams


def _parts(kernel):
    """A kernel's parts, which add up to it: functions of pairs of rows."""
    if kind_of(kernel) == "PairwiseNormalizedSum":
        return [partial(_pairwise_part, kernel, m) for m in range(len(kernel.kernels))]
    return [kernel.from_pairs]


def _pairwise_part(kernel, m, pairs):
    """γ_m(x) γ_m(z) k_m(x, z) / Σ γ(x) γ(z)."""
    values = kernel.kernels[m].from_pairs(pairs.on(range(kernel.n_features)))
    left, right = gates_of(pairs.X, kernel.n_features), gates_of(pairs.Z, kernel.n_features)
    return values * left[:, m, None] * right[:, m] / (left @ right.T)


def _tanh_over(scores):
    """tanh(f) / f, which is 1 at 0."""
    return np.divide(np.tanh(scores), scores, out=np.ones_like(scores), where=scores != 0.0)
