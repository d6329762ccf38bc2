"""Rows under conformal kernels, many side by side: a lane of the vector unit is a row of its own.

Rows are turned in blocks, so that the numbers of one feature are neighbors. Then no sum runs
across a vector, and a profile is evaluated for a whole vector at once. Rows meet anchors as
differences: products would cancel far from the origin, and take as many multiplications.
"""

import numpy as np

from .._compile import compiled, compiled_fast_sums
from .decay import decay, exponential_numbers

_VECTOR_BYTES = 64
# An odd number of vectors, so that the features of a row lie in different sets of the cache: with
# sixteen instead of thirteen, a hundred features take half as long again.
_VECTORS = 13
_EXPLAINED = 64  # rows side by side in an explanation
_ABREAST = 4  # features for which running sums are read and written once


class LaneBlock:
    """Memory for rows side by side, and what is asked of them.

    ``n_shares`` is the number of profile values of a row and a kernel: 1, or one per feature.
    """

    def __init__(self, profile, n_features, n_shares, n_outputs, n_rows, dtype):
        vector = _VECTOR_BYTES // np.dtype(dtype).itemsize
        n_lanes = vector * min(_VECTORS, -(-n_rows // vector))
        self._fading = profile.of_root, profile.is_bounded, *exponential_numbers(dtype)
        self._rows = np.zeros((_padded(n_features), n_lanes), dtype=dtype)
        self._shares = np.zeros((n_shares, n_lanes), dtype=dtype)
        self._linear = np.zeros(n_lanes, dtype=dtype)
        self._sums = np.zeros((n_outputs, n_lanes), dtype=dtype)

    def score(self, X, anchors, gammas, weights, starts, outputs, biases, scores):
        """Anchors and weights packed; the terms of kernel k are starts[k] to starts[k + 1]."""
        _score(
            X, anchors, gammas, weights, starts, outputs, biases, self._fading,
            self._rows, self._shares, self._linear, self._sums, scores,
        )  # fmt: skip

    def support(self, X, anchors, gammas, support):
        """The largest mean share that any kernel has in a row."""
        _support(
            X, anchors, gammas, self._fading,
            self._rows, self._shares, self._linear, self._sums[0], support,
        )  # fmt: skip


def pack(vectors, dtype):
    """Vectors with zeros up to as many features as the passes take at once."""
    out = np.zeros((len(vectors), _padded(vectors.shape[1])), dtype=dtype)
    out[:, : vectors.shape[1]] = vectors
    return out


def _padded(n_features):
    return -(-n_features // _ABREAST) * _ABREAST


@compiled_fast_sums
def _fade(u, fading, like):
    """The profile's value at u."""
    _, is_bounded, reduction, series = fading
    if is_bounded:
        return max(like.dtype.type(1.0) - u, like.dtype.type(0.0))
    return decay(u, reduction, series, like)


@compiled_fast_sums
def _meet_whole(rows, anchor, gamma, weights, fading, share, linear):
    """h(x) and h(x)⟨w, x − c⟩ at once: the differences are the same."""
    share[:] = 0.0
    linear[:] = 0.0
    for d in range(0, len(rows), 4):
        x0, x1, x2, x3 = rows[d], rows[d + 1], rows[d + 2], rows[d + 3]
        c0, c1, c2, c3 = anchor[d], anchor[d + 1], anchor[d + 2], anchor[d + 3]
        w0, w1, w2, w3 = weights[d], weights[d + 1], weights[d + 2], weights[d + 3]
        for i in range(len(share)):
            a0, a1, a2, a3 = x0[i] - c0, x1[i] - c1, x2[i] - c2, x3[i] - c3
            share[i] += a0 * a0 + a1 * a1 + a2 * a2 + a3 * a3
            linear[i] += w0 * a0 + w1 * a1 + w2 * a2 + w3 * a3
    of_root = fading[0]
    for i in range(len(share)):
        u = np.sqrt(share[i]) if of_root else share[i]
        share[i] = _fade(gamma * u, fading, share)
        linear[i] *= share[i]


@compiled_fast_sums
def _project_whole(rows, anchor, weights, share, linear):
    """h(x)⟨w, x − c⟩ for a further term of the kernel."""
    linear[:] = 0.0
    for d in range(0, len(rows), 4):
        x0, x1, x2, x3 = rows[d], rows[d + 1], rows[d + 2], rows[d + 3]
        c0, c1, c2, c3 = anchor[d], anchor[d + 1], anchor[d + 2], anchor[d + 3]
        w0, w1, w2, w3 = weights[d], weights[d + 1], weights[d + 2], weights[d + 3]
        for i in range(len(linear)):
            a0, a1, a2, a3 = x0[i] - c0, x1[i] - c1, x2[i] - c2, x3[i] - c3
            linear[i] += w0 * a0 + w1 * a1 + w2 * a2 + w3 * a3
    for i in range(len(linear)):
        linear[i] *= share[i]


@compiled_fast_sums
def _meet_each(rows, anchor, gamma, weights, fading, shares, linear):
    """h(x)_d of every feature, and Σ_d h(x)_d (x_d − c_d) w_d."""
    of_root = fading[0]
    linear[:] = 0.0
    for d in range(len(shares)):
        x, c, w, share = rows[d], anchor[d], weights[d], shares[d]
        for i in range(len(linear)):
            away = x[i] - c
            u = abs(away) if of_root else away * away
            share[i] = _fade(gamma * u, fading, share)
            linear[i] += share[i] * away * w


@compiled_fast_sums
def _project_each(rows, anchor, weights, shares, linear):
    linear[:] = 0.0
    for d in range(len(shares)):
        x, c, w, share = rows[d], anchor[d], weights[d], shares[d]
        for i in range(len(linear)):
            linear[i] += share[i] * (x[i] - c) * w


@compiled_fast_sums
def _meet(rows, anchor, gamma, weights, fading, shares, linear):
    if len(shares) == 1:
        _meet_whole(rows, anchor, gamma, weights, fading, shares[0], linear)
    else:
        _meet_each(rows, anchor, gamma, weights, fading, shares, linear)


@compiled_fast_sums
def _project(rows, anchor, weights, shares, linear):
    if len(shares) == 1:
        _project_whole(rows, anchor, weights, shares[0], linear)
    else:
        _project_each(rows, anchor, weights, shares, linear)


@compiled
def _turn(X, first, rows):
    n_rows = min(rows.shape[1], len(X) - first)
    for i in range(n_rows):
        row = X[first + i]
        for d in range(len(row)):
            rows[d, i] = row[d]
    return n_rows


@compiled_fast_sums
def _score(
    X, anchors, gammas, weights, starts, outputs, biases, fading, rows, shares, linear, sums, scores
):  # fmt: skip
    for first in range(0, len(X), rows.shape[1]):
        n_rows = _turn(X, first, rows)
        for o in range(len(sums)):
            sums[o, :] = biases[o]
        for k in range(len(anchors)):
            for p in range(starts[k], starts[k + 1]):
                if p == starts[k]:
                    _meet(rows, anchors[k], gammas[k], weights[p], fading, shares, linear)
                else:
                    _project(rows, anchors[k], weights[p], shares, linear)
                total = sums[outputs[p]]
                for i in range(len(total)):
                    total[i] += linear[i]
        for o in range(len(sums)):
            for i in range(n_rows):
                scores[first + i, o] = sums[o, i]


@compiled_fast_sums
def _support(X, anchors, gammas, fading, rows, shares, linear, largest, support):
    for first in range(0, len(X), rows.shape[1]):
        n_rows = _turn(X, first, rows)
        largest[:] = 0.0
        for k in range(len(anchors)):
            # the anchor stands in for weights: here only the shares matter
            _meet(rows, anchors[k], gammas[k], anchors[k], fading, shares, linear)
            linear[:] = 0.0
            for d in range(len(shares)):
                share = shares[d]
                for i in range(len(linear)):
                    linear[i] += share[i]
            for i in range(len(largest)):
                largest[i] = max(largest[i], linear[i])
        for i in range(n_rows):
            support[first + i] = largest[i] / len(shares)


# --- explanations -------------------------------------------------------------------------------


def explain_features(
    profile, X, anchors, gammas, weights, starts, outputs, coefficients, intercepts, gates
):
    """w(x), what b(x) loses to it, and the mean h, where every feature fades on its own."""
    n_outputs, n_features = coefficients.shape[1:]
    fading = profile.of_root, profile.is_bounded, *exponential_numbers(np.float64)
    _add_features(
        X, anchors, gammas, weights, starts, outputs, fading, np.zeros((n_features, _EXPLAINED)),
        np.empty((2, _EXPLAINED)), np.empty((n_outputs, n_features, _EXPLAINED)),
        np.empty((n_outputs, _EXPLAINED)), coefficients, intercepts, gates,
    )  # fmt: skip


@compiled_fast_sums
def _fade_feature(x, c, gamma, fading, share):
    """h of one feature of all lanes."""
    for i in range(len(share)):
        away = abs(x[i] - c)
        share[i] = _fade(gamma * (away if fading[0] else away * away), fading, share)


@compiled_fast_sums
def _add_features(
    X, anchors, gammas, weights, starts, outputs, fading, turned, lanes, sums, shifts,
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
                _fade_feature(turned[d], c, gammas[k], fading, share)
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
