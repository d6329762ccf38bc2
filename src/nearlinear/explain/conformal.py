"""w(x) and b(x) of linear models that fade around anchors: Σ h(x) w, and b − Σ h(x) ⟨w, c⟩."""

from math import factorial

import numpy as np

from .._compile import compiled, compiled_fast_sums, run_blocks
from ..kernels.conformal import PROFILES
from .linear import LinearParts

_BLOCK_NUMBERS = 1 << 16  # values of h at once: they stay in a core's cache
_LANES = 64  # rows side by side
# exp(−r) for |r| ≤ ln 2 / 2 to the last bit, the highest power first.
_SERIES = tuple((-1) ** j / factorial(j) for j in range(13, -1, -1))
# ln 2 in two parts, the first so short that its multiples are exact; where 2^−n ends.
_LN2_HIGH, _LN2_LOW = float.fromhex("0x1.62e42feep-1"), 1.9082149292705877e-10
_FARTHEST = 708.0


def explain_conformal(predictor, X, n_support, n_jobs):
    n_kernels, n_outputs = len(predictor.anchors), len(predictor.biases)
    found = LinearParts(X, n_outputs, n_kernels)
    found.active[...] = np.arange(n_kernels)
    found.intercepts[...] = predictor.biases
    terms = _Terms(predictor)
    blend = terms.blend_features if predictor.per_feature else terms.blend

    def work(start, stop):
        rows = slice(start, stop)
        blend(found.rows[rows], found.coefficients[rows], found.intercepts[rows], found.gates[rows])

    run_blocks(work, len(X), max(64, _BLOCK_NUMBERS // max(1, n_kernels)), n_jobs)
    return found.explanation("kernel")


class _Terms:
    """The terms of the sum in float64, those of one output side by side."""

    def __init__(self, predictor):
        self._profile = PROFILES[predictor.profile]
        self._anchors = predictor.anchors.astype(np.float64)
        self._gammas = predictor.gammas.astype(np.float64)
        self._weights = predictor.weights.astype(np.float64)
        self._kernels, self._outputs = predictor.kernels, predictor.outputs

    def blend(self, X, coefficients, intercepts, gates):
        """One h for a row and a kernel."""
        # the rows' differences from the anchors: products would cancel far from the origin
        squares = np.zeros((len(self._anchors), len(X)))
        _add_squares(np.ascontiguousarray(X.T), self._anchors, squares)
        shares = self._profile.values(squares, self._gammas[:, None]).T
        gates[...] = shares
        for o in range(intercepts.shape[1]):
            mine = np.flatnonzero(self._outputs == o)
            kernels, weights = self._kernels[mine], self._weights[mine]
            part = shares[:, kernels]
            coefficients[:, o] = part @ weights
            intercepts[:, o] -= part @ np.einsum("pd,pd->p", weights, self._anchors[kernels])

    def blend_features(self, X, coefficients, intercepts, gates):
        """One h for a row, a kernel and a feature: the model is a sum over features."""
        n_outputs, n_features = coefficients.shape[1:]
        starts = np.searchsorted(self._kernels, np.arange(len(self._anchors) + 1))
        _add_features(
            X, self._anchors, self._gammas, self._weights, starts, self._outputs,
            self._profile.of_root, self._profile.is_bounded, np.zeros((n_features, _LANES)),
            np.empty((2, _LANES)), np.empty((n_outputs, n_features, _LANES)),
            np.empty((n_outputs, _LANES)), coefficients, intercepts, gates,
        )  # fmt: skip


@compiled_fast_sums
def _add_squares(turned, anchors, squares):
    """‖x − c‖² of every anchor and row; ``turned`` has a feature of all rows side by side."""
    for k in range(len(anchors)):
        total = squares[k]
        for d in range(len(turned)):
            x, c = turned[d], anchors[k, d]
            for i in range(len(total)):
                total[i] += (x[i] - c) * (x[i] - c)


@compiled_fast_sums
def _series_at(r):
    total = 0.0
    for coefficient in _SERIES:
        total = total * r + coefficient
    return total


# Strict order: free to reorder, the compiler would put the two parts of ln 2 together again.
@compiled
def _decay(u):
    """exp(−u) = 2^−n exp(−r), many at once: libm's would be called for one after the other."""
    near = min(u, _FARTHEST)
    n = np.int32(near * 1.4426950408889634 + 0.5)
    octaves = np.float64(n)
    r = (near - octaves * _LN2_HIGH) - octaves * _LN2_LOW
    value = _series_at(r) * np.int64((1023 - np.int64(n)) << 52).view(np.float64)
    return value if u < _FARTHEST else 0.0


@compiled_fast_sums
def _fade(x, c, gamma, of_root, is_bounded, share):
    """h of one feature of all lanes."""
    for i in range(len(share)):
        away = abs(x[i] - c)
        share[i] = gamma * (away if of_root else away * away)
    if is_bounded:
        for i in range(len(share)):
            share[i] = max(1.0 - share[i], 0.0)
    else:
        for i in range(len(share)):
            share[i] = _decay(share[i])


@compiled_fast_sums
def _add_features(
    X, anchors, gammas, weights, starts, outputs, of_root, is_bounded, turned, lanes, sums, shifts,
    coefficients, intercepts, gates,
):  # fmt: skip
    n_features, n_lanes = turned.shape
    share, mean = lanes[0], lanes[1]
    for first in range(0, len(X), n_lanes):
        n_rows = min(n_lanes, len(X) - first)
        for i in range(n_rows):
            for d in range(n_features):
                turned[d, i] = X[first + i, d]
        sums[:] = 0.0
        shifts[:] = 0.0
        for k in range(len(anchors)):
            mean[:] = 0.0
            for d in range(n_features):
                c = anchors[k, d]
                _fade(turned[d], c, gammas[k], of_root, is_bounded, share)
                for i in range(n_lanes):
                    mean[i] += share[i]
                for p in range(starts[k], starts[k + 1]):
                    w, total, shift = weights[p, d], sums[outputs[p], d], shifts[outputs[p]]
                    for i in range(n_lanes):
                        total[i] += share[i] * w
                        shift[i] += share[i] * w * c
            for i in range(n_rows):
                gates[first + i, k] = mean[i] / n_features
        for i in range(n_rows):
            for o in range(len(sums)):
                intercepts[first + i, o] -= shifts[o, i]
                for d in range(n_features):
                    coefficients[first + i, o, d] = sums[o, d, i]
