"""Compiled passes from one row to its scores.

Each takes a row as its caller has it, and returns whether row and scores are valid: finite numbers,
as many as there are features. It reads no further if the row is not.
"""

import numpy as np

from .._compile import compiled_fast_sums


@compiled_fast_sums
def are_finite(values):
    n_strange = 0
    for d in range(len(values)):
        n_strange += not np.isfinite(values[d])
    return n_strange == 0


@compiled_fast_sums
def _is_row(x, n_features):
    return len(x) == n_features and are_finite(x)


@compiled_fast_sums
def scale(x, shift, factor, out):
    if not _is_row(x, len(shift)):
        return False
    for d in range(len(x)):
        out[d] = (x[d] - shift[d]) * factor[d]
    return True


@compiled_fast_sums
def project(x, projection, out):
    if not _is_row(x, projection.shape[1] - 1):
        return False
    for j in range(len(out)):
        total = projection[j, len(x)]
        for d in range(len(x)):
            total += projection[j, d] * x[d]
        out[j] = total
    return True


@compiled_fast_sums
def _nearest(x, directions, offsets, near, halves):
    """Numbers of the nearest anchors, nearest first, and half their squared distances.

    Up to a constant of the row, as in :class:`AnchorGeometry`.
    """
    n_near, filled = len(near), 0
    for j in range(len(directions)):
        half = offsets[j]
        for d in range(len(x)):
            half -= directions[j, d] * x[d]
        if filled < n_near:
            place = filled
            filled += 1
        elif half < halves[n_near - 1]:
            place = n_near - 1
        else:
            continue
        while place > 0 and halves[place - 1] > half:
            halves[place] = halves[place - 1]
            near[place] = near[place - 1]
            place -= 1
        halves[place] = half
        near[place] = j


@compiled_fast_sums
def _blend(x, near, codes, weights, biases, scores):
    """Σ_j γ_j (W_j x + b_j), with codes that need not add up to one."""
    total = codes[0] - codes[0]
    for p in range(len(near)):
        total += codes[p]
    width = weights.shape[2]
    for c in range(len(scores)):
        scores[c] = 0.0
    for p in range(len(near)):
        j, gate = near[p], codes[p] / total
        for c in range(len(scores)):
            local = biases[j, c]
            for d in range(width):
                local += weights[j, c, d] * x[d]
            scores[c] += gate * local


@compiled_fast_sums
def soft_row(x, places, sharpness, near, halves, weights, biases, scores):
    if not _is_row(x, places[0].shape[1]):
        return False
    directions, offsets, _, _ = places
    _nearest(x, directions, offsets, near, halves)
    least = halves[0]
    for p in range(len(near)):
        halves[p] = np.exp(-2 * sharpness * (halves[p] - least))
    _blend(x, near, halves, weights, biases, scores)
    return are_finite(scores)


@compiled_fast_sums
def inverse_row(x, places, floor, near, halves, weights, biases, scores):
    if not _is_row(x, places[0].shape[1]):
        return False
    directions, offsets, mean, _ = places
    _nearest(x, directions, offsets, near, halves)
    shift = x[0] - x[0]
    for d in range(len(x)):
        shift += (x[d] - mean[d]) * (x[d] - mean[d])
    for p in range(len(near)):
        halves[p] = 1.0 / np.sqrt(max(2 * halves[p] + shift, floor))
    _blend(x, near, halves, weights, biases, scores)
    return are_finite(scores)


@compiled_fast_sums
def rebuilt_row(x, places, ridge, near, halves, weights, biases, scores):
    """Codes that rebuild the row best: a small system, solved in double precision."""
    if not _is_row(x, places[0].shape[1]):
        return False
    directions, offsets, _, anchors = places
    _nearest(x, directions, offsets, near, halves)
    n_near = len(near)
    gram, codes = np.empty((n_near, n_near)), np.ones(n_near)
    trace = 0.0
    for p in range(n_near):
        for q in range(p + 1):
            total = 0.0
            for d in range(len(x)):
                first = np.float64(anchors[near[p], d]) - x[d]
                total += first * (np.float64(anchors[near[q], d]) - x[d])
            gram[p, q] = gram[q, p] = total
        trace += gram[p, p]
    for p in range(n_near):
        gram[p, p] += max(ridge * trace, 1e-290)
    for p in range(n_near):  # the matrix is positive definite: no pivots are needed
        for q in range(p + 1, n_near):
            factor = gram[q, p] / gram[p, p]
            for r in range(p, n_near):
                gram[q, r] -= factor * gram[p, r]
            codes[q] -= factor * codes[p]
    for p in range(n_near - 1, -1, -1):
        for q in range(p + 1, n_near):
            codes[p] -= gram[p, q] * codes[q]
        codes[p] /= gram[p, p]
    _blend(x, near, codes, weights, biases, scores)
    return are_finite(scores)


