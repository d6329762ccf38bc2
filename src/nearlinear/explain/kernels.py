"""Scores of kernel machines, taken apart by kernels and by support rows."""

from dataclasses import replace
from functools import partial

import numpy as np

from .._compile import run_blocks
from ..kernels.gated_grams import gates_of
from ..kernels.pairs import Pairs
from ..kinds import kind_of
from ..predictors.gated_expansion import reads_scores
from ..predictors.kernel_expansion import STRIP
from .record import Explanation, InfluentialRows

_BLOCK_NUMBERS = 1 << 22  # kernel values at once


def explain_expansion(predictor, X, n_support, n_jobs):
    """Shares of the kernels in Σ_m Σ_j c_mj k_m(x_j, x) + b."""
    parted = [_parts(kernel) for kernel in predictor.kernels]
    counts = [len(parts) for parts in parted]  # the parts of a kernel have its coefficients
    coefficients = np.repeat(_dense_coefficients(predictor), counts, axis=0)
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


def _dense_coefficients(predictor):
    """Shape (n_kernels, n_support, n_outputs), with zeros where a kernel does not count."""
    dense = np.zeros((len(predictor.kernels), predictor.n_support, predictor.n_outputs))
    for m, (_, outputs, coefficients) in enumerate(predictor.terms):
        dense[m][:, outputs] = coefficients
    return dense


def explain_gated_rows(predictor, X, n_support, n_jobs):
    """Rows that carry their gates' values: the kernel's parts are gated kernels."""
    rows = predictor.map(X)
    found = explain_expansion(predictor.predictor, rows, n_support, n_jobs)
    return _with_gates_told(found, gates_of(rows, X.shape[1]))


def explain_blend(predictor, X, n_support, n_jobs):
    """Components f_q(x) under a gate: Σ γ_q s(f_q), with s the identity or tanh."""
    components = predictor.components
    n_components, n_held = components.n_outputs, components.n_support
    terms = [(served, c.astype(np.float64)) for _, served, c in components.terms]
    evaluations = [kernel.from_pairs for kernel in components.kernels]
    found = _KernelParts(X.shape[0], 1, n_components, n_support)
    gates = np.empty((X.shape[0], n_components))
    if not reads_scores(predictor.gate):
        gates[...] = predictor.gate(X)

    def work(start, stop):
        grams = _grams(evaluations, X[start:stop], components.support)
        scores = np.tile(components.biases.astype(np.float64), (stop - start, 1))
        for gram, (served, coefficients) in zip(grams, terms):
            scores[:, served] += gram @ coefficients
        if reads_scores(predictor.gate):
            gates[start:stop] = predictor.gate(scores)
        factors = gates[start:stop]
        if predictor.activation == "tanh":
            factors = factors * _tanh_over(scores)
        found.shares[start:stop, 0] = factors * scores
        parts = np.zeros((stop - start, n_held))
        for gram, (served, coefficients) in zip(grams, terms):
            parts += gram * (factors[:, served] @ coefficients.T)
        found.keep_largest(start, 0, parts)

    run_blocks(work, X.shape[0], _rows_at_once(len(evaluations), n_held), n_jobs)
    biases = np.full((X.shape[0], 1), float(predictor.bias))
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
