"""Compiled steps of the row-by-row solver: one row's code, scores and updates.

Weights and anchors are kept as a scale times an array, so that shrinking touches one number and a
step costs O(nnz (m + k I)).
"""

from typing import NamedTuple

import numpy as np

from ..._compile import compiled, compiled_fast_sums


class StepLimits(NamedTuple):
    """How a pass shrinks and how far it moves.

    Weights shrink every ``skip`` rows, and biases with them unless ``keeps_biases``. An anchor
    moves toward or away from a row by ``largest_move`` of their distance at most.
    """

    skip: int = 16
    largest_move: float = 0.1
    keeps_biases: bool = False


class RowState(NamedTuple):
    """What the compiled steps read and write.

    Anchor j times the metric is ``anchor_scale[j] * anchors[:, j]`` (features first, so that one
    non-zero of a row meets all anchors side by side); weights and biases share ``model_scale[0]``.
    """

    anchors: np.ndarray
    metric: np.ndarray
    anchor_scale: np.ndarray
    half_norms: np.ndarray
    weights: np.ndarray
    biases: np.ndarray
    model_scale: np.ndarray

    def unscaled(self):
        """The same with scales of 1, so that states can be averaged."""
        scale = self.model_scale[0]
        return self._replace(
            anchors=self.anchors * self.anchor_scale, anchor_scale=np.ones_like(self.anchor_scale),
            weights=self.weights * scale, biases=self.biases * scale,
            model_scale=np.ones_like(self.model_scale),
        )  # fmt: skip


@compiled_fast_sums
def _encode_row(columns, data, sharpness, state, dots, indices, codes):
    """Soft assignment of one row to its nearest anchors as they are now; fills x·v_j too."""
    n_anchors, n_neighbors = len(dots), len(indices)
    dots[:] = 0.0
    for t in range(len(columns)):
        for j in range(n_anchors):
            dots[j] += data[t] * state.anchors[columns[t], j]
    codes[:] = np.inf
    for j in range(n_anchors):
        dots[j] *= state.anchor_scale[j]
        half = state.half_norms[j] - dots[j]
        p = n_neighbors - 1
        if half < codes[p]:
            while p > 0 and half < codes[p - 1]:
                codes[p], indices[p] = codes[p - 1], indices[p - 1]
                p -= 1
            codes[p], indices[p] = half, j
    nearest, total = codes[0], 0.0
    for p in range(n_neighbors):
        codes[p] = np.exp(-2.0 * sharpness * (codes[p] - nearest))
        total += codes[p]
    for p in range(n_neighbors):
        codes[p] /= total


@compiled_fast_sums
def _score_row(columns, data, width, state, indices, codes, local, scores):
    """Local answers s_j and scores f of one row; constant models (width 0) read no feature."""
    scores[:] = 0.0
    for p in range(len(indices)):
        j = indices[p]
        for c in range(len(scores)):
            local[p, c] = state.biases[j, c]
        if width > 0:
            for t in range(len(columns)):
                for c in range(len(scores)):
                    local[p, c] += data[t] * state.weights[j, columns[t], c]
        for c in range(len(scores)):
            local[p, c] *= state.model_scale[0]
            scores[c] += codes[p] * local[p, c]


@compiled_fast_sums
def _update_row(
    columns, data, width, state, indices, codes, local, scores, slopes, dots, step, rate, sharpness,
    largest_move,
):  # fmt: skip
    """All updates of one row from the old values: weights, biases, then anchors."""
    square = 0.0
    for t in range(len(columns)):
        square += state.metric[columns[t]] * data[t] * data[t]
    for p in range(len(indices)):
        j = indices[p]
        slope_gamma = 0.0
        for c in range(len(scores)):
            slope_gamma += slopes[c] * (local[p, c] - scores[c])
            state.biases[j, c] -= step * slopes[c] * codes[p] / state.model_scale[0]
        if width > 0:
            factor = step * codes[p] / state.model_scale[0]
            for t in range(len(columns)):
                for c in range(len(scores)):
                    state.weights[j, columns[t], c] -= factor * slopes[c] * data[t]
        if rate > 0.0:
            move = -rate * step * 2.0 * sharpness * codes[p] * slope_gamma
            move = min(max(move, -largest_move), largest_move)
            stay = 1.0 - move
            state.half_norms[j] = (
                stay * stay * state.half_norms[j]
                + stay * move * dots[j]
                + 0.5 * move * move * square
            )
            state.anchor_scale[j] *= stay
            for t in range(len(columns)):
                change = move * state.metric[columns[t]] * data[t]
                state.anchors[columns[t], j] += change / state.anchor_scale[j]