@compiled_fast_sums
def _product(direction, x):
    """⟨direction, [x, 1]⟩."""
    total = direction[len(x)]
    for d in range(len(x)):
        total += direction[d] * x[d]
    return total


@compiled_fast_sums
def leaf_row(x, splits, weights, intercept, scores):
    """The one model of the leaf that a row falls into."""
    if not _is_row(x, weights.shape[2] - 1):
        return False
    node = 0
    n_splits = len(weights) - 1
    while node < n_splits:
        node = 2 * node + (1 if _product(splits[node], x) > 0 else 2)
    for c in range(len(scores)):
        scores[c] = intercept[c] + _product(weights[node - n_splits, c], x)
    return are_finite(scores)


@compiled_fast_sums
def path_row(x, splits, own, weights, intercept, sigma, composes, scores):
    """``own`` are the directions of the nodes' features; a composed one scales the next."""
    if not _is_row(x, weights.shape[2] - 1):
        return False
    node, factor = 0, sigma
    for c in range(len(scores)):
        scores[c] = intercept[c]
    while True:
        feature = np.tanh(factor * _product(own[node], x))
        for c in range(len(scores)):
            scores[c] += feature * _product(weights[node, c], x)
        if composes:
            factor = feature
        if 2 * node + 1 >= len(weights):
            break
        node = 2 * node + (1 if _product(splits[node], x) > 0 else 2)
    return are_finite(scores)


@compiled_fast_sums
def linked_row(x, children, splits, own, weights, intercept, sigma, composes, ends_alone, scores):
    """A tree whose nodes name their children; splits and ``own`` see the last columns."""
    if not _is_row(x, weights.shape[2] - 1):
        return False
    seen = x[weights.shape[2] - splits.shape[1] :]
    node, factor = 0, sigma
    for c in range(len(scores)):
        scores[c] = intercept[c]
    while True:
        child = -1
        if node < len(children):
            child = children[node, 0 if _product(splits[node], seen) > 0 else 1]
        if ends_alone:
            if child < 0:
                for c in range(len(scores)):
                    scores[c] += _product(weights[node, c], x)
        else:
            feature = np.tanh(factor * _product(own[node], seen))
            for c in range(len(scores)):
                scores[c] += feature * _product(weights[node, c], x)
            if composes:
                factor = feature
        if child < 0:
            break
        node = child
    return are_finite(scores)


@compiled_fast_sums
def additive_row(x, weights, columns, firsts, knots, values, scores):
    """A linear model, and the lines between the knots next to a column's number."""
    if not _is_row(x, weights.shape[1] - 1):
        return False
    for c in range(len(scores)):
        scores[c] = _product(weights[c], x)
    for q in range(len(columns)):
        value, first, last = x[columns[q]], firsts[q], firsts[q + 1] - 1
        k = first
        for j in range(first + 1, last + 1):
            k += value >= knots[j]
        along = value - value
        if k < last and value > knots[k]:
            along = (value - knots[k]) / (knots[k + 1] - knots[k])
        after = min(k + 1, last)
        for c in range(len(scores)):
            scores[c] += values[k, c] + along * (values[after, c] - values[k, c])
    return are_finite(scores)


@compiled_fast_sums
def hinge_row(x, widths, numbers, layers, scores):
    """``numbers`` has the bias of each unit and its weights, unit by unit and layer by layer."""
    if not _is_row(x, widths[0]):
        return False
    values, sums = layers[0], layers[1]
    for i in range(len(x)):
        values[i] = x[i]
    place, n_layers = 0, len(widths) - 1
    for layer in range(n_layers):
        n_inputs, n_units = widths[layer], widths[layer + 1]
        seen = values[:n_inputs]
        for j in range(n_units):
            total, own = numbers[place], numbers[place + 1 : place + 1 + n_inputs]
            for i in range(n_inputs):
                total += own[i] * seen[i]
            sums[j] = total
            place += 1 + n_inputs
        if layer + 1 < n_layers:
            for j in range(n_units):
                values[j] = sums[j] if sums[j] > 0.0 else 0.0
    for c in range(len(scores)):
        scores[c] = sums[c]
    return are_finite(scores)