@compiled_fast_sums
def _size_of_row(data, width, codes):
    """‖γ ⊗ [x; 1]‖²."""
    square, share = 1.0, 0.0
    if width > 0:
        for t in range(len(data)):
            square += data[t] * data[t]
    for p in range(len(codes)):
        share += codes[p] * codes[p]
    return square * share


@compiled
def _shrink(state, factor, keeps_biases):
    """Weight decay, on the scale; arrays are rescaled before a scale becomes too small."""
    state.model_scale[0] *= factor
    if keeps_biases:
        state.biases[:] /= factor
    if state.model_scale[0] < 1e-6:
        state.weights[:] *= state.model_scale[0]
        state.biases[:] *= state.model_scale[0]
        state.model_scale[0] = 1.0
    for j in range(len(state.anchor_scale)):
        if not 1e-6 < state.anchor_scale[j] < 1e6:
            state.anchors[:, j] *= state.anchor_scale[j]
            state.anchor_scale[j] = 1.0


@compiled
def margin_pass(
    indptr, columns, data, width, targets, row_weight, indices, codes, first, steps, ridge,
    straight, curved, rate, sharpness, state, limits,
):  # fmt: skip
    """Steps on Σ_c p ξ_c + q/2 ξ_c², ξ_c = max(0, 1 − y_c f_c), one row after another."""
    n_outputs = targets.shape[1]
    local, scores = np.empty((indices.shape[1], n_outputs)), np.empty(n_outputs)
    slopes, dots = np.empty(n_outputs), np.zeros(len(state.half_norms))
    for i in range(len(steps)):
        cols, vals = columns[indptr[i] : indptr[i + 1]], data[indptr[i] : indptr[i + 1]]
        if rate > 0.0:
            _encode_row(cols, vals, sharpness, state, dots, indices[i], codes[i])
        _score_row(cols, vals, width, state, indices[i], codes[i], local, scores)
        violated = False
        for c in range(n_outputs):
            slack = 1.0 - targets[i, c] * scores[c]
            slopes[c] = 0.0
            if slack > 0.0:
                slopes[c] = -targets[i, c] * row_weight[i] * (straight + curved * slack)
                violated = True
        if violated:
            step = steps[i]
            if curved > 0.0:  # never past the minimum of the row's own parabola
                step = min(
                    step, 1.0 / (curved * row_weight[i] * _size_of_row(vals, width, codes[i]))
                )
            _update_row(
                cols, vals, width, state, indices[i], codes[i], local, scores, slopes, dots,
                step, rate, sharpness, limits.largest_move,
            )  # fmt: skip
        if (first + i) % limits.skip == 0:
            factor = 1.0 - min(0.5, limits.skip * steps[i] * ridge)
            _shrink(state, factor, limits.keeps_biases)


@compiled
def softmax_pass(
    indptr, columns, data, width, targets, row_weight, indices, codes, first, steps, ridge,
    straight, curved, rate, sharpness, state, limits,
):  # fmt: skip
    """Steps on the log loss, one row after another; one score column is a logistic model."""
    n_outputs = targets.shape[1]
    local, scores = np.empty((indices.shape[1], n_outputs)), np.empty(n_outputs)
    slopes, dots = np.empty(n_outputs), np.zeros(len(state.half_norms))
    for i in range(len(steps)):
        cols, vals = columns[indptr[i] : indptr[i + 1]], data[indptr[i] : indptr[i + 1]]
        if rate > 0.0:
            _encode_row(cols, vals, sharpness, state, dots, indices[i], codes[i])
        _score_row(cols, vals, width, state, indices[i], codes[i], local, scores)
        top, total = scores.max(), 0.0
        if n_outputs == 1:
            margin = min(max(targets[i, 0] * scores[0], -60.0), 60.0)
            slopes[0] = -targets[i, 0] * row_weight[i] / (1.0 + np.exp(margin))
        else:
            for c in range(n_outputs):
                slopes[c] = np.exp(scores[c] - top)
                total += slopes[c]
            for c in range(n_outputs):
                hit = 1.0 if targets[i, c] > 0 else 0.0
                slopes[c] = row_weight[i] * (slopes[c] / total - hit)
        _update_row(
            cols, vals, width, state, indices[i], codes[i], local, scores, slopes, dots,
            steps[i], rate, sharpness, limits.largest_move,
        )  # fmt: skip
        if (first + i) % limits.skip == 0:
            factor = 1.0 - min(0.5, limits.skip * steps[i] * ridge)
            _shrink(state, factor, limits.keeps_biases)