@compiled_fast_sums
def raise_to_pairs(x, center, scale, out):
    """Products of scaled features in pairs, then these features."""
    n = len(center)
    if not _is_row(x, n):
        return False
    first = len(out) - n
    for i in range(n):
        out[first + i] = (x[i] - center[i]) / scale
    place = 0
    for i in range(n):
        for j in range(i, n):
            out[place] = out[first + i] * out[first + j]
            place += 1
    return True


@compiled_fast_sums
def _faded(square, gamma, of_root, is_bounded):
    u = gamma * (np.sqrt(square) if of_root else square)
    if is_bounded:
        return max(1.0 - u, 0.0)
    return np.exp(-u)


@compiled_fast_sums
def conformal_row(
    x, anchors, gammas, weights, starts, outputs, biases, of_root, is_bounded, scores
):
    if not _is_row(x, anchors.shape[1]):
        return False
    for c in range(len(scores)):
        scores[c] = biases[c]
    for k in range(len(anchors)):
        square = x[0] - x[0]
        for d in range(len(x)):
            away = x[d] - anchors[k, d]
            square += away * away
        h = _faded(square, gammas[k], of_root, is_bounded)
        if h > 0.0:
            for p in range(starts[k], starts[k + 1]):
                total = x[0] - x[0]
                for d in range(len(x)):
                    total += weights[p, d] * (x[d] - anchors[k, d])
                scores[outputs[p]] += h * total
    return are_finite(scores)


@compiled_fast_sums
def feature_row(x, anchors, gammas, weights, starts, outputs, biases, of_root, is_bounded, scores):
    """The same where every feature fades on its own."""
    if not _is_row(x, anchors.shape[1]):
        return False
    for c in range(len(scores)):
        scores[c] = biases[c]
    for k in range(len(anchors)):
        for d in range(len(x)):
            away = x[d] - anchors[k, d]
            moved = _faded(away * away, gammas[k], of_root, is_bounded) * away
            for p in range(starts[k], starts[k + 1]):
                scores[outputs[p]] += moved * weights[p, d]
    return are_finite(scores)


@compiled_fast_sums
def _nearest_center(x, centers, first, last):
    best, least = first, np.inf
    for c in range(first, last):
        square = x[0] - x[0]
        for d in range(len(x)):
            square += (x[d] - centers[c, d]) * (x[d] - centers[c, d])
        if square < least:
            best, least = c, square
    return best


@compiled_fast_sums
def cell_row(x, centers, groups, firsts, gamma, landmarks, starts, slopes, offsets, biases, scores):
    """Σ_j exp(−γ‖x − u_j‖²) (o_j + ⟨s_j, x − u_j⟩) over the landmarks of the row's cell."""
    if not _is_row(x, centers.shape[1]):
        return False
    group = _nearest_center(x, groups, 0, len(groups)) if len(groups) > 1 else 0
    cell = _nearest_center(x, centers, firsts[group], firsts[group + 1])
    for c in range(len(scores)):
        scores[c] = biases[cell, c]
    for j in range(starts[cell], starts[cell + 1]):
        square = x[0] - x[0]
        for d in range(len(x)):
            square += (x[d] - landmarks[j, d]) * (x[d] - landmarks[j, d])
        h = np.exp(-gamma * square)
        for c in range(len(scores)):
            total = offsets[j, c]
            for d in range(len(x)):
                total += slopes[j, c, d] * (x[d] - landmarks[j, d])
            scores[c] += h * total
    return are_finite(scores)


@compiled_fast_sums
def gated_row(x, directions, offsets, weights, biases, bias, margin, gates, scores):
    """Σ_q γ_q (⟨w_q, x⟩ + b_q) + bias with a rounded softmax gate."""
    if not _is_row(x, directions.shape[1]):
        return False
    top = -np.inf
    for q in range(len(gates)):
        total = offsets[q]
        for d in range(len(x)):
            total += directions[q, d] * x[d]
        gates[q] = total
        top = max(top, total)
    whole = 0.0
    for q in range(len(gates)):
        gates[q] = np.exp(gates[q] - top)
        whole += gates[q]
    scores[0] = bias
    for q in range(len(gates)):
        gate = gates[q] / whole
        if gate >= margin:
            gate = 1.0 if gate > 1.0 - margin else gate
            local = biases[q]
            for d in range(len(x)):
                local += weights[q, d] * x[d]
            scores[0] += gate * local
    return are_finite(scores)
